//! The version, tables and columns of a `state.db`. Columns are queried and not assumed, because every
//! version of hermes adds some.

use oneiro_model::{Error, Result};
use oneiro_store::{ForeignFile, ForeignRow, ForeignRows, ForeignValue};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// The newest schema version that was tested.
const NEWEST_KNOWN_VERSION: i64 = 30;

/// Whether tables are those of hermes.
pub(super) fn is_hermes_schema(tables: &[String]) -> bool {
    let has = |name: &str| tables.iter().any(|table| table == name);
    has("sessions") && has("messages") && has("schema_version")
}

/// The columns of one table.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// Their names, in the order they are read.
    pub(super) names: Vec<String>,
    /// Whether each of them is declared as text.
    pub(super) are_text: Vec<bool>,
    places: HashMap<String, usize>,
}

impl Columns {
    fn read(file: &ForeignFile, table: &str) -> Result<Columns> {
        let mut columns = Columns::default();
        for column in file.columns(table)? {
            columns.places.insert(column.name.clone(), columns.names.len());
            columns.are_text.push(column.declared.contains("TEXT"));
            columns.names.push(column.name);
        }
        Ok(columns)
    }

    /// Those of `wanted` that exist.
    pub(super) fn only(&self, wanted: &[&str]) -> Columns {
        let mut columns = Columns::default();
        for name in wanted.iter().filter(|name| self.has(name)) {
            columns.places.insert((*name).to_owned(), columns.names.len());
            columns.are_text.push(true);
            columns.names.push((*name).to_owned());
        }
        columns
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The value of a column by name; NULL when the table does not have it.
    pub(super) fn get<'r>(&self, row: &'r ForeignRow<'_>, name: &str) -> ForeignValue<'r> {
        self.places.get(name).map_or(ForeignValue::Null, |place| row.value(*place))
    }
}

/// The schema of a `state.db`.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// 0 if the file does not have one.
    pub(super) version: i64,
    pub(super) tables: Vec<String>,
    pub(super) sessions: Columns,
    pub(super) messages: Columns,
    pub(super) usage: Columns,
    pub(super) has_prompts: bool,
    pub(super) warnings: Vec<String>,
}

impl Layout {
    pub(super) fn read(file: &ForeignFile, path: &Path) -> Result<Layout> {
        let tables = file.tables()?;
        let sessions = Columns::read(file, "sessions")?;
        let messages = Columns::read(file, "messages")?;
        let is_complete = ["id", "source", "started_at"].iter().all(|name| sessions.has(name))
            && ["session_id", "role", "content", "timestamp"].iter().all(|name| messages.has(name));
        if !is_complete || !tables.iter().any(|table| table == "schema_version") {
            return Err(Error::invalid(format!(
                "{} is a SQLite database, but not a state.db of hermes",
                path.display()
            ))
            .remedy("name the state.db of hermes; this file was not touched"));
        }
        let version = version(file)?;
        let mut warnings = Vec::new();
        if version > NEWEST_KNOWN_VERSION {
            warnings.push(format!(
                "the file has version {version}, and versions up to {NEWEST_KNOWN_VERSION} are known: all of its \
                 columns are kept, tables that are new are not"
            ));
        }
        if version < 1 {
            warnings.push("the file does not say its version".to_owned());
        }
        let has = |name: &str| tables.iter().any(|table| table == name);
        Ok(Layout {
            version,
            sessions,
            messages,
            usage: Columns::read(file, "session_model_usage")?,
            has_prompts: has("system_prompts"),
            warnings,
            tables,
        })
    }

    /// The columns of another table.
    pub(super) fn columns(&self, file: &ForeignFile, table: &str) -> Result<Option<Columns>> {
        if self.tables.iter().any(|name| name == table) {
            Columns::read(file, table).map(Some)
        } else {
            Ok(None)
        }
    }
}

fn version(file: &ForeignFile) -> Result<i64> {
    let columns = [String::from("version")];
    let rows = ForeignRows { table: "schema_version", columns: &columns, from: None, equals: None };
    let mut version = 0;
    file.each(rows, |row| {
        if let ForeignValue::Int(number) = row.value(0) {
            version = version.max(number);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(version)
}
