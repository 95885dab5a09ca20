//! Whether a newer statement replaces an older one that was never learnt, by words that tell a change and by
//! what both are about. The lists are in `assets/change_words.txt`.

use crate::echo::{EchoToken, tokens};
use oneiro_text::{Analyzer, Kind, is_time_word, normalise, sections};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

const WORDS: &str = include_str!("../assets/change_words.txt");

/// Words after "sold" or "no longer" among which is what has ended.
const ENDED_WORDS: usize = 4;

/// The same where only a name counts.
const ENDED_NAME_WORDS: usize = 2;

/// Words after "switched" among which "from" tells what is left behind.
const LEFT_BEHIND_WORDS: usize = 5;

/// The part of the words of what has ended that an older statement has, if they are no names.
const ENDED_SHARE: f64 = 0.6;

/// Words of a correction that says only a value.
const BARE_WORDS_MAX: usize = 8;

/// Words that two statements share to be about the same, unless it is half of the newer one.
const SHARED_WORDS_MIN: usize = 2;

/// Letters that two forms of a German noun have in common at least: "Direktor" and "Direktorin",
/// "Notar" and "Notartermin".
const COMMON_LETTERS_MIN: usize = 5;

/// Letters of a stem that a word without one may begin with.
const STEM_LETTERS_MIN: usize = 4;

/// German words that show the language.
const GERMAN_WORDS_MIN: usize = 2;

/// Words between "from" and "to" at most.
const FROM_WORDS_MAX: usize = 4;

/// Words of several phrases for one thing that are searched for, and the letters of one at least.
const SAME_SEARCHED_MAX: usize = 8;
const SAME_LETTERS_MIN: usize = 3;

/// Marks that tell a change: "pool size -> 80".
const ARROWS: [&str; 3] = ["->", "=>", "→"];

/// Letters of a past form at least: "need" and "speed" are none.
const PAST_LENGTH_MIN: usize = 5;

/// Phrases by their first word.
type Phrases = FxHashMap<String, Vec<Vec<String>>>;

struct ChangeWords {
    phrases: FxHashMap<&'static str, Phrases>,
    /// Stems of words that tell no topic.
    common: FxHashSet<String>,
    /// Phrases for one thing by their first word, with what they are compared as.
    same: FxHashMap<&'static str, SamePhrases>,
    /// The words of these phrases by what they are compared as.
    same_words: FxHashMap<String, Vec<String>>,
}

/// Phrases by their first word, each with the number of its line.
type SamePhrases = FxHashMap<String, Vec<(Vec<String>, usize)>>;

/// Sections whose lines are different phrases for one thing.
const SAME_SECTIONS: [&str; 2] = ["same word", "same fact"];

static CHANGE_WORDS: LazyLock<ChangeWords> = LazyLock::new(|| {
    let mut phrases: FxHashMap<&'static str, Phrases> = FxHashMap::default();
    let mut common = FxHashSet::default();
    let mut same: FxHashMap<&'static str, SamePhrases> = FxHashMap::default();
    let mut same_words: FxHashMap<String, Vec<String>> = FxHashMap::default();
    let mut analyzer = Analyzer::default();
    for (number, (section, line)) in sections(WORDS).enumerate() {
        let tells_change =
            ["common", "changed", "value changed", "may change", "ends", "bare"].contains(&section);
        for entry in line.split(',') {
            let words: Vec<String> = tokens(entry).into_iter().map(|token| token.word).collect();
            let Some(first) = words.first().cloned() else { continue };
            if SAME_SECTIONS.contains(&section) {
                let searched = same_words.entry(format!("{SAME_MARK}{number}")).or_default();
                for word in words.iter().filter(|word| word.len() >= SAME_LETTERS_MIN) {
                    if searched.len() < SAME_SEARCHED_MAX && !searched.contains(word) {
                        searched.push(word.clone());
                    }
                }
                same.entry(section).or_default().entry(first).or_default().push((words, number));
                continue;
            }
            if tells_change && words.len() == 1 {
                analyzer.tokens(&first, |token| {
                    common.insert(token.term.to_owned());
                });
                common.insert(first.clone());
            }
            phrases.entry(section).or_default().entry(first).or_default().push(words);
        }
    }
    ChangeWords { phrases, common, same, same_words }
});

