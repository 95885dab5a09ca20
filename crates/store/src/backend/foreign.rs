//! Reads SQLite files of other programs without ever writing: no checkpoint, and no `-wal` or `-shm` file
//! beside a file that nobody has open.

use super::files::{file_bytes, resolve, with_suffix};
use super::sqlite::APPLICATION_ID;
use super::sqlite_errors::is_busy;
use oneiro_model::{Error, ErrorKind, Remedy, Result};
use rusqlite::types::ValueRef;
use rusqlite::{OpenFlags, params_from_iter};
use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a reader waits for a log that another process is recovering.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of open [`ForeignFile`]s by file.
static OPEN_READERS: Mutex<Option<HashMap<FileId, usize>>> = Mutex::new(None);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(metadata: &std::fs::Metadata) -> Self {
        FileId { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// How a file is protected against concurrent writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignLocking {
    /// Without locks and files beside it, unless the file is in use. The caller checks
    /// [`ForeignFile::is_unchanged`] after reading.
    IfInUse,
    /// With SQLite's locks.
    Always,
}

/// How SQLite opens a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenMode {
    /// Without locks, ignoring the log.
    Immutable,
    /// With locks and the log.
    ReadOnly,
}

/// A SQLite file of another program, open in one snapshot.
pub struct ForeignFile {
    connection: rusqlite::Connection,
    path: PathBuf,
    /// The state of the file when it was opened, if there are no locks that keep the snapshot.
    opened: Option<FileState>,
    /// After the connection: fields are dropped in order, and what is open must be counted.
    counted: CountedReader,
}

/// Changes if the file is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    id: FileId,
    bytes: u64,
    modified: (i64, i64),
    /// Whether there is a log or a journal with content.
    has_log: bool,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct ForeignColumn {
    /// Its name.
    pub name: String,
    /// Its declared type in upper case; empty if it has none.
    pub declared: String,
}

/// Which rows of a table to read.
#[derive(Debug, Clone, Copy)]
pub struct ForeignRows<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns to read, in order.
    pub columns: &'a [String],
    /// The first rowid; rows are returned in the order of their rowids.
    pub from: Option<i64>,
    /// Only rows with this text in this column.
    pub equals: Option<ColumnText<'a>>,
}

/// A condition on a column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnText<'a> {
    /// The column.
    pub column: &'a str,
    /// The text it must have.
    pub text: &'a [u8],
}

/// A value of a row. Text may be invalid UTF-8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ForeignValue<'a> {
    /// NULL.
    Null,
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Text, possibly invalid UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// A row of a foreign file.
pub struct ForeignRow<'r> {
    /// Its rowid.
    pub number: i64,
    row: &'r rusqlite::Row<'r>,
}

impl ForeignRow<'_> {
    /// The value of a column, by its position in the request.
    pub fn value(&self, column: usize) -> ForeignValue<'_> {
        match self.row.get_ref(column + 1) {
            Ok(ValueRef::Integer(value)) => ForeignValue::Int(value),
            Ok(ValueRef::Real(value)) => ForeignValue::Real(value),
            Ok(ValueRef::Text(value)) => ForeignValue::Text(value),
            Ok(ValueRef::Blob(value)) => ForeignValue::Bytes(value),
            Ok(ValueRef::Null) | Err(_) => ForeignValue::Null,
        }
    }
}

/// The kind of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// The file does not exist or is empty.
    Nothing,
    /// A store of Oneiro.
    Ours,
    /// A store of Oneiro by its header, which SQLite cannot read.
    Damaged,
    /// A SQLite database with these tables.
    Sqlite(Vec<String>),
    /// Something else.
    Other,
}

/// The kind of a file, determined without writing to it or creating a file beside it.
pub fn kind_of_file(path: &Path) -> FileKind {
    let path = &resolve(path);
    // An empty file is not opened: SQLite would delete its log.
    if !path.is_file() || file_bytes(path) == 0 {
        return if path.exists() && !path.is_file() { FileKind::Other } else { FileKind::Nothing };
    }
    // First without locks, which leaves no trace. A new database may be in its log only.
    match inspect_file(path, OpenMode::Immutable) {
        FileKind::Sqlite(tables) if tables.is_empty() && has_log(path) => {
            inspect_file(path, OpenMode::ReadOnly)
        }
        // A file that is being written may only seem damaged.
        FileKind::Other if has_our_header(path) => match inspect_file(path, OpenMode::ReadOnly) {
            FileKind::Other => FileKind::Damaged,
            kind => kind,
        },
        kind => kind,
    }
}

/// Whether the header is that of a SQLite database with our application id, at the places where
/// SQLite's file format has them.
fn has_our_header(path: &Path) -> bool {
    let mut header = [0; 72];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok()
        && header.starts_with(b"SQLite format 3\0")
        && header.ends_with(&(APPLICATION_ID as u32).to_be_bytes())
}

