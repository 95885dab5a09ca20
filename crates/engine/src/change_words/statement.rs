//! What one sentence states: what it is about, its values, and what it says has ended or changed.

use super::lists::{CHANGE_WORDS, SAME_MARK, SAME_SECTIONS, is_of, places};
use super::parts::{
    backwards, byte_range, cancelled, changed, ended, is_break, is_conjunction, is_denied, replaced,
};
use super::plans::begins_on_date;
use crate::echo::{EchoToken, tokens};
use oneiro_text::{Analyzer, Kind, is_time_word};
use rustc_hash::FxHashSet;

/// Words of a correction that says only a value.
const BARE_WORDS_MAX: usize = 8;

/// German words that show the language.
const GERMAN_WORDS_MIN: usize = 2;

/// Marks that tell a change: "pool size -> 80".
const ARROWS: [&str; 3] = ["->", "=>", "→"];

/// How surely a statement tells a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Maybe,
    Certain,
}

/// What one sentence is about, as far as another may replace it.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) text: String,
    /// The words it is about, in order, each once.
    pub(super) topics: Vec<Topic>,
    /// Those of what it says has ended.
    pub(super) ended: Vec<String>,
    /// The names among them.
    pub(super) ended_names: Vec<String>,
    /// Those of what it says has changed into something else: "from Jira to Linear".
    pub(super) replaced: Vec<String>,
    /// Those of what somebody changed: "moved the chairs".
    pub(super) changed: Vec<String>,
    /// Those of a plan that it says does not come about.
    pub(super) cancelled: Vec<String>,
    /// Whether it may be about what is ahead.
    pub(super) is_ahead: bool,
    pub(super) is_german: bool,
    /// Names and numbers.
    pub(crate) values: Vec<String>,
    /// How many of its topics are names.
    pub(super) names: usize,
    pub(super) has_name: bool,
    pub(super) has_number: bool,
    pub(super) has_capitals: bool,
    pub(super) change: Change,
    pub(super) is_value_changed: bool,
    pub(super) denies: bool,
    /// A question, or what may not be so.
    pub(crate) is_open: bool,
    /// Whether it begins like a correction and says little more than a value.
    pub(super) is_bare: bool,
    pub(super) lead_end: usize,
    /// Whether somebody speaks of themselves.
    pub(crate) is_own: bool,
}

/// A word that tells what a statement is about.
#[derive(Debug, Clone)]
pub(super) struct Topic {
    /// Its stem.
    pub(super) term: String,
    /// The word without accents.
    pub(super) norm: String,
    pub(super) start: usize,
    pub(super) is_value: bool,
    /// Whether it begins with a capital letter, as the first word of a sentence does.
    pub(super) is_capitalised: bool,
    /// Whether it stands in a German statement, where words are compounds.
    pub(super) is_german: bool,
}

/// Sections whose words tell no topic and no value where they stand in a phrase.
const CHANGE_SECTIONS: [&str; 4] = ["changed", "value changed", "may change", "ends"];

