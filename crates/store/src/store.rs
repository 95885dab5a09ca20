//! [`Store`]: one space, opened. Reads share a pool, writes share commits, and what only an engine
//! can do (copy, scrub, size) is passed on to it.

use crate::backend::fault::{Fault, FaultBackend};
use crate::backend::files::{resolve, with_suffix};
use crate::backend::postgres::Postgres;
use crate::backend::sqlite::Sqlite;
use crate::backend::{Access, Backend, Connection, Engine};
use crate::backup_files::{self, Existing, Found, Part, Placed, refuse_existing};
use crate::backups::{self, Reason};
use crate::group::Writers;
use crate::options::Options;
use crate::pool::Pool;
use crate::{Target, Tx, copy, schema};
use oneiro_model::{Actor, Error, ErrorKind, Remedy, Result, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// One space, opened. Cheap to clone; any number of threads may use it, and any number of
/// processes may open the same space.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// Who writes through this clone.
    actor: Arc<Actor>,
}

struct Inner {
    // Connections are dropped before the back end that made them.
    writers: Writers,
    pool: Pool,
    backend: Box<dyn Backend>,
    target: Target,
    schema: i64,
    /// Held by whoever scrubs.
    scrubbing: Mutex<()>,
}

/// How often somebody who waits to scrub looks whether it is their turn, or no longer wanted.
const SCRUB_POLL: Duration = Duration::from_millis(20);

/// How far a long piece of work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

/// What a scrub did and found.
#[derive(Debug, Clone, Default)]
pub struct Scrubbed {
    /// Whether raw bytes could be searched.
    pub searched: bool,
    /// Which needles were found, by their index.
    pub found: Vec<usize>,
    /// Bytes searched.
    pub bytes: u64,
    /// What this engine cannot reach.
    pub out_of_reach: Vec<String>,
}

impl Store {
    /// Opens a space, creating or migrating it as needed.
    pub fn open(target: &Target, options: &Options, now: Timestamp) -> Result<Store> {
        let target = &target.resolved();
        Store::over(backend(target, options)?, target, options, now)
    }

