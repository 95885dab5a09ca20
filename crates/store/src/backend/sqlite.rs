//! SQLite through rusqlite: WAL, foreign keys, one writer at a time by BEGIN IMMEDIATE with
//! bounded, jittered waits. No stray descriptor on the database file is ever closed here, because
//! that would drop the POSIX locks of every connection of this process.

use super::files::{create_private, file_bytes, with_suffix};
use super::foreign::{FileKind, kind_of_file};
use super::sqlite_errors::{busy, damaged, explain, io_error, is_busy};
use super::sqlite_log::{Log, Proof};
use super::sqlite_vacuum::vacuum;
use super::sqlite_values::SqliteRow;
use super::{Access, Backend, Connection, Engine, Row, State, Value, raw_search, sqlite_spaces};
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

/// Marks a file as ours: "Onei".
pub(super) const APPLICATION_ID: i64 = 0x4F6E_6569;

/// Creating a file and opening it must not interleave between threads: the creator closes the
/// descriptor it created the file with.
static CREATE: Mutex<()> = Mutex::new(());

/// How long a writer only gives way to others before it sleeps.
const GIVE_WAY: Duration = Duration::from_micros(300);

pub(crate) struct Sqlite {
    /// Whether the file was opened once: from then on it is never created again, or a reader would
    /// put an empty store in place of one that was moved away.
    was_open: AtomicBool,
    path: PathBuf,
    durability: Durability,
    busy_timeout: Duration,
    log: Arc<Log>,
    schema: SchemaSet,
}

impl Sqlite {
    pub(crate) fn new(path: &Path, options: &Options) -> Sqlite {
        Sqlite {
            was_open: AtomicBool::new(false),
            path: path.to_owned(),
            durability: options.durability,
            busy_timeout: options.busy_timeout,
            log: Arc::new(Log::new(path)),
            schema: options.schema,
        }
    }

    /// A connection to a file that is known to be ours, or new.
    fn open(&self) -> Result<SqliteConnection> {
        let _one_at_a_time = CREATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !self.was_open.load(Ordering::SeqCst) {
            // Before it is opened to be written: closing it then would copy back its log.
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
            log: Arc::clone(&self.log),
            schema: self.schema,
            newer: None,
        };
        self.prepare(&mut connection)?;
        self.was_open.store(true, Ordering::SeqCst);
        self.log.connected();
        connection.check_schema()?;
        Ok(connection)
    }

