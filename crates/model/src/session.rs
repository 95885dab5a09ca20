//! Sessions: what a caller asks for, what is stored, how they descend from each other, and how
//! they are listed.

use crate::contract::Request;
use crate::contract::schema::EXACT_INTEGER_MAX;
use crate::id::check_text;
use crate::json::check_depth;
use crate::part::words;
use crate::private::{withhold, withhold_text};
use crate::{Cursor, Error, Message, Result, Role, SessionId, Timestamp, Title};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

json_name! {
    /// How a session descends from its parent.
    Lineage "lineage" {
        /// The same conversation, carried on after compression.
        Continuation "continuation",
        /// The same conversation, taken another way.
        Branch "branch",
        /// Work handed to another agent.
        Delegate "delegate",
        /// A fresh start in the same place.
        Reset "reset",
    }
}

/// A session to create. Where one with this id exists, only what is unset is filled in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewSession {
    /// The caller's id; one is made when absent.
    pub id: Option<SessionId>,
    /// Where the conversation happens (cli, telegram, cron ...); never changed later.
    #[schemars(length(max = FIELD_CHARS_MAX))]
    pub source: Option<String>,
    /// Who the agent talks to.
    #[schemars(length(max = FIELD_CHARS_MAX))]
    pub user_id: Option<String>,
    /// The model.
    #[schemars(length(max = FIELD_CHARS_MAX))]
    pub model: Option<String>,
    /// Settings of the model.
    pub model_config: Option<Value>,
    /// The system prompt, stored once however many sessions share it.
    pub system_prompt: Option<String>,
    /// The session this one descends from.
    pub parent_id: Option<SessionId>,
    /// How it descends; a child of a compressed session continues it, any other branches.
    pub lineage: Option<Lineage>,
    /// A title, unique in the space, of at most 100 characters once runs of spaces and control
    /// characters are one space.
    #[schemars(length(max = Title::MAX_CHARS), extend("x-loose-length" = true))]
    pub title: Option<String>,
    /// The project it belongs to.
    #[schemars(length(max = FIELD_CHARS_MAX))]
    pub project: Option<String>,
    /// The working directory.
    #[schemars(length(max = FIELD_CHARS_MAX))]
    pub cwd: Option<String>,
    /// Anything else the host knows; each key is filled only where unset.
    pub metadata: Map<String, Value>,
    /// When it began; now when absent.
    pub started_at: Option<Timestamp>,
    /// Leave a continuation without a title; it takes its parent's with the next number otherwise.
    #[schemars(extend("x-host-only" = true))]
    pub untitled: bool,
}

impl Request for NewSession {}

impl NewSession {
    /// A session with the caller's id.
    pub fn with_id(id: SessionId) -> NewSession {
        NewSession { id: Some(id), ..NewSession::default() }
    }

    /// Takes private spans out of what people write.
    pub fn withhold_private(&mut self) {
        withhold_in([&mut self.title, &mut self.system_prompt], &mut self.metadata);
    }

    /// Refuses text that an engine could not hold.
    pub fn check(&self) -> Result<()> {
        let fields = [
            ("source", &self.source),
            ("user_id", &self.user_id),
            ("model", &self.model),
            ("project", &self.project),
            ("cwd", &self.cwd),
        ];
        check_json(self.model_config.as_ref(), &self.metadata)?;
        fields.into_iter().try_for_each(|(name, text)| check_field(name, text.as_deref()))
    }
}

fn withhold_in(texts: [&mut Option<String>; 2], metadata: &mut Map<String, Value>) {
    for text in texts.into_iter().flatten() {
        if let Some((withheld, _)) = withhold_text(text) {
            *text = withheld;
        }
    }
    metadata.values_mut().for_each(|value| {
        withhold(value);
    });
}

/// The most bytes of a session's short text fields, and so the most characters.
const FIELD_BYTES: usize = 4_096;
const FIELD_CHARS_MAX: usize = FIELD_BYTES;

fn check_field(name: &'static str, text: Option<&str>) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    check_text(name, text)?;
    if text.len() > FIELD_BYTES {
        Err(Error::field(name, format!("is longer than {FIELD_BYTES} bytes")))
    } else {
        Ok(())
    }
}

fn check_json(model_config: Option<&Value>, metadata: &Map<String, Value>) -> Result<()> {
    if let Some(config) = model_config {
        check_depth("model_config", config)?;
    }
    metadata.values().try_for_each(|value| check_depth("metadata", value))
}

