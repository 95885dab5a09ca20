//! Requests and answers of what takes messages out of sight, or out of the store.

use crate::{Message, MessageId, SessionId, Timestamp};
use serde::Serialize;

/// The answer to a rewind.
#[derive(Debug, Clone, Serialize)]
pub struct Rewound {
    /// How many messages were taken back.
    pub rewound: usize,
    /// The message that was rewound to, itself taken back, so that it can be said anew.
    pub target: Message,
    /// The last message that is still there.
    pub head: Option<MessageId>,
}

/// The answer to a delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Deleted {
    /// The sessions that are gone: the one named and the delegates under it.
    pub sessions: Vec<SessionId>,
    /// Sessions that lost their parent.
    pub orphaned: Vec<SessionId>,
    /// How many messages went with them.
    pub messages: i64,
}

/// Which ended sessions to prune; every filter must hold.
#[derive(Debug, Clone)]
pub struct PruneRequest {
    /// Ended before this moment.
    pub ended_before: Timestamp,
    /// Only this source.
    pub source: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// Only this person.
    pub user_id: Option<String>,
    /// Only models whose name contains this.
    pub model: Option<String>,
    /// Only titles that contain this.
    pub title: Option<String>,
    /// Only this end reason.
    pub end_reason: Option<String>,
    /// Only sessions with at least so many messages.
    pub min_messages: Option<i64>,
    /// Only sessions with at most so many messages.
    pub max_messages: Option<i64>,
    /// Archived ones only (true), none of them (false), or both (absent).
    pub archived: Option<bool>,
    /// List what would go, and remove nothing.
    pub dry_run: bool,
}

/// The answer to a prune.
#[derive(Debug, Clone, Serialize)]
pub struct Pruned {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// What went, or would go.
    #[serde(flatten)]
    pub deleted: Deleted,
}

/// The answer to an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Sessions created.
    pub sessions: usize,
    /// Messages created.
    pub messages: usize,
    /// Sessions that were there already, left as they are, or that an ignore pattern matches.
    pub skipped: usize,
    /// Messages left out because their external id was there already in the same session.
    pub duplicates: usize,
    /// Sessions whose parent is missing or would be their own descendant.
    pub detached: usize,
}

/// The answer to an erasure.
#[derive(Debug, Clone, Serialize)]
pub struct Erased {
    /// What was erased: a session or message id.
    pub id: String,
    /// Messages removed.
    pub messages: i64,
    /// Payloads removed because nothing else refers to them.
    pub payloads: i64,
    /// What the search of the raw bytes found.
    pub proof: ErasureProof,
    /// What may still hold the text and must be dealt with by hand.
    pub out_of_reach: Vec<String>,
}

/// What the raw byte search after an erasure looked for and found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ErasureProof {
    /// Whether raw bytes could be searched at all.
    pub searched: bool,
    /// Distinct pieces of the erased text that were looked for.
    pub pieces: usize,
    /// Pieces left out because they are also said somewhere else in the store.
    pub said_elsewhere: usize,
    /// Bytes searched.
    pub bytes: u64,
    /// Pieces that were not looked for: too short to tell from chance, or past the limit.
    pub not_searched: usize,
    /// Pieces that were found; zero is the proof.
    pub found: usize,
}
