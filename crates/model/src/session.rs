//! Sessions: what a caller asks for, what is stored, how they descend from each other, and how
//! they are listed.

use crate::id::check_text;
use crate::json::check_depth;
use crate::part::words;
use crate::private::{withhold, withhold_text};
use crate::{Cursor, Error, Message, Result, Role, SessionId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};

/// How a session descends from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lineage {
    /// The same conversation, carried on after compression.
    Continuation,
    /// The same conversation, taken another way.
    Branch,
    /// Work handed to another agent.
    Delegate,
    /// A fresh start in the same place.
    Reset,
}

impl Lineage {
    /// Reads a lineage.
    pub fn parse(name: &str) -> Result<Lineage> {
        Ok(match name {
            "continuation" => Lineage::Continuation,
            "branch" => Lineage::Branch,
            "delegate" => Lineage::Delegate,
            "reset" => Lineage::Reset,
            _ => {
                return Err(Error::field("lineage", format!("{name:?} is not a lineage"))
                    .remedy("give continuation, branch, delegate or reset"));
            }
        })
    }

    /// The lineage as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Lineage::Continuation => "continuation",
            Lineage::Branch => "branch",
            Lineage::Delegate => "delegate",
            Lineage::Reset => "reset",
        }
    }
}

/// A session to create, or to fill in where it exists: only what is unset is filled.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// The caller's id; one is made when absent.
    pub id: Option<SessionId>,
    /// Where the conversation happens (cli, telegram, cron ...); never changed later.
    pub source: Option<String>,
    /// Who the agent talks to.
    pub user_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Settings of the model.
    pub model_config: Option<Value>,
    /// The system prompt, stored once however many sessions share it.
    pub system_prompt: Option<String>,
    /// The session this one descends from.
    pub parent_id: Option<SessionId>,
    /// How it descends; a child of a compressed session continues it, any other branches.
    pub lineage: Option<Lineage>,
    /// A title, unique in the space.
    pub title: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// Anything else the host knows; each key is filled only where unset.
    pub metadata: Map<String, Value>,
    /// When it began; now when absent.
    pub started_at: Option<Timestamp>,
    /// Leave a continuation without a title; it takes its parent's with the next number otherwise.
    pub untitled: bool,
}

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

/// The most bytes of a session's short text fields.
const FIELD_BYTES: usize = 4_096;

fn check_field(name: &'static str, text: Option<&str>) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    check_text(name, text)?;
    match text.len() > FIELD_BYTES {
        true => Err(Error::field(name, format!("is longer than {FIELD_BYTES} bytes"))),
        false => Ok(()),
    }
}

fn check_json(model_config: Option<&Value>, metadata: &Map<String, Value>) -> Result<()> {
    if let Some(config) = model_config {
        check_depth("model_config", config)?;
    }
    metadata.values().try_for_each(|value| check_depth("metadata", value))
}

/// An explicit change of a session: what is given overwrites.
#[derive(Debug, Clone, Default)]
pub struct SessionPatch {
    /// A new title; `Some(None)` takes it away.
    pub title: Option<Option<String>>,
    /// Set the title only if there is none.
    pub title_if_unset: bool,
    /// Archive or unarchive the whole chain.
    pub archived: Option<bool>,
    /// A new model.
    pub model: Option<String>,
    /// New settings of the model.
    pub model_config: Option<Value>,
    /// A new system prompt.
    pub system_prompt: Option<String>,
    /// A new project.
    pub project: Option<String>,
    /// A new working directory.
    pub cwd: Option<String>,
    /// Keys to set in the metadata; null removes one.
    pub metadata: Map<String, Value>,
    /// Who the agent talks to.
    pub user_id: Option<String>,
    /// How it descends from the parent it has.
    pub lineage: Option<Lineage>,
    /// Where it takes place from now on; only hosts that learn it late say so.
    pub source: Option<String>,
    /// What to take away.
    pub unset: Vec<SessionField>,
    /// Change nothing unless these keys of the metadata have these values; null means unset.
    pub metadata_is: Map<String, Value>,
}

