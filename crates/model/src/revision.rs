//! Revisions: commits of the notes, with their differences and the origin of lines.

use crate::contract::Request;
use crate::note::REVISION_MESSAGE_CHARS_MAX;
use crate::{ActorKind, Cursor, LIST_MAX, NoteName, RevisionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One commit of the notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// Its id.
    pub id: RevisionId,
    /// The revision before it; null for the empty one that every history starts with.
    pub parent: Option<RevisionId>,
    /// When it was made.
    pub at: Timestamp,
    /// Who made it: the program, or where it came in.
    pub author: String,
    /// What kind of actor made it.
    pub author_kind: ActorKind,
    /// What it says about itself.
    pub message: String,
    /// The names of the notes that it changed.
    pub notes: Vec<NoteName>,
    /// The dream that made it.
    pub dream_id: Option<String>,
    /// The revision that undid it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<RevisionId>,
}

/// A revision with what it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RevisionDetail {
    /// The revision.
    #[serde(flatten)]
    pub revision: Revision,
    /// The difference that it made to each note.
    pub diffs: Vec<NoteDiff>,
}

/// The difference between two texts of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoteDiff {
    /// The note.
    pub name: NoteName,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// The difference as text: unified, or by words.
    pub text: String,
}

/// Which revisions to list; every filter must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListRevisions {
    /// Only by this kind of author.
    pub author_kind: Option<ActorKind>,
    /// Only revisions that changed this note.
    pub note: Option<NoteName>,
    /// Only revisions whose message, or a text that they wrote, contains this.
    #[schemars(length(min = 1, max = 500))]
    pub text: Option<String>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    /// Only before this time.
    pub until: Option<Timestamp>,
    /// Maximum number of revisions.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
}

/// How many revisions a page has by default.
const REVISION_PAGE: usize = 50;

impl Default for ListRevisions {
    fn default() -> ListRevisions {
        ListRevisions {
            author_kind: None,
            note: None,
            text: None,
            since: None,
            until: None,
            limit: REVISION_PAGE,
            cursor: None,
        }
    }
}

impl Request for ListRevisions {}

/// How the change of a revision is shown.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShowRevision {
    /// Show changed words instead of changed lines.
    pub words: bool,
}

impl Request for ShowRevision {}

/// Two revisions to compare.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DiffNotes {
    /// The older revision, by its id or a unique prefix; the one before `new` when absent.
    #[schemars(length(min = 1, max = 40))]
    pub old: Option<String>,
    /// The newer revision; the newest when absent.
    #[schemars(length(min = 1, max = 40))]
    pub new: Option<String>,
    /// Only this note.
    pub note: Option<NoteName>,
    /// Show changed words instead of changed lines.
    pub words: bool,
}

impl Request for DiffNotes {}

/// The difference between two revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotesDiff {
    /// The older revision.
    pub old: Option<RevisionId>,
    /// The newer revision.
    pub new: Option<RevisionId>,
    /// The difference of each changed note.
    pub diffs: Vec<NoteDiff>,
}

/// What is restored to a revision.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RestoreNotes {
    /// Only this note; all of them when absent.
    pub note: Option<NoteName>,
    /// What the new revision says about itself.
    #[schemars(length(max = REVISION_MESSAGE_CHARS_MAX))]
    pub message: Option<String>,
}

impl Request for RestoreNotes {}

/// A line of a note and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlameLine {
    /// Its number, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The revision that wrote it.
    pub revision: RevisionId,
    /// When.
    pub at: Timestamp,
    /// Who wrote it.
    pub author: String,
    /// What kind of actor wrote it.
    pub author_kind: ActorKind,
    /// The dream that wrote it.
    pub dream_id: Option<String>,
    /// Its age in whole days.
    pub age_days: i64,
}
