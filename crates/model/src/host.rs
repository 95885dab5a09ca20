//! Requests and answers of hosts that embed the library: what no client of a server may ask. They
//! are read by the same contract as all others.

use crate::contract::Request;
use crate::session::given;
use crate::{
    Confidence, ContextScope, Cursor, EXPAND_TOKENS, ExpandRequest, ExpandWhat, Found, GrepRequest,
    Hit, Lineage, MemoryHit, MessageId, NoteHit, Result, Role, SEARCH_LIMIT, SessionId, SummaryHit,
    Tier, Timestamp, TracePart, Visibility,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

json_name! {
    /// What an acknowledged write survives.
    #[derive(Default)]
    Durability "durability" {
        /// Power loss: every commit reaches the disk before it is acknowledged.
        #[default]
        Full "full",
        /// The death of the process; power loss may take the last commits.
        Normal "normal",
    }
}

/// How a host opens a space.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenRequest {
    /// The space; the default one when absent.
    pub space: Option<String>,
    /// The target is one file, whatever it is called.
    pub file: bool,
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long a writer waits for other processes, in milliseconds.
    #[schemars(range(min = 0, max = BUSY_TIMEOUT_MS_MAX))]
    pub busy_timeout_ms: Option<u64>,
    /// How many reads may run at once.
    #[schemars(range(min = 0))]
    pub readers: Option<usize>,
    /// Refuse to create a store that does not exist.
    pub must_exist: bool,
    /// Do background work while the space is open.
    pub jobs: bool,
    /// The model that writes summaries.
    pub llm: Option<ModelServer>,
    /// The model that makes vectors.
    pub embedder: Option<ModelServer>,
}

/// The longest wait for other processes: SQLite counts milliseconds in 32 bits.
const BUSY_TIMEOUT_MS_MAX: u64 = i32::MAX as u64;

impl Default for OpenRequest {
    fn default() -> OpenRequest {
        OpenRequest {
            space: None,
            file: false,
            durability: Durability::Full,
            busy_timeout_ms: None,
            readers: None,
            must_exist: false,
            jobs: true,
            llm: None,
            embedder: None,
        }
    }
}

impl Request for OpenRequest {}

/// A model on a server that speaks the OpenAI protocol.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelServer {
    /// The address, up to and without `/chat/completions` or `/embeddings`.
    pub url: String,
    /// The name that the server knows the model by.
    pub model: String,
    /// Sent as a bearer token.
    #[serde(default)]
    pub key: Option<String>,
}

impl std::fmt::Debug for ModelServer {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { url, model, key: _ } = self;
        f.debug_struct("ModelServer").field("url", url).field("model", model).finish()
    }
}

/// Which messages of a session to read.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageRequest {
    /// Only messages after this id.
    pub after: i64,
    /// Include compacted and rewound messages.
    pub hidden: bool,
    /// Maximum number of messages.
    #[schemars(range(min = 0))]
    pub limit: usize,
}

impl Default for PageRequest {
    fn default() -> PageRequest {
        PageRequest { after: 0, hidden: false, limit: crate::LIST_MAX }
    }
}

impl Request for PageRequest {}

/// What a host knows better about when a session began and ended, and what it descends from; what is
/// absent stays.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionTimes {
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended; null means that it has not.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>", extend("x-null-clears" = true))]
    pub ended_at: Option<Option<Timestamp>>,
    /// Why it ended, where `ended_at` is given.
    pub end_reason: String,
    /// What it descends from; null means nothing. Every walk along parents ends, even where a host
    /// has made a circle of them.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<SessionId>", extend("x-null-clears" = true))]
    pub parent_id: Option<Option<SessionId>>,
    /// How it descends, where `parent_id` is given.
    pub lineage: Lineage,
}

impl Default for SessionTimes {
    fn default() -> SessionTimes {
        SessionTimes {
            started_at: None,
            ended_at: None,
            end_reason: String::new(),
            parent_id: None,
            lineage: Lineage::Branch,
        }
    }
}

impl Request for SessionTimes {}

