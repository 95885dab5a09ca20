//! Compares two statements by rules: do they say the same, does one say more, do they contradict each
//! other? A contradiction needs one of these: one denies what the other says, an opposite stands in the
//! place of a word, a property with one value (home, employer, deadline, port) has two, or a number or a
//! choice for a purpose differs in otherwise equal statements.

use super::relation_text::{find, is_wide, join, remove, split, without_ending};
use super::relation_words::{Property, RELATION_WORDS};
use oneiro_model::Relation;
use oneiro_text::normalise;
use std::collections::BTreeSet;

/// Words that two statements must share, as a part of all their words, for a denial or an opposite to
/// be one of the other.
const SAME_STATEMENT: f64 = 0.75;

/// Most words of a choice that differs.
const CHOICE_WORDS: usize = 2;

/// How two statements relate, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// How they relate.
    pub relation: Relation,
    /// The part of all their words that they share.
    pub overlap: f64,
    /// Why, in a sentence.
    pub reason: String,
}

/// Compares two statements about the same subject.
pub fn compare_statements(one: &str, other: &str) -> Compared {
    Statement::new(one).compare(&Statement::new(other))
}

/// A statement, taken apart.
pub(super) struct Statement {
    /// Its words; a character of Chinese or Japanese is one.
    words: Vec<String>,
    /// The words with spaces around them; none between characters of Chinese or Japanese.
    text: String,
    /// The words that carry meaning, without negations.
    content: Vec<String>,
    /// The words that begin with a capital letter; `None` if there are none but the first.
    capitalised: Option<BTreeSet<String>>,
    language: Language,
    is_negated: bool,
    is_past: bool,
}

impl Statement {
    /// Compares it with another.
    pub(super) fn compare(&self, other: &Statement) -> Compared {
        let overlap = overlap(&self.content, &other.content);
        let (relation, reason) = relate(self, other);
        Compared { relation, overlap, reason }
    }

    pub(super) fn new(text: &str) -> Statement {
        let capitalised = capitalised_words(text);
        let words: Vec<String> = split(text);
        let text = join(&words);
        let lists = &*RELATION_WORDS;
        let language = Language::of(&words);
        // "no" denies in Spanish, and is "in the" in Portuguese.
        let mut negations = lists.negation.iter().filter(|phrase| !language.is_stop_word(phrase));
        let is_negated = negations.any(|phrase| find(&text, phrase).is_some());
        let is_past = lists.past.iter().any(|phrase| find(&text, phrase).is_some());
        let content = content_of(&words, language);
        Statement { words, text, content, capitalised, language, is_negated, is_past }
    }

    /// The words of a list that it has.
    fn words_of(&self, list: &BTreeSet<String>) -> BTreeSet<&String> {
        self.words.iter().filter(|word| list.contains(*word)).collect()
    }

    /// Whether a value is written like a name; `None` if the script or the writer has no capitals.
    fn is_name(&self, value: &[String]) -> Option<bool> {
        let first = value.first()?;
        let capitalised = self.capitalised.as_ref()?;
        let has_case = first.starts_with(|letter: char| letter.is_alphabetic() && !is_wide(letter));
        has_case.then(|| capitalised.contains(first))
    }
}

/// The words of a text that begin with a capital letter, if any but the first does.
fn capitalised_words(text: &str) -> Option<BTreeSet<String>> {
    let is_capitalised = |word: &&str| word.starts_with(char::is_uppercase);
    let mut words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty());
    let first = words.next();
    let mut capitalised: BTreeSet<String> =
        words.filter(is_capitalised).map(|word| without_ending(normalise(word))).collect();
    if capitalised.is_empty() && first.is_none_or(|word| !is_capitalised(&word)) {
        return None;
    }
    capitalised.extend(first.filter(is_capitalised).map(normalise));
    Some(capitalised)
}

/// Whether a text has a negation.
pub(super) fn is_negated(text: &str) -> bool {
    let text = join(&split(text));
    RELATION_WORDS.negation.iter().any(|phrase| find(&text, phrase).is_some())
}

/// The list of stop words that a statement has the most words of. Without accents, a word of one
/// language may be a stop word of another: thé and the.
#[derive(Debug, Clone, Copy)]
struct Language(usize);