/// Where the phrases of a section stand, as ranges of words.
fn places<'w>(
    section: &'static str,
    words: &'w [EchoToken],
) -> impl Iterator<Item = std::ops::Range<usize>> + 'w {
    let phrases = CHANGE_WORDS.phrases.get(section);
    words.iter().enumerate().flat_map(move |(at, word)| {
        let starting = phrases.and_then(|phrases| phrases.get(&word.word)).into_iter().flatten();
        let here = starting.filter(move |phrase| {
            let rest = words.get(at..at + phrase.len()).unwrap_or_default();
            rest.len() == phrase.len() && rest.iter().zip(*phrase).all(|(a, b)| a.word == *b)
        });
        here.map(move |phrase| at..at + phrase.len())
    })
}

/// Whether a text has a phrase of a section of the list.
pub(crate) fn has_phrase(section: &'static str, text: &str) -> bool {
    places(section, &tokens(text)).next().is_some()
}

/// Whether a sentence may tell a plan: not what was, and not what comes again.
pub(crate) fn is_planned(sentence: &str) -> bool {
    let words = tokens(sentence);
    let is_past = |at: usize, word: &EchoToken| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        // "The oven gets serviced" is no past.
        let is_passive = before.is_some_and(|before| is_of("passive", &before.word));
        word.word.len() > PAST_LENGTH_MIN
            && word.word.ends_with("ed")
            && !is_passive
            && !is_of("value changed", &word.word)
            && !is_of("changed", &word.word)
            && !is_of("planned", &word.word)
    };
    places("no plan", &words).next().is_none()
        && !words.iter().enumerate().any(|(at, word)| is_past(at, word))
}

/// Whether a sentence says when something begins, and no end.
pub(crate) fn begins_on_date(sentence: &str) -> bool {
    let words = tokens(sentence);
    let is_date = |word: &EchoToken| {
        is_time_word(&word.word) || word.word.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let begins = places("begins", &words)
        .any(|found| words.get(found.end..).unwrap_or_default().iter().take(2).any(is_date));
    begins && places("until", &words).next().is_none()
}

/// How surely a statement tells a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Maybe,
    Certain,
}

/// What one sentence is about, as far as another may replace it.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) text: String,
    /// The words it is about, in order, each once.
    topics: Vec<Topic>,
    /// Those of what it says has ended.
    ended: Vec<String>,
    /// The names among them.
    ended_names: Vec<String>,
    /// Those of what it says has changed into something else: "from Jira to Linear".
    replaced: Vec<String>,
    /// Those of what somebody changed: "moved the chairs".
    changed: Vec<String>,
    /// Those of a plan that it says does not come about.
    cancelled: Vec<String>,
    /// Whether it may be about what is ahead.
    is_ahead: bool,
    is_german: bool,
    /// Names and numbers.
    pub(crate) values: Vec<String>,
    /// How many of its topics are names.
    names: usize,
    has_name: bool,
    has_number: bool,
    has_capitals: bool,
    change: Change,
    is_value_changed: bool,
    denies: bool,
    /// A question, or what may not be so.
    pub(crate) is_open: bool,
    /// Whether it begins like a correction and says little more than a value.
    is_bare: bool,
    lead_end: usize,
    /// Whether somebody speaks of themselves.
    pub(crate) is_own: bool,
}

/// A word that tells what a statement is about.
#[derive(Debug, Clone)]
struct Topic {
    /// Its stem.
    term: String,
    /// The word without accents.
    norm: String,
    start: usize,
    is_value: bool,
    /// Whether it begins with a capital letter, as the first word of a sentence does.
    is_capitalised: bool,
    /// Whether it stands in a German statement, where words are compounds.
    is_german: bool,
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
            || has("ends")
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

    /// What statements about the same have at least one of: the words that it is about, with and
    /// without stems, and the beginnings of German ones.
    pub(crate) fn keys(&self) -> FxHashSet<String> {
        let mut keys = FxHashSet::default();
        for Topic { term, norm, .. } in &self.topics {
            let begins: String = norm.chars().take(COMMON_LETTERS_MIN).collect();
            keys.extend([term.clone(), norm.clone(), begins]);
        }
        keys
    }

    /// The words that it is about, as they are searched for.
    pub(crate) fn searched(&self) -> Vec<&String> {
        let mut searched = Vec::new();
        for Topic { norm, .. } in &self.topics {
            match CHANGE_WORDS.same_words.get(norm) {
                Some(words) => searched.extend(words),
                None => searched.push(norm),
            }
        }
        searched
    }

