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

/// Letters of a past form at least: "need" and "speed" are none.
const PAST_LENGTH_MIN: usize = 5;

/// Phrases by their first word.
type Phrases = FxHashMap<String, Vec<Vec<String>>>;

struct ChangeWords {
    phrases: FxHashMap<&'static str, Phrases>,
    /// Stems of words that tell no topic.
    common: FxHashSet<String>,
}

static CHANGE_WORDS: LazyLock<ChangeWords> = LazyLock::new(|| {
    let mut phrases: FxHashMap<&'static str, Phrases> = FxHashMap::default();
    let mut common = FxHashSet::default();
    let mut analyzer = Analyzer::default();
    for (section, line) in sections(WORDS) {
        let tells_change =
            ["common", "changed", "value changed", "may change", "ends", "bare"].contains(&section);
        for entry in line.split(',') {
            let words: Vec<String> = tokens(entry).into_iter().map(|token| token.word).collect();
            let Some(first) = words.first().cloned() else { continue };
            if tells_change && words.len() == 1 {
                analyzer.tokens(&first, |token| {
                    common.insert(token.term.to_owned());
                });
                common.insert(first.clone());
            }
            phrases.entry(section).or_default().entry(first).or_default().push(words);
        }
    }
    ChangeWords { phrases, common }
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
    /// Stems of the words it is about, in order, each once.
    topics: Vec<String>,
    /// The same words without stems.
    words: Vec<String>,
    /// Those of what it says has ended.
    ended: Vec<String>,
    /// The names among them.
    ended_names: Vec<String>,
    /// Names and numbers.
    pub(crate) values: Vec<String>,
    /// How many of its topics are names.
    names: usize,
    has_name: bool,
    has_number: bool,
    has_capitals: bool,
    change: Change,
    is_value_changed: bool,
    /// A question, or what may not be so.
    pub(crate) is_open: bool,
    /// Whether it begins like a correction and says little more than a value.
    is_bare: bool,
    /// Whether somebody speaks of themselves.
    pub(crate) is_own: bool,
}

/// A word that tells what a statement is about.
struct Topic {
    term: String,
    norm: String,
    start: usize,
    is_value: bool,
}

impl Statement {
    pub(crate) fn read(text: &str) -> Statement {
        let words = tokens(text);
        let has = |section| places(section, &words).next().is_some();
        let first_letter = words.first().map_or(0, |word| word.start);
        let mut topics: Vec<Topic> = Vec::new();
        let mut values = Vec::new();
        let (mut has_name, mut has_number) = (false, false);
        Analyzer::default().tokens(text, |token| {
            if !matches!(token.kind, Kind::Word | Kind::Whole) {
                return;
            }
            let start = token.start as usize;
            let shown = text.get(start..token.end as usize).unwrap_or_default();
            let is_number = token.norm.contains(|letter: char| letter.is_ascii_digit())
                || is_time_word(token.norm)
                || is_of("number", token.norm);
            let is_common = CHANGE_WORDS.common.contains(token.term)
                || CHANGE_WORDS.common.contains(token.norm);
            let is_name = shown.starts_with(char::is_uppercase)
                && start > first_letter
                && !token.stop
                && !is_common;
            if (is_number || is_name) && !is_common {
                values.push(token.norm.to_owned());
            }
            has_number |= is_number;
            has_name |= is_name && !is_number;
            if !token.stop && !is_common && !is_number {
                let (term, norm) = (token.term.to_owned(), token.norm.to_owned());
                topics.push(Topic { term, norm, start, is_value: is_name });
            }
        });
        let change = if has("changed") || has("value changed") || has("ends") {
            Change::Certain
        } else if has("may change") {
            Change::Maybe
        } else {
            Change::None
        };
        let ended_topics = ended(text, &words, &topics);
        let names_ended = ended_topics.iter().filter(|topic| topic.is_value);
        let ended_names = names_ended.map(|topic| topic.term.clone()).collect();
        let ended = ended_topics.iter().map(|topic| topic.term.clone()).collect();
        let (mut terms, mut searched): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut names = 0;
        for topic in topics {
            if !terms.contains(&topic.term) {
                names += usize::from(topic.is_value);
                terms.push(topic.term);
                searched.push(topic.norm);
            }
        }
        let is_bare = words.len() <= BARE_WORDS_MAX
            && places("bare", &words).next().is_some_and(|found| found.start == 0)
            && !values.is_empty();
        Statement {
            text: text.to_owned(),
            topics: terms,
            words: searched,
            ended,
            ended_names,
            names,
            has_name,
            has_number,
            has_capitals: text.contains(char::is_uppercase),
            change,
            is_value_changed: has("value changed"),
            is_open: text.trim_end().ends_with(['?', '？'])
                || text.starts_with('¿')
                || oneiro_text::question_share(text) > 0.0
                || has("uncertain"),
            is_bare,
            is_own: has("own"),
            values,
        }
    }

    /// Stems of the words that it is about.
    pub(crate) fn topics(&self) -> &[String] {
        &self.topics
    }

    /// The words that it is about, as they are searched for.
    pub(crate) fn searched(&self) -> &[String] {
        &self.words
    }

    /// How many of the words that it is about another has.
    fn shared(&self, other: &Statement) -> usize {
        self.topics.iter().filter(|topic| other.topics.contains(topic)).count()
    }

    /// Whether it tells a change of what an older statement says.
    pub(crate) fn tells_change_of(&self, older: &Statement) -> bool {
        if self.is_open {
            return false;
        }
        if self.ended.iter().any(|topic| older.topics.contains(topic)) {
            return true;
        }
        let shared = self.shared(older);
        let (own, theirs) = (self.topics.len(), older.topics.len());
        let is_half = shared > 0 && shared * 2 >= own;
        // The name is the new value: "We have changed our supplier to Molina."
        let is_half_but_names = shared > 0 && shared * 2 >= own - self.names;
        let is_several = shared >= SHARED_WORDS_MIN && shared * 2 >= own.min(theirs);
        let is_same_first = self.topics.first() == older.topics.first();
        let is_about = match self.change {
            Change::None => false,
            Change::Certain => is_half_but_names || is_several,
            Change::Maybe => is_several || is_half && is_same_first,
        };
        is_about && self.has_value_like(older)
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
        self.values
            .iter()
            .filter(|value| !other.words.contains(value) && !other.values.contains(value))
    }

    /// Whether another says the same in other words, as far as a newer statement replaces both: it has the
    /// names and numbers that the newer one has not, and is about the same.
    pub(crate) fn is_restated_by(&self, other: &Statement, newer: &Statement) -> bool {
        let mut values = self.values_beside(newer).peekable();
        let is_replaced = values.peek().is_some();
        let values: Vec<&String> = values.collect();
        let has_values = values.iter().all(|value| other.values.contains(value));
        let about = self.topics.iter().zip(&self.words);
        let mut about = about.filter(|(_, word)| !values.contains(word));
        is_replaced && has_values && about.any(|(topic, _)| other.topics.contains(topic))
    }

    /// How many of its words an older statement has, if it says that what that one says has ended.
    pub(crate) fn ends(&self, older: &Statement) -> Option<usize> {
        if self.is_open || older.is_open || self.ended.is_empty() {
            return None;
        }
        // What the older one says has ended itself was not there to end.
        let has = |topic: &&String| older.topics.contains(topic) && !older.ended.contains(topic);
        let is_ended = if self.ended_names.is_empty() {
            let met = self.ended.iter().filter(has).count();
            met as f64 >= self.ended.len() as f64 * ENDED_SHARE
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
        let has_none = !older.has_name && !older.has_number;
        has_none
            || !self.has_capitals
            || !older.has_capitals
            || self.has_number && older.has_number
            || self.has_name && older.has_name
            || self.is_value_changed && older.has_number
    }
}

fn is_of(section: &'static str, word: &str) -> bool {
    let phrases = CHANGE_WORDS.phrases.get(section);
    phrases.is_some_and(|phrases| phrases.contains_key(&normalise(word)))
}

/// What a statement says has ended: "I sold the Fiat", "Hilde left".
fn ended<'t>(text: &str, words: &[EchoToken], topics: &'t [Topic]) -> Vec<&'t Topic> {
    let mut ended: Vec<&Topic> = Vec::new();
    let mut add = |range: std::ops::Range<usize>, names_only: bool| {
        let bytes = words.get(range).unwrap_or_default();
        let inside = topics.iter().filter(|topic| {
            bytes.iter().any(|word| word.start <= topic.start && topic.start < word.end)
        });
        let wanted = inside.filter(|topic| topic.is_value || !names_only);
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
        add(backwards(text, words, found.start, 1), true);
    }
    ended
}

/// Whether a clause ends between two words.
fn is_break(text: &str, words: &[EchoToken], before: usize) -> bool {
    let from = words.get(before).map_or(0, |word| word.end);
    let to = words.get(before + 1).map_or(text.len(), |word| word.start);
    let next = words.get(before + 1).map_or("", |word| word.word.as_str());
    text.get(from..to).unwrap_or_default().contains([',', ';', ':', '.', '—', '(', '!', '\n'])
        || matches!(next, "and" | "but" | "so" | "und" | "aber" | "y" | "pero" | "sondern")
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