impl Language {
    fn of(words: &[String]) -> Language {
        let counts = RELATION_WORDS.stop.iter().enumerate().map(|(index, stop)| {
            let marks = RELATION_WORDS.language_markers.get(index);
            let is_known = |word: &&String| {
                stop.contains(*word) && !RELATION_WORDS.negation.contains(*word)
                    || marks.is_some_and(|marks| marks.contains(*word))
            };
            (index, words.iter().filter(is_known).count())
        });
        // Of equal counts the first, so that a statement without stop words has a language too.
        let counts: Vec<(usize, usize)> = counts.collect();
        let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        Language(most.map_or(0, |(index, _)| index))
    }

    /// Whether a word is a stop word of the language.
    fn is_stop_word(self, word: &String) -> bool {
        RELATION_WORDS.stop.get(self.0).is_some_and(|stop| stop.contains(word))
    }
}

fn relate(one: &Statement, other: &Statement) -> (Relation, String) {
    if one.content == other.content && one.is_negated == other.is_negated {
        return (Relation::Same, "they use the same words".to_owned());
    }
    let shared = overlap(&one.content, &other.content);
    if one.is_negated != other.is_negated {
        // "Never push" denies "pushing is allowed".
        let acts = |statement: &Statement| -> Vec<String> {
            let content = statement.content.iter();
            content.filter(|word| !RELATION_WORDS.permission.contains(*word)).cloned().collect()
        };
        if shared.max(overlap(&acts(one), &acts(other))) >= SAME_STATEMENT {
            return (Relation::Contradicts, "one denies what the other says".to_owned());
        }
        return (Relation::Unrelated, "one is negated, and they share few words".to_owned());
    }
    if let Some((word, opposite)) = opposites(one, other) {
        return (Relation::Contradicts, format!("{word:?} is the opposite of {opposite:?}"));
    }
    if one.is_past != other.is_past {
        return (Relation::Unrelated, "one speaks of the past".to_owned());
    }
    if let Some(related) = compare_properties(one, other) {
        return related;
    }
    if let Some((value, other_value)) = differing_value(one, other) {
        let reason = format!("{value:?} and {other_value:?} stand in the same place");
        return (Relation::Contradicts, reason);
    }
    let (short, long) = if one.content.len() <= other.content.len() {
        (&one.content, &other.content)
    } else {
        (&other.content, &one.content)
    };
    let is_part = short.len() >= 2 && is_subsequence(short, long);
    if is_part {
        return (Relation::Refines, "one has every word of the other".to_owned());
    }
    (Relation::Unrelated, "they share too little".to_owned())
}

/// A word of one and its opposite in the other, where the rest is the same.
fn opposites(one: &Statement, other: &Statement) -> Option<(String, String)> {
    RELATION_WORDS.antonyms.iter().find_map(|(left, right)| {
        let pairs = [(left, right), (right, left)];
        pairs.into_iter().find_map(|(mine, theirs)| {
            let has = |statement: &Statement, phrase: &str| find(&statement.text, phrase).is_some();
            if !has(one, mine) || !has(other, theirs) {
                return None;
            }
            // A word that both have is not what they differ in.
            let is_difference =
                !has(one, theirs) && !has(other, mine) || mine.contains(theirs.as_str());
            let rest = |statement: &Statement, phrase: &str| -> Vec<String> {
                content_of(&split(&statement.text.replacen(phrase, " ", 1)), statement.language)
            };
            let (rest_one, rest_other) = (rest(one, mine), rest(other, theirs));
            let same = overlap(&rest_one, &rest_other) >= SAME_STATEMENT;
            (is_difference && same).then(|| (mine.clone(), theirs.clone()))
        })
    })
}

/// Compares the values of a property that both state of the same subject.
fn compare_properties(one: &Statement, other: &Statement) -> Option<(Relation, String)> {
    RELATION_WORDS.properties.iter().find_map(|property| {
        let (subject, value) = property.find(one)?;
        let (other_subject, other_value) = property.find(other)?;
        if !is_same_subject(&subject, &other_subject) {
            return Some((Relation::Unrelated, "they are about different subjects".to_owned()));
        }
        if value.is_empty() || other_value.is_empty() {
            return None;
        }
        let (mine, theirs) = (join(&value), join(&other_value));
        let (mine, theirs) = (mine.trim(), theirs.trim());
        if value == other_value {
            return Some((Relation::Same, format!("both say the same {}", property.name)));
        }
        if is_subsequence(&value, &other_value) || is_subsequence(&other_value, &value) {
            let reason = format!("one says more about the {}", property.name);
            return Some((Relation::Refines, reason));
        }
        let is_comparable = match property.kinds() {
            Some(mut kinds) => kinds.any(|kind| kind.contains(mine) && kind.contains(theirs)),
            None => are_comparable((one, &value), (other, &other_value)),
        };
        is_comparable.then(|| {
            let reason = format!("two values of {}: {mine} and {theirs}", property.name);
            (Relation::Contradicts, reason)
        })
    })
}