    /// Whether it may be about what a text in lower case without accents says: true if in doubt.
    pub(crate) fn may_be_about(&self, text: &str) -> bool {
        self.topics.iter().any(|topic| {
            let begins = topic.norm.char_indices().nth(COMMON_LETTERS_MIN).map(|(end, _)| end);
            topic.term.starts_with(SAME_MARK)
                || text.contains(&topic.term)
                || text.contains(topic.norm.get(..begins.unwrap_or(topic.norm.len())).unwrap_or(""))
        })
    }

    /// Whether it may take back something.
    pub(crate) fn tells_change(&self) -> bool {
        let tells = self.change != Change::None || !self.ended.is_empty();
        !self.is_open && (tells || !self.cancelled.is_empty())
    }

    /// Where the statement begins behind "no," or "scratch that,".
    pub(crate) fn lead_end(&self) -> usize {
        self.lead_end
    }

    /// Whether it is about one of some words of another.
    fn has_topic(&self, terms: &[String]) -> bool {
        self.topics.iter().any(|topic| terms.contains(&topic.term) || terms.contains(&topic.norm))
    }

    /// How many of the words that it is about another has.
    fn shared(&self, other: &Statement) -> usize {
        let is_shared = |own: &Topic| other.topics.iter().any(|topic| is_same(own, topic));
        self.topics.iter().filter(|own| is_shared(own)).count()
    }

    /// The first and the last word that it is about.
    fn first_and_last(&self) -> impl Iterator<Item = &Topic> {
        self.topics.first().into_iter().chain(self.topics.last())
    }

    /// Whether it tells a change of what an older statement says.
    pub(crate) fn tells_change_of(&self, older: &Statement) -> bool {
        if self.is_open {
            return false;
        }
        if older.has_topic(&self.ended) {
            return true;
        }
        if !self.cancelled.is_empty() {
            return older.is_ahead && older.has_topic(&self.cancelled);
        }
        if !self.replaced.is_empty() {
            return older.has_topic(&self.replaced);
        }
        let shared = self.shared(older);
        let (own, theirs) = (self.topics.len(), older.topics.len());
        let is_half = shared > 0 && shared * 2 >= own;
        // The name is the new value: "We have changed our supplier to Molina."
        let is_half_but_names = shared > 0 && shared * 2 >= own - self.names;
        let is_several = shared >= SHARED_WORDS_MIN && shared * 2 >= own.min(theirs);
        // "My manager is Karl" and "Karl is my manager".
        let is_same_end = self
            .first_and_last()
            .any(|own| older.first_and_last().any(|other| is_same(own, other)));
        let is_about = match self.change {
            Change::None => false,
            Change::Certain => is_half_but_names || is_several,
            Change::Maybe => is_several || (is_half || is_half_but_names) && is_same_end,
        };
        let is_of_object = self.changed.is_empty() || older.has_topic(&self.changed);
        // "It's not the nurse's fault" tells no value.
        if self.denies && self.change == Change::Maybe && shared < SHARED_WORDS_MIN {
            return self.values.iter().any(|value| !older.values.contains(value))
                && is_about
                && self.has_value_like(older);
        }
        let is_denied = self.denies && shared >= theirs.max(SHARED_WORDS_MIN);
        is_denied || is_about && is_of_object && self.has_value_like(older)
    }

    fn has_stem(&self, stem: &str) -> bool {
        // The language of a short statement may not be seen, and then its words have no stems.
        self.topics.iter().any(|topic| {
            topic.term == stem || stem.len() >= STEM_LETTERS_MIN && topic.norm.starts_with(stem)
        })
    }

    fn has_word(&self, word: &str) -> bool {
        self.topics.iter().any(|topic| topic.norm == word)
    }

    /// Whether it says that something has ended.
    pub(crate) fn ends_something(&self) -> bool {
        !self.is_open && !self.ended.is_empty()
    }

    /// Whether it has a name or a number that another has not.
    pub(crate) fn has_values_beside(&self, other: &Statement) -> bool {
        self.values_beside(other).next().is_some()
    }

    fn values_beside<'s>(&'s self, other: &'s Statement) -> impl Iterator<Item = &'s String> {
        self.values.iter().filter(|value| !other.has_word(value) && !other.values.contains(value))
    }