fn inspect_file(path: &Path, mode: OpenMode) -> FileKind {
    let Ok(file) = ForeignFile::open_as(path, mode) else { return FileKind::Other };
    let owner = file.connection.query_row("PRAGMA application_id", [], |row| row.get::<_, i64>(0));
    let kind = match owner {
        Ok(APPLICATION_ID) => FileKind::Ours,
        Ok(_) => file.tables().map_or(FileKind::Other, FileKind::Sqlite),
        Err(_) => FileKind::Other,
    };
    match kind {
        // Only this library opens our stores, and it tracks its locks.
        FileKind::Ours => drop(file),
        _ => file.close(),
    }
    kind
}

impl ForeignFile {
    /// Opens a file for reading, in one snapshot.
    pub fn open(path: &Path, locking: ForeignLocking) -> Result<ForeignFile> {
        check_is_database_file(path)?;
        // The log is beside the file itself, not beside a link to it.
        let path = &resolve(path);
        let id = file_id(path)?;
        // POSIX locks belong to the process: closing a second SQLite would release those of the first.
        if is_open_elsewhere(id) {
            return Err(Error::conflict(format!(
                "{} is open in this process, through another SQLite",
                path.display()
            ))
            .remedy(Remedy::ReadElsewhere));
        }
        let is_idle = !has_log(path) && !with_suffix(path, "-shm").exists();
        let is_immutable = locking == ForeignLocking::IfInUse && is_idle;
        ForeignFile::open_as(
            path,
            if is_immutable { OpenMode::Immutable } else { OpenMode::ReadOnly },
        )
    }

    fn open_as(path: &Path, mode: OpenMode) -> Result<ForeignFile> {
        let id = file_id(path)?;
        let (opened, query) = match mode {
            OpenMode::Immutable => (Some(file_state(path)?), "?immutable=1"),
            OpenMode::ReadOnly => (None, "?mode=ro"),
        };
        let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let uri = format!("file:{}{query}", percent_encode(&place));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        // Counted first, so that it is not taken for another SQLite's.
        let counted = CountedReader::new(id);
        let connection = rusqlite::Connection::open_with_flags(uri, flags)
            .map_err(|error| explain(path, error))?;
        let file = ForeignFile { connection, path: path.to_owned(), opened, counted };
        file.prepare()?;
        Ok(file)
    }

