//! Converts rows of hermes's sessions. Columns without a field of their own are kept in the metadata.

use super::checkpoint::fingerprint;
use super::layout::{Columns, Layout};
use super::usage_row::{self, Account};
use super::value::{self, NAME_REPAIR, NUMBER_REPAIR, ParsedTime, Repairs};
use oneiro_model::{Lineage, NewSession, Result, SessionId, Timestamp, Title, Usage};
use oneiro_store::{ColumnText, ForeignFile, ForeignRow, ForeignRows, ForeignValue};
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// A session of the file, ready to be stored.
#[derive(Debug, Clone)]
pub(super) struct SessionRow {
    /// The id in the file, which its messages refer to.
    pub(super) raw_id: Vec<u8>,
    pub(super) id: SessionId,
    /// Everything but its title and its parent.
    pub(super) new: NewSession,
    pub(super) title: Option<Title>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) end_reason: Option<String>,
    pub(super) archived: bool,
    pub(super) rewind_count: i64,
    pub(super) totals: Usage,
    pub(super) accounts: Vec<Account>,
    /// The id of its parent in the file.
    pub(super) parent: Option<Vec<u8>>,
    /// Its relation to its parent, if the row has it.
    pub(super) descends: Option<Lineage>,
    pub(super) repairs: Repairs,
    /// Changes with every value of the row.
    pub(super) fingerprint: i64,
}

/// Columns that have a field of their own or are recounted.
const MAPPED_COLUMNS: [&str; 27] = [
    "id",
    "source",
    "user_id",
    "model",
    "model_config",
    "system_prompt",
    "system_prompt_hash",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "api_call_count",
    "estimated_cost_usd",
    "actual_cost_usd",
    "title",
    "cwd",
    "rewind_count",
    "archived",
    // Names that only this import uses.
    "estimated_cost_set",
    "actual_cost_set",
];

/// The most bytes of a short field.
const FIELD_BYTES: usize = 4_096;

/// The file and its layout.
#[derive(Clone, Copy)]
pub(super) struct Source<'f> {
    pub(super) file: &'f ForeignFile,
    pub(super) layout: &'f Layout,
}

impl SessionRow {
    /// Reads a row. A row without a time gets `before`, the time of the previous row.
    pub(super) fn read(
        source: Source<'_>,
        row: &ForeignRow<'_>,
        before: Timestamp,
    ) -> Result<SessionRow> {
        let mut reader = RowReader {
            columns: &source.layout.sessions,
            row,
            metadata: Map::new(),
            repairs: Repairs::default(),
        };
        let raw_id = bytes_of(reader.get("id"));
        let accounts = usage_row::accounts(source, &raw_id, &mut reader.repairs)?;
        let fingerprint = reader.fingerprint(&accounts);
        let id = reader.id();
        let model_config = reader.model_config();
        let descends = model_config.as_ref().and_then(descends);
        let system_prompt = reader.system_prompt(source)?;
        let started = reader.time("started_at");
        if started.is_none() {
            reader.repairs.count(value::TIME_REPAIR);
        }
        let started_at = started.unwrap_or(before);
        let title = reader.title();
        let name = reader.short("source");
        if name.is_none() {
            reader.repairs.count(NAME_REPAIR);
        }
        let mut new = NewSession {
            id: Some(id.clone()),
            source: name.or_else(|| Some("unknown".to_owned())),
            user_id: reader.short("user_id"),
            model: reader.short("model"),
            cwd: reader.short("cwd"),
            model_config,
            system_prompt,
            started_at: Some(started_at),
            ..NewSession::default()
        };
        let ended_at = reader.time("ended_at");
        let end_reason = reader.short("end_reason");
        let rewind_count = reader.count("rewind_count");
        let totals = reader.totals();
        reader.others();
        let parent = match reader.get("parent_session_id") {
            ForeignValue::Null => None,
            parent => Some(bytes_of(parent)).filter(|parent| !parent.is_empty()),
        };
        let archived = value::flag(reader.get("archived"), false);
        new.metadata = reader.metadata;
        new.withhold_private();
        Ok(SessionRow {
            raw_id,
            id,
            new,
            title,
            ended_at,
            end_reason,
            archived,
            rewind_count,
            totals,
            accounts,
            parent,
            descends,
            repairs: reader.repairs,
            fingerprint,
        })
    }

