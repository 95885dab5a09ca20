//! Conversion of values and rows from and to rusqlite.

use super::{Row, Value};
use oneiro_model::{Error, ErrorKind, Result};
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

pub(super) struct SqliteRow<'r>(pub(super) &'r rusqlite::Row<'r>);

impl Row for SqliteRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let value = self.0.get_ref(column).map_err(|error| {
            Error::internal(format!("column {column} of a result")).because(error)
        })?;
        match value {
            ValueRef::Null => Ok(Value::Null),
            ValueRef::Integer(value) => Ok(Value::Int(value)),
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).map(Value::Text).map_err(|error| {
                Error::new(ErrorKind::Corrupt, "stored text is not UTF-8")
                    .remedy("restore the newest backup")
                    .because(error)
            }),
            ValueRef::Blob(bytes) => Ok(Value::Bytes(bytes)),
            ValueRef::Real(_) => Err(Error::internal("a column holds a floating-point number")),
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(*value),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