    fn prepare(&self, connection: &mut SqliteConnection) -> Result<()> {
        connection.inner.set_prepared_statement_cache_capacity(128);
        // Without this guarantee SQLite plans a statement anew for every value bound to it, which
        // costs an append more than everything else it does.
        let stable = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection.inner.set_db_config(stable, true).map_err(|error| self.explain(error))?;
        // Readers meet a lock only while another process recovers or closes the log; SQLite's own
        // wait serves them. Writers wait in `begin`, so that the wait is jittered and bounded.
        let explain = |error| self.explain(error);
        connection.inner.busy_timeout(self.busy_timeout).map_err(explain)?;
        self.check_owner(&connection.inner)?;
        // NORMAL syncs the log before it is copied into the database; `make_durable` syncs it after
        // each commit, which FULL would do with the write lock held.
        let setup = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
                     PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; \
                     PRAGMA journal_size_limit = 67108864;";
        connection.inner.execute_batch(setup).map_err(explain)?;
        let read_only = connection.inner.is_readonly("main").map_err(explain)?;
        if !read_only {
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
                                "the file system of {place} cannot keep a write-ahead log ({mode})"
                            ),
                        )
                        .remedy("keep the store on a local disk, or use PostgreSQL"));
                    }
                    Err(error) if is_busy(&error) && Instant::now() < deadline => {
                        std::thread::sleep(jitter(Duration::from_millis(5)));
                    }
                    Err(error) => return Err(self.explain(error)),
                }
            }
        }
        Ok(())
    }

    /// Refuses a file of somebody else, and one that was cut short; marks a new one as ours.
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
        // Tables first: whoever creates a store marks it before it makes tables, so a file that
        // has tables and no mark is not being created, it is somebody else's.
        let tables = number("SELECT COUNT(*) FROM sqlite_schema")?;
        let owner = number("PRAGMA application_id")?;
        if owner == APPLICATION_ID {
            let is_short = || -> Result<bool> {
                let pages = number("PRAGMA page_count")?;
                let size = number("PRAGMA page_size")?;
                Ok(bytes("-wal") == 0 && (bytes("") as i64) < pages.saturating_mul(size))
            };
            // Twice, because another process may vacuum between the two looks.
            return match is_short()? && is_short()? {
                true => Err(self.damaged("it is shorter than it says: it was cut off")),
                false => Ok(()),
            };
        }
        if owner != 0 || tables != 0 {
            return Err(self.foreign());
        }
        if self.was_open.load(Ordering::SeqCst) {
            return Err(self.damaged("an empty file took its place"));
        }
        let mark = format!("PRAGMA application_id = {APPLICATION_ID}");
        inner.busy_timeout(self.busy_timeout).map_err(|error| self.explain(error))?;
        inner.execute_batch(&mark).map_err(|error| self.explain(error))
    }

    fn foreign(&self) -> Error {
        let place = self.path.display();
        Error::invalid(format!("{place} is a SQLite database, but not a store of Oneiro"))
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
            Durability::Full => self.log.sync(),
        }
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        sqlite_spaces::list(&self.path)
    }

    fn delete(&self) -> Result<()> {
        sqlite_spaces::delete(&self.path)
    }

    fn group_limit(&self) -> usize {
        256
    }

    fn bytes(&self) -> Result<u64> {
        Ok(sqlite_spaces::bytes(&self.path))
    }

    fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Option<()>> {
        let explain = |error| self.explain(error);
        let source = self.open()?;
        let there = |error| super::sqlite_errors::explain(path, error);
        create_private(path)?;
        let mut copy = rusqlite::Connection::open(path).map_err(there)?;
        // A read transaction pins the snapshot: without it each write of another connection would
        // start the copy anew, and a busy store could never be copied.
        source
            .inner
            .execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_schema;")
            .map_err(explain)?;
        let backup = rusqlite::backup::Backup::new(&source.inner, &mut copy).map_err(there)?;
        loop {
            let step = backup.step(1_024).map_err(there)?;
            let at = backup.progress();
            let total = at.pagecount.max(0) as u64;
            progress(Progress { done: total - at.remaining.max(0) as u64, total });
            match step {
                rusqlite::backup::StepResult::Done => break,
                rusqlite::backup::StepResult::More => {}
                _ => std::thread::sleep(jitter(Duration::from_millis(5))),
            }
        }
        drop(backup);
        // A copy of damage must not take the place of the last good copy.
        let sound: String =
            copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(there)?;
        if sound != "ok" {
            return Err(self.damaged(&sound));
        }
        copy.close().map_err(|(_, error)| there(error))?;
        File::open(path).and_then(|file| file.sync_all()).map_err(|error| io_error(path, error))?;
        Ok(Some(()))
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
                    // The damage may keep the check itself from going on.
                    Err(error) => {
                        problems.push(self.explain(error).to_string());
                        break;
                    }
                }
            }
        }
        Ok(problems)
    }

    fn scrub(&self, needles: &[Vec<u8>], stopped: &(dyn Fn() -> bool + Sync)) -> Result<Scrubbed> {
        let mut connection = self.open()?;
        let deadline = Instant::now() + self.busy_timeout;
        // VACUUM begins its own transaction; this one only proves the log if a sync failed.
        connection.begin(Access::Write { wait: self.busy_timeout })?;
        connection.rollback();
        vacuum(&connection.inner, stopped).map_err(|error| self.explain(error))?;
        loop {
            let busy: i64 = connection
                .inner
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .map_err(|error| self.explain(error))?;
            match busy {
                0 => break,
                _ if Instant::now() < deadline => {
                    std::thread::sleep(jitter(Duration::from_millis(20)));
                }
                _ => {
                    return Err(Error::new(
                        ErrorKind::Busy,
                        "a reader of another process kept the log from being emptied",
                    )
                    .remedy(Remedy::RunJobs));
                }
            }
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
    log: Arc<Log>,
    /// What this version of Oneiro knows.
    schema: SchemaSet,
    /// The error of every transaction once a newer version has migrated the store.
    newer: Option<Error>,
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        // The last connection copies the log to the database when it is closed; a log that was not
        // proved may hold anything.
        if self.log.failure().is_some() {
            let keep = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = self.inner.set_db_config(keep, true);
        }
    }
}

