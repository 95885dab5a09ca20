//! Search: what is asked ([`SearchRequest`]) and what is answered ([`Found`], with its [`Hit`]s and
//! why each ranked where it did, its [`Trace`]).

use crate::contract::Request;
use crate::contract::schema::one_of;
use crate::{
    Cursor, Error, MessageId, MessageRef, Role, Session, SessionId, SummaryHit, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

json_name! {
    /// The order of hits.
    #[derive(Default)]
    Sort "sort" {
        /// Best first.
        #[default]
        Relevance "relevance",
        /// Newest first.
        Newest "newest",
        /// Oldest first.
        Oldest "oldest",
    }
}

json_name! {
    /// How strictly the words of a query had to be met for a hit to be found.
    Tier "tier" {
        /// Phrases and operators hold, and every word occurs.
        Precise "precise",
        /// Some of the words occur, in it or right beside it.
        Relaxed "relaxed",
        /// None of the words occur; the meaning is near.
        Semantic "semantic",
    }
}

/// What to search for, and among what.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// The query, in the query language.
    pub query: String,
    /// What to search: messages by default. Summaries come first and fill at most half of a page.
    #[serde(default)]
    pub kinds: Vec<HitKind>,
    /// Only in this session.
    #[serde(default)]
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
    /// Only in this session and others of its lineage.
    #[serde(default)]
    pub lineage: Option<SessionId>,
    /// Only in sessions of these sources; in all when empty.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    #[serde(default)]
    pub exclude_sources: Vec<String>,
    /// Only messages of these roles; of all when empty.
    #[serde(default)]
    #[schemars(extend("x-older-names" = ["role_filter"]))]
    pub roles: Vec<Role>,
    /// Only in sessions of this project.
    #[serde(default)]
    pub project: Option<String>,
    /// Only what was said at this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Only what was said before this time; a date includes that day.
    #[serde(default)]
    #[schemars(extend("x-end-of-day" = true))]
    pub until: Option<Timestamp>,
    /// Not in this session, nor in any other of its lineage.
    #[serde(default)]
    #[schemars(extend("x-older-names" = ["current", "current_session_id"]))]
    pub exclude_lineage: Option<SessionId>,
    /// At most one hit of each lineage: its best.
    #[serde(default)]
    pub one_per_lineage: bool,
    /// The order of hits.
    #[serde(default)]
    pub sort: Sort,
    /// Maximum number of hits.
    #[serde(default = "default_hits")]
    #[schemars(range(min = 1, max = SEARCH_LIMIT_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    #[serde(default)]
    pub cursor: Option<Cursor>,
    /// Messages to show before and after each hit.
    #[serde(default)]
    #[schemars(range(min = 0, max = NEIGHBOURS_MAX))]
    pub neighbours: usize,
    /// Tell why each hit ranked where it did.
    #[serde(default)]
    pub explain: bool,
    /// Sessions of these sources rank below all others.
    #[serde(default)]
    #[schemars(extend("x-host-only" = true))]
    pub demote_sources: Vec<String>,
    /// Only what meets the whole query, ranked by its words alone: what callers of a plain full-text
    /// index expect.
    #[serde(default)]
    #[schemars(extend("x-host-only" = true))]
    pub exact: bool,
    /// Somebody is still typing: where the words find nothing, the last may be the beginning of one.
    #[serde(skip)]
    pub typing: bool,
    /// Score everything that matches, whatever it costs: to measure what the plan leaves out.
    #[serde(skip)]
    pub exhaustive: bool,
}

impl Request for SearchRequest {}

/// Hits to a page, unless asked otherwise.
pub const SEARCH_LIMIT: usize = 10;

/// The most hits to a page.
pub const SEARCH_LIMIT_MAX: usize = 200;

/// The most messages to show on each side of a hit.
pub const NEIGHBOURS_MAX: usize = 20;

fn default_hits() -> usize {
    SEARCH_LIMIT
}

impl SearchRequest {
    /// A search of the whole space.
    pub fn new(query: impl Into<String>) -> SearchRequest {
        SearchRequest {
            query: query.into(),
            kinds: Vec::new(),
            session: None,
            lineage: None,
            sources: Vec::new(),
            exclude_sources: Vec::new(),
            roles: Vec::new(),
            project: None,
            since: None,
            until: None,
            exclude_lineage: None,
            one_per_lineage: false,
            sort: Sort::Relevance,
            limit: SEARCH_LIMIT,
            cursor: None,
            neighbours: 0,
            explain: false,
            demote_sources: Vec::new(),
            exact: false,
            typing: false,
            exhaustive: false,
        }
    }

