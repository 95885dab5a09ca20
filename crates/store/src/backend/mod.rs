//! The database engines: a small trait at driver level, implemented by SQLite, PostgreSQL and, for
//! tests, a back end with planned faults. Everything that differs between engines is in this folder.

pub(crate) mod fault;
pub(crate) mod files;
pub(crate) mod foreign;
pub(crate) mod postgres;
pub(crate) mod raw_search;
pub(crate) mod sqlite;
mod sqlite_errors;
mod sqlite_spaces;
mod sqlite_vacuum;
mod sqlite_values;
mod sqlite_wal;

use crate::store::{Progress, Scrubbed};
use oneiro_model::{Error, ErrorKind, Result, SpaceInfo};
use std::path::Path;
use std::time::Duration;

/// The database engine of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A SQLite file.
    Sqlite,
    /// A PostgreSQL schema.
    Postgres,
}

impl Engine {
    /// The name of the engine in JSON and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        }
    }
}

/// The kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A snapshot for reading.
    Read,
    /// The only writer of the space.
    Write {
        /// How long to wait for another writer; at most the busy time-out.
        wait: Duration,
    },
    /// The only migration; the schema may not exist yet.
    Migrate,
}

/// The engine of a space: opens connections and does what SQL cannot.
pub(crate) trait Backend: Send + Sync {
    fn engine(&self) -> Engine;
    fn connect(&self) -> Result<Box<dyn Connection>>;
    /// Returns when every commit of this process so far is on the disk. Called after the write lock is
    /// released, so that no other writer waits for the disk.
    fn make_durable(&self) -> Result<()>;
    /// How many writes may share one commit.
    fn group_limit(&self) -> usize;
    /// Bytes on disk.
    fn bytes(&self) -> Result<u64>;
    /// Copies the space into a new SQLite file while others write.
    fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<CopyOutcome>;
    /// The spaces of the store that this one is in, by name.
    fn spaces(&self) -> Result<Vec<SpaceInfo>>;
    /// Removes the space with everything in it, unless another connection has it open.
    fn delete(&self) -> Result<()>;
    /// Problems that the engine itself finds in its files.
    fn integrity(&self) -> Result<Vec<String>>;
    /// Removes every trace of deleted rows, then searches the raw bytes for `needles`. Fails early
    /// when `is_cancelled` returns true; the work is then still to be done.
    fn scrub(
        &self,
        needles: &[Vec<u8>],
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scrubbed>;
}

/// Whether an engine copied a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyOutcome {
    Copied,
    /// The engine cannot write SQLite files; the rows must be copied one by one.
    Unsupported,
}

/// A connection with at most one open transaction.
pub(crate) trait Connection: Send {
    /// Opens a transaction, waiting at most the busy time-out.
    fn begin(&mut self, access: Access) -> Result<()>;
    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64>;
    /// Runs statements without parameters, each ended by a semicolon, in one round trip.
    fn execute_script(&mut self, sql: &str) -> Result<()>;
    /// Runs a query and calls `each` with every row.
    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()>;
    /// Commits; [`Backend::make_durable`] then waits for the disk.
    fn commit(&mut self) -> Result<()>;
    /// Rolls back; does nothing when no transaction is open.
    fn rollback(&mut self);
    /// How many rows one INSERT should carry. A round trip to a server costs more than the rows; a call
    /// into a library costs nothing.
    fn rows_per_insert(&self) -> usize;
    /// The state of the connection; after an error the engine may have rolled back by itself.
    fn state(&self) -> State;
}

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Open,
    /// The connection is lost and must be dropped.
    Broken,
}

/// A parameter of a statement, or a value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    /// NULL.
    Null,
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(&'a str),
    /// BLOB or BYTEA.
    Bytes(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Value::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Value::Bytes(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// A row of a result. Values are borrowed from the engine until the next row.
pub(crate) trait Row {
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

impl dyn Row + '_ {
    pub(crate) fn int(&self, column: usize) -> Result<i64> {
        match self.value(column)? {
            Value::Int(value) => Ok(value),
            other => Err(unexpected(column, other)),
        }
    }

    pub(crate) fn opt_int(&self, column: usize) -> Result<Option<i64>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            other => Err(unexpected(column, other)),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self.value(column)? {
            Value::Text(value) => Ok(value),
            other => Err(unexpected(column, other)),
        }
    }

    pub(crate) fn opt_text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            other => Err(unexpected(column, other)),
        }
    }

    pub(crate) fn opt_string(&self, column: usize) -> Result<Option<String>> {
        Ok(self.opt_text(column)?.map(str::to_owned))
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<&[u8]> {
        match self.value(column)? {
            Value::Bytes(value) => Ok(value),
            other => Err(unexpected(column, other)),
        }
    }
}

/// The error of a space that another process has open.
fn in_use(place: &str) -> Error {
    Error::conflict(format!("another process uses {place}"))
        .remedy("stop the programs that use it, then try again")
}

fn unexpected(column: usize, value: Value<'_>) -> Error {
    let found = match value {
        Value::Null => "NULL",
        Value::Int(_) => "a number",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
    };
    Error::new(ErrorKind::Corrupt, format!("column {column} of a stored row holds {found}"))
        .remedy("restore the newest backup")
}
