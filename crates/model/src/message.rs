//! Messages: what a caller hands in ([`NewMessage`]) and what is stored ([`Message`]). The JSON is
//! the OpenAI chat message plus ours; every field nobody knows is kept in `body`.

use crate::contract::Request;
use crate::contract::schema::WITHOUT_NUL;
use crate::id::check_text;
use crate::part::calls_made;
use crate::{
    Cursor, Error, LIST_MAX, MessageId, Result, Role, SessionId, Timestamp, Trust, nearest_names,
    suggest_names, withhold,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

/// A message to append.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// Who speaks.
    pub role: Role,
    /// Every other field of the message, in the order it came.
    pub body: Map<String, Value>,
    /// When it was said; the time of the append when absent.
    pub at: Option<Timestamp>,
    /// The caller's id, which makes the append idempotent within the session.
    pub external_id: Option<String>,
    /// How many lone surrogates were replaced while reading it.
    pub repaired: usize,
    /// How many `<private>` spans were withheld.
    pub withheld: usize,
    /// The visibility it had where it was exported; live for everything else.
    pub visibility: Visibility,
}

/// The most messages of one request.
pub const BATCH_MAX: usize = 10_000;

/// The most characters an external id may have.
const EXTERNAL_ID_CHARS: usize = 512;

impl NewMessage {
    /// A plain message.
    pub fn text(role: Role, content: impl Into<String>) -> NewMessage {
        let mut content = Value::String(content.into());
        let withheld = withhold(&mut content);
        NewMessage {
            role,
            body: Map::from_iter([("content".to_owned(), content)]),
            at: None,
            external_id: None,
            repaired: 0,
            withheld,
            visibility: Visibility::Live,
        }
    }

    /// Gives the message the caller's own id.
    #[must_use]
    pub fn external_id(mut self, id: impl Into<String>) -> NewMessage {
        self.external_id = Some(id.into());
        self
    }

