//! Who acts: every call carries it from its surface down into the transaction, where what is
//! changed can be recorded with it.

use crate::TokenId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

json_name! {
    /// What kind of actor it is.
    ActorKind "actor" {
        /// Somebody at the page, or at a terminal.
        Person "person",
        /// A program that acts for somebody.
        Agent "agent",
        /// Background work.
        Job "job",
        /// A consolidation run.
        Dream "dream",
        /// An import.
        Import "import",
        /// A file that was edited.
        File "file",
    }
}

json_name! {
    /// Where a call came in.
    ActorSurface "surface" {
        /// The command line.
        Cli "cli",
        /// The HTTP API.
        Http "http",
        /// The tools for agents.
        Mcp "mcp",
        /// The page.
        Page "page",
        /// A program that embeds the library.
        Library "library",
        /// The background of a process.
        Background "background",
    }
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// What kind of actor it is.
    pub kind: ActorKind,
    /// Where the call came in.
    pub surface: ActorSurface,
    /// The token it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
    /// The program that made it, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// The most characters of a client's name: it comes from outside.
const CLIENT_CHARS_MAX: usize = 100;

impl Actor {
    /// An actor without a token or a name.
    pub fn new(kind: ActorKind, surface: ActorSurface) -> Actor {
        Actor { kind, surface, token_id: None, client: None }
    }

    /// The same, calling itself by a name; control characters are left out and the rest is cut.
    #[must_use]
    pub fn with_client(self, name: &str) -> Actor {
        let name = name.trim().chars().filter(|letter| !letter.is_control());
        let name: String = name.take(CLIENT_CHARS_MAX).collect();
        Actor { client: Some(name).filter(|name| !name.is_empty()), ..self }
    }
}

impl Default for Actor {
    /// A program that embeds the library.
    fn default() -> Actor {
        Actor::new(ActorKind::Agent, ActorSurface::Library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_client_is_one_short_line() {
        let named = |name: &str| Actor::default().with_client(name).client;
        assert_eq!(named(" claude-code/2 ").as_deref(), Some("claude-code/2"));
        assert_eq!(named("a\u{1b}[31m\nb").as_deref(), Some("a[31mb"));
        assert_eq!(named(" \n "), None);
        assert_eq!(named(&"x".repeat(500)).map(|name| name.len()), Some(CLIENT_CHARS_MAX));
    }

    #[test]
    fn an_actor_reads_back_what_it_wrote() {
        let actor = Actor::new(ActorKind::Person, ActorSurface::Page).with_client("Firefox");
        let text = serde_json::to_string(&actor).unwrap();
        assert_eq!(serde_json::from_str::<Actor>(&text).unwrap(), actor);
    }
}
