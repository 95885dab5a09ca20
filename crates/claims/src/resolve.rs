//! The dates of a text as it was written: which days they mean, and the text with these in place of words
//! such as "tomorrow".

use crate::dates::{DatedClause, WrittenOn, clause_dates};
use crate::language::Language;
use crate::sentence::sentences;
use oneiro_model::Timestamp;

/// A text with its dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedDates {
    /// The text with days in place of words that depend on when it was written.
    pub text: String,
    /// The first moment of each date, and the first one after it.
    pub days: Vec<(Timestamp, Timestamp)>,
}

/// The dates of a text that was written at a time. In a plan, a weekday is the next one.
pub fn resolve_dates(
    text: &str,
    at: Timestamp,
    utc_offset_seconds: i32,
    is_plan: bool,
) -> ResolvedDates {
    let written_on = WrittenOn::new(at, utc_offset_seconds);
    let mut found = ResolvedDates { text: String::new(), days: Vec::new() };
    let mut copied = 0;
    sentences(text, (0, text.len()), |sentence| {
        let dates = clause_dates(&DatedClause {
            text,
            sentence,
            tokens: (0, sentence.tokens.len()),
            language: sentence.language().unwrap_or(Language::English),
            today: written_on.day,
            is_plan,
        });
        for (first, last) in &dates.days {
            found.days.push((written_on.start_of(*first), written_on.end_of(*last)));
        }
        for (from, to, words) in &dates.replacements {
            if *from >= copied {
                found.text.push_str(text.get(copied..*from).unwrap_or_default());
                found.text.push_str(words);
                copied = *to;
            }
        }
    });
    found.text.push_str(text.get(copied..).unwrap_or_default());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_days() {
        // Monday
        let at = Timestamp::parse("2026-03-02T10:00:00Z").unwrap();
        let resolved = resolve_dates("i'm off from tomorrow until thursday", at, 0, true);
        assert_eq!(resolved.text, "i'm off from 3 March 2026 until 5 March 2026");
        assert_eq!(resolved.days.len(), 2);
        let week = resolve_dates("La semana que viene voy a Lisboa.", at, 0, true);
        assert_eq!(week.text, "En la semana del 9 de marzo de 2026 voy a Lisboa.");
        // A weekday before a date is part of it.
        for said in ["the exam is on friday 13 march 2026", "am Freitag, den 13. März 2026"] {
            assert_eq!(resolve_dates(said, at, 0, true).text, said);
        }
        let plain = resolve_dates("We have two cats.", at, 0, true);
        assert_eq!((plain.text.as_str(), plain.days.len()), ("We have two cats.", 0));
    }
}
