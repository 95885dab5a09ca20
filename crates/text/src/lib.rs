//! Text analysis for indexing and queries: tokens, stems, stop words, chunks, phrases and dates.

mod analyzer;
mod calendar;
mod chunk;
mod date;
mod date_words;
mod fold;
mod folded_text;
mod identifier;
mod ignorable;
mod language;
mod lists;
mod marks;
mod phrase;
mod query;
mod question;
mod relative_date;
mod scan;
mod script;
mod token;
mod unit;
mod word_cache;
mod word_sets;

pub use analyzer::Analyzer;
pub use chunk::chunks;
pub use date::{DateSpan, find_dates};
pub use date_words::{DateRole, date_role, may_name_date};
pub use fold::{normalise, padded_words};
pub use ignorable::is_default_ignorable;
pub use language::irregular_words;
pub use lists::{entries, sections};
pub use marks::{Marks, question_share};
pub use phrase::Phrase;
pub use query::QueryWord;
pub use question::{Preferred, Question, Recency};
pub use relative_date::{DatedText, Precision, RelativeDate, relative_dates};
pub use token::{Kind, Token};
pub use word_sets::{is_filler, is_first_person, is_time_word};

/// Increased whenever the tokens of any text change, so that indexes are rebuilt.
pub const VERSION: u32 = 1;
