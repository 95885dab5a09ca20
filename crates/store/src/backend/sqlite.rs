//! SQLite through rusqlite: WAL mode, foreign keys, and one writer at a time by BEGIN IMMEDIATE with
//! bounded, jittered waits. Never close a descriptor of the database file that SQLite did not open:
//! that would drop the POSIX locks of every connection of this process.

use super::files::{create_private, file_bytes, with_suffix};
use super::foreign::{FileKind, kind_of_file};
use super::sqlite_errors::{busy, damaged, explain, io_error, is_busy};
use super::sqlite_vacuum::vacuum;
use super::sqlite_values::SqliteRow;
use super::sqlite_wal::{Verified, Wal};
use super::{
    Access, Backend, Connection, CopyOutcome, Engine, Row, State, Value, raw_search, sqlite_spaces,
};
use crate::options::{Durability, Options};
use crate::schema::{SchemaSet, refuse_newer};
use crate::store::{Progress, Scrubbed};
use oneiro_model::{Error, ErrorKind, Remedy, Result, SpaceInfo};
use rusqlite::{OpenFlags, StatementStatus};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The application id in the header of every store: "Onei".
pub(super) const APPLICATION_ID: i64 = 0x4F6E_6569;

/// Creating a file and opening it must not interleave between threads: the creator closes the
/// descriptor it created the file with.
static CREATE_LOCK: Mutex<()> = Mutex::new(());

/// How long a waiting writer yields before it sleeps. Most writers hold the lock for less than a sleep
/// takes.
const YIELD_TIME: Duration = Duration::from_micros(300);

/// The first and the longest sleep of a waiting writer.
const MIN_LOCK_SLEEP: Duration = Duration::from_micros(20);
const MAX_LOCK_SLEEP: Duration = Duration::from_millis(10);

/// The sleep between attempts to switch to WAL mode, and to copy a page that is locked.
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// The sleep between attempts to truncate the log while another process reads it.
const CHECKPOINT_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Pages that a copy reads at a time.
const COPY_PAGES: i32 = 1_024;

/// The most writes in one commit.
const GROUP_LIMIT: usize = 256;

/// Prepared statements that a connection keeps.
const CACHED_STATEMENTS: usize = 128;

pub(crate) struct Sqlite {
    /// Whether the file was opened before. From then on it is never created again: otherwise a reader
    /// would create an empty store in place of one that was moved away.
    was_open: AtomicBool,
    path: PathBuf,
    durability: Durability,
    busy_timeout: Duration,
    wal: Arc<Wal>,
    schema: SchemaSet,
}

impl Sqlite {
    pub(crate) fn new(path: &Path, options: &Options) -> Sqlite {
        Sqlite {
            was_open: AtomicBool::new(false),
            path: path.to_owned(),
            durability: options.durability,
            busy_timeout: options.busy_timeout,
            wal: Arc::new(Wal::new(path)),
            schema: options.schema,
        }
    }