    /// Opens a space through a back end that fails as planned.
    pub fn open_with_faults(
        target: &Target,
        options: &Options,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Store> {
        let target = &target.resolved();
        let inner = backend(target, options)?;
        let backend = Box::new(FaultBackend { inner, fault: fault.clone() });
        Store::over(backend, target, options, now)
    }

    fn over(
        backend: Box<dyn Backend>,
        target: &Target,
        options: &Options,
        now: Timestamp,
    ) -> Result<Store> {
        if let Target::File { path, .. } = target
            && options.must_exist
            && !path.exists()
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
                copy = Some(MigrationCopy::announce(connection.as_mut(), path, version, now)?);
                backend.make_durable()?;
            }
            let migrated = schema::migrate(
                backend.as_ref(),
                connection.as_mut(),
                options.schema,
                now,
                |version| copy.as_mut().map_or(Ok(()), |copy| copy.make(backend.as_ref(), version)),
            );
            let noted = copy.map_or(Ok(()), |copy| copy.finish(connection.as_mut(), now));
            migrated.and(noted)?;
            backend.make_durable()?;
        }
        let inner = Arc::new(Inner {
            writers: Writers::new(connection, options.busy_timeout),
            pool: Pool::new(options.readers, options.busy_timeout),
            backend,
            target: target.clone(),
            schema: known,
            scrubbing: Mutex::default(),
        });
        Ok(Store { inner, actor: Arc::default() })
    }

    /// The same store, written to by somebody else.
    #[must_use]
    pub fn acting_as(&self, actor: Arc<Actor>) -> Store {
        Store { inner: Arc::clone(&self.inner), actor }
    }

    /// Runs `work` in one snapshot.
    pub fn read<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.inner.pool.read(self.inner.backend.as_ref(), |connection| work(&Tx::new(connection)))
    }

    /// Runs `work` as one write: all of it is durable when this returns, or none of it is kept.
    /// It may be run more than once, so it must do nothing but talk to the transaction.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let actor = Arc::clone(&self.actor);
        self.inner.writers.write(self.inner.backend.as_ref(), move |tx| {
            tx.act_as(&actor);
            work(tx)
        })
    }

    /// Runs a large write in a transaction of its own. `work` is run once.
    pub fn write_bulk<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.inner.writers.alone(self.inner.backend.as_ref(), &|tx| {
            tx.act_as(&self.actor);
            work(tx)
        })
    }

    /// Makes the tables of the text index that are missing.
    pub fn mend_index_tables(&self) -> Result<()> {
        let statements = schema::index_tables(self.engine());
        self.write_bulk(|tx| {
            statements.iter().try_for_each(|statement| tx.execute(statement, &[]).map(|_| ()))
        })
    }

    /// Runs a write of derived data, which may be lost to a power cut without harm: nobody waits
    /// for the disk. `work` is run once.
    pub fn write_derived<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.inner.writers.alone_unsynced(self.inner.backend.as_ref(), &work)
    }

    /// How the writes of this process were committed so far.
    pub fn write_figures(&self) -> crate::WriteFigures {
        self.inner.writers.figures()
    }

    /// How many writes of this process wait for their turn.
    pub fn queued(&self) -> usize {
        self.inner.writers.queued()
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

    /// Copies the space into a new SQLite file while others write, and remembers where.
    pub fn backup(
        &self,
        path: &Path,
        now: Timestamp,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<()> {
        let path = &resolve(path);
        refuse_existing(path)?;
        // What others left behind is no reason not to make a new one.
        let _ = self.remove_abandoned_backups();
        let part = Part::begin(path)?;
        let (part_name, name) = (absolute(part.path()), absolute(path));
        // Both names are remembered before the copy is begun: an interrupted copy holds as much as a
        // finished one, and a crash after it got its name must not leave one that nobody knows of.
        self.announce(&[part_name.clone(), name.clone()], now)?;
        let copied = match self.inner.backend.copy_to(part.path(), progress) {
            Ok(Some(())) => Ok(()),
            Ok(None) => copy::rows_to_file(self, part.path(), now, progress),
            Err(error) => Err(error),
        };
        let placed = copied
            .and_then(|()| self.forget_in_copy(part.path(), [part_name.clone(), name.clone()], now))
            .and_then(|()| part.place(path, Existing::Keep));
        drop(part);
        let is_placed = placed.is_ok();
        let noted = self.write(move |tx| {
            backups::forget(tx, &part_name)?;
            match is_placed {
                true => backups::record(tx, &name, now, Reason::Backup.finished()),
                false => backups::withdraw(tx, &name, Reason::Backup),
            }
        });
        match placed? {
            Placed::Unsynced(error) => Err(error),
            Placed::Durable => noted.map_err(|error| {
                let what = format!("the backup {} is complete, but not recorded", path.display());
                Error::new(error.kind(), format!("{what}: {error}")).because(error)
            }),
        }
    }

    fn announce(&self, names: &[String], now: Timestamp) -> Result<()> {
        let names = names.to_vec();
        self.write(move |tx| {
            names.iter().try_for_each(|name| backups::announce(tx, name, now, Reason::Backup))
        })
    }

    /// Takes the note of the unfinished copy out of the copy itself.
    fn forget_in_copy(&self, part: &Path, names: [String; 2], now: Timestamp) -> Result<()> {
        let target = Target::File { path: part.to_owned(), space: self.target().space().clone() };
        let copy = Store::open(&target, &Options { readers: 1, ..Options::default() }, now)?;
        copy.write(move |tx| {
            names.iter().try_for_each(|name| backups::withdraw(tx, name, Reason::Backup))
        })
    }

    /// Removes copies that were begun by processes that are gone, and sets the record of those right
    /// that they finished. Answers the paths of the files that were removed.
    pub fn remove_abandoned_backups(&self) -> Result<Vec<String>> {
        let unfinished = self.read(backups::all)?.into_iter().filter_map(|copy| {
            let reason = Reason::of_unfinished(&copy.reason)?;
            let found = backup_files::clear(Path::new(&copy.path));
            Some((copy, reason, found))
        });
        let unfinished: Vec<_> = unfinished.collect();
        let is_coming = |path: &str| {
            unfinished.iter().any(|(part, _, found)| {
                *found == Found::InUse && backup_files::is_part_of(&part.path, path)
            })
        };
        for (copy, reason, found) in &unfinished {
            let (path, at, reason) = (copy.path.clone(), copy.at, *reason);
            match found {
                Found::Finished => {
                    self.write(move |tx| backups::record(tx, &path, at, reason.finished()))?;
                }
                // A server is used from several machines, and the file may be on another one.
                Found::Missing if self.engine() == Engine::Postgres || is_coming(&path) => {}
                Found::Missing | Found::Removed => {
                    self.write(move |tx| backups::withdraw(tx, &path, reason))?;
                }
                Found::InUse | Found::Unreachable => {}
            }
        }
        let removed = unfinished.into_iter().filter(|(_, _, found)| *found == Found::Removed);
        Ok(removed.map(|(copy, ..)| copy.path).collect())
    }

    /// What the engine itself finds wrong with its files; empty when nothing is.
    pub fn integrity(&self) -> Result<Vec<String>> {
        self.inner.backend.integrity()
    }

    /// Leaves no trace of deleted rows, then looks for `needles` in the raw bytes. Ends early, with
    /// an error, when `stopped` says so.
    pub fn scrub(
        &self,
        needles: &[Vec<u8>],
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scrubbed> {
        let _alone = self.wait_to_scrub(stopped)?;
        self.inner.backend.scrub(needles, stopped)
    }

    /// Waits until nobody else in this process scrubs: that takes as long as the store is large, and
    /// the locks of the engine would give up long before.
    fn wait_to_scrub(&self, stopped: &(dyn Fn() -> bool + Sync)) -> Result<MutexGuard<'_, ()>> {
        loop {
            match self.inner.scrubbing.try_lock() {
                Ok(alone) => return Ok(alone),
                // It guards nothing but the turn.
                Err(TryLockError::Poisoned(alone)) => return Ok(alone.into_inner()),
                Err(TryLockError::WouldBlock) if stopped() => {
                    return Err(Error::new(ErrorKind::Busy, "another scrub of this store runs")
                        .remedy(Remedy::RunJobs));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(SCRUB_POLL),
            }
        }
    }
}

pub(crate) fn backend(target: &Target, options: &Options) -> Result<Box<dyn Backend>> {
    Ok(match target {
        Target::File { path, .. } => Box::new(Sqlite::new(path, options)),
        Target::Postgres { url, space } => Box::new(Postgres::new(url, space, options)?),
    })
}

/// A copy beside the file before its schema changes, in place of one that an earlier, failed
/// migration left. A PostgreSQL migration is one transaction and its server has backups of its own.
struct MigrationCopy {
    part: Part,
    place: PathBuf,
    is_made: bool,
}

impl MigrationCopy {
    /// Remembers the copy in the old schema, so that an erasure knows of it whatever happens next.
    fn announce(
        connection: &mut dyn Connection,
        store: &Path,
        version: i64,
        now: Timestamp,
    ) -> Result<MigrationCopy> {
        let place = with_suffix(store, &format!(".schema-{version}.bak"));
        let part = Part::begin(&place)?;
        let names = [absolute(part.path()), absolute(&place)];
        write_on(connection, |tx| {
            names.iter().try_for_each(|name| backups::announce(tx, name, now, Reason::Migration))
        })?;
        Ok(MigrationCopy { part, place, is_made: false })
    }

    /// Sets the record right, whether the migration succeeded or not. A copy that this process did
    /// not make may be one that another makes, so only its own part is forgotten.
    fn finish(self, connection: &mut dyn Connection, now: Timestamp) -> Result<()> {
        let (part, place) = (absolute(self.part.path()), absolute(&self.place));
        let is_made = self.is_made;
        let is_there = self.place.exists();
        drop(self);
        write_on(connection, |tx| {
            backups::forget(tx, &part)?;
            match (is_made, is_there) {
                (true, _) => backups::record(tx, &place, now, Reason::Migration.finished()),
                (false, true) => Ok(()),
                (false, false) => backups::withdraw(tx, &place, Reason::Migration),
            }
        })
    }

    fn make(&mut self, backend: &dyn Backend, version: i64) -> Result<()> {
        // Another process brought the store to a version between, after this one looked.
        let suffix = format!(".schema-{version}.bak");
        if !self.place.to_string_lossy().ends_with(&suffix) {
            return Err(Error::new(ErrorKind::Busy, "another process is migrating the store")
                .remedy("try again"));
        }
        backend.copy_to(self.part.path(), &mut |_| {})?;
        let placed = self.part.place(&self.place, Existing::Replace)?;
        self.is_made = true;
        match placed {
            Placed::Durable => Ok(()),
            Placed::Unsynced(error) => Err(error),
        }
    }
}

/// One write before or after a migration, on a connection that nobody else uses yet.
fn write_on(
    connection: &mut dyn Connection,
    work: impl FnOnce(&Tx<'_>) -> Result<()>,
) -> Result<()> {
    connection.begin(Access::Migrate)?;
    let done = work(&Tx::new(&mut *connection)).and_then(|()| connection.commit());
    done.inspect_err(|_| connection.rollback())
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.to_string_lossy().into_owned()
}
