//! Search: what is asked ([`SearchRequest`]) and what is answered ([`Found`], with its [`Hit`]s and
//! why each ranked where it did, its [`Trace`]).

use crate::contract::Request;
use crate::{Cursor, MessageId, Role, SessionId, SummaryHit, Timestamp};
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
