//! Requests and answers of what takes messages out of sight, or out of the store.

use crate::contract::Request;
use crate::contract::schema::{EXACT_INTEGER_MAX, one_of};
use crate::{
    COMPLETE_MESSAGE_PATTERN, Error, MemoryId, Message, MessageId, MessageRef, NoteName, Result,
    SessionId, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to a rewind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rewound {
    /// How many messages were taken back.
    pub rewound: usize,
    /// The message that was rewound to. It is hidden too, so that it can be sent again.
    pub target: Message,
    /// The last message that is still there.
    pub head: Option<MessageId>,
}

/// The answer to a delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    /// The sessions that are gone: the one named and the delegates under it.
    pub sessions: Vec<SessionId>,
    /// Sessions that lost their parent.
    pub orphaned: Vec<SessionId>,
    /// How many messages went with them.
    pub messages: i64,
}

/// Which ended sessions to prune; every filter must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PruneRequest {
    /// Ended before this moment.
    pub ended_before: Timestamp,
    /// Only this source.
    #[serde(default)]
    pub source: Option<String>,
    /// Only this project.
    #[serde(default)]
    pub project: Option<String>,
    /// Only this person.
    #[serde(default)]
    pub user_id: Option<String>,
    /// Only models whose name contains this.
    #[serde(default)]
    pub model: Option<String>,
    /// Only titles that contain this.
    #[serde(default)]
    pub title: Option<String>,
    /// Only this end reason.
    #[serde(default)]
    pub end_reason: Option<String>,
    /// Only sessions with at least this many messages.
    #[serde(default)]
    #[schemars(range(min = 0, max = EXACT_INTEGER_MAX))]
    pub min_messages: Option<i64>,
    /// Only sessions with at most this many messages.
    #[serde(default)]
    #[schemars(range(min = 0, max = EXACT_INTEGER_MAX))]
    pub max_messages: Option<i64>,
    /// Archived ones only (true), none of them (false), or both (absent).
    #[serde(default)]
    pub archived: Option<bool>,
    /// List what would go, and remove nothing.
    #[serde(default)]
    pub dry_run: bool,
}

impl Request for PruneRequest {}

/// How far to rewind: to a message, or by turns.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = rewind_alternatives)]
pub struct RewindRequest {
    /// The user message to take back, with everything after it.
    pub to: Option<MessageRef>,
    /// How many user turns to take back.
    #[schemars(range(min = 1, max = REWIND_TURNS_MAX))]
    pub turns: Option<usize>,
}

/// The most turns that one rewind takes back.
const REWIND_TURNS_MAX: usize = 1_000_000;

fn rewind_alternatives(schema: &mut schemars::Schema) {
    one_of(schema, &[&["to"], &["turns"]]);
}

impl From<MessageId> for RewindRequest {
    fn from(to: MessageId) -> RewindRequest {
        RewindRequest { to: Some(to.into()), turns: None }
    }
}

impl Request for RewindRequest {
    fn check(&self) -> Result<()> {
        match (&self.to, self.turns) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(Error::field("to", "or `turns` is needed, and not both")
                .remedy("name the user message to rewind to, or how many turns to take back")),
        }
    }
}

/// What to bring back.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RestoreRequest {
    /// Restore everything that rewinds have hidden, not only the latest.
    pub all: bool,
}

impl Request for RestoreRequest {}

/// The answer to a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Restored {
    /// How many messages came back.
    pub restored: usize,
}

/// What a branch shares, and what it is called.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BranchRequest {
    /// The last message that the branch shares; the whole conversation when absent.
    pub at: Option<MessageRef>,
    /// The id of the branch; one is made when absent.
    pub id: Option<SessionId>,
    /// Its title.
    #[schemars(length(max = crate::Title::MAX_CHARS), extend("x-loose-length" = true))]
    pub title: Option<String>,
}

impl Request for BranchRequest {}

/// What to erase: a session with its delegates, one message, or one memory.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = erasure_alternatives)]
pub struct EraseRequest {
    /// The session.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
    /// The message.
    #[schemars(extend("x-older-names" = ["message_id"], "pattern" = COMPLETE_MESSAGE_PATTERN))]
    pub message: Option<MessageRef>,
    /// The memory.
    pub memory: Option<MemoryId>,
    /// The note, with every text that it had.
    pub note: Option<NoteName>,
}

fn erasure_alternatives(schema: &mut schemars::Schema) {
    one_of(schema, &[&["session"], &["message"], &["memory"], &["note"]]);
}

impl Request for EraseRequest {
    fn check(&self) -> Result<()> {
        let given = [
            self.session.is_some(),
            self.message.is_some(),
            self.memory.is_some(),
            self.note.is_some(),
        ];
        if given.into_iter().filter(|given| *given).count() == 1 {
            Ok(())
        } else {
            Err(Error::field("session", "or `message`, `memory` or `note` is needed, and only one")
                .remedy("name the one thing to erase by its whole id"))
        }
    }
}

/// What is erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EraseTarget {
    /// A session with all its messages, and the delegates under it.
    Session(SessionId),
    /// One message.
    Message(MessageId),
    /// One memory.
    Memory(MemoryId),
    /// One note, with its history.
    Note(NoteName),
}

/// The answer to a prune.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Pruned {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// What went, or would go.
    #[serde(flatten)]
    pub deleted: Deleted,
}

/// Whether a count is left out of an answer.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The answer to an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Memories added or changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memories: usize,
    /// Notes added or changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notes: usize,
    /// Operations added from the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub operations: usize,
    /// Signals added.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub signals: usize,
    /// Projects, facts of their state and distrusted sources added or changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub state: usize,
    /// Active memories merged into one that states the same.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merged: usize,
    /// Active memories suspended because another contradicts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suspended: usize,
    /// Memories not taken over, or no longer believed, because a person refused what they state.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: usize,
    /// Memories left out because they were erased here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased: usize,
    /// Lines that count only if a person imports them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: usize,
}

/// The answer to an erasure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Erased {
    /// What was erased: the id of a session, a message or a memory, or the name of a note.
    pub id: String,
    /// Messages removed.
    pub messages: i64,
    /// Memories removed: the one named, or those that rested on the messages alone.
    pub memories: i64,
    /// Payloads removed because nothing else refers to them.
    pub payloads: i64,
    /// What the search of the raw bytes found.
    pub proof: ErasureProof,
    /// What may still hold the text and must be dealt with by hand.
    pub out_of_reach: Vec<String>,
}

/// What the raw byte search after an erasure looked for and found.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
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
