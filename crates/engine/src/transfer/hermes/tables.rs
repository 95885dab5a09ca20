//! The other tables of a `state.db`, kept as slots: what hermes remembers besides conversations. A
//! value that was changed here stays.

use super::layout::Columns;
use super::note::{mark, read_marks, write_marks};
use super::pass::{Pass, scan};
use super::value::{self, Repairs};
use oneiro_model::{Result, SessionId, Slot, SlotName};
use oneiro_store::{ForeignFile, ForeignRow, Tx, sessions, slots};
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// A table, the scope of its slots, and the columns that make the name of each.
struct Carried {
    table: &'static str,
    scope: &'static str,
    /// A column whose text is part of the scope.
    within: Option<&'static str>,
    names: &'static [&'static str],
    value: Kept,
    /// The column that names the session that the value goes with.
    session: Option<&'static str>,
}

/// What of a row is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// One column.
    One(&'static str),
    /// What the name does not say.
    Rest,
    /// The whole row.
    Row,
}

const CARRIED: [Carried; 6] = [
    Carried {
        table: "state_meta",
        scope: "hermes/meta",
        within: None,
        names: &["key"],
        value: Kept::One("value"),
        session: None,
    },
    Carried {
        table: "gateway_routing",
        scope: "hermes/routing/",
        within: Some("scope"),
        names: &["session_key"],
        value: Kept::Rest,
        session: None,
    },
    Carried {
        table: "telegram_dm_topic_mode",
        scope: "hermes/telegram/mode",
        within: None,
        names: &["chat_id"],
        value: Kept::Row,
        session: None,
    },
    Carried {
        table: "telegram_dm_topic_bindings",
        scope: "hermes/telegram/bindings",
        within: None,
        names: &["chat_id", "thread_id"],
        value: Kept::Row,
        session: Some("session_id"),
    },
    Carried {
        table: "async_delegations",
        scope: "hermes/async_delegations",
        within: None,
        names: &["delegation_id"],
        value: Kept::Row,
        session: None,
    },
    Carried {
        table: "conversation_generations",
        scope: "hermes/conversation_generations",
        within: None,
        names: &["source", "session_key"],
        value: Kept::Row,
        session: None,
    },
];

/// Tables that are read elsewhere, or belong to SQLite.
const READ: [&str; 6] = [
    "schema_version",
    "sessions",
    "messages",
    "session_model_usage",
    "system_prompts",
    "sqlite_sequence",
];

/// Values to a transaction.
const BATCH: usize = 512;

impl Pass<'_> {
    pub(super) fn take_tables(&mut self, file: &ForeignFile) -> Result<()> {
        for carried in &CARRIED {
            if let Some(columns) = self.layout.columns(file, carried.table)? {
                self.take_table(file, (carried, &columns))?;
            }
        }
        for table in &self.layout.tables {
            let is_known = READ.contains(&table.as_str())
                || CARRIED.iter().any(|carried| carried.table == table);
            // What finds words is made anew here.
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

    fn take_table(
        &mut self,
        file: &ForeignFile,
        (carried, columns): (&Carried, &Columns),
    ) -> Result<()> {
        if !carried.names.iter().all(|name| columns.has(name)) {
            return Ok(());
        }
        let mut batch: Vec<Carry> = Vec::new();
        let mut repairs = Repairs::default();
        let mut odd = Vec::new();
        let lost = scan(file, (carried.table, &columns.names, None), |row| {
            match carried.read((columns, row), &mut repairs) {
                Ok(carry) => batch.extend(carry),
                Err(error) => odd.push(super::NotKept {
                    table: carried.table,
                    id: row.number,
                    reason: error.message().to_owned(),
                }),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.done.not_kept.extend(lost.into_iter().chain(odd));
        for part in batch.chunks(BATCH) {
            let now = self.oneiro.now();
            let (stored, kept_here) = self.oneiro.store.write_bulk(|tx| {
                let mut marks = read_marks(tx, carried.table)?;
                let (mut stored, mut kept_here) = (0, 0);
                for Carry { slot, value: new, session } in part {
                    let name = format!("{:x}", mark(&format!("{} {}", slot.scope(), slot.name())));
                    let mark = mark(&new.to_string());
                    let known = marks.insert(name, mark);
                    if known == Some(mark) {
                        continue;
                    }
                    if may_set(tx, slot, known)? {
                        let session = session.as_ref().map(|id| sessions::key(tx, id));
                        let session = session.transpose()?.flatten();
                        slots::put(tx, slot, (new, session), now)?;
                        stored += 1;
                    } else {
                        kept_here += 1
                    }
                }
                write_marks(tx, carried.table, (&marks, now))?;
                Ok((stored, kept_here))
            })?;
            self.done.slots += stored;
            self.done.kept_here += kept_here;
        }
        Ok(())
    }
}

/// Whether a slot is as the last import left it.
fn may_set(tx: &Tx<'_>, slot: &SlotName, known: Option<i64>) -> Result<bool> {
    let held = slots::get(tx, slot)?.map(|held| mark(&held.value.to_string()));
    Ok(held == known)
}

/// A value on its way.
struct Carry {
    slot: SlotName,
    value: Value,
    session: Option<SessionId>,
}

impl Carried {
    /// Reads a row; nothing when it holds no value.
    fn read(
        &self,
        (columns, row): (&Columns, &ForeignRow<'_>),
        repairs: &mut Repairs,
    ) -> Result<Option<Carry>> {
        let mut text = |name: &str| {
            value::text(columns.get(row, name), repairs).unwrap_or_default().into_owned()
        };
        let scope = format!("{}{}", self.scope, self.within.map(&mut text).unwrap_or_default());
        let names: Vec<String> = self.names.iter().map(|name| text(name)).collect();
        let session = self.session.map(text).and_then(|id| SessionId::new(id).ok());
        let slot = SlotName::new(scope, names.join("/"))?;
        let value = match self.value {
            Kept::One(column) => value::plain(columns.get(row, column), repairs),
            Kept::Rest | Kept::Row => Value::Object(self.object((columns, row), repairs)),
        };
        if value.is_null() {
            return Ok(None);
        }
        Slot::check_value(&value)?;
        Ok(Some(Carry { slot, value, session }))
    }

    fn object(
        &self,
        (columns, row): (&Columns, &ForeignRow<'_>),
        repairs: &mut Repairs,
    ) -> Map<String, Value> {
        let is_named = |name: &str| self.within == Some(name) || self.names.contains(&name);
        let mut object = Map::new();
        for (place, name) in columns.names.iter().enumerate() {
            if self.value == Kept::Row || !is_named(name) {
                object.insert(name.clone(), value::plain(row.value(place), repairs));
            }
        }
        object
    }
}
