//! The time that a prompt asks about, and plans whose days have passed.

use super::prompt::Prompt;
use crate::change_words::{begins_on_date, has_phrase, is_planned};
use oneiro_claims::resolve_dates;
use oneiro_model::Timestamp;

/// What is known of the time that a prompt asks about.
pub(super) struct AskedTime {
    now: Timestamp,
    utc_offset_seconds: i32,
    /// Whether it asks what was.
    pub(super) is_past: bool,
    days: Vec<(Timestamp, Timestamp)>,
}

impl AskedTime {
    pub(super) fn read(prompt: &Prompt, now: Timestamp, utc_offset_seconds: i32) -> AskedTime {
        AskedTime {
            now,
            utc_offset_seconds,
            is_past: has_phrase("asks about the past", &prompt.text),
            days: resolve_dates(&prompt.text, now, utc_offset_seconds, false).days,
        }
    }

    /// Whether a sentence is a plan whose days have passed, and the prompt does not ask for them.
    pub(super) fn has_passed(&self, sentence: &str, said_at: Timestamp) -> bool {
        if self.is_past || !is_planned(sentence) || begins_on_date(sentence) {
            return false;
        }
        let dates = resolve_dates(sentence, said_at, self.utc_offset_seconds, true);
        let is_tonight = has_phrase("tonight", sentence);
        let is_asked = |(first, end): (Timestamp, Timestamp)| {
            self.days.iter().any(|(from, until)| first < *until && *from < end)
        };
        let ahead = |(first, end): &(Timestamp, Timestamp)| {
            *first > said_at || is_tonight && *end > said_at
        };
        // "From 20 to 22 November", said on the 20th.
        let is_range = dates.days.len() > 1 || has_phrase("until", sentence);
        let is_running = is_range && dates.days.iter().any(|(_, end)| *end > said_at);
        let was_ahead = is_running || dates.days.iter().all(ahead);
        !dates.days.is_empty()
            && was_ahead
            && dates.days.into_iter().all(|days| days.1 <= self.now && !is_asked(days))
    }

    /// A text with days in place of words such as "tomorrow", if one of them was ahead when it was said.
    pub(super) fn resolved(&self, said: &str, at: Timestamp) -> Option<String> {
        let dates = resolve_dates(said, at, self.utc_offset_seconds, is_planned(said));
        let is_ahead = dates.days.iter().any(|(first, _)| *first > at);
        (is_ahead && dates.text != said).then_some(dates.text)
    }
}
