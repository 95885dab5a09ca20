//! The boundary to an engine: a small trait at driver level, implemented by SQLite, PostgreSQL and
//! Fault. Everything that differs between engines lives in this folder and nowhere else.

pub(crate) mod fault;
pub(crate) mod files;
pub(crate) mod foreign;
pub(crate) mod postgres;
pub(crate) mod raw_search;
pub(crate) mod sqlite;
mod sqlite_errors;
mod sqlite_log;
mod sqlite_spaces;
mod sqlite_vacuum;
mod sqlite_values;

use crate::store::{Progress, Scrubbed};
use oneiro_model::{Error, ErrorKind, Result, SpaceInfo};
use std::path::Path;
use std::time::Duration;

/// Which engine keeps a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A SQLite file.
    Sqlite,
    /// A PostgreSQL schema.
    Postgres,
}

impl Engine {
    /// The engine as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        }
    }
}

/// Why a transaction is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A snapshot for reading.
    Read,
    /// The one writer of the space, who waits at most so long for another.
    Write {
        /// At most the busy time-out.
        wait: Duration,
    },
    /// The one migrator; the schema may not exist yet.
    Migrate,
}

/// A space's engine: opens connections and does what only the engine can.
pub(crate) trait Backend: Send + Sync {
    /// Which engine it is.
    fn engine(&self) -> Engine;
    /// A new connection.
    fn connect(&self) -> Result<Box<dyn Connection>>;
    /// Brings every commit of this process so far to the disk. Called after a commit and outside
    /// its lock, so that nobody waits for the disk with the lock held.
    fn make_durable(&self) -> Result<()>;
    /// How many writes may share one commit.
    fn group_limit(&self) -> usize;
    /// Bytes on disk.
    fn bytes(&self) -> Result<u64>;
    /// Copies the space into a new SQLite file while others write; `None` when the engine has no
    /// way of its own and the rows must be copied.
    fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Option<()>>;
    /// The spaces of the store that this one is in, by name.
    fn spaces(&self) -> Result<Vec<SpaceInfo>>;
    /// Removes the space with everything in it, unless another connection has it open.
    fn delete(&self) -> Result<()>;
    /// What the engine itself finds wrong with its files; empty when nothing is.
    fn integrity(&self) -> Result<Vec<String>>;
    /// Leaves no trace of deleted rows, then looks for `needles` in the raw bytes.
    /// Ends early, with an error and the job left to do, when `stopped` says so.
    fn scrub(&self, needles: &[Vec<u8>], stopped: &(dyn Fn() -> bool + Sync)) -> Result<Scrubbed>;
}

/// One connection, with at most one transaction open.
pub(crate) trait Connection: Send {
    /// Opens a transaction, waiting at most the busy time-out.
    fn begin(&mut self, access: Access) -> Result<()>;
    /// Runs a statement and answers how many rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64>;
    /// Runs a query and hands over each row.
    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()>;
    /// Makes the transaction durable.
    fn commit(&mut self) -> Result<()>;
    /// Forgets the transaction; safe when none is open.
    fn rollback(&mut self);
    /// How many rows an insert of many should carry: a round trip to a server costs more than the
    /// rows, a call into a library costs nothing.
    fn rows_at_once(&self) -> usize;
    /// Where the connection stands: after an error the engine may have rolled back by itself.
    fn state(&self) -> State;
}

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Open,
    /// The connection is lost and must be dropped.
    Broken,
}

/// A value handed to a statement or found in a row.
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

/// A row of an answer. Values are borrowed from the engine until the next row.
pub(crate) trait Row {
    /// The value of a column.
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
