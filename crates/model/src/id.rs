//! Ids: the caller's string for sessions, the sequence number for messages, and a typed prefix
//! with random base32 for everything else.

use crate::contract::schema::{EXACT_INTEGER_MAX, WITHOUT_NUL};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A message's id: its place in the sequence of its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub i64);

impl schemars::JsonSchema for MessageId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MessageId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": EXACT_INTEGER_MAX})
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A session's id: the caller's own string, any characters but NUL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// The most characters an id may have.
    pub const MAX_CHARS: usize = 512;

    /// Takes the caller's string as an id.
    pub fn new(id: impl Into<String>) -> Result<SessionId> {
        let id = id.into();
        check_text("session id", &id)?;
        if id.is_empty() {
            return Err(Error::field("session id", "is empty").remedy("give an id, or none at all"));
        }
        if id.chars().count() > SessionId::MAX_CHARS {
            let limit = SessionId::MAX_CHARS;
            return Err(Error::field("session id", format!("is longer than {limit} characters")));
        }
        Ok(SessionId(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
    fn parse(text: &str) -> Result<SessionId> {
        SessionId::new(text)
    }
}

parsed_from_text!(SessionId);
text_schema!(SessionId "minLength": 1, "maxLength": SessionId::MAX_CHARS, "pattern": WITHOUT_NUL);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Refuses text that one of the engines could not hold.
pub(crate) fn check_text(field: &'static str, text: &str) -> Result<()> {
    if !text.contains('\0') {
        Ok(())
    } else {
        Err(Error::field(field, "contains a NUL character").remedy("remove the NUL"))
    }
}

/// The letters of random ids: RFC 4648 base32, lower case.
pub(crate) const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

macro_rules! prefixed_ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The prefix that tells this kind of id from the others.
            pub const PREFIX: &'static str = $prefix;

            /// An id from ten random bytes.
            pub fn from_random(random: [u8; 10]) -> $name {
                $name(base32($prefix, random))
            }

            /// Reads an id, refusing one of another kind.
            pub fn parse(text: &str) -> Result<$name> {
                match text.strip_prefix($prefix) {
                    Some(rest) if !rest.is_empty()
                        && rest.bytes().all(|byte| ALPHABET.contains(&byte)) =>
                        Ok($name(text.to_owned())),
                    _ => Err(Error::invalid(format!("{text:?} is not an id of the form {}...", $prefix))),
                }
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        parsed_from_text!($name);
        text_schema!($name "pattern": concat!("^", $prefix, "[a-z2-7]+$"));

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

impl InteractionId {
    /// An id of letters of random ids.
    pub(crate) fn from_parts(parts: &[&str]) -> InteractionId {
        InteractionId(format!("{}{}", InteractionId::PREFIX, parts.concat()))
    }
}

prefixed_ids! {
    /// The id of a claim that a dream may promote.
    CandidateId "cnd_";
    /// The id of a source that is not trusted.
    DistrustId "dis_";
    /// The id of a dream.
    DreamId "drm_";
    /// The id of a group of operations.
    GroupId "grp_";
    /// The id of an interaction.
    InteractionId "int_";
    /// The id of a job.
    JobId "job_";
    /// The id of a memory.
    MemoryId "mem_";
    /// The id of a mounted folder.
    MountId "mnt_";
    /// The id of an operation.
    OperationId "op_";
    /// The id of a pack.
    PackId "pck_";
    /// The id of a revision of the notes.
    RevisionId "rev_";
    /// The id of a fact of a project.
    StateId "sta_";
    /// The id of a summary.
    SummaryId "sum_";
    /// The id of a token.
    TokenId "tok_";
}

impl RevisionId {
    /// The group of the operations of this revision: the same id with another prefix.
    pub fn group(&self) -> GroupId {
        GroupId(self.0.replacen(RevisionId::PREFIX, GroupId::PREFIX, 1))
    }

    /// The revision whose operations are this group.
    pub fn of_group(group: &GroupId) -> RevisionId {
        RevisionId(group.0.replacen(GroupId::PREFIX, RevisionId::PREFIX, 1))
    }
}

fn base32(prefix: &str, random: [u8; 10]) -> String {
    let mut bits = random.iter().fold(0u128, |bits, byte| (bits << 8) | u128::from(*byte));
    let mut text = String::from(prefix);
    for _ in 0..16 {
        let letter = ALPHABET.get((bits & 31) as usize).copied().unwrap_or(b'a');
        text.push(char::from(letter));
        bits >>= 5;
    }
    text
}

impl SessionId {
    /// An id for a session whose caller gave none.
    pub fn from_random(random: [u8; 10]) -> SessionId {
        SessionId(base32("ses_", random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_take_anything_but_nul_and_nothing() {
        for good in ["a", "it's; DROP TABLE sessions", "a/b\\c", "\u{1}\n", "🦀", "%2F", "*"] {
            assert_eq!(SessionId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a\0b", &"x".repeat(513)] {
            assert_eq!(SessionId::new(bad).unwrap_err().kind(), crate::ErrorKind::Invalid);
        }
    }

    #[test]
    fn prefixed_ids_round_trip_and_refuse_other_kinds() {
        let id = JobId::from_random([7; 10]);
        assert_eq!(JobId::parse(id.as_str()).unwrap(), id);
        assert_eq!(id.as_str().len(), "job_".len() + 16);
        assert!(JobId::parse("mem_abc").is_err());
        assert!(JobId::parse("job_").is_err());
        assert!(JobId::parse("job_ABC").is_err());
    }
}