impl SqliteConnection {
    fn explain(&self, error: rusqlite::Error) -> Error {
        explain(&self.path, error)
    }

    /// Refuses a store that a newer version migrated, also while it was open.
    fn check_schema(&mut self) -> Result<()> {
        let sql = "SELECT COALESCE(MAX(version), 0) FROM migrations";
        // Without the table the store is only being made.
        let version = self.inner.query_row(sql, [], |row| row.get(0)).unwrap_or(0);
        refuse_newer(version, self.schema).inspect_err(|error| self.newer = Some(error.clone()))
    }

    /// Looks at the version if SQLite had to prepare a statement again, which it does when somebody
    /// changed the schema. Asking that of a statement that has run costs nothing.
    fn after(&mut self, prepared_again: i32) -> Result<()> {
        if prepared_again == 0 { Ok(()) } else { self.check_schema() }
    }

    /// Brings the log to the disk after a sync failed, with the write lock held.
    fn recover(&self) -> Result<()> {
        if self.log.prove()? == Proof::LogOnly {
            let found: rusqlite::Result<String> =
                self.inner.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
            let found = found.map_err(|error| self.explain(error))?;
            if found != "ok" {
                return Err(damaged(&self.path, &found));
            }
        }
        self.log.recovered()
    }

    /// BEGIN IMMEDIATE in a loop of our own: SQLite's built-in wait sleeps in fixed steps, which
    /// starves processes that compete.
    fn begin_immediate(&self, limit: Duration) -> Result<()> {
        let started = Instant::now();
        let mut wait = Duration::from_micros(20);
        self.inner.busy_timeout(Duration::ZERO).map_err(|error| self.explain(error))?;
        let begun = loop {
            let begun =
                self.inner.prepare_cached("BEGIN IMMEDIATE").and_then(|mut s| s.execute([]));
            match begun {
                Ok(_) => break Ok(()),
                Err(error) if is_busy(&error) => {
                    let waited = started.elapsed();
                    if waited >= limit {
                        break Err(busy(&self.path, waited));
                    }
                    // Others hold the lock for less than a sleep takes: at first only give way.
                    match waited < GIVE_WAY {
                        true => std::thread::yield_now(),
                        false => {
                            std::thread::sleep(jitter(wait).min(limit - waited));
                            wait = (wait * 3 / 2).min(Duration::from_millis(10));
                        }
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
                if self.log.failure().is_none() {
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
        let (rows, prepared_again) = run().map_err(|error| self.explain(error))?;
        self.after(prepared_again).map(|()| rows as u64)
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
        let prepared_again = statement.reset_status(StatementStatus::RePrepare);
        drop(statement);
        self.after(prepared_again)
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.inner.prepare_cached("COMMIT").and_then(|mut s| s.execute([]));
        done.map(|_| ()).map_err(|error| self.explain(error))
    }

    fn rollback(&mut self) {
        if !self.inner.is_autocommit() {
            // A rollback that fails leaves the transaction open; `state` then says so.
            let _ = self.inner.execute_batch("ROLLBACK");
        }
    }

    fn rows_at_once(&self) -> usize {
        1
    }

    fn state(&self) -> State {
        match self.inner.is_autocommit() {
            true => State::Idle,
            false => State::Open,
        }
    }
}

/// Between half of `wait` and one and a half, so that processes do not march in step.
fn jitter(wait: Duration) -> Duration {
    wait.mul_f64(0.5 + fastrand::f64())
}