    /// Says when the message was said.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> NewMessage {
        self.at = Some(at);
        self
    }

    /// Reads the JSON of one message from bytes.
    pub fn parse(bytes: &[u8]) -> Result<NewMessage> {
        let repaired = crate::json::parse(bytes)?;
        let mut message = NewMessage::from_json(repaired.value)?;
        message.repaired = repaired.surrogates;
        Ok(message)
    }

    /// Takes a JSON message apart. `id`, `session_id` and `visibility` are answers of ours and are
    /// assigned again.
    pub fn from_json(value: Value) -> Result<NewMessage> {
        let Value::Object(mut body) = value else {
            return Err(Error::invalid("a message is a JSON object")
                .remedy(r#"write {"role":"user","content":"..."}"#));
        };
        let role = match body.shift_remove("role") {
            Some(Value::String(role)) => Role::parse(&role)?,
            Some(_) => return Err(Error::field("role", "is not a string")),
            // What other APIs are sent: a list in an object.
            None if body.get("messages").is_some_and(Value::is_array) => {
                return Err(Error::field("messages", "is not a field of a message")
                    .remedy("send the list itself: [{\"role\":\"user\",\"content\":\"...\"}]"));
            }
            None => {
                return Err(Error::field("role", "is missing")
                    .remedy("give user, assistant, system or tool"));
            }
        };
        let at = match body.shift_remove("at") {
            None | Some(Value::Null) => None,
            Some(Value::String(at)) => Some(Timestamp::parse(&at).map_err(|error| {
                Error::field("at", error.message()).remedy("write it as 2026-01-31T09:30:00Z")
            })?),
            Some(_) => {
                return Err(Error::field("at", "is not an RFC 3339 string")
                    .remedy("write it as \"2026-01-31T09:30:00Z\""));
            }
        };
        let external_id = match body.shift_remove("external_id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(checked_external_id(id)?),
            Some(_) => return Err(Error::field("external_id", "is not a string")),
        };
        match body.get("trust") {
            None | Some(Value::Null) => {}
            Some(Value::String(trust)) => {
                Trust::parse(trust)?;
            }
            Some(_) => return Err(Error::field("trust", "is not a string")),
        }
        match body.get("tokens") {
            None | Some(Value::Null) => {}
            Some(tokens) if tokens.as_u64().is_some_and(|count| count <= i64::MAX as u64) => {}
            Some(_) => return Err(Error::field("tokens", "is not a whole number of tokens")),
        }
        match body.shift_remove("id") {
            None | Some(Value::Null | Value::Number(_)) => {}
            Some(_) => {
                return Err(Error::field("id", "is given by Oneiro and is a number")
                    .remedy("put an id of your own into external_id"));
            }
        }
        body.shift_remove("session_id");
        let visibility = match body.shift_remove("visibility") {
            Some(Value::String(name)) => Visibility::parse(&name)?,
            _ => Visibility::Live,
        };
        let withheld = body.values_mut().map(withhold).sum();
        Ok(NewMessage { role, body, at, external_id, repaired: 0, withheld, visibility })
    }

    /// Refuses what could be stored but not read back: fields built by hand pass no parser.
    pub fn check(&self) -> Result<()> {
        for (name, value) in &self.body {
            crate::json::check_depth("message", value).map_err(|error| error.at(name))?;
        }
        match &self.external_id {
            Some(id) => checked_external_id(id.clone()).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Refuses what a client appends by mistake: a role that no chat API defines, and a message
    /// that carries nothing, neither a text nor anything else such as tool calls or images. The
    /// result of a tool may be empty. Imports and hosts that keep histories of their own are not
    /// checked, so that nothing they have is lost.
    pub fn check_client(&self) -> Result<()> {
        let role = self.role.as_str();
        if !self.role.is_known() {
            let error = Error::field("role", format!("{role:?} is not a known role"));
            let suggestion = suggest_names(role, Role::KNOWN.into_iter());
            return Err(error.remedy(suggestion.unwrap_or_default()));
        }
        let is_near = |name: &&String| !nearest_names(name, ["content"].into_iter()).is_empty();
        if !self.body.contains_key("content")
            && let Some(name) = self.body.keys().find(is_near)
        {
            return Err(Error::field("content", "is missing")
                .remedy(format!("rename the field {name:?} to \"content\"")));
        }
        // An assistant that says nothing has no content in some APIs; an empty text is a mistake.
        let has_no_content = self.body.get("content").is_none_or(Value::is_null);
        let may_be_empty = self.role == Role::Assistant && has_no_content;
        let needs_content = !self.role.is_tool_result() && !may_be_empty;
        let is_content = |name: &str| !FIELDS_WITHOUT_CONTENT.contains(&name);
        let mut content = self.body.iter().filter(|(name, _)| is_content(name));
        if needs_content && content.all(|(_, value)| is_blank(value)) {
            return Err(
                Error::field("content", "is empty").remedy("send a text, or leave the message out")
            );
        }
        Ok(())
    }

    /// How many tool calls this message makes.
    pub fn calls_made(&self) -> usize {
        calls_made(&self.role, &self.body)
    }
}

/// Fields that describe a message and hold nothing of what it says.
const FIELDS_WITHOUT_CONTENT: [&str; 7] =
    ["name", "model", "user", "id", "metadata", "tokens", "trust"];

/// Whether a field says nothing.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(parts) => parts.iter().all(is_blank_part),
        _ => false,
    }
}

fn is_blank_part(part: &Value) -> bool {
    let is_text = part.get("type").and_then(Value::as_str) == Some("text");
    let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
    is_text && text.trim().is_empty()
}

fn checked_external_id(id: String) -> Result<String> {
    check_text("external_id", &id)?;
    if id.is_empty() {
        return Err(Error::field("external_id", "is empty").remedy("leave it out, or give an id"));
    }
    if id.chars().count() > EXTERNAL_ID_CHARS {
        return Err(Error::field(
            "external_id",
            format!("is longer than {EXTERNAL_ID_CHARS} characters"),
        ));
    }
    Ok(id)
}

json_name! {
    /// Where a message stands: what is shown changes, what is stored does not.
    Visibility "visibility" {
        /// Part of the conversation.
        Live "live",
        /// Covered by a summary: searchable, not loaded.
        Compacted "compacted",
        /// Taken back: neither searched nor loaded, until restored.
        Rewound "rewound",
    }
}

/// A stored message.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its place in the sequence of the space.
    pub id: MessageId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// Who spoke.
    pub role: Role,
    /// Every other field, in the order it came.
    pub body: Map<String, Value>,
    /// When it was said.
    pub at: Timestamp,
    /// The caller's id.
    pub external_id: Option<String>,
    /// Where it stands.
    pub visibility: Visibility,
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("session_id", &self.session_id)?;
        map.serialize_entry("role", &self.role)?;
        for (name, value) in &self.body {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("at", &self.at)?;
        if let Some(external_id) = &self.external_id {
            map.serialize_entry("external_id", external_id)?;
        }
        if self.visibility != Visibility::Live {
            map.serialize_entry("visibility", &self.visibility)?;
        }
        map.end()
    }
}

