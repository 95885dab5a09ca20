//! Requests about memories: remember, list, change, forget, review, distrust.

use crate::contract::Request;
use crate::contract::schema::one_of;
use crate::session::given;
use crate::{
    Cursor, Error, LIST_MAX, MemoryId, MemoryKind, MemoryStatus, MessageRef, Result, SessionId,
    Timestamp, Trust,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Maximum characters of a memory.
pub const MEMORY_CHARS_MAX: usize = 4_000;
/// Maximum characters of a subject, a project or a reason.
pub const MEMORY_FIELD_CHARS_MAX: usize = 500;
/// Maximum characters of a quote.
pub const QUOTE_CHARS_MAX: usize = 4_000;
/// Maximum characters of a tag.
const TAG_CHARS_MAX: usize = 64;
/// Maximum number of tags.
const TAGS_MAX: usize = 20;
/// Text with at least one visible character.
const VISIBLE_TEXT: &str = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$";

/// A memory to create.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMemory {
    /// The statement: one fact, with absolute dates.
    #[schemars(length(min = 1, max = MEMORY_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub content: String,
    /// What it is about; knowledge by default.
    #[serde(default)]
    pub kind: Option<MemoryKind>,
    /// The person or thing it is about. Identities and preferences are about `user` by default.
    #[serde(default)]
    #[schemars(length(min = 1, max = MEMORY_FIELD_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub subject: Option<String>,
    /// The status it starts with, for people; agents may give `candidate`.
    #[serde(default)]
    pub status: Option<MemoryStatus>,
    /// The project it belongs to, by name or alias; all projects when absent.
    #[serde(default)]
    #[schemars(length(min = 1, max = MEMORY_FIELD_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub project: Option<String>,
    /// Tags.
    #[serde(default)]
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_CHARS_MAX), regex(pattern = VISIBLE_TEXT)))]
    pub tags: Vec<String>,
    /// When it starts to hold.
    #[serde(default)]
    pub valid_from: Option<Timestamp>,
    /// When it stops holding.
    #[serde(default)]
    pub valid_until: Option<Timestamp>,
    /// How certain it is; 1 from a person, 0.7 from anyone else by default.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// A trust below the one that its sources give it.
    #[serde(default)]
    pub trust: Option<Trust>,
    /// The user's exact words that it rests on. They are looked up in the captured messages.
    #[serde(default)]
    #[schemars(length(min = 1, max = QUOTE_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub quote: Option<String>,
    /// The session of the quote; the newest messages of all sessions are searched when absent.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// The message of the quote.
    #[serde(default)]
    pub message: Option<MessageRef>,
    /// A memory that this one corrects.
    #[serde(default)]
    pub replaces: Option<MemoryId>,
    /// Why it is created.
    #[serde(default)]
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

impl Request for NewMemory {
    fn check(&self) -> Result<()> {
        check_validity(self.valid_from, self.valid_until)
    }
}

/// Refuses a validity that ends before it starts.
pub(crate) fn check_validity(from: Option<Timestamp>, until: Option<Timestamp>) -> Result<()> {
    match (from, until) {
        (Some(from), Some(until)) if until <= from => {
            Err(Error::conflict("valid_until is not after valid_from"))
        }
        _ => Ok(()),
    }
}

/// Which memories to list; every filter must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListMemories {
    /// Only this status. The review queue is `candidate`.
    pub status: Option<MemoryStatus>,
    /// Only this kind.
    pub kind: Option<MemoryKind>,
    /// Only this project, by name or alias.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub project: Option<String>,
    /// Only this subject.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub subject: Option<String>,
    /// Only with this tag.
    #[schemars(length(max = TAG_CHARS_MAX))]
    pub tag: Option<String>,
    /// Only statements with all these words.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub text: Option<String>,
    /// Only those that a contradiction suspends.
    pub suspended: bool,
    /// Only those created at or after this time.
    pub since: Option<Timestamp>,
    /// Only those that held at this time. Without `status`, superseded memories are included.
    pub at: Option<Timestamp>,
    /// What was recorded at this time, as it was then.
    pub known_at: Option<Timestamp>,
    /// Maximum number of memories.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
}

/// How many memories a page has by default.
const MEMORY_PAGE: usize = 50;

impl Default for ListMemories {
    fn default() -> ListMemories {
        ListMemories {
            status: None,
            kind: None,
            project: None,
            subject: None,
            tag: None,
            text: None,
            suspended: false,
            since: None,
            at: None,
            known_at: None,
            limit: MEMORY_PAGE,
            cursor: None,
        }
    }
}

impl Request for ListMemories {}

/// A moment at which a memory is looked at.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShowMemory {
    /// As it was recorded at this time.
    pub known_at: Option<Timestamp>,
    /// Explain its confidence, and list what it relates to.
    pub explain: bool,
}

impl Request for ShowMemory {}

/// A moment at which a memory is explained.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WhyRequest {
    /// As it was recorded at this time.
    pub known_at: Option<Timestamp>,
}

impl Request for WhyRequest {}

