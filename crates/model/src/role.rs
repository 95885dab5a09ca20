//! Who speaks ([`Role`]) and how far their words are trusted ([`Trust`]).

use crate::{Error, Result, id::check_text};
use serde::{Serialize, Serializer};

/// Who speaks in a message. Roles that no provider defines are kept as they came.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions of the host.
    System,
    /// Instructions of the host, in newer dialects.
    Developer,
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool call.
    Tool,
    /// Any other role, as given.
    Other(Box<str>),
}

impl Role {
    /// Reads a role.
    pub fn parse(text: &str) -> Result<Role> {
        Ok(match text {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            "" => {
                return Err(
                    Error::field("role", "is empty").remedy("give user, assistant, system or tool")
                );
            }
            other if other.chars().count() > 64 => {
                return Err(Error::field("role", "is longer than 64 characters"));
            }
            other => {
                check_text("role", other)?;
                Role::Other(other.into())
            }
        })
    }

    /// The role as text.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other(other) => other,
        }
    }

    /// Whether a message of this role carries the host's instructions, which repeat across sessions.
    pub fn is_instructions(&self) -> bool {
        matches!(self, Role::System | Role::Developer)
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How far a text is trusted, most trusted last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Web pages and other agents.
    External,
    /// Tool results.
    Tool,
    /// The agent's own words.
    Agent,
    /// The host's instructions.
    System,
    /// The person.
    Owner,
}

impl Trust {
    /// Reads a trust level.
    pub fn parse(text: &str) -> Result<Trust> {
        Ok(match text {
            "owner" => Trust::Owner,
            "system" => Trust::System,
            "agent" => Trust::Agent,
            "tool" => Trust::Tool,
            "external" => Trust::External,
            _ => {
                return Err(Error::field("trust", format!("{text:?} is not a trust level"))
                    .remedy("give owner, system, agent, tool or external"));
            }
        })
    }

    /// What a role's words are worth when nobody says otherwise.
    pub fn of(role: &Role) -> Trust {
        match role {
            Role::User => Trust::Owner,
            Role::System | Role::Developer => Trust::System,
            Role::Assistant => Trust::Agent,
            Role::Tool => Trust::Tool,
            Role::Other(_) => Trust::External,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_round_trip() {
        for role in ["system", "developer", "user", "assistant", "tool", "session_meta", "ユーザー"]
        {
            assert_eq!(Role::parse(role).unwrap().as_str(), role);
        }
        for bad in ["", "a\0", &"r".repeat(65)] {
            assert!(Role::parse(bad).is_err());
        }
    }
}