    /// Whether another says the same in other words, as far as a newer statement replaces both: it has the
    /// names and numbers that the newer one has not, and is about the same.
    pub(crate) fn is_restated_by(&self, other: &Statement, newer: &Statement) -> bool {
        let mut values = self.values_beside(newer).peekable();
        let is_replaced = values.peek().is_some();
        let values: Vec<&String> = values.collect();
        let has_values = values.iter().all(|value| other.values.contains(value));
        let mut about = self.topics.iter().filter(|topic| !values.contains(&&topic.norm));
        is_replaced && has_values && about.any(|topic| other.has_stem(&topic.term))
    }

    /// How many of its words an older statement has, if it says that what that one says has ended.
    pub(crate) fn ends(&self, older: &Statement) -> Option<usize> {
        if self.is_open || older.is_open || self.ended.is_empty() {
            return None;
        }
        // What the older one says has ended itself was not there to end.
        let has = |topic: &&String| older.has_stem(topic) && !older.ended.contains(topic);
        let is_ended = if self.ended_names.is_empty() {
            let met = self.ended.iter().filter(has).count();
            met as f64 >= self.ended.len() as f64 * ENDED_SHARE
        } else if self.is_german {
            // Any noun begins with a capital letter.
            self.ended_names.iter().any(|name| has(&name))
        } else {
            self.ended_names.iter().all(|name| has(&name))
        };
        is_ended.then(|| self.shared(older))
    }

    /// Whether it corrects the message before it without saying what it is about: "no, 8181".
    pub(crate) fn corrects_value_of(&self, before: &Statement) -> bool {
        let names_old = self.values.iter().any(|value| before.values.contains(value));
        self.is_bare
            && !self.is_open
            && (self.has_number && before.has_number
                || self.has_name && before.has_name && !self.has_number
                || names_old)
    }

    /// Whether it has a value that may stand in place of the one of an older statement.
    fn has_value_like(&self, older: &Statement) -> bool {
        if older.has_number && self.is_value_changed || self.has_number && older.has_number {
            return true;
        }
        let has_capitals = self.has_capitals && older.has_capitals;
        if self.is_german || older.is_german || !has_capitals {
            // What begins with a capital letter is no name, or names do not.
            return self.has_number == older.has_number
                || self.has_name
                || !older.has_name && older.has_number;
        }
        if !older.has_name && !older.has_number {
            return !self.has_number || self.has_name;
        }
        self.has_name && older.has_name
    }
}

/// What a pseudo word for several phrases begins with.
const SAME_MARK: char = '=';

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

/// Whether two words are one, forms of one, or one is a German compound of the other.
fn is_same(one: &Topic, other: &Topic) -> bool {
    one.term == other.term
        || one.norm == other.norm
        || (one.is_german || other.is_german) && is_compound(&one.norm, &other.norm)
}

/// Whether one word begins or ends with another: "Notartermin" and "Notar".
fn is_compound(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short.chars().count() >= COMMON_LETTERS_MIN
        && !short.starts_with(SAME_MARK)
        && (long.starts_with(short) || long.ends_with(short))
}

fn byte_range(
    words: &[EchoToken],
    range: std::ops::Range<usize>,
) -> Option<std::ops::Range<usize>> {
    let first = words.get(range.start)?;
    let last = words.get(range.end.checked_sub(1)?)?;
    Some(first.start..last.end)
}

/// The words that a place of a text is about.
fn topics_in<'t>(
    words: &[EchoToken],
    topics: &'t [Topic],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = &'t Topic> {
    let bytes = byte_range(words, range).unwrap_or(0..0);
    topics.iter().filter(move |topic| bytes.contains(&topic.start))
}

