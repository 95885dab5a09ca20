//! A session as the script describes it, before it has times and ids.

use oneiro::{Lineage, Role, Visibility};

/// One session of the script.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// Its id, the same in every space.
    pub(crate) id: String,
    /// The channel.
    pub(crate) source: String,
    /// The project it belongs to.
    pub(crate) project: Option<String>,
    /// Its title.
    pub(crate) title: Option<String>,
    /// The model.
    pub(crate) model: String,
    /// The name of its system prompt.
    pub(crate) prompt: String,
    /// The working directory.
    pub(crate) cwd: Option<String>,
    /// When it began.
    pub(crate) start: Start,
    /// Its parent.
    pub(crate) parent: Option<Parent>,
    /// The end reason; open if absent.
    pub(crate) end: Option<String>,
    pub(crate) archived: bool,
    pub(crate) lines: Vec<Line>,
}

/// When a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Day {
        /// Days before today.
        before: i64,
        /// Minutes after midnight.
        minute: i64,
    },
    /// Minutes ago.
    Ago(i64),
}

/// The parent of a session.
#[derive(Debug, Clone)]
pub(crate) struct Parent {
    /// The session.
    pub(crate) id: String,
    pub(crate) lineage: Lineage,
    /// The number of messages that a branch shares.
    pub(crate) shared: usize,
}

/// One message of the script.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) role: Role,
    /// The speaker's name, if there are several.
    pub(crate) name: Option<String>,
    pub(crate) text: String,
    /// The reasoning before the text.
    pub(crate) reasoning: Option<String>,
    pub(crate) calls: Vec<Call>,
    /// The time since the previous line.
    pub(crate) gap: Gap,
    pub(crate) visibility: Visibility,
}

impl Line {
    /// A line with text only.
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Line {
        Line {
            role,
            name: None,
            text: text.into(),
            reasoning: None,
            calls: Vec::new(),
            gap: Gap::Soon,
            visibility: Visibility::Live,
        }
    }

    /// An answer with one tool call.
    pub(crate) fn call(tool: &str, arguments: serde_json::Value) -> Line {
        let call = Call { tool: tool.to_owned(), arguments: arguments.to_string() };
        Line { calls: vec![call], ..Line::new(Role::Assistant, "") }
    }
}

/// The time between a line and the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Gap {
    /// The time that reading, thinking and typing take.
    #[default]
    Soon,
    /// Minutes of silence.
    Pause(i64),
    /// An absolute time.
    At(Start),
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments, as JSON.
    pub(crate) arguments: String,
}
