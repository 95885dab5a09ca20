//! [`Store`]: one space, opened. Reads share a pool, writes share commits, and what only an engine
//! can do (copy, scrub, size) is passed on to it.

use crate::backend::fault::{Fault, FaultBackend};
use crate::backend::files::resolve;
use crate::backend::postgres::Postgres;
use crate::backend::sqlite::Sqlite;
use crate::backend::{Backend, Engine};
use crate::group::Writers;
use crate::options::Options;
use crate::pool::Pool;
use crate::{Target, Tx, backups, copy, schema};
use oneiro_model::{Error, ErrorKind, Result, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One space, opened. Cheap to clone; any number of threads may use it, and any number of
/// processes may open the same space.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    // Connections are dropped before the back end that made them.
    writers: Writers,
    pool: Pool,
    backend: Box<dyn Backend>,
    target: Target,
    schema: i64,
}

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
        if options.must_exist {
            target.check_exists()?;
        }
        let mut connection = backend.connect()?;
        let version = schema::version(backend.engine(), connection.as_mut())?;
        schema::refuse_newer(version, options.schema)?;
        let known = options.schema.len() as i64;
        let mut copied = None;
        if options.must_exist && version == 0 {
            target.refuse_new()?;
        }
        if version < known {
            schema::migrate(
                backend.as_ref(),
                connection.as_mut(),
                options.schema,
                now,
                |version| {
                    copied = copy_before_migration(backend.as_ref(), target, version)?;
                    Ok(())
                },
            )?;
            backend.make_durable()?;
        }
        let store = Store(Arc::new(Inner {
            writers: Writers::new(connection, options.busy_timeout),
            pool: Pool::new(options.readers, options.busy_timeout),
            backend,
            target: target.clone(),
            schema: known,
        }));
        if let Some(path) = copied {
            store.record_copy(&path, now, "migration")?;
        }
        Ok(store)
    }

    /// Runs `work` in one snapshot.
    pub fn read<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.0.pool.read(self.0.backend.as_ref(), |connection| work(&Tx::new(connection)))
    }

    /// Runs `work` as one write: all of it is durable when this returns, or none of it is kept.
    /// It may be run more than once, so it must do nothing but talk to the transaction.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        self.0.writers.write(self.0.backend.as_ref(), work)
    }

    /// Runs a large write in a transaction of its own. `work` is run once.
    pub fn write_bulk<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.0.writers.alone(self.0.backend.as_ref(), &work)
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
        self.0.writers.alone_unsynced(self.0.backend.as_ref(), &work)
    }

    /// How the writes of this process were committed so far.
    pub fn write_figures(&self) -> crate::WriteFigures {
        self.0.writers.figures()
    }

    /// How many writes of this process wait for their turn.
    pub fn queued(&self) -> usize {
        self.0.writers.queued()
    }

    /// Which engine keeps the space.
    pub fn engine(&self) -> Engine {
        self.0.backend.engine()
    }

    /// Where the space is kept.
    pub fn target(&self) -> &Target {
        &self.0.target
    }

    /// The version of the schema.
    pub fn schema(&self) -> i64 {
        self.0.schema
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> Result<u64> {
        self.0.backend.bytes()
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
        let part = part_of(path);
        // Remembered before it is begun: an interrupted copy holds as much as a finished one.
        self.record_copy(&part, now, "unfinished backup")?;
        let copied = match self.0.backend.copy_to(&part, progress) {
            Ok(Some(())) => Ok(()),
            Ok(None) => copy::rows_to_file(self, &part, now, progress),
            Err(error) => Err(error),
        };
        let moved = copied
            .and_then(|()| self.forget_in_copy(&part, now))
            .and_then(|()| publish(&part, path));
        if moved.is_err() {
            discard(&part);
        }
        let (part, copy) = (absolute(&part), moved.is_ok().then(|| absolute(path)));
        self.write(move |tx| {
            backups::forget(tx, &part)?;
            copy.iter().try_for_each(|copy| backups::record(tx, copy, now, "backup"))
        })?;
        moved
    }

    /// Takes the note of the unfinished copy out of the copy itself.
    fn forget_in_copy(&self, part: &Path, now: Timestamp) -> Result<()> {
        let target = Target::File { path: part.to_owned(), space: self.target().space().clone() };
        let copy = Store::open(&target, &Options { readers: 1, ..Options::default() }, now)?;
        let path = absolute(part);
        copy.write(move |tx| backups::forget(tx, &path))
    }

    /// What the engine itself finds wrong with its files; empty when nothing is.
    pub fn integrity(&self) -> Result<Vec<String>> {
        self.0.backend.integrity()
    }

    /// Leaves no trace of deleted rows, then looks for `needles` in the raw bytes.
    pub fn scrub(&self, needles: &[Vec<u8>]) -> Result<Scrubbed> {
        self.0.backend.scrub(needles)
    }

    fn record_copy(&self, path: &Path, now: Timestamp, reason: &'static str) -> Result<()> {
        let path = absolute(path);
        self.write(move |tx| backups::record(tx, &path, now, reason))
    }
}

fn backend(target: &Target, options: &Options) -> Result<Box<dyn Backend>> {
    Ok(match target {
        Target::File { path, .. } => Box::new(Sqlite::new(path, options)),
        Target::Postgres { url, space } => Box::new(Postgres::new(url, space, options)?),
    })
}

/// A copy beside the file before its schema changes, in place of one that an earlier, failed
/// migration left. A PostgreSQL migration is one transaction and its server has backups of its own.
fn copy_before_migration(
    backend: &dyn Backend,
    target: &Target,
    version: i64,
) -> Result<Option<PathBuf>> {
    let Target::File { path, .. } = target else { return Ok(None) };
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".schema-{version}.bak"));
    let path = PathBuf::from(name);
    let part = part_of(&path);
    let copied = backend.copy_to(&part, &mut |_| {}).and_then(|_| publish(&part, &path));
    if copied.is_err() {
        discard(&part);
    }
    copied.map(|()| Some(path))
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.to_string_lossy().into_owned()
}

fn refuse_existing(path: &Path) -> Result<()> {
    match path.exists() {
        true => Err(Error::conflict(format!("{} exists already", path.display()))
            .remedy("name a file that does not exist, or move that one away")),
        false => Ok(()),
    }
}

/// A name beside `path` that no other copy uses, of this process or another.
fn part_of(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}.part", std::process::id()));
    PathBuf::from(name)
}

fn publish(part: &Path, path: &Path) -> Result<()> {
    // The folder is synced too: without that, power loss may take the new name back.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let moved = std::fs::rename(part, path)
        .and_then(|()| std::fs::File::open(folder))
        .and_then(|folder| folder.sync_all());
    moved.map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("{}: {error}", path.display())).because(error)
    })
}

fn discard(part: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = part.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}
