//! Search: what is asked ([`SearchRequest`]) and what is answered ([`Found`], with its [`Hit`]s and
//! why each ranked where it did, its [`Trace`]).

use crate::{Cursor, MessageId, Role, Session, SessionId, Timestamp};
use serde::Serialize;

/// The order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Best first.
    #[default]
    Relevance,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// How strictly the words of a query had to be met for a hit to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Phrases and operators hold, and every word occurs.
    Precise,
    /// Some of the words occur, in it or right beside it.
    Relaxed,
    /// None of the words occur; the meaning is near.
    Semantic,
}

/// What to search for, and among what.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The query, in the query language.
    pub query: String,
    /// Only messages of these roles; of all when empty.
    pub roles: Vec<Role>,
    /// Only in sessions of these sources; in all when empty.
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    pub exclude_sources: Vec<String>,
    /// Only in this session.
    pub session: Option<SessionId>,
    /// Only in this session and others of its lineage.
    pub lineage: Option<SessionId>,
    /// Only in sessions of this project.
    pub project: Option<String>,
    /// Only what was said at this time or later.
    pub since: Option<Timestamp>,
    /// Only what was said before this time.
    pub until: Option<Timestamp>,
    /// Not in this session, nor in any other of its lineage.
    pub exclude_lineage: Option<SessionId>,
    /// At most one hit of each lineage: its best.
    pub one_per_lineage: bool,
    /// Sessions of these sources rank below all others.
    pub demote_sources: Vec<String>,
    /// The order of hits.
    pub sort: Sort,
    /// At most so many hits.
    pub limit: usize,
    /// Where the page before ended.
    pub cursor: Option<Cursor>,
    /// Messages to show before and after each hit.
    pub neighbours: usize,
    /// Tell why each hit ranked where it did.
    pub explain: bool,
    /// Only what meets the whole query, ranked by its words alone: what callers of a plain full-text
    /// index expect.
    pub exact: bool,
    /// Score everything that matches, whatever it costs: to measure what the plan leaves out.
    pub exhaustive: bool,
}

/// Hits to a page, unless asked otherwise.
pub const SEARCH_LIMIT: usize = 10;

/// The most hits to a page.
pub const SEARCH_LIMIT_MAX: usize = 200;

impl SearchRequest {
    /// A search of the whole space.
    pub fn new(query: impl Into<String>) -> SearchRequest {
        SearchRequest {
            query: query.into(),
            roles: Vec::new(),
            sources: Vec::new(),
            exclude_sources: Vec::new(),
            session: None,
            lineage: None,
            project: None,
            since: None,
            until: None,
            exclude_lineage: None,
            one_per_lineage: false,
            demote_sources: Vec::new(),
            sort: Sort::Relevance,
            limit: SEARCH_LIMIT,
            cursor: None,
            neighbours: 0,
            explain: false,
            exact: false,
            exhaustive: false,
        }
    }
}

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    /// A message.
    Message,
    /// A summary.
    Summary,
}

/// Something found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// What it is.
    pub kind: HitKind,
    /// The message.
    pub id: MessageId,
    /// Its session.
    pub session_id: SessionId,
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
#[derive(Debug, Clone, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
pub struct Trace {
    /// Each part of the score: its name, what was measured, and what it added.
    pub parts: Vec<TracePart>,
    /// The words of the query, and how far the message meets each.
    pub words: Vec<TraceWord>,
    /// What brought the message up: text, vector, date or neighbour.
    pub from: Vec<&'static str>,
}

/// One part of a score.
#[derive(Debug, Clone, Serialize)]
pub struct TracePart {
    /// Its name.
    pub name: &'static str,
    /// What was measured.
    pub value: f64,
    /// What it added to the score.
    pub added: f64,
}

/// One word of a query.
#[derive(Debug, Clone, Serialize)]
pub struct TraceWord {
    /// The word.
    pub word: String,
    /// How much it counts: rare words count more.
    pub weight: f64,
    /// How far it was met, from 0 to 1.
    pub met: f64,
}

/// The answer to a search.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// How strictly the first hit was found; `None` without hits.
    pub tier: Option<Tier>,
    /// What was found, in order.
    pub hits: Vec<Hit>,
    /// Where the next page begins.
    pub next: Option<Cursor>,
    /// What the answer leaves out, when it could not look at everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
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
        around: MessageId,
        /// Messages to each side.
        window: usize,
    },
    /// A session from its beginning: by id, unique prefix, or title.
    Read(SessionId),
    /// What was active lately.
    Browse {
        /// At most so many sessions.
        limit: usize,
        /// Not this session, nor any other of its lineage.
        exclude_lineage: Option<SessionId>,
    },
}

/// A search for conversations.
#[derive(Debug, Clone)]
pub struct Discover {
    /// The query, in the query language.
    pub query: String,
    /// At most so many conversations.
    pub limit: usize,
    /// The order of conversations.
    pub sort: Sort,
    /// Only hits of these roles; of people and agents when empty.
    pub roles: Vec<Role>,
    /// Only in sessions of these sources; when empty, in all but [`HIDDEN_SOURCES`].
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    pub exclude_sources: Vec<String>,
    /// Not in this session, nor in any other of its lineage: what an agent has before it already.
    pub exclude_lineage: Option<SessionId>,
    /// Messages to each side of the hit.
    pub window: usize,
    /// Condense each conversation around the query.
    pub summarise: bool,
}

impl Discover {
    /// A search of all conversations.
    pub fn new(query: impl Into<String>) -> Discover {
        Discover {
            query: query.into(),
            limit: CONVERSATIONS.0,
            sort: Sort::Relevance,
            roles: Vec::new(),
            sources: Vec::new(),
            exclude_sources: Vec::new(),
            exclude_lineage: None,
            window: WINDOW.0,
            summarise: false,
        }
    }
}

/// A message as session search shows it.
#[derive(Debug, Clone, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
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
