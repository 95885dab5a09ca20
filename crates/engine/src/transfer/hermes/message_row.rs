//! Converts rows of hermes's messages. Every column that is set is kept.

use super::layout::Columns;
use super::value::{self, NAME_REPAIR, ParsedTime, Repairs, TIME_REPAIR};
use oneiro_model::{NewMessage, Result, Role, Timestamp, Visibility, withhold};
use oneiro_store::messages::{self, Prepared};
use oneiro_store::{ForeignRow, ForeignValue};
use serde_json::{Map, Value};

/// A message of the file, ready to be stored.
pub(super) struct MessageRow {
    pub(super) prepared: Result<Prepared>,
    pub(super) at: Timestamp,
    pub(super) withheld: usize,
    pub(super) repairs: Repairs,
    /// Its approximate size.
    pub(super) bytes: usize,
}

/// Precedes structured content, which hermes stores as text.
const STRUCTURED_PREFIX: &str = "\0json:";

/// How a column is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Read separately.
    Own,
    Content,
    Json,
    /// A number whose 0 is not kept.
    Flag,
    ToolName,
    Tokens,
    Other,
}

/// How the columns of messages in this file are read.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    columns: Columns,
    /// The conversion and the new name of each column.
    parts: Vec<(Part, String)>,
}

/// Field names that have a meaning in our messages.
const RESERVED_NAMES: [&str; 7] =
    ["at", "external_id", "visibility", "trust", "tokens", "name", "id"];

impl Reader {
    pub(super) fn new(columns: &Columns) -> Reader {
        let part = |name: &String| {
            let part = match name.as_str() {
                "id" | "session_id" | "role" | "timestamp" | "active" | "compacted" => Part::Own,
                "content" => Part::Content,
                "tool_calls"
                | "reasoning_details"
                | "codex_reasoning_items"
                | "codex_message_items"
                | "display_metadata" => Part::Json,
                "observed" => Part::Flag,
                "tool_name" => Part::ToolName,
                "token_count" => Part::Tokens,
                _ => Part::Other,
            };
            let is_taken = part == Part::Other && RESERVED_NAMES.contains(&name.as_str());
            (part, if is_taken { format!("hermes_{name}") } else { name.clone() })
        };
        Reader { columns: columns.clone(), parts: columns.names.iter().map(part).collect() }
    }

    pub(super) fn columns(&self) -> &[String] {
        &self.columns.names
    }

    pub(super) fn session<'r>(&self, row: &'r ForeignRow<'_>) -> ForeignValue<'r> {
        self.columns.get(row, "session_id")
    }

    pub(super) fn visibility(&self, row: &ForeignRow<'_>) -> Visibility {
        visibility(&self.columns, row)
    }

    /// Reads a row. A row without a time gets `before`, the time of the previous row.
    pub(super) fn read(&self, row: &ForeignRow<'_>, before: Timestamp) -> MessageRow {
        let mut repairs = Repairs::default();
        let mut body = Map::new();
        let role = self.role(row, &mut body, &mut repairs);
        let mut bytes = 0;
        for (place, (part, name)) in self.parts.iter().enumerate() {
            let value = row.value(place);
            if let ForeignValue::Text(text) | ForeignValue::Bytes(text) = value {
                bytes += text.len();
            }
            if value == ForeignValue::Null && *part != Part::Content {
                continue;
            }
            match part {
                Part::Own => {}
                Part::Content => {
                    body.insert(name.clone(), content(value, &mut repairs));
                }
                Part::Json => {
                    body.insert(name.clone(), value::parse_json_text(value, &mut repairs));
                }
                Part::Flag if value::flag(value, false) => {
                    body.insert(name.clone(), Value::Bool(true));
                }
                Part::Flag => {}
                Part::ToolName => {
                    let name = if role == Role::Tool { "name" } else { name };
                    body.insert(name.to_owned(), value::text_value(value, &mut repairs));
                }
                Part::Tokens => match value::whole_number(value) {
                    Some(count) => {
                        body.insert("tokens".to_owned(), count.into());
                    }
                    None => {
                        body.insert(name.clone(), value::to_json(value, &mut repairs));
                    }
                },
                Part::Other if value == ForeignValue::Int(0) => {}
                Part::Other => {
                    let is_text = self.columns.are_text.get(place).copied().unwrap_or(false);
                    let kept = match (is_text, value) {
                        (true, ForeignValue::Text(_) | ForeignValue::Bytes(_)) => {
                            value::text_value(value, &mut repairs)
                        }
                        _ => value::to_json(value, &mut repairs),
                    };
                    body.insert(name.clone(), kept);
                }
            }
        }
        let at = self.time(row, &mut body, &mut repairs).unwrap_or(before);
        let withheld = body.values_mut().map(withhold).sum();
        let message = NewMessage {
            role,
            body,
            at: Some(at),
            external_id: Some(external_id(row.number)),
            repaired: repairs.0.values().sum(),
            withheld,
            visibility: self.visibility(row),
        };
        MessageRow { prepared: messages::prepare(message, at), at, withheld, repairs, bytes }
    }

    fn role(
        &self,
        row: &ForeignRow<'_>,
        body: &mut Map<String, Value>,
        repairs: &mut Repairs,
    ) -> Role {
        let text = value::text(self.columns.get(row, "role"), repairs);
        match text.as_deref().map(Role::parse) {
            Some(Ok(role)) => role,
            _ => {
                repairs.count(NAME_REPAIR);
                let was = text.filter(|text| !text.is_empty());
                body.extend(was.map(|was| ("role_was".to_owned(), was.into())));
                Role::Other("unknown".into())
            }
        }
    }

    fn time(
        &self,
        row: &ForeignRow<'_>,
        body: &mut Map<String, Value>,
        repairs: &mut Repairs,
    ) -> Option<Timestamp> {
        let value = self.columns.get(row, "timestamp");
        let ParsedTime { at, exact, invalid } = value::parse_time(value, repairs);
        if value == ForeignValue::Null {
            repairs.count(TIME_REPAIR);
        }
        body.extend(exact.map(|exact| ("timestamp".to_owned(), exact)));
        body.extend(invalid.map(|invalid| ("timestamp_was".to_owned(), invalid)));
        at
    }
}

/// The external id of a message of hermes.
pub(super) fn external_id(number: i64) -> String {
    format!("hermes:{number}")
}

/// The visibility of a message. In old versions all messages are live.
pub(super) fn visibility(columns: &Columns, row: &ForeignRow<'_>) -> Visibility {
    let is_active = value::flag(columns.get(row, "active"), true);
    let is_compacted = value::flag(columns.get(row, "compacted"), false);
    match (is_active, is_compacted) {
        (true, _) => Visibility::Live,
        (false, true) => Visibility::Compacted,
        (false, false) => Visibility::Rewound,
    }
}

fn content(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match value::text_value(value, repairs) {
        Value::String(text) => {
            let structured = text.strip_prefix(STRUCTURED_PREFIX);
            let structured = structured.and_then(|json| value::read_json(json, repairs));
            structured.unwrap_or(Value::String(text))
        }
        other => other,
    }
}