/// The old value of a change that names both: "from Jira to Linear".
fn replaced(words: &[EchoToken], topics: &[Topic]) -> Vec<String> {
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
fn changed(text: &str, words: &[EchoToken], topics: &[Topic]) -> Vec<String> {
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
fn cancelled(text: &str, words: &[EchoToken], topics: &[Topic]) -> Vec<String> {
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

fn is_of(section: &'static str, word: &str) -> bool {
    let phrases = CHANGE_WORDS.phrases.get(section);
    phrases.is_some_and(|phrases| phrases.contains_key(&normalise(word)))
}

/// What a statement says has ended: "I sold the Fiat", "Hilde left".
fn ended<'t>(text: &str, words: &[EchoToken], topics: &'t [Topic]) -> Vec<&'t Topic> {
    let mut ended: Vec<&Topic> = Vec::new();
    let mut add = |range: std::ops::Range<usize>, names_only: bool| {
        let inside = topics_in(words, topics, range);
        let wanted = inside.filter(|topic| topic.is_capitalised || !names_only);
        ended.extend(wanted);
    };
    for found in places("ends", words) {
        add(forwards(text, words, found.end, ENDED_WORDS), false);
    }
    for found in places("ends a name", words) {
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
fn is_break(text: &str, words: &[EchoToken], before: usize) -> bool {
    let from = words.get(before).map_or(0, |word| word.end);
    let to = words.get(before + 1).map_or(text.len(), |word| word.start);
    let next = words.get(before + 1).map_or("", |word| word.word.as_str());
    text.get(from..to).unwrap_or_default().contains([',', ';', ':', '.', '—', '(', '!', '\n'])
        || is_conjunction(next)
}

fn is_conjunction(word: &str) -> bool {
    matches!(word, "and" | "but" | "so" | "und" | "aber" | "y" | "pero" | "sondern")
}

/// The words of a clause from one on.
fn forwards(text: &str, words: &[EchoToken], from: usize, max: usize) -> std::ops::Range<usize> {
    let mut to = from;
    while to < words.len() && to - from < max && !(to > 0 && is_break(text, words, to - 1)) {
        to += 1;
    }
    from..to
}

/// The words of a clause before one.
fn backwards(text: &str, words: &[EchoToken], to: usize, max: usize) -> std::ops::Range<usize> {
    let mut from = to;
    while from > 0 && to - from < max && !is_break(text, words, from - 1) {
        from -= 1;
    }
    from..to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaces(newer: &str, older: &str) -> bool {
        Statement::read(newer).tells_change_of(&Statement::read(older))
    }

    #[test]
    fn a_change_replaces_what_it_is_about() {
        for (older, newer) in [
            ("I work at Siemens.", "I quit Siemens, I'm at Bosch now."),
            ("I work as a nurse.", "I'm not a nurse any more, I became a teacher."),
            ("The deadline is 4 March.", "deadline slipped a week, 11 March"),
            ("The deadline is 4 March.", "The deadline was pushed back."),
            ("We use MySQL for the shop.", "Forget MySQL, the shop runs on Postgres now."),
            ("We use MySQL for the shop.", "We migrated the shop to Postgres."),
            ("The staging server runs on port 8080.", "staging is on 8181 now"),
            ("I drive a Fiat.", "I sold the Fiat and bought a Mazda."),
            ("We source our flour from Holli.", "We have changed our flour supplier to Molina."),
            ("Orders come in by 18:00.", "I said orders by 18:00, but it's 16:00 from now on."),
            ("I prefer tea.", "I've gone off tea, coffee it is."),
            ("The budget is 5000 euros.", "budget got cut to 3000"),
            ("My manager is Hilde.", "Hilde left, Karl is my manager."),
            ("I play the flute.", "I stopped playing the flute, I play the drums now."),
            ("I use a MacBook.", "I replaced the MacBook with a ThinkPad."),
            ("Wir nutzen Jira.", "Wir nutzen kein Jira mehr, sondern Linear."),
            ("Die Abgabe ist am 3. Juni 2026.", "Die Abgabe wurde auf den 10. Juni verschoben."),
            ("La reunión es el martes a las 10.", "La reunión se cambió al jueves a las 10."),
            ("I live in Leeds with my brother.", "I've moved to Sheffield."),
            ("The staging database uses port 5433.", "scratch that, staging db is on 6432"),
            ("Kafka retention is 72h.", "bumped kafka retention to 168h"),
            ("The pool size is 40.", "pool size -> 80"),
            ("We settled on Argo for deploys.", "argo is out, flux is in for deploys"),
            ("Rosa's party is at our place.", "Rosa's party isn't at our place, it's at Giulio's."),
            ("Der Termin beim Notar ist am 4. März.", "nee, der Notartermin ist am 11. März"),
            ("Unser Trainer ist Herr Weber.", "Ab sofort ist Herr Jansen unser Trainer."),
            ("Vivo en Murcia.", "Me he mudado a Alicante."),
            ("I'm visiting Ana in Bristol in May.", "Bristol is off."),
        ] {
            assert!(replaces(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
    }

    #[test]
    fn an_ending_is_about_what_has_its_words() {
        let ends = |newer: &str, older: &str| {
            Statement::read(newer).ends(&Statement::read(older)).is_some()
        };
        for (older, newer) in [
            ("I go fencing on Tuesdays.", "I quit fencing."),
            ("I have choir practice every Monday.", "I no longer go to choir practice."),
            ("My favourite drink is cocoa.", "I stopped drinking cocoa."),
            ("I play the cello.", "I gave up the cello."),
            ("My car is a Dacia.", "I sold the Dacia."),
            ("I have a gym membership.", "I cancelled my gym membership."),
            ("Our team uses Slack for chat.", "We no longer use Slack."),
            ("Our team uses Slack for chat.", "Our team doesn't use Slack any more."),
            ("I work at Siemens.", "I left Siemens."),
            ("The shop runs on Heroku.", "The shop runs on Fly now, no longer on Heroku."),
            ("The database of the shop is MySQL.", "We switched the shop from MySQL to Postgres."),
            ("I live in Turin.", "We moved from Turin to Lyon."),
            ("Ich spiele Geige.", "Ich spiele keine Geige mehr."),
            ("Ich gehe jeden Montag zum Fechten.", "Ich habe mit dem Fechten aufgehört."),
            ("Ich fahre einen Skoda.", "Ich habe den Skoda verkauft."),
            ("Ich arbeite bei Siemens.", "Ich habe meinen Job bei Siemens gekündigt."),
            ("Wir nutzen Slack.", "Wir nutzen Slack nicht mehr."),
            ("Tengo un piano.", "Vendí el piano."),
            ("Trabajo en Iberia.", "Ya no trabajo en Iberia."),
            ("Juego al tenis los lunes.", "Dejé de jugar al tenis."),
        ] {
            assert!(ends(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
        for (older, newer) in [
            ("I play chess.", "I no longer play the flute."),
            ("I drink cocoa.", "I stopped drinking coffee."),
            ("My dream job is pilot.", "I quit my job at Siemens."),
            ("I was born in Turin.", "I sold the house in Lyon."),
            ("I play the cello.", "If I gave up the cello, I would sing."),
            ("We use Slack.", "I use Slack from home."),
            ("Ich trinke Tee.", "Ich trinke mehr Tee."),
        ] {
            assert!(!ends(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
    }

    #[test]
    fn other_statements_with_words_of_change_replace_nothing() {
        for (older, newer) in [
            ("The office opens at 9.", "I left my umbrella at the office."),
            ("My sister Ana lives in Leeds.", "My sister now has a dog."),
            ("The deadline is 4 March.", "Has the deadline moved?"),
            ("The deadline is 4 March.", "If the deadline moves, tell me."),
            ("The team meeting is at 10.", "The team moved the chairs of the meeting room."),
            ("I live in Turin.", "I no longer live with Bob."),
            ("We use Slack for chat.", "We do not chat in the evening."),
            ("I work as a nurse.", "It's not the nurse's fault."),
            ("The shop runs on Shopware.", "We moved the shop from Hetzner to Netcup."),
            ("Lotte and Finn are my kids.", "Finn quit handball."),
            ("I run a bakery in Flensburg.", "Rent went up, 1,990 for the bakery now."),
            ("My sister lives in Leeds.", "I moved to Bath."),
        ] {
            assert!(!replaces(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
    }

    #[test]
    fn a_plan_is_ahead_and_comes_once() {
        for sentence in ["The oven gets serviced on 25 June.", "Dinner with Ana is on Friday."] {
            assert!(is_planned(sentence), "{sentence}");
        }
        for sentence in [
            "We visited the museum on Friday.",
            "My birthday is on 3 May.",
            "Every Friday we swim.",
        ] {
            assert!(!is_planned(sentence), "{sentence}");
        }
        assert!(begins_on_date("From 1 November I work at Acme."));
        assert!(!begins_on_date("I'm off from 3 May until 5 May."));
    }

    #[test]
    fn a_bare_value_corrects_what_was_said_just_before() {
        let corrects = |newer: &str, older: &str| {
            Statement::read(newer).corrects_value_of(&Statement::read(older))
        };
        assert!(corrects("no, 8181", "The staging server runs on port 8080."));
        assert!(corrects("That's wrong, it's 8181.", "The staging server runs on port 8080."));
        assert!(corrects("I meant Zara, not Sara.", "My wife's name is Sara."));
        assert!(!corrects("no thanks", "The staging server runs on port 8080."));
        assert!(!corrects("No, that is all for today", "My wife's name is Sara."));
    }
}
