//! Search: what is asked ([`SearchRequest`]) and what is answered ([`Found`], with its [`Hit`]s and
//! why each ranked where it did, its [`Trace`]).

use crate::contract::Request;
use crate::{
    Cursor, Error, Memory, MemoryId, MemoryKind, MemoryStatus, MessageId, NoteName, Result, Role,
    SessionId, SummaryHit, Timestamp, Trust,
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

json_name! {
    /// How sure an answer is that it holds what was asked for.
    #[derive(Default)]
    Confidence "found" {
        /// The first hits very likely answer.
        Strong "strong",
        /// The hits are about it; whether they answer is open.
        Weak "weak",
        /// Nothing was found, or nothing that is about it.
        #[default]
        None "none",
    }
}

/// What to search for, and among what.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// The query, in the query language.
    pub query: String,
    /// What to search: messages by default. Summaries come first and fill at most half of a page;
    /// memories, entries of notes and messages are ranked together.
    #[serde(default)]
    pub kinds: Vec<HitKind>,
    /// Include superseded and suspended memories, which do not hold now.
    #[serde(default)]
    pub history: bool,
    /// Only memories that held at this time.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// Memories as they were recorded at this time.
    #[serde(default)]
    pub known_at: Option<Timestamp>,
    /// The session that the search is made for: memories that it finds are recorded as recalled by
    /// the last message of its user.
    #[serde(default)]
    pub for_session: Option<SessionId>,
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
    /// Only in sessions of this project; of memories, those of this project and of none.
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
    /// Explain the rank of each hit.
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

impl Request for SearchRequest {
    fn check(&self) -> Result<()> {
        let of_memories = [
            ("history", self.history),
            ("at", self.at.is_some()),
            ("known_at", self.known_at.is_some()),
        ];
        match of_memories.iter().find(|(_, given)| *given && !self.wants_memories()) {
            Some((name, _)) => Err(Error::field(*name, "needs `memory` among the `kinds`")),
            None => Ok(()),
        }
    }
}

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
            history: false,
            at: None,
            known_at: None,
            for_session: None,
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

    /// A search of memories, notes and messages together.
    pub fn recall(query: impl Into<String>) -> SearchRequest {
        let kinds = vec![HitKind::Memory, HitKind::Note, HitKind::Message];
        SearchRequest { kinds, ..SearchRequest::new(query) }
    }

    /// Whether memories are searched.
    pub fn wants_memories(&self) -> bool {
        self.kinds.contains(&HitKind::Memory)
    }

    /// Whether the entries of notes are searched.
    pub fn wants_notes(&self) -> bool {
        self.kinds.contains(&HitKind::Note)
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
        /// A memory.
        Memory "memory",
        /// An entry of a note.
        Note "note",
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

/// A memory that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MemoryHit {
    /// What it is.
    #[schemars(extend("enum" = ["memory"]))]
    pub kind: HitKind,
    /// The memory.
    pub id: MemoryId,
    /// What it is about.
    pub memory_kind: MemoryKind,
    /// The person or thing it is about.
    pub subject: Option<String>,
    /// The statement.
    pub content: String,
    /// Whether it is believed; a candidate is not reviewed.
    pub status: MemoryStatus,
    /// The trust of its least trusted source.
    pub trust: Trust,
    /// How certain it is.
    pub confidence: f64,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// When it starts to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// When it stops holding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// The memory that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// The memory that contradicts it: it is not to be told as true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended_by: Option<MemoryId>,
    /// How good it is; only comparable within one answer.
    pub score: f64,
    /// How strictly it was found.
    pub tier: Tier,
    /// The part of the statement that matters.
    pub snippet: String,
    /// What in the snippet met the query: first character and the one after the last.
    pub highlights: Vec<(usize, usize)>,
    /// When it was created.
    pub at: Timestamp,
    /// Why it ranked where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// How many of the messages in the answer rank before it.
    #[serde(skip)]
    pub messages_before: usize,
}

/// An entry of a note that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NoteHit {
    /// What it is.
    #[schemars(extend("enum" = ["note"]))]
    pub kind: HitKind,
    /// The note and the entry, as `MEMORY.md#1f3a9c2b7d10`. It changes with the text of the entry.
    pub id: String,
    /// The note.
    pub note: NoteName,
    /// Whether a program wrote the note from other texts, so that it proves nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// How good it is; only comparable within one answer.
    pub score: f64,
    /// How strictly it was found.
    pub tier: Tier,
    /// The part of the entry that matters, or a placeholder if it tries to steer an agent.
    pub snippet: String,
    /// What in the snippet met the query: first character and the one after the last.
    pub highlights: Vec<(usize, usize)>,
    /// When the entry was written.
    pub at: Timestamp,
    /// Why it ranked where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// How many messages and memories in the answer rank before it.
    #[serde(skip)]
    pub others_before: usize,
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
    /// How sure the answer is.
    pub found: Confidence,
    /// What `found` follows from, if the request says `explain`.
    pub evidence: Vec<TracePart>,
    /// How strictly the first hit was found; `None` without hits.
    pub tier: Option<Tier>,
    /// Summaries that were found, in order; they come before the messages.
    pub summaries: Vec<SummaryHit>,
    /// Memories that were found, in order; `messages_before` says where they stand among the
    /// messages.
    pub memories: Vec<MemoryHit>,
    /// The memories that the query asks for, whatever else is on the page.
    pub asked_for: AskedMemories,
    /// Entries of notes that were found, in order; `others_before` says where they stand among the
    /// messages and memories.
    pub notes: Vec<NoteHit>,
    /// Messages that were found, in order.
    pub hits: Vec<Hit>,
    /// Where the next page begins.
    pub next: Option<Cursor>,
    /// What the answer leaves out, when it could not look at everything.
    pub note: Option<String>,
}