/// A change of a session: what is given overwrites, null takes a value away.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionPatch {
    /// A new title of at most 100 characters, once runs of spaces and control characters are one
    /// space.
    #[serde(deserialize_with = "given")]
    #[schemars(
        with = "Option<String>",
        length(max = Title::MAX_CHARS),
        extend("x-null-clears" = true),
        extend("x-loose-length" = true)
    )]
    pub title: Option<Option<String>>,
    /// Set the title only if there is none.
    pub title_if_unset: bool,
    /// Archive or unarchive the whole chain.
    pub archived: Option<bool>,
    /// A new model.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = FIELD_CHARS_MAX), extend("x-null-clears" = true))]
    pub model: Option<Option<String>>,
    /// New settings of the model.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Value>", extend("x-null-clears" = true))]
    pub model_config: Option<Option<Value>>,
    /// A new system prompt.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>", extend("x-null-clears" = true))]
    pub system_prompt: Option<Option<String>>,
    /// A new project.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = FIELD_CHARS_MAX), extend("x-null-clears" = true))]
    pub project: Option<Option<String>>,
    /// A new working directory.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = FIELD_CHARS_MAX), extend("x-null-clears" = true))]
    pub cwd: Option<Option<String>>,
    /// Keys to set in the metadata; null removes one.
    pub metadata: Map<String, Value>,
    /// Who the agent talks to.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = FIELD_CHARS_MAX), extend("x-null-clears" = true))]
    pub user_id: Option<Option<String>>,
    /// How it descends from the parent it has.
    #[schemars(extend("x-host-only" = true))]
    pub lineage: Option<Lineage>,
    /// Where it takes place from now on; only hosts that learn it late say so.
    #[schemars(length(max = FIELD_CHARS_MAX), extend("x-host-only" = true))]
    pub source: Option<String>,
    /// Change nothing unless these keys of the metadata have these values; null means unset.
    #[schemars(extend("x-host-only" = true))]
    pub metadata_is: Map<String, Value>,
}

impl Request for SessionPatch {}

/// A field that is given, be it as null.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl SessionPatch {
    /// Takes private spans out of what people write.
    pub fn withhold_private(&mut self) {
        let (mut no_title, mut no_prompt) = (None, None);
        let title = self.title.as_mut().unwrap_or(&mut no_title);
        let prompt = self.system_prompt.as_mut().unwrap_or(&mut no_prompt);
        withhold_in([title, prompt], &mut self.metadata);
    }

    /// Refuses text that an engine could not hold.
    pub fn check(&self) -> Result<()> {
        let fields = [
            ("model", self.model.as_ref()),
            ("project", self.project.as_ref()),
            ("cwd", self.cwd.as_ref()),
            ("user_id", self.user_id.as_ref()),
        ];
        check_json(self.model_config.as_ref().and_then(Option::as_ref), &self.metadata)?;
        check_field("source", self.source.as_deref())?;
        fields
            .into_iter()
            .try_for_each(|(name, text)| check_field(name, text.and_then(Option::as_deref)))
    }
}

/// The end of a session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ending {
    /// Why it ended.
    #[schemars(length(max = FIELD_CHARS_MAX))]
    pub reason: String,
    /// When; now when absent.
    #[schemars(extend("x-host-only" = true))]
    pub at: Option<Timestamp>,
    /// Which end that the session has already this one takes the place of: `nothing`, `anything`,
    /// or a list of reasons.
    #[schemars(with = "Value", extend("x-host-only" = true))]
    pub over: EndingOver,
}

impl Request for Ending {
    fn check(&self) -> Result<()> {
        check_field("reason", Some(&self.reason))
    }
}

impl Default for Ending {
    fn default() -> Ending {
        Ending { reason: "ended".to_owned(), at: None, over: EndingOver::Nothing }
    }
}

/// Which earlier end of a session a new one takes the place of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EndingOver {
    /// None: an existing end reason is kept.
    #[default]
    Nothing,
    /// Any.
    Anything,
    /// One for any of these reasons.
    Reasons(Vec<String>),
}

impl<'de> Deserialize<'de> for EndingOver {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<EndingOver, D::Error> {
        let wrong = "is not \"nothing\", \"anything\" or a list of reasons";
        let text = |reason: &Value| reason.as_str().map(str::to_owned);
        let over = match Value::deserialize(from)? {
            Value::String(word) if word == "nothing" => Some(EndingOver::Nothing),
            Value::String(word) if word == "anything" => Some(EndingOver::Anything),
            Value::Array(reasons) => {
                reasons.iter().map(text).collect::<Option<_>>().map(EndingOver::Reasons)
            }
            _ => None,
        };
        over.ok_or_else(|| serde::de::Error::custom(wrong))
    }
}