/// Whether two subjects are the same, as far as the words say. A statement without one is about the
/// subject of its memory, which may be the user.
fn is_same_subject(one: &[String], other: &[String]) -> bool {
    let is_user = |subject: &[String]| matches!(subject, [only] if only == USER);
    one == other || one.is_empty() && is_user(other) || other.is_empty() && is_user(one)
}

/// What a value is, as far as its form says.
#[derive(Debug, PartialEq, Eq)]
enum ValueForm {
    Weekday,
    Date,
    Number,
    Text,
}

impl ValueForm {
    fn of(value: &[String]) -> ValueForm {
        let has = |list: &BTreeSet<String>| value.iter().any(|word| list.contains(word));
        if has(&RELATION_WORDS.weekday) {
            ValueForm::Weekday
        } else if has(&RELATION_WORDS.month) {
            ValueForm::Date
        } else if value.iter().any(|word| is_number(word)) {
            ValueForm::Number
        } else {
            ValueForm::Text
        }
    }
}

/// Whether two values of a property exclude each other: both are of one form, both or none are names,
/// and both hold under the same conditions.
fn are_comparable(
    (one, value): (&Statement, &[String]),
    (other, other_value): (&Statement, &[String]),
) -> bool {
    let form = ValueForm::of(value);
    let has_country = |value: &[String]| RELATION_WORDS.country.contains(join(value).trim());
    let same_names = match (one.is_name(value), other.is_name(other_value)) {
        (Some(mine), Some(theirs)) => mine == theirs,
        _ => true,
    };
    let same_days = form == ValueForm::Weekday
        || one.words_of(&RELATION_WORDS.weekday) == other.words_of(&RELATION_WORDS.weekday);
    form == ValueForm::of(other_value)
        && (form != ValueForm::Text || same_names)
        && has_country(value) == has_country(other_value)
        && one.words_of(&RELATION_WORDS.condition) == other.words_of(&RELATION_WORDS.condition)
        && same_days
}

fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit()) || RELATION_WORDS.number.contains(word)
}

/// The one value in which two statements differ: a number, a day, or what is used for the same purpose.
fn differing_value(one: &Statement, other: &Statement) -> Option<(String, String)> {
    let pairs = one.words.iter().zip(&other.words);
    let prefix = pairs.take_while(|(mine, theirs)| mine == theirs).count();
    let (rest, other_rest) = (one.words.get(prefix..)?, other.words.get(prefix..)?);
    let pairs = rest.iter().rev().zip(other_rest.iter().rev());
    let suffix = pairs.take_while(|(mine, theirs)| mine == theirs).count();
    let mine = rest.get(..rest.len() - suffix)?;
    let theirs = other_rest.get(..other_rest.len() - suffix)?;
    let tail = rest.get(rest.len() - suffix..)?;
    if mine.is_empty() || theirs.is_empty() || prefix == 0 {
        return None;
    }
    let both = |test: &dyn Fn(&[String]) -> bool| test(mine) && test(theirs);
    let head = one.words.get(..prefix)?;
    // A number that names a thing (server 1, ticket 12) is not the value of a property: it stands
    // behind such a word, at the beginning, or before most of the statement.
    let is_content =
        |word: &String| !content_of(std::slice::from_ref(word), one.language).is_empty();
    let (before, after) = (content_of(head, one.language), content_of(tail, one.language));
    let names_thing = head.last().is_some_and(|word| RELATION_WORDS.numbered.contains(word))
        || before.is_empty()
        || before.len() < 2 && head.last().is_some_and(is_content)
        || after.len() > before.len().min(2);
    let is_amount = both(&|value| matches!(value, [only] if is_number(only))) && !names_thing;
    let is_day_or_month = |word: &String| {
        RELATION_WORDS.weekday.contains(word) || RELATION_WORDS.month.contains(word)
    };
    let is_day = both(&|value| matches!(value, [only] if is_day_or_month(only)))
        && head.iter().any(|word| RELATION_WORDS.copulas.contains(word));
    let is_choice = both(&|value| value.len() <= CHOICE_WORDS)
        && tail.first().is_some_and(|word| RELATION_WORDS.purpose.contains(word))
        && head.iter().any(|word| RELATION_WORDS.usage.contains(word));
    (is_amount || is_day || is_choice).then(|| (mine.join(" "), theirs.join(" ")))
}