/// What is known better about a message; its words stay as they are.
#[derive(Debug, Clone, Copy)]
pub struct MessageAmend {
    /// The message.
    pub id: MessageId,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// Where it stands.
    pub visibility: Option<Visibility>,
}

/// Which sessions to delete.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeleteRequest {
    /// They; those that are not there are passed over.
    #[serde(skip)]
    pub ids: Vec<SessionId>,
    /// Delegates under them lose their parent instead of going with it.
    pub keep_delegates: bool,
    /// Only those that have ended.
    pub only_ended: bool,
    /// Only those without a message, a title or a child.
    pub only_empty: bool,
}

impl Request for DeleteRequest {}

/// What to expand, wherever it is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpandAnywhere {
    /// A summary (sum_...), a message (1234, monday#3) or a range of messages (1234-1300,
    /// monday#3-7).
    pub id: String,
    /// Look within the lineage of this session; without it in all of the space, where that is
    /// allowed.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// The most tokens to answer; a message that is larger comes alone.
    #[serde(default = "default_expand_tokens")]
    #[schemars(range(min = 0))]
    pub tokens: usize,
    /// The `next` of the answer before.
    #[serde(default)]
    pub cursor: Option<Cursor>,
}

fn default_expand_tokens() -> usize {
    EXPAND_TOKENS
}

impl Request for ExpandAnywhere {}

impl ExpandAnywhere {
    /// What the engine is asked.
    pub fn into_request(self) -> Result<ExpandRequest> {
        Ok(ExpandRequest {
            what: ExpandWhat::parse(&self.id)?,
            scope: self.session.map_or(ContextScope::Space, ContextScope::Lineage),
            tokens: self.tokens,
            cursor: self.cursor,
        })
    }
}

/// What to look for in messages and summaries.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    /// Words, or `/a regular expression/`.
    pub pattern: String,
    /// Look within the lineage of this session; without it in all of the space, where that is
    /// allowed.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// Look into messages.
    #[serde(default = "yes")]
    pub messages: bool,
    /// Look into summaries.
    #[serde(default = "yes")]
    pub summaries: bool,
    /// Only messages of these roles; of all when empty.
    #[serde(default)]
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
    /// Maximum number of hits of each kind.
    #[serde(default = "default_hits")]
    #[schemars(range(min = 0))]
    pub limit: usize,
}

fn yes() -> bool {
    true
}

fn default_hits() -> usize {
    SEARCH_LIMIT
}

impl Request for Grep {}

impl From<Grep> for GrepRequest {
    fn from(grep: Grep) -> GrepRequest {
        GrepRequest {
            pattern: grep.pattern,
            scope: grep.session.map_or(ContextScope::Space, ContextScope::Lineage),
            messages: grep.messages,
            summaries: grep.summaries,
            roles: grep.roles,
            project: grep.project,
            since: grep.since,
            until: grep.until,
            limit: grep.limit,
        }
    }
}

/// The answer to a search, messages, summaries and memories apart.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct FoundByKind<'f> {
    /// How sure the answer is: `strong`, the first hits very likely answer; `weak`, they are about
    /// it; `none`, nothing is about it.
    pub found: Confidence,
    /// What `found` follows from, if the request says `explain`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub evidence: &'f [TracePart],
    /// How strictly the first hit was found; null without hits.
    pub tier: Option<Tier>,
    /// Messages that were found, in order.
    pub hits: &'f [Hit],
    /// Where the next page begins.
    pub next: Option<Cursor>,
    /// What the answer leaves out, when it could not look at everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'f str>,
    /// Summaries that were found, in order.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub summaries: &'f [SummaryHit],
    /// Memories that were found, in order.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub memories: &'f [MemoryHit],
    /// Entries of notes that were found, in order.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub notes: &'f [NoteHit],
}

impl<'f> From<&'f Found> for FoundByKind<'f> {
    fn from(found: &'f Found) -> FoundByKind<'f> {
        FoundByKind {
            found: found.found,
            evidence: &found.evidence,
            tier: found.tier,
            hits: &found.hits,
            next: found.next,
            note: found.note.as_deref(),
            summaries: &found.summaries,
            memories: &found.memories,
            notes: &found.notes,
        }
    }
}