/// A change of a memory: what is given overwrites, null removes a value.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryPatch {
    /// A new statement.
    #[schemars(length(min = 1, max = MEMORY_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub content: Option<String>,
    /// A new kind.
    pub kind: Option<MemoryKind>,
    /// A new status.
    pub status: Option<MemoryStatus>,
    /// A new subject.
    #[serde(deserialize_with = "given")]
    #[schemars(
        with = "Option<String>",
        length(min = 1, max = MEMORY_FIELD_CHARS_MAX),
        regex(pattern = VISIBLE_TEXT),
        extend("x-null-clears" = true)
    )]
    pub subject: Option<Option<String>>,
    /// A new project.
    #[serde(deserialize_with = "given")]
    #[schemars(
        with = "Option<String>",
        length(min = 1, max = MEMORY_FIELD_CHARS_MAX),
        regex(pattern = VISIBLE_TEXT),
        extend("x-null-clears" = true)
    )]
    pub project: Option<Option<String>>,
    /// New tags, instead of the old ones.
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_CHARS_MAX), regex(pattern = VISIBLE_TEXT)))]
    pub tags: Option<Vec<String>>,
    /// A new start of its validity.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>", extend("x-null-clears" = true))]
    pub valid_from: Option<Option<Timestamp>>,
    /// A new end of its validity.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>", extend("x-null-clears" = true))]
    pub valid_until: Option<Option<Timestamp>>,
    /// Why.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

impl Request for MemoryPatch {
    fn check(&self) -> Result<()> {
        check_validity(self.valid_from.flatten(), self.valid_until.flatten())
    }
}

/// Why a change is made.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReasonRequest {
    /// Why.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

impl Request for ReasonRequest {}

/// What replaces a memory: a new statement, or a memory that exists.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = supersede_alternatives)]
pub struct SupersedeRequest {
    /// The new statement. Kind, subject, project and tags are those of the old one.
    #[schemars(length(min = 1, max = MEMORY_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub content: Option<String>,
    /// The memory that replaces it.
    pub by: Option<MemoryId>,
    /// When the old one stopped holding and the new one started; now when absent.
    pub since: Option<Timestamp>,
    /// Why.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

fn supersede_alternatives(schema: &mut schemars::Schema) {
    one_of(schema, &[&["content"], &["by"]]);
}

impl Request for SupersedeRequest {
    fn check(&self) -> Result<()> {
        match (&self.content, &self.by) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(Error::field("content", "or `by` is needed, and not both")),
        }
    }
}

/// The memory that another is merged into.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// The memory that stays, and gets the sources and tags of the other.
    pub into: MemoryId,
    /// Why.
    #[serde(default)]
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

impl Request for MergeRequest {}

/// The sources whose memories are forgotten.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = forget_alternatives)]
pub struct ForgetRequest {
    /// Memories that cite this session.
    pub session: Option<SessionId>,
    /// Memories that cite sessions of this source.
    #[schemars(length(min = 1, max = MEMORY_FIELD_CHARS_MAX))]
    pub source: Option<String>,
    /// Memories about this person or thing, and those that cite sessions of this person.
    #[schemars(length(min = 1, max = MEMORY_FIELD_CHARS_MAX))]
    pub participant: Option<String>,
    /// List them, and change nothing.
    pub dry_run: bool,
    /// Why.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

fn forget_alternatives(schema: &mut schemars::Schema) {
    one_of(schema, &[&["session"], &["source"], &["participant"]]);
}

impl Request for ForgetRequest {
    fn check(&self) -> Result<()> {
        let given = [self.session.is_some(), self.source.is_some(), self.participant.is_some()];
        if given.into_iter().filter(|given| *given).count() == 1 {
            Ok(())
        } else {
            Err(Error::field("session", "or `source` or `participant` is needed, and only one"))
        }
    }
}

json_name! {
    /// What is decided about candidates.
    ReviewAction "action" {
        /// They become active.
        Promote "promote",
        /// They become invalid.
        Reject "reject",
    }
}

/// A decision about every candidate that the filters select.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    /// The decision.
    pub action: ReviewAction,
    /// Only this kind.
    #[serde(default)]
    pub kind: Option<MemoryKind>,
    /// Only this project, by name or alias.
    #[serde(default)]
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub project: Option<String>,
    /// Only this subject.
    #[serde(default)]
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub subject: Option<String>,
    /// Only with this tag.
    #[serde(default)]
    #[schemars(length(max = TAG_CHARS_MAX))]
    pub tag: Option<String>,
    /// Only statements with all these words.
    #[serde(default)]
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub text: Option<String>,
    /// List them, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Why.
    #[serde(default)]
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

impl Request for ReviewRequest {}

/// What is no longer trusted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = distrust_alternatives)]
pub struct DistrustRequest {
    /// A message.
    pub message: Option<MessageRef>,
    /// A session.
    pub session: Option<SessionId>,
    /// A source of sessions.
    #[schemars(length(min = 1, max = MEMORY_FIELD_CHARS_MAX))]
    pub source: Option<String>,
    /// List what would change, and change nothing.
    pub dry_run: bool,
    /// Why.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub reason: Option<String>,
}

fn distrust_alternatives(schema: &mut schemars::Schema) {
    one_of(schema, &[&["message"], &["session"], &["source"]]);
}

impl Request for DistrustRequest {
    fn check(&self) -> Result<()> {
        let given = [self.message.is_some(), self.session.is_some(), self.source.is_some()];
        if given.into_iter().filter(|given| *given).count() == 1 {
            Ok(())
        } else {
            Err(Error::field("message", "or `session` or `source` is needed, and only one"))
        }
    }
}

/// A signal to record.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReinforceRequest {
    /// The question whose answer rests on the memory. The same question counts once a day.
    #[schemars(length(max = MEMORY_FIELD_CHARS_MAX))]
    pub query: Option<String>,
}

impl Request for ReinforceRequest {}