/// Whether every word of one is in the other, in the same order.
fn is_subsequence(short: &[String], long: &[String]) -> bool {
    let mut rest = long.iter();
    short.iter().all(|word| rest.any(|other| other == word))
}

/// The part of all words that two lists share.
fn overlap(one: &[String], other: &[String]) -> f64 {
    let (one, other): (BTreeSet<_>, BTreeSet<_>) = (one.iter().collect(), other.iter().collect());
    let all = one.union(&other).count();
    if all == 0 { 0.0 } else { one.intersection(&other).count() as f64 / all as f64 }
}

/// The words that carry meaning.
fn content_of(words: &[String], language: Language) -> Vec<String> {
    let lists = &*RELATION_WORDS;
    let text = join(words);
    // Fillers and negations of several characters are removed from the text before it is split.
    let has_wide = words.iter().any(|word| word.starts_with(is_wide));
    let phrases = lists.dropped_phrases.iter().filter(|it| has_wide || !it.starts_with(is_wide));
    let without = phrases.fold(text, |text, phrase| remove(text, phrase));
    let is_stop = |word: &String| {
        lists.dropped.contains(word)
            || lists.stop.get(language.0).is_some_and(|stop| stop.contains(word))
    };
    split(&without).into_iter().filter(|word| !is_stop(word)).map(without_ending).collect()
}

impl Property {
    /// The subject and the value that a text gives the property. The longest phrase counts. A
    /// description (home, a flat, slow) is no value.
    fn find(&self, statement: &Statement) -> Option<(Vec<String>, Vec<String>)> {
        let (text, language) = (statement.text.as_str(), statement.language);
        let found = self.phrases.iter().filter_map(|phrase| {
            let (start, end) = find(text, &phrase.before)?;
            let rest = text.get(end..)?;
            let value = match &phrase.after {
                Some(after) => rest.get(..rest.find(after.as_str())?)?,
                None => rest,
            };
            Some((phrase.before.len() + phrase.after.as_ref().map_or(0, String::len), start, value))
        });
        let (_, start, value) = found.max_by_key(|(length, ..)| *length)?;
        let value = split(value);
        let until = value
            .iter()
            .position(|word| RELATION_WORDS.value_ends.contains(word))
            .unwrap_or(value.len());
        let value = value.get(..until)?;
        let is_described = |word: &String| {
            let is_participle = word.len() > 5 && (word.ends_with("ed") || word.ends_with("ing"));
            let is_capitalised = statement
                .capitalised
                .as_ref()
                .is_some_and(|capitalised| capitalised.contains(word));
            RELATION_WORDS.descriptions.contains(word) || is_participle && !is_capitalised
        };
        if value.first().is_some_and(is_described) {
            return None;
        }
        Some((subject_of(text.get(..start)?, language), content_of(value, language)))
    }

    /// The kinds of its values, if only values of one kind exclude each other.
    fn kinds(&self) -> Option<impl Iterator<Item = &'static BTreeSet<String>>> {
        let heading = format!("kinds of {}", self.name);
        let has_kinds = RELATION_WORDS.kinds.iter().any(|(name, _)| *name == heading);
        has_kinds.then(|| {
            let kinds = RELATION_WORDS.kinds.iter();
            kinds.filter(move |(name, _)| *name == heading).map(|(_, kind)| kind)
        })
    }
}

/// What stands for the first person, and for a third one, in a subject.
const USER: &str = "user";
const THIRD_PERSON: &str = "third person";

/// The words of a subject. Whose it is counts: my mother is not I.
fn subject_of(text: &str, language: Language) -> Vec<String> {
    let [first, third] = &RELATION_WORDS.person;
    let mut subject: Vec<String> = Vec::new();
    let mut rest = Vec::new();
    for word in split(text) {
        if first.contains(&word) {
            subject = vec![USER.to_owned()];
        } else if third.contains(&word) {
            subject = vec![THIRD_PERSON.to_owned()];
        } else {
            rest.push(word);
        }
    }
    subject.extend(content_of(&rest, language));
    subject
}
