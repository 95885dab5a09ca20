//! The table of tools: what each is called and what it promises. A tool is one file and one line
//! here. It must not know the protocol that calls them.

mod memory_context;
mod memory_status;
mod session_expand;
mod session_search;

use crate::{Caller, TokenRole};
use oneiro::Result;
use serde_json::{Map, Value};

/// The tools there are, in the order they are listed in.
pub const TOOLS: &[Tool] =
    &[session_search::TOOL, session_expand::TOOL, memory_context::TOOL, memory_status::TOOL];

/// A tool.
pub struct Tool {
    /// What it is called by.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// When to call it; every word is read by every model that could.
    pub description: &'static str,
    /// The arguments it takes, as JSON Schema.
    pub input: fn() -> Value,
    /// What its structured answer is like, as JSON Schema.
    pub output: fn() -> Value,
    /// What a host may assume about a call.
    pub hints: Hints,
    /// The least that a caller must be allowed.
    pub role: TokenRole,
    /// Whether a call with these arguments may call a model, and needs a permit for it.
    pub may_call_model: fn(&Map<String, Value>) -> bool,
    /// Answers a call; it blocks.
    pub run: fn(&Call) -> Result<Answer>,
}

/// What a host may assume about a call before it lets one happen.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may remove or overwrite.
    pub destructive: bool,
    /// Calling it twice does what calling it once does.
    pub idempotent: bool,
    /// It reaches beyond the space.
    pub open_world: bool,
}

impl Hints {
    /// Of a tool that only looks.
    pub const LOOKS: Hints =
        Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
}

/// One call of a tool.
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// The arguments as they came.
    pub arguments: Map<String, Value>,
}

/// What a tool answers, twice: hosts hand either to the model.
#[derive(Debug, Clone)]
pub struct Answer {
    /// For a model to read.
    pub text: String,
    /// The same for a program, as the output schema says.
    pub structured: Value,
}

/// Of a tool that never calls a model.
fn never(_: &Map<String, Value>) -> bool {
    false
}

impl Tool {
    /// The tool of a name, if there is one.
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
