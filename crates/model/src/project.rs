//! Projects with their aliases, and their state: facts that only people set.

use crate::contract::Request;
use crate::{Error, Result, StateId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum characters of a project name, an alias or the name of a state.
pub const PROJECT_CHARS_MAX: usize = 200;
/// Maximum number of aliases of a project.
const ALIASES_MAX: usize = 50;
/// Maximum characters of a value of the state.
pub const STATE_CHARS_MAX: usize = 4_000;
/// A name: one line that neither starts nor ends with white space.
const NAME: &str = "^[^\\s\\u0000-\\u001f]([^\\u0000-\\u001f]*[^\\s\\u0000-\\u001f])?$";

/// A project that memories and state belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredProject {
    /// Its name.
    pub name: String,
    /// Other names, which are replaced by the name wherever they are given.
    pub aliases: Vec<String>,
    /// Its folder.
    pub root: Option<String>,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// A project to register or to change.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRequest {
    /// Its name. If a project has it, that project is changed.
    #[schemars(length(min = 1, max = PROJECT_CHARS_MAX), regex(pattern = NAME))]
    pub name: String,
    /// Aliases to add.
    #[serde(default)]
    #[schemars(length(max = ALIASES_MAX), inner(length(min = 1, max = PROJECT_CHARS_MAX), regex(pattern = NAME)))]
    pub aliases: Vec<String>,
    /// Its folder, absolute.
    #[serde(default)]
    #[schemars(length(min = 1, max = crate::FOLDER_MAX))]
    pub root: Option<String>,
}

impl Request for ProjectRequest {}

json_name! {
    /// What a fact of the state is.
    StateKind "kind" {
        /// How things stand.
        Status "status",
        /// A decision.
        Decision "decision",
        /// A requirement.
        Requirement "requirement",
        /// A contact.
        Contact "contact",
        /// A milestone.
        Milestone "milestone",
        /// Any other fact.
        Fact "fact",
        /// A setting of the project.
        Config "config",
    }
}

/// A fact of a project, set by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectState {
    /// Its id.
    pub id: StateId,
    /// The project.
    pub project: String,
    /// Its name in the project.
    pub key: String,
    /// What it is.
    pub kind: StateKind,
    /// The value.
    pub value: String,
    /// Since when it holds.
    pub since: Timestamp,
    /// When it stopped holding.
    pub until: Option<Timestamp>,
    /// The fact that replaced it.
    pub superseded_by: Option<StateId>,
}

/// A fact to set.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateRequest {
    /// Its name in the project. A fact with this name is superseded.
    #[schemars(length(min = 1, max = PROJECT_CHARS_MAX), regex(pattern = NAME))]
    pub key: String,
    /// What it is; `fact` when absent.
    #[serde(default)]
    pub kind: Option<StateKind>,
    /// The value.
    #[schemars(length(min = 1, max = STATE_CHARS_MAX))]
    pub value: String,
    /// Since when it holds; now when absent.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Why.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub reason: Option<String>,
}

impl Request for StateRequest {}

/// Which facts of a project to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListState {
    /// Only this name.
    #[schemars(length(max = PROJECT_CHARS_MAX))]
    pub key: Option<String>,
    /// Include facts that no longer hold.
    pub history: bool,
}

impl Request for ListState {}

/// The fact to end.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndState {
    /// Its name in the project.
    #[schemars(length(min = 1, max = PROJECT_CHARS_MAX))]
    pub key: String,
    /// Why.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub reason: Option<String>,
}

impl Request for EndState {}

/// Checks the name of a project in a path.
pub fn check_project_name(name: &str) -> Result<()> {
    let is_name = name.trim() == name && !name.is_empty() && !name.chars().any(char::is_control);
    if is_name && name.chars().count() <= PROJECT_CHARS_MAX {
        Ok(())
    } else {
        Err(Error::not_found(format!(
            "no project has this name: names are one line of up to {PROJECT_CHARS_MAX}"
        )))
    }
}

/// A source that is no longer trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Distrust {
    /// Its id.
    pub id: crate::DistrustId,
    /// What kind of source it is.
    pub target_kind: DistrustKind,
    /// The source: the id of a message or a session, or the name of a source.
    pub target: String,
    /// Since when.
    pub at: Timestamp,
}

json_name! {
    /// What kind of source is no longer trusted.
    DistrustKind "target_kind" {
        /// A message.
        Message "message",
        /// A session.
        Session "session",
        /// A source of sessions.
        Source "source",
    }
}