impl EndingOver {
    /// Whether an end for `reason` gives way.
    pub fn takes(&self, reason: &str) -> bool {
        match self {
            EndingOver::Nothing => false,
            EndingOver::Anything => true,
            EndingOver::Reasons(reasons) => reasons.iter().any(|known| known == reason),
        }
    }
}

impl Ending {
    /// Takes a reason.
    pub fn new(reason: impl Into<String>) -> Result<Ending> {
        let reason = reason.into();
        check_field("end_reason", Some(&reason))?;
        Ok(Ending { reason, at: None, over: EndingOver::Nothing })
    }
}

/// A stored session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Session {
    /// The caller's id.
    pub id: SessionId,
    /// Where the conversation happens.
    pub source: String,
    /// Who the agent talks to.
    pub user_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Settings of the model.
    pub model_config: Option<Value>,
    /// The system prompt; left out of lists.
    pub system_prompt: Option<String>,
    /// The session this one descends from.
    pub parent_id: Option<SessionId>,
    /// How it descends.
    pub lineage: Option<Lineage>,
    /// Its title.
    pub title: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// Anything else the host knows.
    pub metadata: Map<String, Value>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// When something was last said.
    pub last_active_at: Timestamp,
    /// Whether it is archived.
    pub archived: bool,
    /// Messages that are not rewound.
    pub message_count: i64,
    /// Tool calls made in them.
    pub tool_call_count: i64,
    /// Input tokens used.
    pub input_tokens: i64,
    /// Output tokens used.
    pub output_tokens: i64,
    /// Input tokens read from the provider's cache.
    pub cache_read_tokens: i64,
    /// Input tokens written to the provider's cache.
    pub cache_write_tokens: i64,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: i64,
    /// Calls of the model.
    pub api_call_count: i64,
    /// What it cost by our estimate, in US dollars.
    pub estimated_cost_usd: f64,
    /// What it cost by the provider's account, in US dollars.
    pub actual_cost_usd: f64,
    /// How often it was rewound.
    pub rewind_count: i64,
    /// Of its messages, those that are set aside: searched, not loaded.
    #[serde(skip)]
    pub compacted_count: i64,
    /// Tool calls made in those.
    #[serde(skip)]
    pub compacted_tool_calls: i64,
    /// The beginning of the first thing the person said.
    pub preview: Option<String>,
    /// In a list of conversations, where the chain that ends in this session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_id: Option<SessionId>,
}

impl Session {
    /// What people see as its name: the title, the preview, or the id.
    pub fn display_name(&self) -> &str {
        let filled = |text: &&str| !text.trim().is_empty();
        let title = self.title.as_deref().filter(filled);
        let preview = self.preview.as_deref().filter(filled);
        title.or(preview).unwrap_or(self.id.as_str())
    }

    /// The beginning of a message, as lists show it.
    pub fn preview_of(role: &Role, body: &Map<String, Value>) -> String {
        const PREVIEW_CHARS: usize = 60;
        let text = words(role, body);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(PREVIEW_CHARS) {
            Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }
}

/// A session with its messages.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionView {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Its messages, in the order they came.
    pub messages: Vec<Message>,
}

json_name! {
    /// What a list is ordered by, newest first.
    #[derive(Default)]
    ListOrder "order" {
        /// The last thing said.
        #[default]
        Active "active",
        /// The start.
        Started "started",
    }
}

json_name! {
    /// Which sessions are meant, by whether they are archived.
    ArchivedFilter "archived" {
        /// Archived ones only.
        Only "true",
        /// None of them.
        Without "false",
        /// All sessions.
        Any "any",
    }
}

impl ArchivedFilter {
    /// Whether only archived ones are meant, only others, or both.
    pub fn wanted(self) -> Option<bool> {
        match self {
            ArchivedFilter::Only => Some(true),
            ArchivedFilter::Without => Some(false),
            ArchivedFilter::Any => None,
        }
    }
}

