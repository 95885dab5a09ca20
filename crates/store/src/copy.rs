//! Copies a space row by row into a new SQLite file, for engines that cannot write one. Both schemas have
//! the same tables and columns.

use crate::aggregates::{Table, all_tables};
use crate::backend::{Row, Value};
use crate::{Engine, Options, Progress, Store, Target, Tx};
use oneiro_model::{Error, Result, Timestamp};
use std::path::Path;

/// A value that outlives its row.
enum OwnedValue {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl OwnedValue {
    fn read(row: &dyn Row, column: usize) -> Result<OwnedValue> {
        Ok(match row.value(column)? {
            Value::Null => OwnedValue::Null,
            Value::Int(value) => OwnedValue::Int(value),
            Value::Text(text) => OwnedValue::Text(text.to_owned()),
            Value::Bytes(bytes) => OwnedValue::Bytes(bytes.to_owned()),
        })
    }

    fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Int(value) => Value::Int(*value),
            OwnedValue::Text(text) => Value::Text(text),
            OwnedValue::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// Rows read at a time, which bounds the memory.
const BATCH_ROWS: i64 = 512;

pub(crate) fn rows_to_file(
    store: &Store,
    path: &Path,
    now: Timestamp,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let target = Target::File { path: path.to_owned(), space: store.target().space().clone() };
    let copy = Store::open(&target, &Options { readers: 1, ..Options::default() }, now)?;
    debug_assert_eq!(copy.engine(), Engine::Sqlite);
    let progress = std::cell::RefCell::new(progress);
    store.read(|from| {
        copy.write_bulk(|to| {
            // A session may refer to one with a larger key, so foreign keys are checked at the commit.
            to.execute("PRAGMA defer_foreign_keys = ON", &[])?;
            let mut done = 0;
            let mut total = 0;
            for table in all_tables() {
                let count = format!("SELECT COUNT(*) FROM {}", table.name);
                total += from.one(&count, &[], |row| row.int(0))? as u64;
            }
            for table in all_tables() {
                copy_table(from, to, table, &mut |rows| {
                    done += rows;
                    (progress.borrow_mut())(Progress { done, total });
                })?;
            }
            let counters = from.one("SELECT message, key, settings FROM sequence", &[], |row| {
                Ok([row.int(0)?, row.int(1)?, row.int(2)?])
            })?;
            let counters = counters.map(Value::Int);
            to.execute("UPDATE sequence SET message = ?1, key = ?2, settings = ?3", &counters)?;
            Ok(())
        })
    })
}

fn copy_table(
    from: &Tx<'_>,
    to: &Tx<'_>,
    Table { name: table, columns }: &Table,
    done: &mut dyn FnMut(u64),
) -> Result<()> {
    let width = columns.split(',').count();
    let parameters: Vec<String> = (1..=width).map(|n| format!("?{n}")).collect();
    let insert = format!("INSERT INTO {table} ({columns}) VALUES ({})", parameters.join(", "));
    // Without a cursor the server would send the entire table at once.
    let cursor = format!("copy_{table}");
    from.execute(
        &format!("DECLARE {cursor} NO SCROLL CURSOR FOR SELECT {columns} FROM {table}"),
        &[],
    )?;
    let fetch = format!("FETCH FORWARD {BATCH_ROWS} FROM {cursor}");
    loop {
        let rows = from.all(&fetch, &[], |row| {
            (0..width).map(|column| OwnedValue::read(row, column)).collect::<Result<Vec<_>>>()
        })?;
        if rows.is_empty() {
            return from.execute(&format!("CLOSE {cursor}"), &[]).map(|_| ());
        }
        for row in &rows {
            let values: Vec<Value<'_>> = row.iter().map(OwnedValue::as_value).collect();
            if to.execute(&insert, &values)? != 1 {
                return Err(Error::internal(format!("a row of {table} was not copied")));
            }
        }
        done(rows.len() as u64);
    }
}
