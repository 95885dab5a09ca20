//! How a message is named in a request: by its id, or by its place in its session.

use crate::contract::schema::EXACT_INTEGER_MAX;
use crate::{Error, MessageId, Result, SessionId};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;

/// A message as callers name it.
///
/// Written as an id (`12`), as a place in a session (`monday#3`), or as a place alone (`#3`) where
/// the request names the session elsewhere. Session ids may contain `#`, so the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageRef {
    /// By its id.
    Id(MessageId),
    /// By its place among all stored messages of a session, hidden ones included.
    Place {
        /// The session: an id, a unique prefix, or a title. None: the session of the request.
        session: Option<SessionId>,
        /// The place; the first message has place 1.
        place: i64,
    },
}

/// What separates a session from a place in it.
const PLACE_SEPARATOR: char = '#';

const ACCEPTED_FORMS: &str =
    "write a message id (12) or a session and the message's place in it (monday#3)";

impl MessageRef {
    /// Reads `12`, `monday#3` or `#3`.
    pub fn parse(text: &str) -> Result<MessageRef> {
        let text = text.trim();
        if let Some(id) = positive(text) {
            return Ok(MessageRef::Id(MessageId(id)));
        }
        let place = text.rsplit_once(PLACE_SEPARATOR);
        let place = place.and_then(|(session, place)| Some((session, positive(place)?)));
        let Some((session, place)) = place else {
            let shown: String = text.chars().take(60).collect();
            return Err(
                Error::invalid(format!("{shown:?} does not name a message")).remedy(ACCEPTED_FORMS)
            );
        };
        let session = (!session.is_empty()).then(|| SessionId::new(session)).transpose()?;
        Ok(MessageRef::Place { session, place })
    }
}

/// A number from 1 on that is exact in JSON, without sign or leading zeros.
fn positive(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let number = text.parse().ok().filter(|_| is_number);
    number.filter(|number| *number <= EXACT_INTEGER_MAX)
}

impl From<MessageId> for MessageRef {
    fn from(id: MessageId) -> MessageRef {
        MessageRef::Id(id)
    }
}

impl fmt::Display for MessageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageRef::Id(id) => id.fmt(f),
            MessageRef::Place { session: Some(session), place } => {
                write!(f, "{session}{PLACE_SEPARATOR}{place}")
            }
            MessageRef::Place { session: None, place } => write!(f, "{PLACE_SEPARATOR}{place}"),
        }
    }
}

/// The text of a message where no session is given elsewhere in the request, for schemas.
pub const COMPLETE_MESSAGE_PATTERN: &str =
    "^([1-9][0-9]{0,14}|[^\\u0000]{1,512}#[1-9][0-9]{0,14})$";

impl<'de> Deserialize<'de> for MessageRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MessageRef, D::Error> {
        struct IdOrPlace;

        impl Visitor<'_> for IdOrPlace {
            type Value = MessageRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message id (12) or a place in a session (\"monday#3\")")
            }

            fn visit_u64<E: de::Error>(self, id: u64) -> Result<MessageRef, E> {
                let id = i64::try_from(id).unwrap_or(i64::MAX);
                self.visit_i64(id)
            }

            fn visit_i64<E: de::Error>(self, id: i64) -> Result<MessageRef, E> {
                if (1..=EXACT_INTEGER_MAX).contains(&id) {
                    Ok(MessageRef::Id(MessageId(id)))
                } else {
                    Err(E::custom(format!(
                        "is not a whole number between 1 and {EXACT_INTEGER_MAX}"
                    )))
                }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<MessageRef, E> {
                MessageRef::parse(text).map_err(crate::contract::as_serde_error)
            }
        }

        deserializer.deserialize_any(IdOrPlace)
    }
}

impl schemars::JsonSchema for MessageRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MessageRef".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": EXACT_INTEGER_MAX,
            "pattern": "^([1-9][0-9]{0,14}|[^\\u0000]{0,512}#[1-9][0-9]{0,14})$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(session: Option<&str>, place: i64) -> MessageRef {
        MessageRef::Place { session: session.map(|id| SessionId::new(id).unwrap()), place }
    }

    #[test]
    fn a_message_is_an_id_or_the_last_number_after_a_hash() {
        for (text, want) in [
            ("12", MessageRef::Id(MessageId(12))),
            ("#3", place(None, 3)),
            ("monday#3", place(Some("monday"), 3)),
            ("2026-11#3", place(Some("2026-11"), 3)),
            ("issue #7#3", place(Some("issue #7"), 3)),
            ("##3", place(Some("#"), 3)),
        ] {
            let read = MessageRef::parse(text).unwrap();
            assert_eq!(read, want);
            assert_eq!(read.to_string(), text);
        }
        assert_eq!(MessageRef::parse(" monday#3 ").unwrap(), place(Some("monday"), 3));
    }

    #[test]
    fn what_names_no_message_is_refused_with_both_forms() {
        for text in ["", "0", "-1", "+1", "01", "#", "#0", "monday", "monday#", "monday#x", "a#-1"]
        {
            let error = MessageRef::parse(text).unwrap_err();
            assert_eq!(error.remedy_text().as_deref(), Some(ACCEPTED_FORMS), "{text:?}");
        }
        assert!(MessageRef::parse(&EXACT_INTEGER_MAX.to_string()).is_ok());
        assert!(MessageRef::parse(&(EXACT_INTEGER_MAX + 1).to_string()).is_err());
        assert!(MessageRef::parse("a\0b#1").is_err());
    }
}
