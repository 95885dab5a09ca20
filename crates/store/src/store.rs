//! [`Store`]: an open space. Reads use a pool of connections, writes use group commit, and what only
//! an engine can do (copy, scrub, size) is passed to the back end.

use crate::backend::fault::{Fault, FaultBackend};
use crate::backend::files::{resolve, with_suffix};
use crate::backend::postgres::Postgres;
use crate::backend::sqlite::Sqlite;
use crate::backend::{Access, Backend, Connection, CopyOutcome, Engine};
use crate::backup_files::{self, Cleanup, IfExists, PartialCopy, Placed, refuse_existing};
use crate::backups::{self, Reason};
use crate::group_commit::{CommitStats, GroupCommit};
use crate::options::Options;
use crate::pool::Pool;
use crate::{Target, Tx, copy, schema};
use oneiro_model::{Actor, Error, ErrorKind, Remedy, Result, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// An open space. Cheap to clone; any number of threads may use it, and any number of processes may
/// open the same space.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// Who writes through this clone.
    actor: Arc<Actor>,
    /// How long its writes wait for other writers, if not for the busy timeout.
    max_write_wait: Option<Duration>,
}

struct Inner {
    // Fields drop in order: connections before the back end that made them.
    commits: GroupCommit,
    pool: Pool,
    backend: Box<dyn Backend>,
    target: Target,
    schema: i64,
    /// Whether the space was created by opening it.
    is_new: bool,
    /// Locked while a scrub runs.
    scrub_lock: Mutex<()>,
}

/// How often a waiting scrub checks for the lock and for cancellation.
const SCRUB_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Progress of a long operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Pages or rows done.
    pub done: u64,
    /// Pages or rows in total.
    pub total: u64,
}

/// The result of a scrub.
#[derive(Debug, Clone, Default)]
pub struct Scrubbed {
    /// Whether raw bytes could be searched.
    pub searched: bool,
    /// Which needles were found, by their index.
    pub found: Vec<usize>,
    /// Bytes searched.
    pub bytes: u64,
    /// Copies of erased text that this engine cannot reach, described for people.
    pub out_of_reach: Vec<String>,
}

impl Store {
    /// Opens a space; creates or migrates it as needed.
    pub fn open(target: &Target, options: &Options, now: Timestamp) -> Result<Store> {
        let target = &target.resolved();
        Store::open_backend(new_backend(target, options)?, target, options, now)
    }

    /// Opens a space through a back end that fails as planned.
    pub fn open_with_faults(
        target: &Target,
        options: &Options,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Store> {
        let target = &target.resolved();
        let inner = new_backend(target, options)?;
        let backend = Box::new(FaultBackend { inner, fault: fault.clone() });
        Store::open_backend(backend, target, options, now)
    }

    fn open_backend(
        backend: Box<dyn Backend>,
        target: &Target,
        options: &Options,
        now: Timestamp,
    ) -> Result<Store> {
        if let Target::File { path, .. } = target
            && options.must_exist
            && !holds_a_store(path)
        {
            return Err(target.not_found(&backend.spaces().unwrap_or_default()));
        }
        let mut connection = backend.connect()?;
        let version = schema::version(backend.engine(), connection.as_mut())?;
        schema::refuse_newer(version, options.schema)?;
        let known = options.schema.len() as i64;
        // An empty file is a store that another process is creating.
        if options.must_exist && version == 0 && backend.engine() == Engine::Postgres {
            return Err(target.not_found(&backend.spaces().unwrap_or_default()));
        }
        let mut copy = None;
        if version < known {
            if version > 0
                && let Target::File { path, .. } = target
            {
                copy = Some(MigrationCopy::record_unfinished(
                    connection.as_mut(),
                    path,
                    version,
                    now,
                )?);
                backend.make_durable()?;
            }
            let migrated = schema::migrate(
                backend.as_ref(),
                connection.as_mut(),
                options.schema,
                now,
                |version| {
                    copy.as_mut().map_or(Ok(()), |copy| copy.create(backend.as_ref(), version))
                },
            );
            let recorded = copy.map_or(Ok(()), |copy| copy.finish(connection.as_mut(), now));
            migrated.and(recorded)?;
            backend.make_durable()?;
        }
        let inner = Arc::new(Inner {
            commits: GroupCommit::new(connection, options.busy_timeout),
            pool: Pool::new(options.readers, options.busy_timeout),
            backend,
            target: target.clone(),
            schema: known,
            is_new: version == 0,
            scrub_lock: Mutex::default(),
        });
        Ok(Store { inner, actor: Arc::default(), max_write_wait: None })
    }

    /// Whether this process found no space and created it.
    pub fn is_new(&self) -> bool {
        self.inner.is_new
    }

    /// Who its writes are recorded as.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The same store, whose writes are recorded as those of `actor`.
    #[must_use]
    pub fn acting_as(&self, actor: Arc<Actor>) -> Store {
        Store { actor, ..self.clone() }
    }

    /// The same store, whose writes wait at most this long for other writers, and no longer than the
    /// busy timeout: for what is written beside a read, which must not wait for writers.
    #[must_use]
    pub fn with_max_write_wait(&self, wait: Duration) -> Store {
        Store { max_write_wait: Some(wait), ..self.clone() }
    }

    /// Until when a write that starts now waits for other writers.
    fn write_deadline(&self) -> Instant {
        let latest = self.inner.commits.deadline();
        self.max_write_wait.map_or(latest, |wait| latest.min(Instant::now() + wait))
    }

    /// Runs `work` on one snapshot.
    pub fn read<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.inner.pool.read(self.inner.backend.as_ref(), |connection| work(&Tx::new(connection)))
    }

