//! A session as it is written in the script, before it has a time and ids. It must not know the
//! format it is written in.

use oneiro::{Lineage, Role, Visibility};

/// One session of the script.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// Its id, the same in every space.
    pub(crate) id: String,
    /// Where it happened.
    pub(crate) source: String,
    /// The project it belongs to.
    pub(crate) project: Option<String>,
    /// Its title.
    pub(crate) title: Option<String>,
    /// The model.
    pub(crate) model: String,
    /// Which system prompt it ran under.
    pub(crate) prompt: String,
    /// The working directory.
    pub(crate) cwd: Option<String>,
    /// When it began.
    pub(crate) start: Start,
    /// What it descends from.
    pub(crate) parent: Option<Parent>,
    /// Why it ended; open when absent.
    pub(crate) end: Option<String>,
    /// Whether it is put away.
    pub(crate) archived: bool,
    /// What was said.
    pub(crate) lines: Vec<Line>,
}

/// When a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// So many days before today, so many minutes after midnight.
    Day {
        /// Days before today.
        before: i64,
        /// Minutes after midnight.
        minute: i64,
    },
    /// So many minutes ago.
    Ago(i64),
}

/// What a session descends from.
#[derive(Debug, Clone)]
pub(crate) struct Parent {
    /// The session.
    pub(crate) id: String,
    /// How.
    pub(crate) lineage: Lineage,
    /// How many of its messages a branch begins with.
    pub(crate) shared: usize,
}

/// One message of the script.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Who speaks.
    pub(crate) role: Role,
    /// The speaker's name, where several speak.
    pub(crate) name: Option<String>,
    /// What is said.
    pub(crate) text: String,
    /// What the agent thought before it spoke.
    pub(crate) reasoning: Option<String>,
    /// The tools that it calls.
    pub(crate) calls: Vec<Call>,
    /// How long after the line before it.
    pub(crate) gap: Gap,
    /// Where it stands.
    pub(crate) visibility: Visibility,
}

impl Line {
    /// Something said, without anything else.
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

    /// An agent that calls one tool.
    pub(crate) fn call(tool: &str, arguments: serde_json::Value) -> Line {
        let call = Call { tool: tool.to_owned(), arguments: arguments.to_string() };
        Line { calls: vec![call], ..Line::new(Role::Assistant, "") }
    }
}

/// How long after the line before it something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Gap {
    /// As long as reading, thinking and typing take.
    #[default]
    Soon,
    /// So many minutes of silence.
    Pause(i64),
    /// At this time.
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
