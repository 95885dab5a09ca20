//! Interactions: a prompt with its response, as a client reports it or as a turn of a session.

use crate::contract::Request;
use crate::id::ALPHABET;
use crate::{InteractionId, LIST_MAX, MemoryId, MessageId, SessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum characters of a prompt or a response.
const TEXT_CHARS_MAX: usize = 1_000_000;
/// Maximum characters of a name.
const NAME_CHARS_MAX: usize = 500;
/// Maximum number of memories or chunks that an answer used.
const USED_MAX: usize = 500;
/// Text with at least one visible character.
const VISIBLE_TEXT: &str = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$";
/// Maximum number of interactions in a list.
pub const INTERACTIONS_MAX: usize = 500;

/// One prompt with its response.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Interaction {
    /// Its id.
    pub id: InteractionId,
    /// What was asked.
    pub prompt: String,
    /// What was answered; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// A summary of the response.
    pub response_summary: Option<String>,
    /// The pack that was shown.
    pub pack_id: Option<String>,
    /// Memories that the response used.
    pub memories_used: Vec<MemoryId>,
    /// Chunks that the response used.
    pub chunks_used: Vec<String>,
    /// The program that reported it.
    pub client: Option<String>,
    /// Its session.
    pub session_id: Option<SessionId>,
    /// Its project.
    pub project: Option<String>,
    /// The message that asked, if it is a turn of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// When it was reported, or asked.
    pub created_at: Timestamp,
}

/// How the id of a turn begins, after the prefix.
const TURN: &str = "turn";
/// Letters that stand for the message of a turn, with five bits each.
const TURN_LETTERS: usize = 12;
const LETTER_BITS: usize = 5;

impl InteractionId {
    /// The id of the turn that a message of a user begins.
    pub fn of_turn(MessageId(seq): MessageId) -> InteractionId {
        let letter = |place: usize| {
            let bits = (seq >> (place * LETTER_BITS)) as usize % ALPHABET.len();
            char::from(ALPHABET.get(bits).copied().unwrap_or(b'a'))
        };
        let number: String = (0..TURN_LETTERS).rev().map(letter).collect();
        InteractionId::from_parts(&[TURN, &number])
    }

    /// The message that begins the turn, if a text is the id of one.
    pub fn turn(text: &str) -> Option<MessageId> {
        let number = text.strip_prefix(InteractionId::PREFIX)?.strip_prefix(TURN)?;
        let mut seq: i64 = 0;
        for byte in number.bytes() {
            let bits = ALPHABET.iter().position(|letter| *letter == byte)?;
            seq = (seq << LETTER_BITS) | bits as i64;
        }
        (number.len() == TURN_LETTERS).then_some(MessageId(seq))
    }
}

/// An interaction to store.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInteraction {
    /// What was asked.
    #[schemars(length(min = 1, max = TEXT_CHARS_MAX), regex(pattern = VISIBLE_TEXT))]
    pub prompt: String,
    /// What was answered.
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub response: Option<String>,
    /// A summary of the response.
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub response_summary: Option<String>,
    /// The pack that was shown.
    #[serde(default)]
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub pack_id: Option<String>,
    /// Memories that the response used.
    #[serde(default)]
    #[schemars(length(max = USED_MAX))]
    pub memories_used: Vec<MemoryId>,
    /// Chunks that the response used.
    #[serde(default)]
    #[schemars(length(max = USED_MAX))]
    pub chunks_used: Vec<String>,
    /// The program that reports it.
    #[serde(default)]
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub client: Option<String>,
    /// Its session.
    #[serde(default)]
    #[schemars(extend("x-older-names" = ["session"]))]
    pub session_id: Option<SessionId>,
    /// Its project, by name or alias.
    #[serde(default)]
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub project: Option<String>,
    /// Whether memories that the response rests on are reinforced.
    #[serde(default = "yes")]
    pub reinforce: bool,
    /// Whether statements in it become candidates.
    #[serde(default)]
    pub extract: bool,
}

fn yes() -> bool {
    true
}

impl Request for NewInteraction {}

/// Which interactions to list, newest first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListInteractions {
    /// Only this project, by name or alias.
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub project: Option<String>,
    /// Only this session.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
    /// Only this client.
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub client: Option<String>,
    /// Only at this time or later.
    pub since: Option<Timestamp>,
    /// Maximum number; more than 500 counts as 500.
    #[schemars(range(min = 0, max = LIST_MAX))]
    pub limit: usize,
}

/// How many interactions a list has by default.
const LIST_DEFAULT: usize = 50;

impl Default for ListInteractions {
    fn default() -> ListInteractions {
        ListInteractions {
            project: None,
            session: None,
            client: None,
            since: None,
            limit: LIST_DEFAULT,
        }
    }
}

impl Request for ListInteractions {}

/// A memory that a response rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReinforcedMemory {
    /// The memory.
    pub id: MemoryId,
    /// Its confidence before.
    pub old_confidence: f64,
    /// Its confidence now.
    pub new_confidence: f64,
}

/// What followed from an interaction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CapturedInteraction {
    /// The interaction.
    #[serde(flatten)]
    pub interaction: Interaction,
    /// Memories that the response rests on.
    pub reinforced: Vec<ReinforcedMemory>,
    /// Candidates that were extracted.
    pub extracted: Vec<MemoryId>,
    /// What could not be done; the interaction is stored all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What to learn from.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractRequest {
    /// Only messages of this session, whether or not they were read before.
    pub session: Option<SessionId>,
}

impl Request for ExtractRequest {}

/// What was learnt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Extracted {
    /// Messages that were read.
    pub messages: usize,
    /// Memories that are believed at once: the person's own plain words.
    pub active: usize,
    /// Memories that wait for review.
    pub candidates: usize,
    /// Statements that were known: they got the new evidence.
    pub known: usize,
    /// Older statements that were replaced.
    pub superseded: usize,
    /// Statements that a person refused before.
    pub refused: usize,
    /// Memories that an answer rests on.
    pub used: usize,
}

impl Extracted {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Extracted) {
        self.messages += other.messages;
        self.active += other.active;
        self.candidates += other.candidates;
        self.known += other.known;
        self.superseded += other.superseded;
        self.refused += other.refused;
        self.used += other.used;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_turn_tells_its_message() {
        for seq in [1, 31, 32, 123_456_789, (1 << 60) - 1] {
            let id = InteractionId::of_turn(MessageId(seq));
            assert_eq!(InteractionId::parse(id.as_str()).unwrap(), id);
            assert_eq!(InteractionId::turn(id.as_str()), Some(MessageId(seq)));
        }
        for other in ["int_turn", "int_turnaaaa", "int_aaaaaaaaaaaaaaaa", "turnaaaaaaaaaaab"] {
            assert_eq!(InteractionId::turn(other), None, "{other}");
        }
    }
}
