//! Capture: which projects are stored as they go on, when that is paused, and which of the stored
//! texts look like secrets.

use crate::contract::Request;
use crate::{Error, MessageId, Result, SessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

json_name! {
    /// Whether new turns are captured.
    CaptureSwitch "capture" {
        /// They are stored as they are written.
        On "on",
        /// They are not stored.
        Off "off",
        /// They are not stored, and those of the folders below it are not either.
        Excluded "excluded",
    }
}

/// The most bytes of a project's folder.
pub const FOLDER_MAX: usize = 4_096;

/// A choice for one project, or for every project without a choice of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectChoice {
    /// The working folder of the project, absolute. `on` and `off` are for this folder alone,
    /// `excluded` also for the folders below it. When absent, the choice is for every project without
    /// one of its own.
    #[serde(default)]
    #[schemars(length(min = 1, max = FOLDER_MAX))]
    pub folder: Option<String>,
    /// Whether its new turns are captured.
    pub capture: CaptureSwitch,
}

impl Request for ProjectChoice {
    fn check(&self) -> Result<()> {
        match self.folder.as_deref() {
            Some(folder) if folder.is_empty() || folder.len() > FOLDER_MAX => {
                Err(Error::field("folder", format!("is empty or longer than {FOLDER_MAX} bytes")))
            }
            Some(folder) => crate::id::check_text("folder", folder),
            None => Ok(()),
        }
    }
}

/// A pause to begin now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRequest {
    /// When capture resumes by itself; only on request when absent.
    #[serde(default)]
    pub until: Option<Timestamp>,
}

impl Request for PauseRequest {}

/// The choice that was made for a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaptureProject {
    /// The working folder of the project, with links resolved.
    pub folder: String,
    /// Whether its new turns are captured.
    pub capture: CaptureSwitch,
    /// When that was chosen. Transcripts that were last written to before are not read.
    pub chosen_at: Timestamp,
}

/// A project that an agent has worked in, or that somebody made a choice for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Project {
    /// Its working folder, with links resolved; for an agent with one database, that file.
    pub folder: String,
    /// The choice that holds for it; null when nobody chose.
    pub capture: Option<CaptureSwitch>,
    /// The agents that worked in it.
    pub agents: Vec<String>,
    /// How many transcripts they have of it, those of subagents not counted.
    pub transcripts: usize,
    /// When one of them was last written to.
    pub last_active_at: Option<Timestamp>,
}

impl Project {
    /// A project of which nothing is known yet.
    pub fn new(folder: String) -> Project {
        let (capture, last_active_at) = (None, None);
        Project { folder, capture, agents: Vec::new(), transcripts: 0, last_active_at }
    }
}

/// A time in which nothing is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CapturePause {
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended or ends by itself; null until somebody resumes.
    pub ended_at: Option<Timestamp>,
}

impl CapturePause {
    /// Whether a moment lies in the pause.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.started_at <= at && self.ended_at.is_none_or(|end| at < end)
    }
}

/// What is captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaptureStatus {
    /// The pause that holds now, if any.
    pub pause: Option<CapturePause>,
    /// The choice for projects without one of their own; null when nobody chose, and then only hooks
    /// capture them.
    pub other_projects: Option<CaptureSwitch>,
    /// The choices for projects, by folder.
    pub projects: Vec<CaptureProject>,
}

/// A stored text that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoredSecret {
    /// The name of the pattern that it matches.
    pub pattern: &'static str,
    /// The session it is in.
    pub session_id: SessionId,
    /// The message it is in.
    pub message_id: MessageId,
    /// The field of the message that holds it, such as `content` or `tool_calls.0.function.arguments`.
    pub place: String,
    /// The beginning of it, and its length.
    pub masked: String,
}