    /// A connection to a file that is a store, or new.
    fn open(&self) -> Result<SqliteConnection> {
        let _lock = CREATE_LOCK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !self.was_open.load(Ordering::SeqCst) {
            // Before the file is opened for writing: closing it then would checkpoint its log.
            if let FileKind::Sqlite(tables) = kind_of_file(&self.path)
                && !tables.is_empty()
            {
                return Err(self.foreign());
            }
            create_private(&self.path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let inner = rusqlite::Connection::open_with_flags(&self.path, flags)
            .map_err(|error| self.explain(error))?;
        let mut connection = SqliteConnection {
            inner,
            path: self.path.clone(),
            busy_timeout: self.busy_timeout,
            wal: Arc::clone(&self.wal),
            schema: self.schema,
            newer: None,
        };
        self.prepare(&mut connection)?;
        self.was_open.store(true, Ordering::SeqCst);
        self.wal.after_connect();
        connection.check_schema()?;
        Ok(connection)
    }

    fn prepare(&self, connection: &mut SqliteConnection) -> Result<()> {
        connection.inner.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        // Without a stable query plan SQLite prepares a statement again for every value bound to it,
        // which would dominate the cost of an append.
        let stable = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection.inner.set_db_config(stable, true).map_err(|error| self.explain(error))?;
        // Readers meet a lock only while another process recovers or closes the log, so SQLite's own
        // wait is enough. Writers wait in `begin_immediate`, with jitter and a limit.
        let explain = |error| self.explain(error);
        connection.inner.busy_timeout(self.busy_timeout).map_err(explain)?;
        self.check_owner(&connection.inner)?;
        // NORMAL syncs the log before a checkpoint; `make_durable` syncs it after each commit. FULL
        // would do that with the write lock held.
        let setup = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
                     PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; \
                     PRAGMA journal_size_limit = 67108864;";
        connection.inner.execute_batch(setup).map_err(explain)?;
        let is_read_only = connection.inner.is_readonly("main").map_err(explain)?;
        if !is_read_only {
            let deadline = Instant::now() + self.busy_timeout;
            loop {
                let switched: rusqlite::Result<String> =
                    connection.inner.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
                match switched {
                    Ok(mode) if mode == "wal" => break,
                    Ok(mode) => {
                        let place = self.path.display();
                        return Err(Error::new(
                            ErrorKind::Unavailable,
                            format!(
                                "the file system of {place} does not support a write-ahead log ({mode})"
                            ),
                        )
                        .remedy("keep the store on a local disk, or use PostgreSQL"));
                    }
                    Err(error) if is_busy(&error) && Instant::now() < deadline => {
                        std::thread::sleep(jitter(RETRY_DELAY));
                    }
                    Err(error) => return Err(self.explain(error)),
                }
            }
        }
        Ok(())
    }

    /// Refuses a file of another application and one that was truncated; sets the application id of a
    /// new one.
    fn check_owner(&self, inner: &rusqlite::Connection) -> Result<()> {
        let number = |sql: &str| {
            inner
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .map_err(|error| self.explain(error))
        };
        let bytes = |suffix: &str| file_bytes(&with_suffix(&self.path, suffix));
        if bytes("") == 0 && bytes("-wal") > 0 {
            return Err(self.damaged("it is empty, but its log is not"));
        }
        // Tables before the id: a store gets its id before its tables, so a file with tables and
        // without an id is not being created but belongs to another application.
        let tables = number("SELECT COUNT(*) FROM sqlite_schema")?;
        let owner = number("PRAGMA application_id")?;
        if owner == APPLICATION_ID {
            let is_truncated = || -> Result<bool> {
                let pages = number("PRAGMA page_count")?;
                let size = number("PRAGMA page_size")?;
                Ok(bytes("-wal") == 0 && (bytes("") as i64) < pages.saturating_mul(size))
            };
            // Twice, because another process may vacuum between the two queries.
            if is_truncated()? && is_truncated()? {
                return Err(self.damaged("it is truncated"));
            }
            return Ok(());
        }
        if owner != 0 || tables != 0 {
            return Err(self.foreign());
        }
        if self.was_open.load(Ordering::SeqCst) {
            return Err(self.damaged("it was replaced by an empty file"));
        }
        let set_id = format!("PRAGMA application_id = {APPLICATION_ID}");
        inner.busy_timeout(self.busy_timeout).map_err(|error| self.explain(error))?;
        inner.execute_batch(&set_id).map_err(|error| self.explain(error))
    }

    fn foreign(&self) -> Error {
        let place = self.path.display();
        Error::invalid(format!("{place} is a SQLite database, but not an Oneiro store"))
            .remedy(Remedy::OtherStore)
    }

    fn damaged(&self, how: &str) -> Error {
        damaged(&self.path, how)
    }

    fn explain(&self, error: rusqlite::Error) -> Error {
        explain(&self.path, error)
    }
}

impl Backend for Sqlite {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Ok(Box::new(self.open()?))
    }

    fn make_durable(&self) -> Result<()> {
        match self.durability {
            Durability::Normal => Ok(()),
            Durability::Full => self.wal.sync(),
        }
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        sqlite_spaces::list(&self.path)
    }

    fn delete(&self) -> Result<()> {
        sqlite_spaces::delete(&self.path)
    }

    fn group_limit(&self) -> usize {
        GROUP_LIMIT
    }

    fn bytes(&self) -> Result<u64> {
        Ok(sqlite_spaces::bytes(&self.path))
    }

    fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<CopyOutcome> {
        let explain = |error| self.explain(error);
        let source = self.open()?;
        let explain_copy = |error| super::sqlite_errors::explain(path, error);
        create_private(path)?;
        let mut copy = rusqlite::Connection::open(path).map_err(explain_copy)?;
        // A read transaction pins the snapshot: without it each write of another connection would
        // restart the copy, and the copy of a busy store would never end.
        source
            .inner
            .execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema;")
            .map_err(explain)?;
        let backup =
            rusqlite::backup::Backup::new(&source.inner, &mut copy).map_err(explain_copy)?;
        loop {
            let step = backup.step(COPY_PAGES).map_err(explain_copy)?;
            let pages = backup.progress();
            let total = pages.pagecount.max(0) as u64;
            progress(Progress { done: total - pages.remaining.max(0) as u64, total });
            match step {
                rusqlite::backup::StepResult::Done => break,
                rusqlite::backup::StepResult::More => {}
                _ => std::thread::sleep(jitter(RETRY_DELAY)),
            }
        }
        drop(backup);
        // A copy of a damaged store must not replace the last good copy.
        let check: String =
            copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(explain_copy)?;
        if check != "ok" {
            return Err(self.damaged(&check));
        }
        copy.close().map_err(|(_, error)| explain_copy(error))?;
        File::open(path).and_then(|file| file.sync_all()).map_err(|error| io_error(path, error))?;
        Ok(CopyOutcome::Copied)
    }

    fn integrity(&self) -> Result<Vec<String>> {
        let connection = self.open()?;
        let mut problems = Vec::new();
        for check in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
            let mut statement =
                connection.inner.prepare(check).map_err(|error| self.explain(error))?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0));
            for row in rows.map_err(|error| self.explain(error))? {
                match row {
                    Ok(line) => problems.extend(Some(line).filter(|line| line != "ok")),
                    // The damage may prevent the check from continuing.
                    Err(error) => {
                        problems.push(self.explain(error).to_string());
                        break;
                    }
                }
            }
        }
        Ok(problems)
    }

    fn scrub(
        &self,
        needles: &[Vec<u8>],
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scrubbed> {
        let mut connection = self.open()?;
        let deadline = Instant::now() + self.busy_timeout;
        // VACUUM begins its own transaction; this one only verifies the log if a sync failed.
        connection.begin(Access::Write { wait: self.busy_timeout })?;
        connection.rollback();
        vacuum(&connection.inner, is_cancelled).map_err(|error| self.explain(error))?;
        loop {
            let busy: i64 = connection
                .inner
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .map_err(|error| self.explain(error))?;
            if busy == 0 {
                break;
            }
            if Instant::now() >= deadline {
                let what = "a reader of another process prevented the log from being truncated";
                return Err(Error::new(ErrorKind::Busy, what).remedy(Remedy::RunJobs));
            }
            std::thread::sleep(jitter(CHECKPOINT_RETRY_DELAY));
        }
        let files = [self.path.clone(), with_suffix(&self.path, "-wal")];
        let (found, bytes) = raw_search::search(&files, needles)?;
        Ok(Scrubbed { searched: true, found, bytes, out_of_reach: Vec::new() })
    }
}