    fn prepare(&self) -> Result<()> {
        let explain = |error| self.explain(error);
        let set = |config, on| self.connection.set_db_config(config, on).map_err(explain);
        use rusqlite::config::DbConfig as Config;
        // Views, triggers and virtual tables of a foreign schema are not executed.
        set(Config::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        set(Config::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.connection.busy_timeout(BUSY_TIMEOUT).map_err(explain)?;
        self.connection
            .execute_batch(
                "PRAGMA query_only = ON; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; \
                 BEGIN; SELECT COUNT(*) FROM sqlite_schema;",
            )
            .map_err(explain)
    }

    /// Whether everything read so far is from one snapshot.
    pub fn is_unchanged(&self) -> bool {
        match &self.opened {
            None => true,
            Some(opened) => file_state(&self.path).is_ok_and(|now| now == *opened),
        }
    }

    /// The tables of the file.
    pub fn tables(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut statement = self.connection.prepare(sql).map_err(|error| self.explain(error))?;
        let names = statement.query_map([], |row| row.get::<_, String>(0));
        let names = names.map_err(|error| self.explain(error))?;
        Ok(names.flatten().collect())
    }

    /// The columns of a table; empty if it does not exist.
    pub fn columns(&self, table: &str) -> Result<Vec<ForeignColumn>> {
        let sql = format!("PRAGMA table_info({})", quoted(table));
        let mut statement = self.connection.prepare(&sql).map_err(|error| self.explain(error))?;
        let columns = statement.query_map([], |row| {
            let declared: Option<String> = row.get(2)?;
            let declared = declared.unwrap_or_default().to_uppercase();
            Ok(ForeignColumn { name: row.get(1)?, declared })
        });
        let columns = columns.map_err(|error| self.explain(error))?;
        columns.collect::<rusqlite::Result<_>>().map_err(|error| self.explain(error))
    }

    /// The number of rows of a table.
    pub fn count(&self, table: &str) -> Result<i64> {
        let sql = format!("SELECT COUNT(*) FROM {}", quoted(table));
        self.connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| self.explain(error))
    }

    /// Calls `each` with the rows until it breaks.
    pub fn each(
        &self,
        rows: ForeignRows<'_>,
        mut each: impl FnMut(&ForeignRow<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let columns: String =
            rows.columns.iter().map(|name| format!(", {}", quoted(name))).collect();
        let mut sql = format!("SELECT rowid{columns} FROM {}", quoted(rows.table));
        let mut values: Vec<ValueRef<'_>> = Vec::new();
        let mut conditions = Vec::new();
        if let Some(from) = rows.from {
            values.push(ValueRef::Integer(from));
            conditions.push(format!("rowid >= ?{}", values.len()));
        }
        if let Some(ColumnText { column, text }) = rows.equals {
            values.push(ValueRef::Text(text));
            conditions.push(format!("{} = ?{}", quoted(column), values.len()));
        }
        if !conditions.is_empty() {
            sql.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        sql.push_str(" ORDER BY rowid");
        let explain = |error| self.explain(error);
        let mut statement = self.connection.prepare_cached(&sql).map_err(explain)?;
        let values = values.into_iter().map(rusqlite::types::ToSqlOutput::Borrowed);
        let mut found = statement.query(params_from_iter(values)).map_err(explain)?;
        while let Some(row) = found.next().map_err(explain)? {
            let number = row.get(0).map_err(explain)?;
            if each(&ForeignRow { number, row })?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn explain(&self, error: rusqlite::Error) -> Error {
        explain(&self.path, error)
    }

    /// Closes the file, unless that would release the locks of another SQLite in this process: then it
    /// stays open until the process ends.
    fn close(self) {
        if is_open_elsewhere(self.counted.id) {
            std::mem::forget(self);
        }
    }
}

/// Fails for a path that cannot be a database.
fn check_is_database_file(path: &Path) -> Result<()> {
    let place = path.display();
    let found = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => forbidden(path).because(error),
        _ => Error::not_found(format!("{place} does not exist")).because(error),
    })?;
    if found.is_dir() {
        return Err(Error::invalid(format!("{place} is a folder")));
    }
    if !found.is_file() {
        return Err(Error::invalid(format!("{place} is not a file")));
    }
    // Opening it would delete its log.
    if found.len() == 0 && file_bytes(&with_suffix(path, "-wal")) > 0 {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("{place} is empty, but its log is not: it was damaged"),
        )
        .remedy("name a backup of it; neither file was changed"));
    }
    if found.len() == 0 {
        return Err(Error::invalid(format!("{place} is empty")));
    }
    Ok(())
}

fn forbidden(path: &Path) -> Error {
    Error::new(ErrorKind::Forbidden, format!("{} may not be read", path.display()))
        .remedy("check its owner and mode, and those of its folder")
}

fn explain(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ffi::ErrorCode;
    let place = path.display();
    let explained = match error.sqlite_error_code() {
        _ if is_busy(&error) => Error::new(
            ErrorKind::Busy,
            format!("another process has kept {place} locked for {BUSY_TIMEOUT:?}"),
        )
        .remedy("try again"),
        Some(ErrorCode::NotADatabase) => {
            Error::invalid(format!("{place} is not a SQLite database"))
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::new(ErrorKind::Corrupt, format!("{place} is damaged: {error}"))
                .remedy("let the program that owns it repair it, or name a backup of it")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => forbidden(path),
        Some(ErrorCode::ReadOnly) => Error::new(
            ErrorKind::Unavailable,
            format!("{place} was left in the middle of a write, and reading must not repair it"),
        )
        .remedy("start the program that owns it once, then try again"),
        _ => Error::new(ErrorKind::Unavailable, format!("{place} cannot be read: {error}"))
            .remedy("check the disk, or name a copy of the file"),
    };
    explained.because(error)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A path in the form of a URI.
fn percent_encode(path: &Path) -> String {
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escape = |byte: &u8| {
        if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
    };
    bytes.iter().map(escape).collect()
}

fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| file_bytes(&with_suffix(path, suffix)) > 0)
}

fn file_state(path: &Path) -> Result<FileState> {
    let found = std::fs::metadata(path).map_err(|error| forbidden(path).because(error))?;
    Ok(FileState {
        id: FileId::of(&found),
        bytes: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
        has_log: has_log(path),
    })
}

fn file_id(path: &Path) -> Result<FileId> {
    file_state(path).map(|state| state.id)
}

/// One open [`ForeignFile`] in [`OPEN_READERS`], from before it is opened until after it is closed.
struct CountedReader {
    id: FileId,
}

impl CountedReader {
    fn new(id: FileId) -> Self {
        let mut open = lock_open_readers();
        *open.get_or_insert_default().entry(id).or_default() += 1;
        CountedReader { id }
    }
}

impl Drop for CountedReader {
    fn drop(&mut self) {
        let mut open = lock_open_readers();
        let open = open.get_or_insert_default();
        if let Some(readers) = open.get_mut(&self.id) {
            *readers -= 1;
            if *readers == 0 {
                open.remove(&self.id);
            }
        }
    }
}

fn lock_open_readers() -> MutexGuard<'static, Option<HashMap<FileId, usize>>> {
    OPEN_READERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process has a file open outside this module. False if the system has no `/proc`.
fn is_open_elsewhere(id: FileId) -> bool {
    // While the lock is held no reader is counted or forgotten, and each open one is counted.
    let open = lock_open_readers();
    let readers = open.as_ref().and_then(|open| open.get(&id).copied()).unwrap_or(0);
    let descriptors = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let on_file = descriptors.filter(|entry| {
        std::fs::metadata(entry.path()).is_ok_and(|found| FileId::of(&found) == id)
    });
    on_file.count() > readers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that opens or closes while another asks must not be taken for another SQLite.
    #[test]
    fn readers_of_one_file_in_many_threads_are_not_another_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE t (a)").unwrap();
        drop(db);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        ForeignFile::open(&path, ForeignLocking::IfInUse).unwrap();
                    }
                });
            }
        });
        let id = file_id(&path).unwrap();
        assert!(!lock_open_readers().iter().flatten().any(|(open, _)| *open == id));
    }
}