impl SessionPatch {
    /// Takes private spans out of what people write.
    pub fn withhold_private(&mut self) {
        let mut title = self.title.take();
        let mut none = None;
        let text = title.as_mut().unwrap_or(&mut none);
        withhold_in([text, &mut self.system_prompt], &mut self.metadata);
        self.title = title;
    }

    /// Refuses text that an engine could not hold.
    pub fn check(&self) -> Result<()> {
        let fields = [
            ("model", &self.model),
            ("project", &self.project),
            ("cwd", &self.cwd),
            ("user_id", &self.user_id),
            ("source", &self.source),
        ];
        check_json(self.model_config.as_ref(), &self.metadata)?;
        fields.into_iter().try_for_each(|(name, text)| check_field(name, text.as_deref()))
    }
}

/// A value of a session that can be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionField {
    /// The model.
    Model,
    /// Settings of the model.
    ModelConfig,
    /// The system prompt.
    SystemPrompt,
    /// The project.
    Project,
    /// The working directory.
    Cwd,
    /// Who the agent talks to.
    UserId,
}

/// The end of a session.
#[derive(Debug, Clone)]
pub struct Ending {
    /// Why it ended.
    pub reason: String,
    /// When; now when absent.
    pub at: Option<Timestamp>,
    /// Which end that the session has already this one takes the place of.
    pub over: EndingOver,
}

/// Which earlier end of a session a new one takes the place of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EndingOver {
    /// None: the first reason wins.
    #[default]
    Nothing,
    /// Any.
    Anything,
    /// One for any of these reasons.
    Reasons(Vec<String>),
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
#[derive(Debug, Clone, Serialize)]
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
    /// Whether it is put away.
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
    /// The beginning of a message, as lists show it.
    pub fn preview_of(role: &Role, body: &Map<String, Value>) -> String {
        const CHARS: usize = 60;
        let text = words(role, body);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(CHARS) {
            Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }
}

/// A session with its messages.
#[derive(Debug, Clone, Serialize)]
pub struct SessionView {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Its messages, in the order they came.
    pub messages: Vec<Message>,
}

/// What a list is ordered by, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// The last thing said.
    #[default]
    Active,
    /// The start.
    Started,
}

/// Which sessions to list.
#[derive(Debug, Clone)]
pub struct ListSessions {
    /// Every session; otherwise conversations: chains shown as their tip, delegates left out.
    pub all: bool,
    /// Only this source.
    pub source: Option<String>,
    /// Not these sources.
    pub exclude_sources: Vec<String>,
    /// Only this project.
    pub project: Option<String>,
    /// Only this person.
    pub user_id: Option<String>,
    /// Only children of this session.
    pub parent_id: Option<SessionId>,
    /// Only working directories that begin so.
    pub cwd_prefix: Option<String>,
    /// At least so many messages.
    pub min_messages: i64,
    /// Archived ones only (true), none of them (false), or both (absent).
    pub archived: Option<bool>,
    /// Ended ones only (true), none of them (false), or both (absent).
    pub ended: Option<bool>,
    /// Active at or after.
    pub since: Option<Timestamp>,
    /// Active before.
    pub until: Option<Timestamp>,
    /// Only ids that begin so.
    pub id_prefix: Option<String>,
    /// Only sessions that began at or after.
    pub started_since: Option<Timestamp>,
    /// Only sessions that began before.
    pub started_until: Option<Timestamp>,
    /// Only sessions whose metadata has these values; null means unset.
    pub metadata_is: Map<String, Value>,
    /// Only sessions whose metadata has these keys.
    pub has_metadata: Vec<String>,
    /// With their system prompts.
    pub with_prompts: bool,
    /// Id or title contains this, whatever the case and punctuation.
    pub matching: Option<String>,
    /// The order.
    pub order: ListOrder,
    /// At most so many (1 to 1,000).
    pub limit: usize,
    /// Where the page begins.
    pub cursor: Option<Cursor>,
}

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
            archived: Some(false),
            ended: None,
            since: None,
            until: None,
            id_prefix: None,
            started_since: None,
            started_until: None,
            metadata_is: Map::new(),
            has_metadata: Vec::new(),
            with_prompts: false,
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
