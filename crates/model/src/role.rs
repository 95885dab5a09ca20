//! Who speaks ([`Role`]) and how far their words are trusted ([`Trust`]).

use crate::contract::schema::WITHOUT_NUL;
use crate::{Error, Result, id::check_text, nearest::suggest_names};
use serde::{Serialize, Serializer};

/// The most characters a role may have.
const ROLE_CHARS_MAX: usize = 64;

/// The result of a call, in the first form of OpenAI's tool calls.
const FUNCTION_ROLE: &str = "function";

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
            other if other.chars().count() > ROLE_CHARS_MAX => {
                let problem = format!("is longer than {ROLE_CHARS_MAX} characters");
                return Err(Error::field("role", problem));
            }
            other => {
                check_text("role", other)?;
                Role::Other(other.into())
            }
        })
    }

    /// The roles that chat APIs define, which is what clients may append with.
    pub const KNOWN: [&str; 6] =
        ["system", "developer", "user", "assistant", "tool", FUNCTION_ROLE];

    /// Refuses roles that no chat API defines, which are typing errors in a filter. A query takes them
    /// in quotation marks.
    pub fn check_known(roles: &[Role]) -> Result<()> {
        match roles.iter().find(|role| !role.is_known()) {
            Some(role) => {
                let error = Error::field("roles", format!("{:?} is not a role", role.as_str()));
                let remedy = suggest_names(role.as_str(), Role::KNOWN.into_iter());
                Err(error.remedy(remedy.unwrap_or_default()))
            }
            None => Ok(()),
        }
    }

    /// Whether a chat API defines the role. Others are kept where they are imported.
    pub fn is_known(&self) -> bool {
        match self {
            Role::Other(name) => &**name == FUNCTION_ROLE,
            _ => true,
        }
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

    /// Whether a message of this role is what a tool answered.
    pub fn is_tool_result(&self) -> bool {
        matches!(self, Role::Tool) || self.as_str() == FUNCTION_ROLE
    }

    /// Whether a message of this role carries the host's instructions, which repeat across sessions.
    pub fn is_instructions(&self) -> bool {
        matches!(self, Role::System | Role::Developer)
    }
}

parsed_from_text!(Role);
text_schema!(Role "minLength": 1, "maxLength": ROLE_CHARS_MAX, "pattern": WITHOUT_NUL);

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

json_name! {
    /// How far a text is trusted, most trusted last.
    Trust "trust" {
        /// Web pages and other agents.
        External "external",
        /// Tool results.
        Tool "tool",
        /// The agent's own words.
        Agent "agent",
        /// The host's instructions.
        System "system",
        /// The person.
        Owner "owner",
    }
}

impl Trust {
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

    #[test]
    fn a_filter_names_known_roles_only() {
        assert!(Role::check_known(&[Role::User, Role::parse("function").unwrap()]).is_ok());
        let error = Role::check_known(&[Role::parse("usr").unwrap()]).unwrap_err();
        assert_eq!(error.remedy_text().as_deref(), Some("did you mean user?"));
    }
}