    /// Whether messages are searched.
    pub fn wants_messages(&self) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&HitKind::Message)
    }

    /// Whether summaries are searched.
    pub fn wants_summaries(&self) -> bool {
        self.kinds.contains(&HitKind::Summary)
    }
}

json_name! {
    /// What kind of thing was found.
    HitKind "kinds" {
        /// A message.
        Message "message",
        /// A summary.
        Summary "summary",
    }
}

/// Something found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Hit {
    /// What it is.
    #[schemars(extend("enum" = ["message"]))]
    pub kind: HitKind,
    /// The message.
    pub id: MessageId,
    /// Its session.
    pub session_id: SessionId,
    /// The project of its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The caller's id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// How good it is; only comparable within one answer.
    pub score: f64,
    /// How strictly it was found.
    pub tier: Tier,
    /// The part of its text that matters, as it was said.
    pub snippet: String,
    /// What in the snippet met the query: first character and the one after the last.
    pub highlights: Vec<(usize, usize)>,
    /// When it was said.
    pub at: Timestamp,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What was said before and after it in its session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Neighbour>,
    /// Why it ranked where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// A message near a hit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Neighbour {
    /// The message.
    pub id: MessageId,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was said.
    pub at: Timestamp,
    /// The beginning of its text.
    pub text: String,
}

/// Why a hit ranked where it did: the parts of its score and the words it met.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Trace {
    /// Each part of the score: its name, what was measured, and what it added.
    pub parts: Vec<TracePart>,
    /// The words of the query, and how far the message meets each.
    pub words: Vec<TraceWord>,
    /// What brought the message up: text, vector, date or neighbour.
    pub from: Vec<&'static str>,
}

/// One part of a score.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TracePart {
    /// Its name.
    pub name: &'static str,
    /// What was measured.
    pub value: f64,
    /// What it added to the score.
    pub added: f64,
}

/// One word of a query.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceWord {
    /// The word.
    pub word: String,
    /// How much it counts: rare words count more.
    pub weight: f64,
    /// How far it was met, from 0 to 1.
    pub met: f64,
}

/// The answer to a search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// How strictly the first hit was found; `None` without hits.
    pub tier: Option<Tier>,
    /// Summaries that were found, in order; they come before the messages.
    pub summaries: Vec<SummaryHit>,
    /// Messages that were found, in order.
    pub hits: Vec<Hit>,
    /// Where the next page begins.
    pub next: Option<Cursor>,
    /// What the answer leaves out, when it could not look at everything.
    pub note: Option<String>,
}

/// A hit of any kind.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum AnyHit<'f> {
    Summary(&'f SummaryHit),
    Message(&'f Hit),
}

/// What a search found, in one list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Found")]
struct FoundJson<'f> {
    /// How strictly the first hit was found; null without hits.
    tier: Option<Tier>,
    /// What was found, in order: summaries first.
    hits: Vec<AnyHit<'f>>,
    /// Where the next page begins.
    next: Option<Cursor>,
    /// What the answer leaves out, when it could not look at everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'f str>,
}

impl Serialize for Found {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let summaries = self.summaries.iter().map(AnyHit::Summary);
        FoundJson {
            tier: self.tier,
            hits: summaries.chain(self.hits.iter().map(AnyHit::Message)).collect(),
            next: self.next,
            note: self.note.as_deref(),
        }
        .serialize(serializer)
    }
}

impl JsonSchema for Found {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        FoundJson::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        FoundJson::json_schema(generator)
    }
}

/// Sources whose sessions are work of tools and other agents: not among what people talked about,
/// unless asked for by name.
pub const HIDDEN_SOURCES: [&str; 2] = ["tool", "subagent"];

/// Sources whose sessions a machine began: found, but below those of people.
pub const MACHINE_SOURCES: [&str; 2] = ["cron", "heartbeat"];

/// Conversations of a session search, unless asked otherwise, and at most.
pub const CONVERSATIONS: (usize, usize) = (3, 10);

/// Messages to each side of the one found or asked for, unless asked otherwise, and at most.
pub const WINDOW: (usize, usize) = (5, 20);