struct SqliteConnection {
    inner: rusqlite::Connection,
    path: PathBuf,
    busy_timeout: Duration,
    wal: Arc<Wal>,
    /// The schema that this version of Oneiro knows.
    schema: SchemaSet,
    /// The error of every transaction once a newer version has migrated the store.
    newer: Option<Error>,
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        // Closing the last connection checkpoints the log, which must not happen before it is
        // verified.
        if self.wal.failure().is_some() {
            let no_checkpoint = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = self.inner.set_db_config(no_checkpoint, true);
        }
    }
}

impl SqliteConnection {
    fn explain(&self, error: rusqlite::Error) -> Error {
        explain(&self.path, error)
    }

    /// Refuses a store that a newer version has migrated, possibly while it was open.
    fn check_schema(&mut self) -> Result<()> {
        let sql = "SELECT COALESCE(MAX(version), 0) FROM migrations";
        // Without the table the store is being created.
        let version = self.inner.query_row(sql, [], |row| row.get(0)).unwrap_or(0);
        refuse_newer(version, self.schema).inspect_err(|error| self.newer = Some(error.clone()))
    }

    /// Checks the schema version if SQLite had to prepare a statement again, which it does after a
    /// schema change. The counter is free to read.
    fn check_reprepared(&mut self, reprepared: i32) -> Result<()> {
        if reprepared == 0 { Ok(()) } else { self.check_schema() }
    }

