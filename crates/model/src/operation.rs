//! Operations: recorded changes of memories, notes, projects and project state, each of which can be undone.

use crate::contract::Request;
use crate::{
    Actor, ActorKind, Cursor, Error, GroupId, LIST_MAX, OperationId, Result, RevisionId, Subject,
    SubjectKind, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

json_name! {
    /// What an operation does to its subject.
    OperationVerb "verb" {
        /// It is created.
        Create "create",
        /// It is edited.
        Edit "edit",
        /// A candidate becomes active.
        Promote "promote",
        /// A candidate becomes invalid.
        Reject "reject",
        /// A person confirms it.
        Confirm "confirm",
        /// Another one replaces it.
        Supersede "supersede",
        /// A contradiction suspends it.
        Suspend "suspend",
        /// It gets the sources of another statement of the same.
        Cite "cite",
        /// It is merged into another.
        Merge "merge",
        /// It becomes invalid.
        Forget "forget",
        /// A source of it is no longer trusted.
        Distrust "distrust",
        /// It ends.
        End "end",
        /// It is deleted, and can be restored.
        Delete "delete",
        /// It is set back to an earlier text.
        Restore "restore",
        /// An earlier operation is undone.
        Undo "undo",
    }
}

/// One recorded change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// What kind of thing changed and how, such as `memory.promote`.
    pub kind: String,
    /// Who did it.
    pub actor: Actor,
    /// What changed.
    pub subject: Subject,
    /// The changed fields before; null if the subject did not exist.
    pub before: Option<Value>,
    /// The changed fields after; null if the subject does not exist any more.
    pub after: Option<Value>,
    /// Why.
    pub reason: Option<String>,
    /// The group it belongs to; a group can be undone together.
    pub group: Option<GroupId>,
    /// The operation that it undoes.
    pub undoes: Option<OperationId>,
    /// The operation that undid it.
    pub undone_by: Option<OperationId>,
    /// When it was recorded.
    pub at: Timestamp,
    /// The id of the store it was recorded in.
    pub store_id: String,
    /// Whether its content was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// Which operations to list; every filter must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListOperations {
    /// Only by this kind of actor.
    pub actor: Option<ActorKind>,
    /// Only this kind, such as `memory.promote`.
    #[schemars(length(max = 40))]
    pub kind: Option<String>,
    /// Only operations on this kind of thing.
    pub subject_kind: Option<SubjectKind>,
    /// Only this memory, project or state.
    #[schemars(length(max = 500))]
    pub subject: Option<String>,
    /// Only this group.
    pub group: Option<GroupId>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    /// Only before this time.
    pub until: Option<Timestamp>,
    /// Maximum number of operations.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
}

/// How many operations a page has by default.
const OPERATION_PAGE: usize = 50;

impl Default for ListOperations {
    fn default() -> ListOperations {
        ListOperations {
            actor: None,
            kind: None,
            subject_kind: None,
            subject: None,
            group: None,
            since: None,
            until: None,
            limit: OPERATION_PAGE,
            cursor: None,
        }
    }
}

impl Request for ListOperations {}

/// What is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// One operation.
    Operation(OperationId),
    /// Every operation of a group.
    Group(GroupId),
}

impl UndoTarget {
    /// Reads the id of an operation or a group.
    pub fn parse(text: &str) -> Result<UndoTarget> {
        if text.starts_with(GroupId::PREFIX) {
            return GroupId::parse(text).map(UndoTarget::Group);
        }
        OperationId::parse(text).map(UndoTarget::Operation).map_err(|_| {
            Error::invalid(format!("{text:?} is not the id of an operation or a group"))
                .remedy("give an id such as op_... or grp_...")
        })
    }
}

/// The answer to an undo.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Undone {
    /// The operations that reverse the undone ones.
    pub operations: Vec<Operation>,
    /// Their group, if they are several.
    pub group: Option<GroupId>,
    /// The revision that they make, if they change notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionId>,
}
