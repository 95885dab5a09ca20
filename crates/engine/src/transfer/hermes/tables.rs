//! Imports the other tables of a `state.db` as slots. A slot that was changed since the last import
//! is not overwritten.

use super::checkpoint::{fingerprint, read_fingerprints, write_fingerprints};
use super::layout::Columns;
use super::pass::{Pass, ScanRange, scan};
use super::value::{self, Repairs};
use oneiro_model::{Result, SessionId, Slot, SlotName};
use oneiro_store::slots::SlotValue;
use oneiro_store::{ForeignFile, ForeignRow, Tx, sessions, slots};
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// A table whose rows become slots.
struct SlotTable {
    name: &'static str,
    scope: &'static str,
    /// Its text is appended to the scope.
    scope_column: Option<&'static str>,
    /// Their texts are the name of the slot.
    names: &'static [&'static str],
    value: SlotContent,
    /// The slot is deleted with the session in this column.
    session: Option<&'static str>,
}

/// The part of a row that becomes the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotContent {
    /// One column.
    One(&'static str),
    /// All columns that are not in the scope or the name.
    Rest,
    /// The whole row.
    Row,
}

const SLOT_TABLES: [SlotTable; 6] = [
    SlotTable {
        name: "state_meta",
        scope: "hermes/meta",
        scope_column: None,
        names: &["key"],
        value: SlotContent::One("value"),
        session: None,
    },
    SlotTable {
        name: "gateway_routing",
        scope: "hermes/routing/",
        scope_column: Some("scope"),
        names: &["session_key"],
        value: SlotContent::Rest,
        session: None,
    },
    SlotTable {
        name: "telegram_dm_topic_mode",
        scope: "hermes/telegram/mode",
        scope_column: None,
        names: &["chat_id"],
        value: SlotContent::Row,
        session: None,
    },
    SlotTable {
        name: "telegram_dm_topic_bindings",
        scope: "hermes/telegram/bindings",
        scope_column: None,
        names: &["chat_id", "thread_id"],
        value: SlotContent::Row,
        session: Some("session_id"),
    },
    SlotTable {
        name: "async_delegations",
        scope: "hermes/async_delegations",
        scope_column: None,
        names: &["delegation_id"],
        value: SlotContent::Row,
        session: None,
    },
    SlotTable {
        name: "conversation_generations",
        scope: "hermes/conversation_generations",
        scope_column: None,
        names: &["source", "session_key"],
        value: SlotContent::Row,
        session: None,
    },
];

/// Tables that other modules import, or that belong to SQLite.
const OTHER_IMPORTED_TABLES: [&str; 6] = [
    "schema_version",
    "sessions",
    "messages",
    "session_model_usage",
    "system_prompts",
    "sqlite_sequence",
];

/// Slots per transaction.
const BATCH_SLOTS: usize = 512;

impl Pass<'_> {
    pub(super) fn import_tables(&mut self, file: &ForeignFile) -> Result<()> {
        for table in &SLOT_TABLES {
            if let Some(columns) = self.layout.columns(file, table.name)? {
                self.import_table(file, table, &columns)?;
            }
        }
        for table in &self.layout.tables {
            let is_known = OTHER_IMPORTED_TABLES.contains(&table.as_str())
                || SLOT_TABLES.iter().any(|slots| slots.name == table);
            // Full-text indexes are not imported.
            if is_known || table.starts_with("messages_fts") || table.starts_with("sqlite_") {
                continue;
            }
            let rows = file.count(table).unwrap_or(0);
            if rows > 0 {
                self.done.tables_left.insert(table.clone(), rows);
            }
        }
        Ok(())
    }

    fn import_table(
        &mut self,
        file: &ForeignFile,
        table: &SlotTable,
        columns: &Columns,
    ) -> Result<()> {
        if !table.names.iter().all(|name| columns.has(name)) {
            return Ok(());
        }
        let mut batch: Vec<SlotRow> = Vec::new();
        let mut repairs = Repairs::default();
        let mut invalid = Vec::new();
        let lost = scan(file, ScanRange::all(table.name, &columns.names), |row| {
            match table.read(columns, row, &mut repairs) {
                Ok(slot) => batch.extend(slot),
                Err(error) => invalid.push(super::NotKept {
                    table: table.name,
                    id: row.number,
                    reason: error.message().to_owned(),
                }),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.done.not_kept.extend(lost.into_iter().chain(invalid));
        for part in batch.chunks(BATCH_SLOTS) {
            let now = self.oneiro.now();
            let (stored, kept_here) = self.oneiro.store.write_bulk(|tx| {
                let mut fingerprints = read_fingerprints(tx, table.name)?;
                let (mut stored, mut kept_here) = (0, 0);
                for SlotRow { slot, value: new, session } in part {
                    let name =
                        format!("{:x}", fingerprint(&format!("{} {}", slot.scope(), slot.name())));
                    let fingerprint = fingerprint(&new.to_string());
                    let known = fingerprints.insert(name, fingerprint);
                    if known == Some(fingerprint) {
                        continue;
                    }
                    if may_set(tx, slot, known)? {
                        let session = session.as_ref().map(|id| sessions::key(tx, id));
                        let session = session.transpose()?.flatten();
                        slots::put(tx, slot, SlotValue { value: new, session_key: session }, now)?;
                        stored += 1;
                    } else {
                        kept_here += 1
                    }
                }
                write_fingerprints(tx, table.name, &fingerprints, now)?;
                Ok((stored, kept_here))
            })?;
            self.done.slots += stored;
            self.done.kept_here += kept_here;
        }
        Ok(())
    }
}

/// Whether a slot is unchanged since the last import.
fn may_set(tx: &Tx<'_>, slot: &SlotName, known: Option<i64>) -> Result<bool> {
    let held = slots::get(tx, slot)?.map(|held| fingerprint(&held.value.to_string()));
    Ok(held == known)
}

/// A row as a slot.
struct SlotRow {
    slot: SlotName,
    value: Value,
    session: Option<SessionId>,
}

impl SlotTable {
    /// Reads a row; `None` if it has no value.
    fn read(
        &self,
        columns: &Columns,
        row: &ForeignRow<'_>,
        repairs: &mut Repairs,
    ) -> Result<Option<SlotRow>> {
        let mut text = |name: &str| {
            value::text(columns.get(row, name), repairs).unwrap_or_default().into_owned()
        };
        let scope =
            format!("{}{}", self.scope, self.scope_column.map(&mut text).unwrap_or_default());
        let names: Vec<String> = self.names.iter().map(|name| text(name)).collect();
        let session = self.session.map(text).and_then(|id| SessionId::new(id).ok());
        let slot = SlotName::new(scope, names.join("/"))?;
        let value = match self.value {
            SlotContent::One(column) => value::to_json(columns.get(row, column), repairs),
            SlotContent::Rest | SlotContent::Row => {
                Value::Object(self.object(columns, row, repairs))
            }
        };
        if value.is_null() {
            return Ok(None);
        }
        Slot::check_value(&value)?;
        Ok(Some(SlotRow { slot, value, session }))
    }

    fn object(
        &self,
        columns: &Columns,
        row: &ForeignRow<'_>,
        repairs: &mut Repairs,
    ) -> Map<String, Value> {
        let is_named = |name: &str| self.scope_column == Some(name) || self.names.contains(&name);
        let mut object = Map::new();
        for (place, name) in columns.names.iter().enumerate() {
            if self.value == SlotContent::Row || !is_named(name) {
                object.insert(name.clone(), value::to_json(row.value(place), repairs));
            }
        }
        object
    }
}