/// Which sessions to list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListSessions {
    /// Maximum number of sessions.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
    /// Every session; otherwise conversations: chains shown as their tip, delegates left out.
    pub all: bool,
    /// Only this source.
    pub source: Option<String>,
    /// Not these sources.
    #[schemars(extend("x-older-names" = ["exclude_source"]))]
    pub exclude_sources: Vec<String>,
    /// Only this project.
    pub project: Option<String>,
    /// Only this person.
    pub user_id: Option<String>,
    /// Only children of this session.
    pub parent_id: Option<SessionId>,
    /// Only working directories with this prefix.
    pub cwd_prefix: Option<String>,
    /// Only sessions with at least this many messages.
    #[schemars(range(min = 0, max = EXACT_INTEGER_MAX))]
    pub min_messages: i64,
    /// Archived sessions only (`true`), without them (`false`), or all (`any`).
    pub archived: ArchivedFilter,
    /// Only sessions that ended, or only those that did not.
    pub ended: Option<bool>,
    /// Active at or after this time.
    pub since: Option<Timestamp>,
    /// Active before this time; a date includes that day.
    #[schemars(extend("x-end-of-day" = true))]
    pub until: Option<Timestamp>,
    /// Id or title contains this, whatever the case and punctuation.
    #[schemars(extend("x-older-names" = ["q"]))]
    pub matching: Option<String>,
    /// The order, newest first.
    pub order: ListOrder,
    /// Only ids with this prefix.
    #[schemars(extend("x-host-only" = true))]
    pub id_prefix: Option<String>,
    /// Only sessions that began at or after this time.
    #[schemars(extend("x-host-only" = true))]
    pub started_since: Option<Timestamp>,
    /// Only sessions that began before this time; a date includes that day.
    #[schemars(extend("x-host-only" = true), extend("x-end-of-day" = true))]
    pub started_until: Option<Timestamp>,
    /// Only sessions whose metadata has these values; null means unset.
    #[schemars(extend("x-host-only" = true))]
    pub metadata_is: Map<String, Value>,
    /// Only sessions whose metadata has these keys.
    #[schemars(extend("x-host-only" = true))]
    pub has_metadata: Vec<String>,
    /// With their system prompts.
    #[schemars(extend("x-host-only" = true))]
    pub with_prompts: bool,
    /// Without delegates; with `all`, everything else is listed.
    #[schemars(extend("x-host-only" = true))]
    pub without_delegates: bool,
}

/// The most items of a page.
pub const LIST_MAX: usize = 1_000;

impl Request for ListSessions {}

impl Default for ListSessions {
    fn default() -> ListSessions {
        ListSessions {
            all: false,
            source: None,
            exclude_sources: Vec::new(),
            project: None,
            user_id: None,
            parent_id: None,
            cwd_prefix: None,
            min_messages: 0,
            archived: ArchivedFilter::Without,
            ended: None,
            since: None,
            until: None,
            id_prefix: None,
            started_since: None,
            started_until: None,
            metadata_is: Map::new(),
            has_metadata: Vec::new(),
            with_prompts: false,
            without_delegates: false,
            matching: None,
            order: ListOrder::Active,
            limit: 20,
            cursor: None,
        }
    }
}

impl ListSessions {
    /// Whether `session` passes the filters that are not questions of SQL.
    pub fn takes(&self, session: &Session) -> bool {
        let matching = self.matching.as_deref().map(plain);
        let raw = self.matching.as_deref().unwrap_or_default().to_lowercase();
        let holds = |text: &str| match matching.as_deref() {
            None => true,
            // Nothing but punctuation is meant literally.
            Some("") => text.to_lowercase().contains(&raw),
            Some(want) => plain(text).contains(want),
        };
        let cwd = session.cwd.as_deref().unwrap_or_default();
        let held = |name: &String| session.metadata.get(name).unwrap_or(&Value::Null);
        !self.exclude_sources.contains(&session.source)
            && self.id_prefix.as_deref().is_none_or(|start| session.id.as_str().starts_with(start))
            && self.started_since.is_none_or(|since| session.started_at >= since)
            && self.started_until.is_none_or(|until| session.started_at < until)
            && self.metadata_is.iter().all(|(name, value)| held(name) == value)
            && self.has_metadata.iter().all(|name| !held(name).is_null())
            && self.cwd_prefix.as_deref().is_none_or(|prefix| cwd.starts_with(prefix))
            && (holds(session.id.as_str()) || session.title.as_deref().is_some_and(holds))
    }
}

/// Text without case and punctuation, as people remember titles.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn previews_are_one_short_line() {
        let body = |text: &str| json!({"content": text}).as_object().cloned().unwrap();
        let preview = |text: &str| Session::preview_of(&Role::User, &body(text));
        assert_eq!(preview(" a\n b "), "a b");
        assert_eq!(preview(&"é".repeat(61)), format!("{}...", "é".repeat(60)));
        assert_eq!(preview(&"é".repeat(60)), "é".repeat(60));
    }
}
