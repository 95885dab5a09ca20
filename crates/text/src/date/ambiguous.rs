//! Words that are dates only in a fitting context: may, march, sun.

use super::Reader;
use crate::date_words::{DateCue, date_cue, is_ambiguous, is_homograph};

impl Reader<'_> {
    /// The word `steps` before another.
    pub(super) fn before(&self, at: usize, steps: usize) -> &str {
        at.checked_sub(steps).map_or("", |before| self.norm(before))
    }

    /// Whether a month without day and year names a date: its word means nothing else, or the words
    /// before it introduce a month. "How late may we arrive" does not.
    pub(super) fn is_month_alone(&self, at: usize) -> bool {
        let norm = self.norm(at);
        if !is_ambiguous(norm) && !is_homograph(norm) {
            return true;
        }
        let before = self.before(at, 1);
        let is_led = |cue: Option<DateCue>| match cue {
            // The sea, in Spanish and Portuguese: "en mar abierto".
            Some(DateCue::Preposition) => norm != "mar" || !matches!(before, "en" | "em"),
            Some(DateCue::Part) => true,
            // People are called April, June and August, but not "the June".
            Some(DateCue::Article) => !is_ambiguous(norm),
            Some(DateCue::Weekday) | None => false,
        };
        match before {
            "early" | "mid" | "late" => is_led(date_cue(self.before(at, 2))),
            "of" => date_cue(self.before(at, 2)) == Some(DateCue::Part),
            before => is_led(date_cue(before)),
        }
    }

    /// Whether the preceding words introduce a season or a year.
    pub(super) fn is_introduced(&self, at: usize) -> bool {
        let before = match self.before(at, 1) {
            "early" | "mid" | "late" | "the" => self.before(at, 2),
            before => before,
        };
        matches!(date_cue(before), Some(DateCue::Preposition | DateCue::Part))
            || matches!(before, "of")
    }
}