/// Sessions that browsing shows, unless asked otherwise, and at most.
pub const BROWSED: (usize, usize) = (10, 100);

/// A search for conversations, told apart by what is given: a query discovers, a session with a
/// message scrolls, a session alone is read, nothing at all browses what was active lately.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = session_search_modes)]
pub struct SessionSearchRequest {
    /// What to search for, in the query language.
    pub query: Option<String>,
    /// The session to read or to scroll in: an id, a unique prefix, or a title.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
    /// The message to scroll around: its id, or its place in the session.
    #[schemars(extend("x-older-names" = ["around_message_id"]))]
    pub around: Option<MessageRef>,
    /// Messages to each side of the hit or of the message asked for; 5 by default.
    #[schemars(range(min = 1, max = WINDOW.1))]
    pub window: Option<usize>,
    /// Maximum number of conversations, 3 by default and 10 at most; when browsing, 10 and 100.
    #[schemars(range(min = 1, max = BROWSED.1))]
    pub limit: Option<usize>,
    /// Leave out this session and its lineage: what an agent has before it already.
    #[schemars(extend("x-older-names" = ["current", "current_session_id"]))]
    pub exclude_lineage: Option<SessionId>,
    /// The order of conversations.
    pub sort: Sort,
    /// Only hits of these roles; of people and agents when empty.
    #[schemars(extend("x-older-names" = ["role_filter"]))]
    pub roles: Vec<Role>,
    /// Only in sessions of these sources.
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    pub exclude_sources: Vec<String>,
    /// Only in sessions of this project.
    pub project: Option<String>,
    /// Condense each conversation around the query.
    pub summarise: bool,
}

fn session_search_modes(schema: &mut schemars::Schema) {
    const AROUND_ALONE: &[&str] = &["around"];
    let modes: &[&[&str]] = &[&["query"], &["session"], &["session", "around"], AROUND_ALONE, &[]];
    one_of(schema, modes);
    let schemas = schema.get_mut("oneOf").and_then(serde_json::Value::as_array_mut);
    for (given, mode) in modes.iter().zip(schemas.into_iter().flatten()) {
        let Some(fields) = mode.get_mut("properties").and_then(serde_json::Value::as_object_mut)
        else {
            continue;
        };
        if *given == AROUND_ALONE {
            let place = format!("^[^\\u0000]{{1,{}}}#[1-9][0-9]{{0,14}}$", SessionId::MAX_CHARS);
            let place = serde_json::json!({"type": "string", "pattern": place});
            fields.insert("around".to_owned(), place);
        }
        if let (["query"], Some(limit)) = (*given, fields.get_mut("limit")) {
            limit["maximum"] = serde_json::json!(CONVERSATIONS.1);
        }
    }
}

impl Request for SessionSearchRequest {
    fn check(&self) -> Result<(), Error> {
        self.mode().map(|_| ())
    }
}

impl SessionSearchRequest {
    /// A search of all conversations.
    pub fn new(query: impl Into<String>) -> SessionSearchRequest {
        SessionSearchRequest { query: Some(query.into()), ..SessionSearchRequest::default() }
    }

    /// What is asked for.
    pub fn mode(&self) -> Result<SessionSearch, Error> {
        let window = self.window.unwrap_or(WINDOW.0);
        match (&self.query, &self.session, &self.around) {
            (Some(query), None, None) => {
                let limit = self.limit.unwrap_or(CONVERSATIONS.0);
                if limit > CONVERSATIONS.1 {
                    let problem = format!("is more than {} conversations", CONVERSATIONS.1);
                    return Err(Error::field("limit", problem));
                }
                Ok(SessionSearch::Discover(Discover {
                    query: query.clone(),
                    limit,
                    sort: self.sort,
                    roles: self.roles.clone(),
                    sources: self.sources.clone(),
                    exclude_sources: self.exclude_sources.clone(),
                    project: self.project.clone(),
                    exclude_lineage: self.exclude_lineage.clone(),
                    window,
                    summarise: self.summarise,
                }))
            }
            (None, Some(session), Some(around)) => {
                let (session, around) = (session.clone(), around.clone());
                Ok(SessionSearch::Scroll { session, around, window })
            }
            (None, None, Some(MessageRef::Place { session: Some(session), place })) => {
                let around = MessageRef::Place { session: None, place: *place };
                Ok(SessionSearch::Scroll { session: session.clone(), around, window })
            }
            (None, Some(session), None) => Ok(SessionSearch::Read(session.clone())),
            (None, None, None) => Ok(SessionSearch::Browse {
                limit: self.limit.unwrap_or(BROWSED.0),
                project: self.project.clone(),
                exclude_lineage: self.exclude_lineage.clone(),
            }),
            (_, None, Some(around)) => Err(Error::field(
                "around",
                "needs the session the message is in",
            )
            .remedy(format!(
                "give the session as the hit {around} named it, or the message as SESSION#PLACE, \
                     and leave query out"
            ))),
            (Some(_), Some(_), _) => {
                Err(Error::field("query", "and session ask for different things").remedy(
                    "to search inside that session, leave session out and add session:ID to the \
                     query; to read it, leave query out",
                ))
            }
        }
    }
}

