//! Extractive summaries: the most important clauses of a conversation, in order, within a number of
//! tokens. Independent of stores, sessions and models.

mod blob;
mod calls;
mod clause;
mod connectives;
mod conversation;
mod cues;
mod dates;
mod extract;
mod left_out;
mod lines;
mod machine;
mod render;
mod repeated;
mod segment;
mod select;
mod sentence_weight;
mod terms;
mod utterance;

pub use extract::extract;
pub use segment::sentence_ranges;

use jiff::civil::Date;

/// A message to summarise.
#[derive(Debug, Clone)]
pub struct SourceMessage<'a> {
    /// The speaker, as the extract names them: `user`, `assistant`, `tool bash`, or a name. Empty
    /// for an earlier extract, whose lines name them.
    pub speaker: &'a str,
    /// The words. A line `called NAME ARGUMENTS` is a call of a tool, and the answers of tools
    /// follow in the order of the calls.
    pub text: &'a str,
    /// The day it was said; none for an earlier extract, whose lines have it.
    pub day: Option<Date>,
}

/// What to make an extract of.
pub struct ExtractRequest<'a> {
    /// What was said, in order.
    pub said: &'a [SourceMessage<'a>],
    /// The most tokens it may have.
    pub target: usize,
    /// Words it should be about, when it answers a question.
    pub about: Option<&'a str>,
    /// Counts the tokens of a text.
    pub count: &'a dyn Fn(&str) -> usize,
}
