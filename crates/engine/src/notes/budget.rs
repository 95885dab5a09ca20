//! Character budgets of curated notes: how full a note is, and what happens when it is full.

use super::{edits, grammar};
use crate::settings::Settings;
use oneiro_model::{Error, NoteName, Result, thousands};
use oneiro_store::{Tx, settings};

/// The note about the world, and the note about the user.
pub(super) const MEMORY_NOTE: &str = "MEMORY.md";
pub(super) const USER_NOTE: &str = "USER.md";

/// The budgets of a space.
pub(super) struct Budgets {
    memory: usize,
    user: usize,
}

impl Budgets {
    pub(super) fn read(tx: &Tx<'_>) -> Result<Budgets> {
        Ok(Budgets::of(&Settings::read(&settings::all(tx)?)?))
    }

    pub(super) fn of(settings: &Settings) -> Budgets {
        Budgets { memory: settings.memory_char_limit, user: settings.user_char_limit }
    }

    /// The most characters of a note; `None` without a budget.
    pub(super) fn limit(&self, name: &NoteName) -> Option<usize> {
        match name.file_name() {
            MEMORY_NOTE => Some(self.memory),
            USER_NOTE => Some(self.user),
            _ => None,
        }
    }

    /// Refuses a text over the budget, unless it is shorter than the one before it.
    pub(super) fn check(&self, name: &NoteName, old: &str, new: &str) -> Result<()> {
        let Some(limit) = self.limit(name) else { return Ok(()) };
        let (before, after) = (chars(old), chars(new));
        if after <= limit || after < before {
            return Ok(());
        }
        let entries = grammar::entries(old);
        Err(Error::too_large(format!(
            "{name} would have {} of {} characters. It has {} entries [{}]: {}",
            thousands(after as u64),
            thousands(limit as u64),
            entries.len(),
            usage(before, limit),
            edits::listed(&entries)
        ))
        .remedy("remove or shorten entries first; several edits can be given at once"))
    }
}

/// Characters of a note, delimiters counted, without spaces and line ends around it.
pub(super) fn chars(text: &str) -> usize {
    text.trim().chars().count()
}

/// How full a note is, as `67% — 1,474/2,200 chars`.
pub(super) fn usage(chars: usize, limit: usize) -> String {
    let percent = chars * 100 / limit.max(1);
    format!("{percent}% — {}/{} chars", thousands(chars as u64), thousands(limit as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_floored_and_readable() {
        assert_eq!(usage(1_474, 2_200), "67% — 1,474/2,200 chars");
        assert_eq!(usage(0, 1_375), "0% — 0/1,375 chars");
        assert_eq!(chars("a\n§\nb\n"), 5);
    }

    #[test]
    fn a_full_note_says_what_it_has_and_may_shrink() {
        let budgets = Budgets { memory: 12, user: 5 };
        let name = NoteName::parse("MEMORY.md").unwrap();
        let error = budgets.check(&name, "- a\n- b\n", "- a\n- b\n- a long one\n").unwrap_err();
        assert!(error.message().contains("20 of 12 characters"), "{error}");
        assert!(error.message().contains("[58% — 7/12 chars]: \"a\", \"b\""), "{error}");
        assert!(budgets.check(&name, &"x".repeat(30), &"x".repeat(20)).is_ok());
        assert!(budgets.check(&NoteName::parse("a.md").unwrap(), "", &"x".repeat(99)).is_ok());
        assert!(
            budgets.check(&NoteName::parse("users/ann/USER.md").unwrap(), "", "123456").is_err()
        );
    }
}