    /// Makes every commit durable after a failed sync, with the write lock held.
    fn recover(&self) -> Result<()> {
        if self.wal.verify_and_rewrite()? == Verified::LogOnly {
            let check: rusqlite::Result<String> =
                self.inner.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
            let check = check.map_err(|error| self.explain(error))?;
            if check != "ok" {
                return Err(damaged(&self.path, &check));
            }
        }
        self.wal.set_recovered()
    }

    /// Retries BEGIN IMMEDIATE with jitter. SQLite's built-in wait sleeps in fixed steps, which starves
    /// competing processes.
    fn begin_immediate(&self, limit: Duration) -> Result<()> {
        let started = Instant::now();
        let mut sleep = MIN_LOCK_SLEEP;
        self.inner.busy_timeout(Duration::ZERO).map_err(|error| self.explain(error))?;
        let begun = loop {
            match self.inner.prepare_cached("BEGIN IMMEDIATE").and_then(|mut s| s.execute([])) {
                Ok(_) => break Ok(()),
                Err(error) if is_busy(&error) => {
                    let waited = started.elapsed();
                    if waited >= limit {
                        break Err(busy(&self.path, waited));
                    }
                    if waited < YIELD_TIME {
                        std::thread::yield_now();
                    } else {
                        std::thread::sleep(jitter(sleep).min(limit - waited));
                        sleep = (sleep * 3 / 2).min(MAX_LOCK_SLEEP);
                    }
                }
                Err(error) => break Err(self.explain(error)),
            }
        };
        self.inner.busy_timeout(self.busy_timeout).map_err(|error| self.explain(error))?;
        begun
    }
}

impl Connection for SqliteConnection {
    fn begin(&mut self, access: Access) -> Result<()> {
        if let Some(error) = &self.newer {
            return Err(error.clone());
        }
        match access {
            Access::Read => {
                let begun = self.inner.prepare_cached("BEGIN").and_then(|mut s| s.execute([]));
                begun.map(|_| ()).map_err(|error| self.explain(error))
            }
            Access::Write { .. } | Access::Migrate => {
                let limit = match access {
                    Access::Write { wait } => wait,
                    Access::Read | Access::Migrate => self.busy_timeout,
                };
                self.begin_immediate(limit)?;
                if self.wal.failure().is_none() {
                    return Ok(());
                }
                self.recover().inspect_err(|_| self.rollback())
            }
        }
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let run = || -> rusqlite::Result<(usize, i32)> {
            let mut statement = self.inner.prepare_cached(sql)?;
            let rows = statement.execute(rusqlite::params_from_iter(values))?;
            Ok((rows, statement.reset_status(StatementStatus::RePrepare)))
        };
        let (rows, reprepared) = run().map_err(|error| self.explain(error))?;
        self.check_reprepared(reprepared).map(|()| rows as u64)
    }

    fn execute_script(&mut self, sql: &str) -> Result<()> {
        self.inner.execute_batch(sql).map_err(|error| self.explain(error))
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let explain = |error| self.explain(error);
        let mut statement = self.inner.prepare_cached(sql).map_err(explain)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            each(&SqliteRow(row))?;
        }
        drop(rows);
        let reprepared = statement.reset_status(StatementStatus::RePrepare);
        drop(statement);
        self.check_reprepared(reprepared)
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.inner.prepare_cached("COMMIT").and_then(|mut s| s.execute([]));
        done.map(|_| ()).map_err(|error| self.explain(error))
    }

    fn rollback(&mut self) {
        if !self.inner.is_autocommit() {
            // If it fails the transaction stays open, which `state` reports.
            let _ = self.inner.execute_batch("ROLLBACK");
        }
    }

    fn rows_per_insert(&self) -> usize {
        1
    }

    fn state(&self) -> State {
        if self.inner.is_autocommit() { State::Idle } else { State::Open }
    }
}

/// A random duration between 0.5 and 1.5 times `mean`, so that processes do not retry in step.
fn jitter(mean: Duration) -> Duration {
    mean.mul_f64(0.5 + fastrand::f64())
}