/// What a session search is asked, told apart by what is given.
#[derive(Debug, Clone)]
pub enum SessionSearch {
    /// The best hit of each conversation, with what was said around it.
    Discover(Discover),
    /// What was said around a message.
    Scroll {
        /// The session it is in, or one of its lineage: an id, a unique prefix, or a title.
        session: SessionId,
        /// The message.
        around: MessageRef,
        /// Messages to each side.
        window: usize,
    },
    /// A session from its beginning: by id, unique prefix, or title.
    Read(SessionId),
    /// What was active lately.
    Browse {
        /// Maximum number of sessions.
        limit: usize,
        /// Only sessions of this project.
        project: Option<String>,
        /// Not this session, nor any other of its lineage.
        exclude_lineage: Option<SessionId>,
    },
}

/// A search for conversations.
#[derive(Debug, Clone)]
pub struct Discover {
    /// The query, in the query language.
    pub query: String,
    /// Maximum number of conversations.
    pub limit: usize,
    /// The order of conversations.
    pub sort: Sort,
    /// Only hits of these roles; of people and agents when empty.
    pub roles: Vec<Role>,
    /// Only in sessions of these sources; when empty, in all but [`HIDDEN_SOURCES`].
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    pub exclude_sources: Vec<String>,
    /// Only in sessions of this project.
    pub project: Option<String>,
    /// Not in this session, nor in any other of its lineage: what an agent has before it already.
    pub exclude_lineage: Option<SessionId>,
    /// Messages to each side of the hit.
    pub window: usize,
    /// Condense each conversation around the query.
    pub summarise: bool,
}

/// A message as session search shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShownMessage {
    /// The message.
    pub id: MessageId,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was said.
    pub at: Timestamp,
    /// Its text, cut when it is long.
    pub text: String,
    /// Whether it is the one that was asked for or found.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchor: bool,
}

/// A conversation that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Conversation {
    /// The session that holds the hit, without its system prompt.
    pub session: Session,
    /// Where the conversation began, when that is another session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_id: Option<SessionId>,
    /// Whether it comes first because its title has every word of the query.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub titled: bool,
    /// The hit; none when only the title has the words.
    pub hit: Option<Hit>,
    /// What was said around it, itself included; empty without a hit.
    pub window: Vec<ShownMessage>,
    /// Messages of the session before the window.
    pub before: i64,
    /// Messages of the session after the window.
    pub after: i64,
    /// How the session opened, as far as the window does not show it.
    pub opening: Vec<ShownMessage>,
    /// How the session ended, as far as the window does not show it.
    pub closing: Vec<ShownMessage>,
    /// The conversation condensed around the query, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<crate::SessionDigest>,
}

/// The answer to a session search.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum SessionFound {
    /// Conversations, best first.
    Discover {
        /// How strictly the first was found.
        tier: Option<Tier>,
        /// The conversations.
        conversations: Vec<Conversation>,
        /// What the answer leaves out, when it could not look at everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// What was said around a message.
    Scroll {
        /// The session it is in.
        session_id: SessionId,
        /// The messages, in order.
        messages: Vec<ShownMessage>,
        /// Messages of the session before them.
        before: i64,
        /// Messages of the session after them.
        after: i64,
        /// What was not as asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A session.
    Read {
        /// The session, without its system prompt.
        session: Box<Session>,
        /// Its messages, in order; of a long one the beginning and the end.
        messages: Vec<ShownMessage>,
        /// Messages left out between the beginning and the end.
        omitted: i64,
    },
    /// What was active lately.
    Browse {
        /// Sessions, most recently active first.
        sessions: Vec<Session>,
    },
}
