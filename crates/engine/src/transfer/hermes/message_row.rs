//! A row of hermes's messages as a message of ours. Every column that says something is kept.

use super::layout::Columns;
use super::value::{self, Moment, NAME, Repairs, TIME};
use oneiro_model::{NewMessage, Result, Role, Timestamp, Visibility, withhold};
use oneiro_store::messages::{self, Prepared};
use oneiro_store::{ForeignRow, ForeignValue};
use serde_json::{Map, Value};

/// A message as the file has it, made ready to be stored.
pub(super) struct MessageRow {
    pub(super) prepared: Result<Prepared>,
    pub(super) at: Timestamp,
    pub(super) withheld: usize,
    pub(super) repairs: Repairs,
    /// About how large it is.
    pub(super) bytes: usize,
}

/// Structured content is stored as text with this before it.
const STRUCTURED: &str = "\0json:";

/// What a column becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It is read apart from the others.
    Own,
    Content,
    Json,
    /// A number whose 0 says nothing.
    Flag,
    ToolName,
    Tokens,
    Other,
}

/// How the columns of this file's messages are read, settled once for all rows.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    columns: Columns,
    /// What each column becomes, and under which name.
    parts: Vec<(Part, String)>,
}

/// Names that mean something of ours in a message.
const OURS: [&str; 7] = ["at", "external_id", "visibility", "trust", "tokens", "name", "id"];

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
            let is_taken = part == Part::Other && OURS.contains(&name.as_str());
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

    /// Reads a row; `before` is the time of the row before it, for one that has none.
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
                    body.insert(name.clone(), value::parsed(value, &mut repairs));
                }
                Part::Flag if value::flag(value, false) => {
                    body.insert(name.clone(), Value::Bool(true));
                }
                Part::Flag => {}
                Part::ToolName => {
                    let name = if role == Role::Tool { "name" } else { name };
                    body.insert(name.to_owned(), value::words(value, &mut repairs));
                }
                Part::Tokens => match value::whole_number(value) {
                    Some(count) => {
                        body.insert("tokens".to_owned(), count.into());
                    }
                    None => {
                        body.insert(name.clone(), value::plain(value, &mut repairs));
                    }
                },
                Part::Other if value == ForeignValue::Int(0) => {}
                Part::Other => {
                    let is_text = self.columns.are_text.get(place).copied().unwrap_or(false);
                    let kept = match (is_text, value) {
                        (true, ForeignValue::Text(_) | ForeignValue::Bytes(_)) => {
                            value::words(value, &mut repairs)
                        }
                        _ => value::plain(value, &mut repairs),
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
                repairs.count(NAME);
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
        let Moment { at, exact, odd } = value::moment(value, repairs);
        if value == ForeignValue::Null {
            repairs.count(TIME);
        }
        body.extend(exact.map(|exact| ("timestamp".to_owned(), exact)));
        body.extend(odd.map(|odd| ("timestamp_was".to_owned(), odd)));
        at
    }
}

/// The id that a message of hermes has here.
pub(super) fn external_id(number: i64) -> String {
    format!("hermes:{number}")
}

/// Where a message stands. Rows of versions that did not know are all live.
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
    match value::words(value, repairs) {
        Value::String(text) => {
            let structured = text.strip_prefix(STRUCTURED);
            let structured = structured.and_then(|json| value::read_json(json, repairs));
            structured.unwrap_or(Value::String(text))
        }
        other => other,
    }
}