    /// Runs `work` as one atomic write, which is durable when this returns `Ok`. `work` may run more
    /// than once, so it must have no effects outside the transaction.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let actor = Arc::clone(&self.actor);
        self.inner.commits.write(self.inner.backend.as_ref(), self.write_deadline(), move |tx| {
            tx.set_actor(&actor);
            work(tx)
        })
    }

    /// Runs a large write in a transaction of its own.
    pub fn write_bulk<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.inner.commits.write_bulk(self.inner.backend.as_ref(), self.write_deadline(), |tx| {
            tx.set_actor(&self.actor);
            work(tx)
        })
    }

    /// Creates the tables of the text index that are missing.
    pub fn create_missing_index_tables(&self) -> Result<()> {
        let statements = schema::index_tables(self.engine());
        self.write_bulk(|tx| {
            statements.iter().try_for_each(|statement| tx.execute(statement, &[]).map(|_| ()))
        })
    }

    /// Runs a write of derived data in a transaction of its own, without waiting for the disk: a power
    /// cut may undo it.
    pub fn write_derived<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.inner.commits.write_unsynced(self.inner.backend.as_ref(), self.write_deadline(), work)
    }

    /// Writes and commits of this process so far.
    pub fn commit_stats(&self) -> CommitStats {
        self.inner.commits.stats()
    }

    /// How many writes of this process are queued.
    pub fn queued_writes(&self) -> usize {
        self.inner.commits.queue_len()
    }

    /// How many writes of this process have no result yet, including those that wait for the disk.
    pub fn pending_writes(&self) -> usize {
        self.inner.commits.pending()
    }

    /// Which engine keeps the space.
    pub fn engine(&self) -> Engine {
        self.inner.backend.engine()
    }

    /// Where the space is kept.
    pub fn target(&self) -> &Target {
        &self.inner.target
    }

    /// The version of the schema.
    pub fn schema(&self) -> i64 {
        self.inner.schema
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> Result<u64> {
        self.inner.backend.bytes()
    }

    /// Copies the space into a new SQLite file while others write, and records the path of the copy.
    pub fn backup(
        &self,
        path: &Path,
        now: Timestamp,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<()> {
        let path = &resolve(path);
        refuse_existing(path)?;
        // Failing to clean up after others does not prevent a new backup.
        let _ = self.remove_abandoned_backups();
        let part = PartialCopy::create(path)?;
        let (part_name, name) = (absolute(part.path()), absolute(path));
        // Both paths are recorded before the copy starts: an interrupted copy holds as much as a
        // finished one, and an erasure must know of every copy, also after a crash.
        self.record_unfinished_backups([part_name.clone(), name.clone()], now)?;
        let copied = match self.inner.backend.copy_to(part.path(), progress) {
            Ok(CopyOutcome::Copied) => Ok(()),
            Ok(CopyOutcome::Unsupported) => copy::rows_to_file(self, part.path(), now, progress),
            Err(error) => Err(error),
        };
        let placed = copied
            .and_then(|()| {
                let names = [part_name.clone(), name.clone()];
                self.remove_records_from_copy(part.path(), names, now)
            })
            .and_then(|()| part.move_to(path, IfExists::Fail));
        drop(part);
        let is_placed = placed.is_ok();
        let recorded = self.write(move |tx| {
            backups::remove(tx, &part_name)?;
            if is_placed {
                backups::record(tx, &name, now, Reason::Backup.finished())
            } else {
                backups::remove_unfinished(tx, &name, Reason::Backup)
            }
        });
        match placed? {
            Placed::Unsynced(error) => Err(error),
            Placed::Durable => recorded.map_err(|error| {
                let what = format!("the backup {} is complete, but not recorded", path.display());
                Error::new(error.kind(), format!("{what}: {error}")).because(error)
            }),
        }
    }

    fn record_unfinished_backups(&self, names: [String; 2], now: Timestamp) -> Result<()> {
        self.write(move |tx| {
            let record = |name| backups::record_unfinished(tx, name, now, Reason::Backup);
            names.iter().try_for_each(|name| record(name))
        })
    }

    /// Removes the records of the unfinished copy, which were copied with everything else.
    fn remove_records_from_copy(
        &self,
        part: &Path,
        names: [String; 2],
        now: Timestamp,
    ) -> Result<()> {
        let target = Target::File { path: part.to_owned(), space: self.target().space().clone() };
        let copy = Store::open(&target, &Options { readers: 1, ..Options::default() }, now)?;
        copy.write(move |tx| {
            let remove = |name| backups::remove_unfinished(tx, name, Reason::Backup);
            names.iter().try_for_each(|name| remove(name))
        })
    }

    /// Removes unfinished copies of processes that have ended, and corrects the records of copies that
    /// they did finish. Returns the paths of the removed files.
    pub fn remove_abandoned_backups(&self) -> Result<Vec<String>> {
        let unfinished = self.read(backups::all)?.into_iter().filter_map(|copy| {
            let reason = Reason::parse_unfinished(&copy.reason)?;
            let cleanup = backup_files::clean_up(Path::new(&copy.path));
            Some((copy, reason, cleanup))
        });
        let unfinished: Vec<_> = unfinished.collect();
        let is_in_progress = |path: &str| {
            unfinished.iter().any(|(part, _, cleanup)| {
                *cleanup == Cleanup::InUse && backup_files::is_part_of(&part.path, path)
            })
        };
        for (copy, reason, cleanup) in &unfinished {
            let (path, at, reason) = (copy.path.clone(), copy.at, *reason);
            match cleanup {
                Cleanup::Finished => {
                    self.write(move |tx| backups::record(tx, &path, at, reason.finished()))?;
                }
                // A server has clients on several machines; the file may be on another one.
                Cleanup::Missing if self.engine() == Engine::Postgres || is_in_progress(&path) => {}
                Cleanup::Missing | Cleanup::Removed => {
                    self.write(move |tx| backups::remove_unfinished(tx, &path, reason))?;
                }
                Cleanup::InUse | Cleanup::Unreachable => {}
            }
        }
        let removed = unfinished.into_iter().filter(|(_, _, it)| *it == Cleanup::Removed);
        Ok(removed.map(|(copy, ..)| copy.path).collect())
    }

    /// Problems that the engine itself finds in its files.
    pub fn integrity(&self) -> Result<Vec<String>> {
        self.inner.backend.integrity()
    }

    /// Removes every trace of deleted rows from the files, then searches their raw bytes for `needles`.
    /// Fails early when `is_cancelled` returns true.
    pub fn scrub(
        &self,
        needles: &[Vec<u8>],
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scrubbed> {
        let _lock = self.lock_scrub(is_cancelled)?;
        self.inner.backend.scrub(needles, is_cancelled)
    }

    /// Waits until no other scrub of this process runs. A scrub of a large store takes longer than the
    /// engine waits for its own locks.
    fn lock_scrub(&self, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<MutexGuard<'_, ()>> {
        loop {
            match self.inner.scrub_lock.try_lock() {
                Ok(lock) => return Ok(lock),
                // The mutex protects no data, so a panic leaves nothing inconsistent.
                Err(TryLockError::Poisoned(lock)) => return Ok(lock.into_inner()),
                Err(TryLockError::WouldBlock) if is_cancelled() => {
                    return Err(Error::new(
                        ErrorKind::Busy,
                        "another scrub of this store is running",
                    )
                    .remedy(Remedy::RunJobs));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(SCRUB_POLL_INTERVAL),
            }
        }
    }
}

pub(crate) fn new_backend(target: &Target, options: &Options) -> Result<Box<dyn Backend>> {
    Ok(match target {
        Target::File { path, .. } => Box::new(Sqlite::new(path, options)),
        Target::Postgres { url, space } => Box::new(Postgres::new(url, space, options)?),
    })
}

/// A copy beside the file, made before its schema changes; it replaces one that an earlier, failed
/// migration left. PostgreSQL needs none: its migration is one transaction, and its server has backups
/// of its own.
struct MigrationCopy {
    part: PartialCopy,
    path: PathBuf,
    is_complete: bool,
}

impl MigrationCopy {
    /// Records the copy in the old schema, so that an erasure knows of it whatever happens next.
    fn record_unfinished(
        connection: &mut dyn Connection,
        store: &Path,
        version: i64,
        now: Timestamp,
    ) -> Result<MigrationCopy> {
        let path = with_suffix(store, &format!(".schema-{version}.bak"));
        let part = PartialCopy::create(&path)?;
        let names = [absolute(part.path()), absolute(&path)];
        write_on(connection, |tx| {
            let record = |name| backups::record_unfinished(tx, name, now, Reason::Migration);
            names.iter().try_for_each(|name| record(name))
        })?;
        Ok(MigrationCopy { part, path, is_complete: false })
    }

    /// Corrects the records, whether the migration succeeded or not. A copy that this process did not
    /// make may be in progress in another, so only the record of its own part is removed.
    fn finish(self, connection: &mut dyn Connection, now: Timestamp) -> Result<()> {
        let (part, path) = (absolute(self.part.path()), absolute(&self.path));
        let is_complete = self.is_complete;
        let exists = self.path.exists();
        drop(self);
        write_on(connection, |tx| {
            backups::remove(tx, &part)?;
            if is_complete {
                backups::record(tx, &path, now, Reason::Migration.finished())
            } else if exists {
                Ok(())
            } else {
                backups::remove_unfinished(tx, &path, Reason::Migration)
            }
        })
    }

    fn create(&mut self, backend: &dyn Backend, version: i64) -> Result<()> {
        // Another process may have migrated the store to a version in between.
        let suffix = format!(".schema-{version}.bak");
        if !self.path.to_string_lossy().ends_with(&suffix) {
            return Err(Error::new(ErrorKind::Busy, "another process is migrating the store")
                .remedy("try again"));
        }
        backend.copy_to(self.part.path(), &mut |_| {})?;
        let placed = self.part.move_to(&self.path, IfExists::Replace)?;
        self.is_complete = true;
        match placed {
            Placed::Durable => Ok(()),
            Placed::Unsynced(error) => Err(error),
        }
    }
}

/// A write before or after a migration, on a connection that nothing else uses yet.
fn write_on(
    connection: &mut dyn Connection,
    work: impl FnOnce(&Tx<'_>) -> Result<()>,
) -> Result<()> {
    connection.begin(Access::Migrate)?;
    let done = work(&Tx::new(&mut *connection)).and_then(|()| connection.commit());
    done.inspect_err(|_| connection.rollback())
}

/// Whether there is something to open. An empty file without a log is not a store, and reading must
/// not make it one.
fn holds_a_store(path: &Path) -> bool {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    bytes(path) > 0 || bytes(Path::new(&log)) > 0
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.to_string_lossy().into_owned()
}
