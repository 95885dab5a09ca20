//! Summaries without a model: of a conversation, the sentences that matter most, in order, within a
//! number of tokens. It owns what matters; it must not know stores, sessions or models.

mod blob;
mod calls;
mod clause;
mod connectives;
mod cues;
mod dates;
mod extract;
mod left_out;
mod lines;
mod machine;
mod reading;
mod render;
mod repeated;
mod segment;
mod select;
mod terms;
mod utterance;
mod worth;

pub use extract::extract;

use jiff::civil::Date;

/// Something said, as the extract sees it.
#[derive(Debug, Clone)]
pub struct Said<'a> {
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
    pub said: &'a [Said<'a>],
    /// The most tokens it may have.
    pub target: usize,
    /// Words it should be about, when it answers a question.
    pub about: Option<&'a str>,
    /// Counts the tokens of a text.
    pub count: &'a dyn Fn(&str) -> usize,
}