    /// A session that messages refer to and that has no row.
    pub(super) fn without_row(raw_id: &[u8], started_at: Timestamp) -> SessionRow {
        let mut repairs = Repairs::default();
        repairs.count("session");
        let text = String::from_utf8_lossy(raw_id).into_owned();
        let id = SessionId::new(text).unwrap_or_else(|_| derived_id(raw_id));
        let metadata = Map::from_iter([("without_row".to_owned(), Value::Bool(true))]);
        SessionRow {
            raw_id: raw_id.to_owned(),
            new: NewSession {
                id: Some(id.clone()),
                source: Some("unknown".to_owned()),
                metadata,
                started_at: Some(started_at),
                ..NewSession::default()
            },
            id,
            title: None,
            ended_at: None,
            end_reason: None,
            archived: false,
            rewind_count: 0,
            totals: Usage::default(),
            accounts: Vec::new(),
            parent: None,
            descends: None,
            repairs,
            fingerprint: 1,
        }
    }
}

/// The bytes of an id.
pub(super) fn bytes_of(value: ForeignValue<'_>) -> Vec<u8> {
    match value {
        ForeignValue::Null => Vec::new(),
        ForeignValue::Int(number) => number.to_string().into_bytes(),
        ForeignValue::Real(number) => number.to_string().into_bytes(),
        ForeignValue::Text(bytes) | ForeignValue::Bytes(bytes) => bytes.to_owned(),
    }
}

/// An id for a session whose own cannot be stored; always the same for the same session.
fn derived_id(raw_id: &[u8]) -> SessionId {
    let hash = blake3::hash(raw_id);
    let mut random = [0; 10];
    random.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    SessionId::from_random(random)
}

/// The relation to the parent that hermes records in the model configuration.
fn descends(config: &Value) -> Option<Lineage> {
    let has = |name: &str| config.get(name).is_some_and(|value| !value.is_null());
    let fingerprints = [
        ("_delegate_from", Lineage::Delegate),
        ("_branched_from", Lineage::Branch),
        ("_reset_from", Lineage::Reset),
    ];
    fingerprints.into_iter().find(|(name, _)| has(name)).map(|(_, lineage)| lineage)
}

/// Reads the columns of one row.
struct RowReader<'r> {
    columns: &'r Columns,
    row: &'r ForeignRow<'r>,
    metadata: Map<String, Value>,
    repairs: Repairs,
}

