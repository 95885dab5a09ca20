//! [`Tx`]: an open transaction, through which aggregates run statements and read rows.

use crate::backend::{Connection, Row, Value};
use oneiro_model::{Actor, Error, Result};
use std::cell::RefCell;
use std::sync::Arc;

/// An open transaction, passed to the closures of [`crate::Store::read`] and
/// [`crate::Store::write`]. A write commits if the closure returns `Ok` and rolls back otherwise.
pub struct Tx<'c> {
    connection: RefCell<&'c mut dyn Connection>,
    actor: RefCell<Option<Arc<Actor>>>,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(connection: &'c mut dyn Connection) -> Tx<'c> {
        Tx { connection: RefCell::new(connection), actor: RefCell::default() }
    }

    /// Sets who makes the changes that follow.
    pub(crate) fn set_actor(&self, actor: &Arc<Actor>) {
        self.actor.replace(Some(Arc::clone(actor)));
    }

    /// Who makes the changes, if known.
    pub fn actor(&self) -> Option<Arc<Actor>> {
        self.actor.borrow().clone()
    }

    /// Runs a statement and returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.connection.try_borrow_mut().map_err(|_| nested())?.execute(sql, values)
    }

    /// How many rows one INSERT should carry.
    pub(crate) fn rows_per_insert(&self) -> usize {
        self.connection.try_borrow().map_or(1, |connection| connection.rows_per_insert())
    }

    /// Runs a query and calls `each` with every row.
    pub(crate) fn each(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut each: impl FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.connection.try_borrow_mut().map_err(|_| nested())?.query(sql, values, &mut each)
    }

    /// Every row of a query, read by `read`.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.each(sql, values, |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The first row of a query, if there is one.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.each(sql, values, |row| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The only row of a query that always has one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<T> {
        self.first(sql, values, read)?
            .ok_or_else(|| Error::internal("a query that always returns a row returned none"))
    }

    /// Keeps a write transaction alive during a pause: PostgreSQL ends one that is idle for some
    /// seconds.
    pub fn keep_alive(&self) -> Result<()> {
        self.first("SELECT 1", &[], |_| Ok(())).map(|_| ())
    }

    /// Runs a statement and returns the numbers in its first column. For tests that damage a store.
    #[doc(hidden)]
    pub fn raw(&self, sql: &str) -> Result<Vec<i64>> {
        self.all(sql, &[], |row| row.int(0))
    }
}

fn nested() -> Error {
    Error::internal("a statement was run while the rows of another were still being read")
}