impl Statement {
    pub(crate) fn read(text: &str) -> Statement {
        let words = tokens(text);
        let has = |section| places(section, &words).next().is_some();
        let first_letter = words.first().map_or(0, |word| word.start);
        let begins_bare = places("bare", &words).find(|found| found.start == 0);
        let phrases = CHANGE_SECTIONS.into_iter().flat_map(|section| places(section, &words));
        let of_change: Vec<std::ops::Range<usize>> = phrases
            .chain(begins_bare.clone())
            .filter_map(|found| byte_range(&words, found))
            .collect();
        let mut topics: Vec<Topic> = Vec::new();
        let mut values = Vec::new();
        let (mut has_name, mut has_number) = (false, false);
        let is_german = places("german", &words).count() >= GERMAN_WORDS_MIN;
        Analyzer::default().tokens(text, |token| {
            if !matches!(token.kind, Kind::Word | Kind::Whole) {
                return;
            }
            let start = token.start as usize;
            if of_change.iter().any(|range| range.contains(&start)) {
                return;
            }
            let shown = text.get(start..token.end as usize).unwrap_or_default();
            let is_number = token.norm.contains(|letter: char| letter.is_ascii_digit())
                || is_time_word(token.norm)
                || is_of("number", token.norm);
            let is_common = CHANGE_WORDS.common.contains(token.term)
                || CHANGE_WORDS.common.contains(token.norm);
            let is_capitalised = shown.starts_with(char::is_uppercase) && !token.stop && !is_common;
            let is_name = is_capitalised && start > first_letter;
            if (is_number || is_name) && !is_common {
                values.push(token.norm.to_owned());
            }
            has_number |= is_number;
            has_name |= is_name && !is_number;
            if !token.stop && !is_common && !is_number {
                let (term, norm) = (token.term.to_owned(), token.norm.to_owned());
                let is_value = is_name;
                topics.push(Topic { term, norm, start, is_value, is_capitalised, is_german });
            }
        });
        add_same(text, &words, &mut topics);
        let is_certain = has("changed")
            || has("value changed")
            || places("ends", &words).any(|found| !is_denied(&words, found.start))
            || ARROWS.iter().any(|arrow| text.contains(arrow));
        let change = if is_certain {
            Change::Certain
        } else if has("may change") || begins_bare.is_some() || begins_on_date(text) {
            Change::Maybe
        } else {
            Change::None
        };
        let ended_topics = ended(text, &words, &topics);
        let names_ended = ended_topics.iter().filter(|topic| topic.is_value);
        let ended_names = names_ended.map(|topic| topic.term.clone()).collect();
        let ended = ended_topics.iter().map(|topic| topic.term.clone()).collect();
        let replaced = match change {
            Change::None => Vec::new(),
            _ => replaced(&words, &topics),
        };
        let cancelled = cancelled(text, &words, &topics);
        let changed = changed(text, &words, &topics);
        let mut known = FxHashSet::default();
        topics.retain(|topic| known.insert(topic.term.clone()));
        let names = topics.iter().filter(|topic| topic.is_value).count();
        // In a chat, "*Rufio" corrects a word of the message before.
        let is_starred = text
            .strip_prefix('*')
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric) && !rest.contains('*'));
        let is_bare = words.len() <= BARE_WORDS_MAX
            && (begins_bare.is_some() || is_starred)
            && !values.is_empty();
        Statement {
            text: text.to_owned(),
            topics,
            ended,
            ended_names,
            replaced,
            changed,
            cancelled,
            is_ahead: has_number || has("ahead"),
            is_german,
            names,
            has_name,
            has_number,
            has_capitals: text.contains(char::is_uppercase),
            change,
            is_value_changed: has("value changed"),
            denies: has("denies"),
            is_open: text.trim_end().ends_with(['?', '？'])
                || text.starts_with('¿')
                || oneiro_text::question_share(text) > 0.0
                || has("uncertain"),
            is_bare,
            lead_end: lead_end(text, &words, begins_bare),
            is_own: has("own"),
            values,
        }
    }
}

/// Where a statement begins behind words that only say that it is a correction.
fn lead_end(text: &str, words: &[EchoToken], begins_bare: Option<std::ops::Range<usize>>) -> usize {
    let begins = places("changed", words).find(|found| found.start == 0);
    let Some(lead) = begins_bare.or(begins) else { return 0 };
    let Some(range) = byte_range(words, lead) else { return 0 };
    let rest = text.get(range.end..).unwrap_or_default();
    let stated = rest.trim_start_matches([',', ':', ';', '.', '!', '-', '…', ' ']);
    let is_apart = rest.trim_start().starts_with([',', ':', ';', '.', '!', '-', '…']);
    if is_apart && !stated.is_empty() { text.len() - stated.len() } else { 0 }
}

/// Adds a word for each phrase that is one of several for one thing.
fn add_same(text: &str, words: &[EchoToken], topics: &mut Vec<Topic>) {
    for section in SAME_SECTIONS {
        let Some(phrases) = CHANGE_WORDS.same.get(section) else { continue };
        for (at, word) in words.iter().enumerate() {
            for (phrase, line) in phrases.get(&word.word).into_iter().flatten() {
                let here = words.get(at..at + phrase.len()).unwrap_or_default();
                let is_here = here.len() == phrase.len()
                    && here.iter().zip(phrase).all(|(one, other)| one.word == *other);
                if !is_here
                    || section == "same fact" && !is_said_of_speaker(text, words, at, topics)
                {
                    continue;
                }
                let range = word.start..here.last().map_or(word.end, |last| last.end);
                topics.retain(|topic| !range.contains(&topic.start));
                let term = format!("{SAME_MARK}{line}");
                let place = topics.partition_point(|topic| topic.start < range.start);
                let norm = term.clone();
                let topic = Topic {
                    term,
                    norm,
                    start: range.start,
                    is_value: false,
                    is_capitalised: false,
                    is_german: false,
                };
                topics.insert(place, topic);
            }
        }
    }
}

/// Whether the person who speaks does what a phrase says: "I moved to", and "moved to" at the beginning.
fn is_said_of_speaker(text: &str, words: &[EchoToken], at: usize, topics: &[Topic]) -> bool {
    let clause = backwards(text, words, at, at);
    let before = words.get(clause).unwrap_or_default();
    let before = match before {
        [first, rest @ ..] if is_conjunction(&first.word) => rest,
        _ => before,
    };
    if before.is_empty() {
        return true;
    }
    let is_last = at + 1 >= words.len() || is_break(text, words, at);
    let speaker = before.iter().rposition(|word| is_of("speaker", &word.word));
    speaker.is_some_and(|speaker| {
        let between = before.get(speaker + 1..).unwrap_or_default();
        let is_topic = |word: &EchoToken| {
            topics.iter().any(|topic| word.start <= topic.start && topic.start < word.end)
        };
        is_last || !between.iter().any(is_topic)
    })
}