/// The one shape that is described by hand: hosts put whatever they like into a message.
impl JsonSchema for Message {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "The OpenAI chat message plus ours; unknown fields are kept",
            "properties": {
                "id": generator.subschema_for::<MessageId>(),
                "session_id": generator.subschema_for::<SessionId>(),
                "role": {"type": "string"},
                "content": {},
                "name": {},
                "tool_calls": {},
                "tool_call_id": {},
                "reasoning": {},
                "at": generator.subschema_for::<Timestamp>(),
                "tokens": {},
                "external_id": {"type": "string"},
                "trust": {},
                "harness": {
                    "type": "array",
                    "description": "Stretches of the content that the program around the agent \
                                    wrote and not the person, in characters",
                    "items": {
                        "type": "object",
                        "properties": {
                            "kind": {"type": "string"},
                            "block": {"type": "integer"},
                            "from": {"type": "integer"},
                            "to": {"type": "integer"},
                        },
                    },
                },
                "visibility": generator.subschema_for::<Visibility>(),
            },
            "required": ["id", "session_id", "role", "at"],
            "additionalProperties": true,
        })
    }
}

impl JsonSchema for NewMessage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NewMessage".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        NewMessage::schema(generator, serde_json::json!({"type": "string", "enum": Role::KNOWN}))
    }
}

/// The schema of a message that a client kept elsewhere, whose role may be any.
pub struct KeptMessage;

impl JsonSchema for KeptMessage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "KeptMessage".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let role = generator.subschema_for::<Role>().to_value();
        NewMessage::schema(generator, role)
    }
}

impl NewMessage {
    fn schema(generator: &mut schemars::SchemaGenerator, role: Value) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "The OpenAI chat message plus ours: `at`, `external_id`, `trust`; \
                            unknown fields are kept",
            "properties": {
                "role": role,
                "content": {},
                "at": generator.subschema_for::<Timestamp>(),
                "external_id": {
                    "type": "string", "minLength": 1, "maxLength": EXTERNAL_ID_CHARS,
                    "pattern": WITHOUT_NUL,
                },
                "trust": generator.subschema_for::<Trust>(),
            },
            "required": ["role"],
            "additionalProperties": true,
        })
    }
}

/// How many messages of a session stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MessageCounts {
    /// Part of the conversation.
    pub live: i64,
    /// Set aside or covered by a summary.
    pub compacted: i64,
    /// Taken back.
    pub rewound: i64,
    /// Live messages that are results of tools or make calls.
    pub tool_messages: i64,
    /// Calls that live messages make.
    pub tool_calls: i64,
}