/// The memories that a query asks for: as many as its page has places, best first. Messages do not
/// compete with them, so that copies of a statement do not hide that somebody asked for it.
#[derive(Debug, Clone, Default)]
pub struct AskedMemories {
    /// The memories.
    pub memories: Vec<Memory>,
    /// How sure they are as an answer of their own.
    pub found: Confidence,
}

/// A hit of any kind.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum AnyHit<'f> {
    /// A summary.
    Summary(&'f SummaryHit),
    /// A memory.
    Memory(&'f MemoryHit),
    /// An entry of a note.
    Note(&'f NoteHit),
    /// A message.
    Message(&'f Hit),
}

impl Found {
    /// All hits in their order: summaries, then memories, notes and messages.
    pub fn in_order(&self) -> Vec<AnyHit<'_>> {
        let mut others = Vec::with_capacity(self.hits.len() + self.memories.len());
        let mut memories = self.memories.iter().peekable();
        for (at, hit) in self.hits.iter().enumerate() {
            while let Some(memory) = memories.next_if(|memory| memory.messages_before <= at) {
                others.push(AnyHit::Memory(memory));
            }
            others.push(AnyHit::Message(hit));
        }
        others.extend(memories.map(AnyHit::Memory));
        let mut all: Vec<AnyHit<'_>> = self.summaries.iter().map(AnyHit::Summary).collect();
        let mut notes = self.notes.iter().peekable();
        for (at, other) in others.into_iter().enumerate() {
            while let Some(note) = notes.next_if(|note| note.others_before <= at) {
                all.push(AnyHit::Note(note));
            }
            all.push(other);
        }
        all.extend(notes.map(AnyHit::Note));
        all
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.summaries.is_empty()
            && self.memories.is_empty()
            && self.notes.is_empty()
            && self.hits.is_empty()
    }
}

/// What a search found, in one list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Found")]
struct FoundJson<'f> {
    /// How sure the answer is: `strong`, the first hits very likely answer; `weak`, they are about
    /// it; `none`, nothing is about it.
    found: Confidence,
    /// What `found` follows from, if the request says `explain`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evidence: &'f [TracePart],
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
        FoundJson {
            found: self.found,
            evidence: &self.evidence,
            tier: self.tier,
            hits: self.in_order(),
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
