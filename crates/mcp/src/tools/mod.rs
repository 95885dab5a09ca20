//! The table of tools: names, schemas, hints and functions. A tool is one file and one line here.
//! It does not know the protocol.

mod memory_context;
mod memory_dream;
mod memory_forget;
mod memory_note;
mod memory_recall;
mod memory_remember;
mod memory_review;
mod memory_status;
mod memory_why;
mod session_expand;
mod session_search;

use crate::{Caller, TokenRole};
use oneiro::Result;
use serde_json::{Map, Value};

/// All tools, in the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    session_search::TOOL,
    session_expand::TOOL,
    memory_recall::TOOL,
    memory_remember::TOOL,
    memory_forget::TOOL,
    memory_why::TOOL,
    memory_review::TOOL,
    memory_note::TOOL,
    memory_context::TOOL,
    memory_dream::TOOL,
    memory_status::TOOL,
];

/// A tool.
pub struct Tool {
    /// The name that calls use.
    pub name: &'static str,
    /// The name that people see.
    pub title: &'static str,
    /// When to call it. Every model reads it on every turn, so it is short.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub input: fn() -> Value,
    /// The JSON Schema of its structured content. It is documented, not listed: see
    /// [`Answer::structured`].
    pub output: fn() -> Value,
    /// What a host may assume about a call.
    pub hints: Hints,
    /// The role that a caller needs.
    pub role: TokenRole,
    /// Who is shown it.
    pub profile: Profile,
    /// Whether a call with these arguments may call a model, and needs a permit for it.
    pub may_call_model: fn(&Map<String, Value>) -> bool,
    /// Answers a call; blocking.
    pub run: fn(&Call) -> Result<Answer>,
}

/// Which tools are listed. Every tool may be called, listed or not: the role is what protects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// Tools for the agent that talks to the user.
    #[default]
    Agent,
    /// Also tools for the program that runs the agent.
    Host,
}

impl Profile {
    /// All profiles, the smaller first.
    pub const ALL: [Profile; 2] = [Profile::Agent, Profile::Host];

    /// The name on the command line and in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Agent => "agent",
            Profile::Host => "host",
        }
    }

    /// The profile with a name.
    pub fn parse(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.as_str() == name)
    }
}

/// What a host may assume about a call before it allows one.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may remove or overwrite.
    pub destructive: bool,
    /// A second call has no further effect.
    pub idempotent: bool,
    /// It reaches systems other than the space.
    pub open_world: bool,
}

impl Hints {
    /// A tool that changes nothing.
    pub const READ_ONLY: Hints =
        Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
}

/// One call of a tool.
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// The arguments as they came.
    pub arguments: Map<String, Value>,
}

/// The answer of a tool.
#[derive(Debug, Clone)]
pub struct Answer {
    /// For a model to read.
    pub text: String,
    /// For a program: ids and counts, without a copy of the text. Some hosts show a model this in
    /// place of the text, so it is not sent to them unless it is the payload.
    pub structured: Value,
    /// Where the recalled messages are.
    pub payload: Payload,
}

/// The part of an answer that holds the recalled messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// The text.
    Text,
    /// The structured content: messages in the format of a model API.
    Structured,
}

impl Answer {
    /// An answer for a model to read.
    fn text(text: String, structured: Value) -> Answer {
        Answer { text, structured, payload: Payload::Text }
    }
}

/// For tools that never call a model.
fn never(_: &Map<String, Value>) -> bool {
    false
}

impl Tool {
    /// The tool with a name.
    pub fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_serves_a_capability_and_every_one_that_is_named_is_there() {
        let named = || oneiro::CAPABILITIES.iter().filter_map(|capability| capability.tool);
        for name in named() {
            assert!(Tool::named(name).is_some(), "there is no tool {name}");
        }
        for tool in TOOLS {
            assert!(named().any(|name| name == tool.name), "{} serves no capability", tool.name);
        }
    }
}