impl<'r> RowReader<'r> {
    fn get(&self, name: &str) -> ForeignValue<'r> {
        self.columns.get(self.row, name)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        value::text(self.get(name), &mut self.repairs).map(|text| text.into_owned())
    }

    fn id(&mut self) -> SessionId {
        let text = self.text("id");
        match text.clone().map(SessionId::new) {
            Some(Ok(id)) => id,
            _ => {
                self.repairs.count(NAME_REPAIR);
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    self.metadata.insert("id".to_owned(), text.into());
                }
                derived_id(&bytes_of(self.get("id")))
            }
        }
    }

    /// A short text. If it is too long, the metadata has all of it.
    fn short(&mut self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        if text.len() <= FIELD_BYTES && !text.contains('\0') {
            return Some(text);
        }
        self.repairs.count(NAME_REPAIR);
        let mut cut = text.replace('\0', "");
        cut.truncate(cut.floor_char_boundary(FIELD_BYTES));
        self.metadata.insert(name.to_owned(), text.into());
        Some(cut)
    }

    fn model_config(&mut self) -> Option<Value> {
        let config = value::parse_json_text(self.get("model_config"), &mut self.repairs);
        Some(config).filter(|config| !config.is_null())
    }

    /// The system prompt, by value or by hash.
    fn system_prompt(&mut self, source: Source<'_>) -> Result<Option<String>> {
        if let Some(prompt) = self.text("system_prompt") {
            return Ok(Some(prompt));
        }
        let hash = self.get("system_prompt_hash");
        let found = match hash {
            ForeignValue::Text(hash) if source.layout.has_prompts => prompt(source.file, hash)?,
            _ => None,
        };
        if found.is_none() && hash != ForeignValue::Null {
            let hash = value::to_json(hash, &mut self.repairs);
            self.metadata.insert("system_prompt_hash".to_owned(), hash);
        }
        Ok(found)
    }

    fn time(&mut self, name: &str) -> Option<Timestamp> {
        let ParsedTime { at, exact, invalid } =
            value::parse_time(self.get(name), &mut self.repairs);
        self.metadata.extend(exact.map(|exact| (name.to_owned(), exact)));
        self.metadata.extend(invalid.map(|invalid| (format!("{name}_was"), invalid)));
        at
    }

    fn title(&mut self) -> Option<Title> {
        let text = self.text("title")?;
        match Title::clean(&text) {
            Ok(title) => title,
            Err(_) => {
                self.repairs.count(NAME_REPAIR);
                let short: String = text.chars().take(Title::MAX_CHARS).collect();
                self.metadata.insert("title".to_owned(), text.into());
                Title::clean(&short).ok().flatten()
            }
        }
    }

    /// A count; 0 if it is invalid, with the original in the metadata.
    fn count(&mut self, name: &str) -> i64 {
        let value = self.get(name);
        if value == ForeignValue::Null {
            return 0;
        }
        usage_row::amount(value).unwrap_or_else(|| {
            self.repairs.count(NUMBER_REPAIR);
            let invalid = value::to_json(value, &mut self.repairs);
            self.metadata.insert(name.to_owned(), invalid);
            0
        })
    }

    fn cost(&mut self, name: &'static str, is_set: &str) -> i64 {
        let value = self.get(name);
        if value == ForeignValue::Null {
            return 0;
        }
        self.metadata.insert(is_set.to_owned(), Value::Bool(true));
        usage_row::cost(name, value).unwrap_or_else(|| {
            self.repairs.count(NUMBER_REPAIR);
            let invalid = value::to_json(value, &mut self.repairs);
            self.metadata.insert(name.to_owned(), invalid);
            0
        })
    }

    fn totals(&mut self) -> Usage {
        Usage {
            api_calls: self.count("api_call_count"),
            input_tokens: self.count("input_tokens"),
            output_tokens: self.count("output_tokens"),
            cache_read_tokens: self.count("cache_read_tokens"),
            cache_write_tokens: self.count("cache_write_tokens"),
            reasoning_tokens: self.count("reasoning_tokens"),
            estimated_cost_nanousd: self.cost("estimated_cost_usd", "estimated_cost_set"),
            actual_cost_nanousd: self.cost("actual_cost_usd", "actual_cost_set"),
        }
    }

    /// Keeps every other column in the metadata.
    fn others(&mut self) {
        for (place, name) in self.columns.names.iter().enumerate() {
            let value = self.row.value(place);
            let is_unset = matches!(value, ForeignValue::Null | ForeignValue::Int(0));
            if is_unset || MAPPED_COLUMNS.contains(&name.as_str()) {
                continue;
            }
            let is_text = self.columns.are_text.get(place).copied().unwrap_or(false);
            let kept = if is_text && matches!(value, ForeignValue::Text(_)) {
                value::text_value(value, &mut self.repairs)
            } else {
                value::to_json(value, &mut self.repairs)
            };
            self.metadata.insert(name.clone(), kept);
        }
    }

    /// The fingerprint of everything that is imported of the row.
    fn fingerprint(&self, accounts: &[Account]) -> i64 {
        let mut all = String::new();
        for (place, name) in self.columns.names.iter().enumerate() {
            if !matches!(name.as_str(), "message_count" | "tool_call_count") {
                all.push_str(&format!("{name}\0{:?}\0", self.row.value(place)));
            }
        }
        all.push_str(&format!("{accounts:?}"));
        fingerprint(&all)
    }
}

fn prompt(file: &ForeignFile, hash: &[u8]) -> Result<Option<String>> {
    let columns = [String::from("prompt")];
    let rows = ForeignRows {
        table: "system_prompts",
        columns: &columns,
        from: None,
        equals: Some(ColumnText { column: "hash", text: hash }),
    };
    let mut found = None;
    file.each(rows, |row| {
        found = value::text(row.value(0), &mut Repairs::default()).map(|text| text.into_owned());
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}
