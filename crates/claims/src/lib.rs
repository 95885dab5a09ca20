//! Finds durable claims in one utterance by rules: preferences, decisions, requirements, identity,
//! plans with dates, corrections, standing instructions, and what an assistant promised. Independent
//! of stores, sessions and models; the rules are data, one file per language below `assets`.

mod claim;
mod clause;
mod content;
mod context;
mod dates;
mod language;
mod patterns;
mod plain;
mod referent;
mod resolve;
mod secrets;
mod sentence;
mod typed;

use std::ops::Range;

use oneiro_model::{MemoryKind, Timestamp};

pub use claim::claims;
pub use plain::plain_sentences;
pub use resolve::{ResolvedDates, resolve_dates};

/// Increased whenever a rule changes, so that messages are read again.
pub const VERSION: u32 = 2;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A person, whose own statements may be believed.
    Person,
    /// An assistant, of which only commitments are kept.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, Copy)]
pub struct Utterance<'u> {
    /// What was written.
    pub text: &'u str,
    /// Who wrote it.
    pub speaker: Speaker,
    /// When it was written; relative dates count from this day.
    pub at: Timestamp,
    /// Seconds east of UTC where the speaker lives, which decides the day.
    pub utc_offset_seconds: i32,
    /// The message before, which "no, it is on Friday" refers to.
    pub previous: Option<&'u str>,
}

/// A statement that may become a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is about.
    pub kind: MemoryKind,
    /// One sentence that can be understood alone, in the words of the speaker, of 8 to 280
    /// characters.
    pub content: String,
    /// The words it rests on, in bytes of the text.
    pub quote: Range<usize>,
    /// The rule that found it, with its language: `en.identity.home`.
    pub rule: &'static str,
    /// Whether it may be believed without review: the rule is precise and the words are plain.
    /// Never for an assistant, pasted text, or words that hedge.
    pub durable: bool,
    /// Whether it replaces what was said before.
    pub corrects: bool,
    /// When it began to hold, if the words say so.
    pub valid_from: Option<Timestamp>,
    /// When it stops to hold: the end of the last day of a plan.
    pub valid_until: Option<Timestamp>,
}
