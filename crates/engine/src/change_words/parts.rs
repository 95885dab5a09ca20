//! The parts of a statement that tell what has ended, was replaced, changed or cancelled.

use super::lists::{is_of, places};
use super::statement::Topic;
use crate::echo::EchoToken;
use std::ops::Range;

/// Words after "sold" or "no longer" among which is what has ended.
const ENDED_WORDS: usize = 4;

/// The same where only a name counts.
const ENDED_NAME_WORDS: usize = 2;

/// Words after "switched" among which "from" tells what is left behind.
const LEFT_BEHIND_WORDS: usize = 5;

/// Words between "from" and "to" at most.
const FROM_WORDS_MAX: usize = 4;

/// The bytes of a run of words.
pub(super) fn byte_range(words: &[EchoToken], range: Range<usize>) -> Option<Range<usize>> {
    let first = words.get(range.start)?;
    let last = words.get(range.end.checked_sub(1)?)?;
    Some(first.start..last.end)
}

/// The words that a place of a text is about.
fn topics_in<'t>(
    words: &[EchoToken],
    topics: &'t [Topic],
    range: Range<usize>,
) -> impl Iterator<Item = &'t Topic> {
    let bytes = byte_range(words, range).unwrap_or(0..0);
    topics.iter().filter(move |topic| bytes.contains(&topic.start))
}

/// The old value of a change that names both: "from Jira to Linear".
pub(super) fn replaced(words: &[EchoToken], topics: &[Topic]) -> Vec<String> {
    let mut old = Vec::new();
    for from in places("from", words) {
        let to = places("to", words)
            .find(|to| to.start > from.end && to.start - from.end <= FROM_WORDS_MAX);
        let Some(to) = to else { continue };
        let between: Vec<&Topic> = topics_in(words, topics, from.end..to.start).collect();
        let is_one_word = to.start - from.end == 1;
        let named = between.into_iter().filter(|topic| topic.is_value || is_one_word);
        old.extend(named.map(|topic| topic.term.clone()));
    }
    old
}

/// What somebody changed: "moved the chairs".
pub(super) fn changed(text: &str, words: &[EchoToken], topics: &[Topic]) -> Vec<String> {
    let mut changed = Vec::new();
    for found in places("changed", words).chain(places("value changed", words)) {
        let is_verb = found.len() == 1;
        let has_article = words.get(found.end).is_some_and(|word| is_of("article", &word.word));
        if !is_verb || !has_article {
            continue;
        }
        let behind = forwards(text, words, found.end + 1, ENDED_WORDS);
        let object = words.get(behind.clone()).unwrap_or_default();
        let object = object.iter().take_while(|word| !is_of("preposition", &word.word)).count();
        let object = topics_in(words, topics, behind.start..behind.start + object);
        changed.extend(object.map(|topic| topic.term.clone()));
    }
    changed
}

/// The words of a plan that a statement says does not come about.
pub(super) fn cancelled(text: &str, words: &[EchoToken], topics: &[Topic]) -> Vec<String> {
    let mut cancelled = Vec::new();
    for found in places("cancelled before", words) {
        let before = backwards(text, words, found.start, ENDED_WORDS);
        cancelled.extend(topics_in(words, topics, before).map(|topic| topic.term.clone()));
    }
    for found in places("cancelled", words) {
        let behind = forwards(text, words, found.end, ENDED_WORDS);
        cancelled.extend(topics_in(words, topics, behind).map(|topic| topic.term.clone()));
    }
    cancelled
}

/// Words before a phrase among which a denial takes it back: "I won't quit", "don't forget".
const DENIED_WORDS: usize = 3;

/// Words of a denial; "don't" and "won't" are two words each.
const DENIALS: [&str; 9] = ["t", "not", "never", "no", "nicht", "nie", "niemals", "nunca", "jamas"];

/// Whether what begins at a word is denied.
pub(super) fn is_denied(words: &[EchoToken], at: usize) -> bool {
    let before = words.get(at.saturating_sub(DENIED_WORDS)..at).unwrap_or_default();
    before.iter().any(|word| DENIALS.contains(&word.word.as_str()))
}

/// What a statement says has ended: "I sold the Fiat", "Hilde left".
pub(super) fn ended<'t>(text: &str, words: &[EchoToken], topics: &'t [Topic]) -> Vec<&'t Topic> {
    let mut ended: Vec<&Topic> = Vec::new();
    let mut add = |range: Range<usize>, names_only: bool| {
        let inside = topics_in(words, topics, range);
        let wanted = inside.filter(|topic| topic.is_capitalised || !names_only);
        ended.extend(wanted);
    };
    for found in places("ends", words).filter(|found| !is_denied(words, found.start)) {
        add(forwards(text, words, found.end, ENDED_WORDS), false);
    }
    for found in places("ends a name", words).filter(|found| !is_denied(words, found.start)) {
        add(forwards(text, words, found.end, ENDED_NAME_WORDS), true);
    }
    // "We switched the shop from MySQL to Postgres"
    for changed in places("left behind by", words) {
        let range = forwards(text, words, changed.end, LEFT_BEHIND_WORDS);
        let left = words.get(range.clone()).unwrap_or_default();
        let from = left.iter().position(|word| is_of("left behind", &word.word));
        if let Some(from) = from.map(|at| range.start + at + 1) {
            add(forwards(text, words, from, ENDED_NAME_WORDS), true);
        }
    }
    let denied = |word: &EchoToken| word.word.starts_with("kein") || word.word == "nicht";
    for found in places("ended before", words) {
        let range = backwards(text, words, found.start, ENDED_WORDS);
        // German "mehr" is only "more" without a denial.
        let is_more = words.get(found.start).is_some_and(|word| word.word == "mehr")
            && !words.get(..found.start).unwrap_or_default().iter().any(denied);
        if !is_more {
            add(range, false);
        }
    }
    for found in places("ended name before", words) {
        // "Finn quit handball" ends the handball.
        let behind = forwards(text, words, found.end, ENDED_NAME_WORDS);
        if topics_in(words, topics, behind).next().is_none() {
            add(backwards(text, words, found.start, 1), true);
        }
    }
    ended
}

/// Whether a clause ends between two words.
pub(super) fn is_break(text: &str, words: &[EchoToken], before: usize) -> bool {
    let from = words.get(before).map_or(0, |word| word.end);
    let to = words.get(before + 1).map_or(text.len(), |word| word.start);
    let next = words.get(before + 1).map_or("", |word| word.word.as_str());
    text.get(from..to).unwrap_or_default().contains([',', ';', ':', '.', '—', '(', '!', '\n'])
        || is_conjunction(next)
}

pub(super) fn is_conjunction(word: &str) -> bool {
    matches!(word, "and" | "but" | "so" | "und" | "aber" | "y" | "pero" | "sondern")
}

/// The words of a clause from one on.
fn forwards(text: &str, words: &[EchoToken], from: usize, max: usize) -> Range<usize> {
    let mut to = from;
    while to < words.len() && to - from < max && !(to > 0 && is_break(text, words, to - 1)) {
        to += 1;
    }
    from..to
}

/// The words of a clause before one.
pub(super) fn backwards(text: &str, words: &[EchoToken], to: usize, max: usize) -> Range<usize> {
    let mut from = to;
    while from > 0 && to - from < max && !is_break(text, words, from - 1) {
        from -= 1;
    }
    from..to
}
