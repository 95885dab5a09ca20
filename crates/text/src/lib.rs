//! The analyzer: text to tokens, the same for rows and for questions. It owns what a word is; it
//! must not know where text comes from or where tokens go.

mod analyzer;
mod cache;
mod calendar;
mod chunk;
mod date;
mod date_words;
mod fold;
mod joints;
mod language;
mod lists;
mod phrase;
mod piece;
mod query;
mod relative_date;
mod scan;
mod script;
mod token;
mod unit;
mod words;

pub use analyzer::Analyzer;
pub use chunk::chunks;
pub use date::{DateSpan, names_a_date};
pub use date_words::{DateRole, date_role, may_name_date};
pub use fold::normalise;
pub use language::irregular_words;
pub use lists::{entries, sections};
pub use phrase::Phrase;
pub use query::QueryWord;
pub use relative_date::{DatedText, Precision, RelativeDate, relative_dates};
pub use token::{Kind, Token};
pub use words::{is_filler, is_first_person, is_time_word};

/// Changes whenever the tokens of any text change, so that an index knows it has to be rebuilt.
pub const VERSION: u32 = 1;