/// What an append does besides.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AppendOptions {
    /// Create the session if it does not exist.
    pub create: bool,
    /// The source of a session that is created.
    pub source: Option<String>,
}

impl Request for AppendOptions {}

/// Which messages of a session are answered.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListMessages {
    /// Maximum number of messages.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
    /// Include rewound and compacted messages.
    pub hidden: bool,
}

impl Default for ListMessages {
    fn default() -> ListMessages {
        ListMessages { limit: LIST_MAX, cursor: None, hidden: false }
    }
}

impl Request for ListMessages {}

/// How a session is shown.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShowSession {
    /// Maximum number of messages.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
    /// Include rewound and compacted messages.
    pub hidden: bool,
    /// Whether messages are answered.
    pub messages: bool,
}

impl Default for ShowSession {
    fn default() -> ShowSession {
        ShowSession { limit: LIST_MAX, cursor: None, hidden: false, messages: true }
    }
}

impl Request for ShowSession {}

/// The answer to an append.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Appended {
    /// The id of each message handed in, in order; a duplicate answers with the id it has.
    pub ids: Vec<MessageId>,
    /// How many were there already.
    pub duplicates: usize,
    /// How many were not stored because the session's id matches an ignore or stateless pattern.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: usize,
    /// How many lone surrogates were replaced.
    #[serde(skip_serializing_if = "is_zero")]
    pub repaired: usize,
    /// How many `<private>` spans were withheld.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_fields_come_out_and_unknown_ones_stay_in_order() {
        let message = NewMessage::from_json(json!({
            "zeta": null, "role": "assistant", "content": "", "at": "2026-01-01T00:00:00Z",
            "external_id": "e1", "alpha": {"b": 1, "a": 2}, "id": 9, "session_id": "s",
        }))
        .unwrap();
        assert_eq!(message.role, Role::Assistant);
        assert_eq!(message.external_id.as_deref(), Some("e1"));
        let body = serde_json::to_string(&message.body).unwrap();
        assert_eq!(body, r#"{"zeta":null,"content":"","alpha":{"b":1,"a":2}}"#);
    }

    #[test]
    fn bad_fields_are_named() {
        for (value, field) in [
            (json!({"content": "x"}), "role"),
            (json!({"messages": [{"role": "user", "content": "x"}]}), "messages"),
            (json!({"role": 1}), "role"),
            (json!({"role": "user", "at": "yesterday"}), "at"),
            (json!({"role": "user", "at": 5}), "at"),
            (json!({"role": "user", "external_id": 5}), "external_id"),
            (json!({"role": "user", "external_id": ""}), "external_id"),
            (json!({"role": "user", "external_id": "a\u{0}"}), "external_id"),
            (json!({"role": "user", "trust": "god"}), "trust"),
            (json!({"role": "user", "tokens": -1}), "tokens"),
            (json!({"role": "user", "id": "msg_1"}), "id"),
        ] {
            let error = NewMessage::from_json(value.clone()).unwrap_err();
            assert_eq!(error.field_name(), Some(field), "{value}");
        }
        assert!(NewMessage::from_json(json!([])).is_err());
    }

    #[test]
    fn a_misspelt_content_is_refused_and_other_fields_may_stand_in_for_it() {
        let check = |text: &str| NewMessage::parse(text.as_bytes()).unwrap().check_client();
        for role in ["user", "system", "developer"] {
            let error = check(&format!(r#"{{"role":"{role}","contnt":"a"}}"#)).unwrap_err();
            assert_eq!(error.field_name(), Some("content"));
            assert!(error.remedy_text().unwrap().contains("\"contnt\""), "{error:?}");
        }
        assert!(check(r#"{"role":"assistant","tool_calls":[{"id":"1","name":"x"}]}"#).is_ok());
        assert!(check(r#"{"role":"user","content":"a","contnt":"b"}"#).is_ok());
        assert!(check(r#"{"role":"user","parts":[{"text":"a"}]}"#).is_ok());
    }
}
