//! SQLite files of other programs, read and never written: no table is made, no log is copied back,
//! and where nobody has the file open nothing is put beside it. It must not know what rows mean.

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
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a reader waits for a log that another process is recovering.
const WAIT: Duration = Duration::from_secs(10);

/// How many readers of this kind are open on a file, by device and inode.
static OPEN: Mutex<Option<HashMap<FileId, usize>>> = Mutex::new(None);

type FileId = (u64, u64);

/// A SQLite file of another program, open in one snapshot.
pub struct ForeignFile {
    connection: rusqlite::Connection,
    path: PathBuf,
    id: FileId,
    /// The file as it lay when it was opened, unless SQLite itself keeps the snapshot.
    lay: Option<Stamp>,
}

/// What tells whether a file that is read as it lies was written to meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    id: FileId,
    bytes: u64,
    modified: (i64, i64),
    /// A log or a journal with something in it.
    is_written_to: bool,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct ForeignColumn {
    /// Its name.
    pub name: String,
    /// Its declared type in capitals; empty when it has none.
    pub declared: String,
}

/// Which rows of a table to read.
#[derive(Debug, Clone, Copy)]
pub struct ForeignRows<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns, in the order they are answered.
    pub columns: &'a [String],
    /// Only rows from this number on; all are answered in the order of their numbers.
    pub from: Option<i64>,
    /// Only rows that have this text in this column.
    pub having: Option<(&'a str, &'a [u8])>,
}

/// A value as the file has it. Text need not be UTF-8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ForeignValue<'a> {
    /// NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Text, or what passes for it.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// A row of a foreign file.
pub struct ForeignRow<'r> {
    /// Its number.
    pub number: i64,
    row: &'r rusqlite::Row<'r>,
}

impl ForeignRow<'_> {
    /// The value of a column that was asked for, by its place.
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

/// What a file is that is not a store of Oneiro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// There is no such file, or it is empty.
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

