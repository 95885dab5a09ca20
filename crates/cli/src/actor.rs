//! Who runs the command: a person at a terminal, or an agent, which sets a variable of its own or
//! has no terminal.

use crate::config::is_set;
use oneiro::{Actor, ActorKind, ActorSurface};
use std::io::IsTerminal;

/// Variables that agents set for the commands they run, and which agent that is.
const AGENT_MARKERS: &[(&str, &str)] = &[
    ("CLAUDECODE", "claude-code"),
    ("CLAUDE_CODE_ENTRYPOINT", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CURSOR_AGENT", "cursor"),
    ("GEMINI_CLI", "gemini"),
    ("OPENCODE", "opencode"),
    ("HERMES_SESSION_ID", "hermes"),
    ("OPENCLAW_SHELL", "openclaw"),
    ("AIDER_MODEL", "aider"),
    ("AI_AGENT", "agent"),
];

/// Who runs this command.
pub fn current() -> Actor {
    let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    of(has_terminal, is_set)
}

fn of(has_terminal: bool, is_set: impl Fn(&str) -> bool) -> Actor {
    let agent = AGENT_MARKERS.iter().find(|(variable, _)| is_set(variable));
    match agent {
        Some((_, name)) => Actor::new(ActorKind::Agent, ActorSurface::Cli).with_client(name),
        None if has_terminal => Actor::new(ActorKind::Person, ActorSurface::Cli),
        None => Actor::new(ActorKind::Agent, ActorSurface::Cli),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_the_marker_of_an_agent_is_a_person() {
        assert_eq!(of(true, |_| false).kind, ActorKind::Person);
        assert_eq!(of(false, |_| false).kind, ActorKind::Agent);
        let claude = of(true, |variable| variable == "CLAUDECODE");
        assert_eq!(
            (claude.kind, claude.client.as_deref()),
            (ActorKind::Agent, Some("claude-code"))
        );
    }
}