/// What a file is, found out without writing to it or making a file beside it.
pub fn kind_of_file(path: &Path) -> FileKind {
    let path = &resolve(path);
    // One that is empty is not opened whatever lies beside it: SQLite would take away its log.
    if !path.is_file() || file_bytes(path) == 0 {
        return if path.exists() && !path.is_file() { FileKind::Other } else { FileKind::Nothing };
    }
    // As it lies first, for that leaves no trace; what is not in the file yet is in its log.
    let lies = look(path, true);
    match lies {
        FileKind::Sqlite(tables) if tables.is_empty() && is_written_to(path) => look(path, false),
        // One that is written to at this moment may only seem damaged.
        FileKind::Other if has_our_header(path) => match look(path, false) {
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

fn look(path: &Path, as_it_lies: bool) -> FileKind {
    let Ok(file) = ForeignFile::open_as(path, as_it_lies) else { return FileKind::Other };
    let owner = file.connection.query_row("PRAGMA application_id", [], |row| row.get::<_, i64>(0));
    let kind = match owner {
        Ok(APPLICATION_ID) => FileKind::Ours,
        Ok(_) => file.tables().map_or(FileKind::Other, FileKind::Sqlite),
        Err(_) => FileKind::Other,
    };
    match kind {
        // Only this library opens stores of ours, and it keeps count of its locks.
        FileKind::Ours => drop(file),
        _ => file.close(),
    }
    kind
}

impl ForeignFile {
    /// Opens a file for reading. One that nobody has open is read as it lies, and then
    /// [`ForeignFile::is_unchanged`] says whether what was read still holds; one that is in use is
    /// read through SQLite's own locks, in one snapshot.
    pub fn open(path: &Path, may_read_as_it_lies: bool) -> Result<ForeignFile> {
        refuse_what_is_no_file(path)?;
        // Its log lies beside the file itself, not beside a link to it.
        let path = &resolve(path);
        let id = file_id(path)?;
        // Locks belong to the process: a second SQLite in it would drop those of the first.
        if is_held_by_others(id) {
            return Err(Error::conflict(format!(
                "{} is open in this very process, through another SQLite",
                path.display()
            ))
            .remedy(Remedy::ReadElsewhere));
        }
        let is_idle = !is_written_to(path) && !with_suffix(path, "-shm").exists();
        ForeignFile::open_as(path, may_read_as_it_lies && is_idle)
    }

    fn open_as(path: &Path, as_it_lies: bool) -> Result<ForeignFile> {
        let id = file_id(path)?;
        let lay = as_it_lies.then(|| stamp(path)).transpose()?;
        let query = if as_it_lies { "?immutable=1" } else { "?mode=ro" };
        let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let address = format!("file:{}{query}", escaped(&place));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        // Counted first, so that nobody takes it for somebody else's.
        count_reader(id, 1);
        let connection =
            rusqlite::Connection::open_with_flags(address, flags).map_err(|error| {
                count_reader(id, -1);
                explain(path, error)
            })?;
        let file = ForeignFile { connection, path: path.to_owned(), id, lay };
        file.prepare()?;
        Ok(file)
    }

    fn prepare(&self) -> Result<()> {
        let explain = |error| self.explain(error);
        let set = |config, on| self.connection.set_db_config(config, on).map_err(explain);
        use rusqlite::config::DbConfig as Config;
        // What a foreign schema defines (views, triggers, virtual tables) is not run.
        set(Config::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        set(Config::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.connection.busy_timeout(WAIT).map_err(explain)?;
        self.connection
            .execute_batch(
                "PRAGMA query_only = ON; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; \
                 BEGIN; SELECT COUNT(*) FROM sqlite_schema;",
            )
            .map_err(explain)
    }

    /// Whether what was read so far is one state of the file.
    pub fn is_unchanged(&self) -> bool {
        match &self.lay {
            None => true,
            Some(lay) => stamp(&self.path).is_ok_and(|now| now == *lay),
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

    /// The columns of a table; none when there is no such table.
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

    /// How many rows a table has.
    pub fn count(&self, table: &str) -> Result<i64> {
        let sql = format!("SELECT COUNT(*) FROM {}", quoted(table));
        self.connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| self.explain(error))
    }

    /// Hands over rows until there are no more or `each` breaks off.
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
        if let Some((column, text)) = rows.having {
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

    /// Closes the file, unless that would drop the locks that another SQLite of this process holds
    /// on it: then it stays open until the process ends.
    fn close(self) {
        if is_held_by_others(self.id) {
            std::mem::forget(self);
        }
    }
}

impl Drop for ForeignFile {
    fn drop(&mut self) {
        count_reader(self.id, -1);
    }
}

/// Refuses what cannot be a database, and says what it is.
fn refuse_what_is_no_file(path: &Path) -> Result<()> {
    let place = path.display();
    let found = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => forbidden(path).because(error),
        _ => Error::not_found(format!("{place} is not there")).because(error),
    })?;
    if found.is_dir() {
        return Err(Error::invalid(format!("{place} is a folder")));
    }
    if !found.is_file() {
        return Err(Error::invalid(format!("{place} is not a file")));
    }
    // Opened, it would lose the log that lies beside it.
    if found.len() == 0 && file_bytes(&with_suffix(path, "-wal")) > 0 {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("{place} is empty, but its log is not: it was damaged"),
        )
        .remedy("name a backup of it; neither of the two was touched"));
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
    let said = match error.sqlite_error_code() {
        _ if is_busy(&error) => Error::new(
            ErrorKind::Busy,
            format!("another process has kept {place} locked for {WAIT:?}"),
        )
        .remedy("try again"),
        Some(ErrorCode::NotADatabase) => {
            Error::invalid(format!("{place} is not a SQLite database"))
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::new(ErrorKind::Corrupt, format!("{place} is damaged: {error}"))
                .remedy("let the program that owns it mend it, or name a backup of it")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => forbidden(path),
        Some(ErrorCode::ReadOnly) => Error::new(
            ErrorKind::Unavailable,
            format!("{place} was left in the middle of a write, and reading must not mend it"),
        )
        .remedy("start the program that owns it once, then try again"),
        _ => Error::new(ErrorKind::Unavailable, format!("{place} cannot be read: {error}"))
            .remedy("check the disk, or name a copy of the file"),
    };
    said.because(error)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A path as the address of a file: what has a meaning there is escaped.
fn escaped(path: &Path) -> String {
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escape = |byte: &u8| {
        if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
    };
    bytes.iter().map(escape).collect()
}

fn is_written_to(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| file_bytes(&with_suffix(path, suffix)) > 0)
}

fn stamp(path: &Path) -> Result<Stamp> {
    let found = std::fs::metadata(path).map_err(|error| forbidden(path).because(error))?;
    Ok(Stamp {
        id: (found.dev(), found.ino()),
        bytes: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
        is_written_to: is_written_to(path),
    })
}

fn file_id(path: &Path) -> Result<FileId> {
    stamp(path).map(|stamp| stamp.id)
}

fn count_reader(id: FileId, by: i32) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let readers = open.get_or_insert_default().entry(id).or_default();
    *readers = readers.saturating_add_signed(by as isize);
}

fn open_readers(id: FileId) -> usize {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.as_ref().and_then(|open| open.get(&id).copied()).unwrap_or(0)
}

/// Whether this process has a file open by other means than this module; where the system does not
/// tell, no.
fn is_held_by_others(id: FileId) -> bool {
    let descriptors = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let on_file = descriptors.filter(|entry| {
        std::fs::metadata(entry.path()).is_ok_and(|found| (found.dev(), found.ino()) == id)
    });
    on_file.count() > open_readers(id)
}
