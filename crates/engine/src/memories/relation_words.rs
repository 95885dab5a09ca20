//! The lists of words by which statements are compared.

use super::relation_text::{is_wide, without_ending};
use oneiro_text::{normalise, sections};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const WORDS: &str = include_str!("../../assets/relation_words.txt");

/// Sections of the word list that are not properties with one value.
const OTHER_SECTIONS: [&str; 21] = [
    "negation",
    "past",
    "filler",
    "purpose",
    "use",
    "numbered",
    "cut",
    "antonyms",
    "stop",
    "kinds of preference",
    "kinds of use of a database",
    "person",
    "vague",
    "condition",
    "weekday",
    "month",
    "number",
    "being",
    "permission",
    "country",
    "marks",
];

/// A property with one value at a time, and the phrases that state it.
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) phrases: Vec<Phrase>,
}

/// A phrase before a value, or two around it.
pub(super) struct Phrase {
    pub(super) before: String,
    pub(super) after: Option<String>,
}

/// The lists of words.
pub(super) struct RelationWords {
    pub(super) negation: Vec<String>,
    pub(super) past: Vec<String>,
    pub(super) purpose: BTreeSet<String>,
    /// Words before a number that is a name.
    pub(super) numbered: BTreeSet<String>,
    pub(super) permission: BTreeSet<String>,
    pub(super) weekday: BTreeSet<String>,
    pub(super) month: BTreeSet<String>,
    pub(super) number: BTreeSet<String>,
    /// Verbs between a thing and when it is.
    pub(super) copulas: BTreeSet<String>,
    pub(super) condition: BTreeSet<String>,
    pub(super) country: BTreeSet<String>,
    /// Words that describe and name nothing.
    pub(super) descriptions: BTreeSet<String>,
    /// Words of a first and of a third person.
    pub(super) person: [BTreeSet<String>; 2],
    /// Values of which one excludes another, by the heading of their property.
    pub(super) kinds: Vec<(&'static str, BTreeSet<String>)>,
    /// Words by which a language is known, beside its stop words.
    pub(super) language_markers: Vec<BTreeSet<String>>,
    /// Verbs of use.
    pub(super) usage: BTreeSet<String>,
    /// Stop words, by language.
    pub(super) stop: Vec<BTreeSet<String>>,
    pub(super) value_ends: BTreeSet<String>,
    pub(super) antonyms: Vec<(String, String)>,
    /// Words without meaning of their own, and phrases of several words or wide characters.
    pub(super) dropped: BTreeSet<String>,
    pub(super) dropped_phrases: Vec<String>,
    pub(super) properties: Vec<Property>,
}

pub(super) static RELATION_WORDS: LazyLock<RelationWords> = LazyLock::new(|| {
    let of = |name: &str| -> Vec<String> {
        let lines = sections(WORDS).filter(|(section, _)| *section == name);
        let entries = lines.flat_map(|(_, line)| line.split(", "));
        entries.map(|entry| normalise(entry.trim())).collect()
    };
    let set = |name: &str| -> BTreeSet<String> { of(name).into_iter().collect() };
    // Words of a value have no endings.
    let stems = |entry: String| -> [String; 2] {
        let stem: Vec<String> = entry.split(' ').map(|word| without_ending(word.into())).collect();
        [stem.join(" "), entry]
    };
    let value_set =
        |name: &str| -> BTreeSet<String> { of(name).into_iter().flat_map(stems).collect() };
    let pairs = of("antonyms").into_iter();
    let antonyms = pairs.filter_map(|pair| {
        pair.split_once('/').map(|(one, other)| (one.to_owned(), other.to_owned()))
    });
    let entries = |line: &str| -> BTreeSet<String> {
        line.split(", ").map(|entry| normalise(entry.trim())).collect()
    };
    let lines = |name: &'static str| -> Vec<BTreeSet<String>> {
        let lines = sections(WORDS).filter(|(section, _)| *section == name);
        lines.map(|(_, line)| entries(line)).collect()
    };
    let kinds = sections(WORDS).filter(|(section, _)| section.starts_with("kinds of "));
    let mut person = lines("person").into_iter();
    let stop = lines("stop");
    let wide = stop.iter().flatten().filter(|entry| entry.starts_with(is_wide)).cloned().collect();
    let dropped = [of("negation"), of("filler"), wide].concat();
    let is_phrase = |entry: &String| entry.contains(' ') || entry.starts_with(is_wide);
    let mut properties: Vec<Property> = Vec::new();
    for (name, line) in sections(WORDS) {
        if OTHER_SECTIONS.contains(&name) {
            continue;
        }
        let phrases = line.split(", ").map(|entry| match entry.trim().split_once("… ") {
            Some((before, after)) => {
                Phrase { before: normalise(before.trim()), after: Some(normalise(after)) }
            }
            None => Phrase { before: normalise(entry.trim()), after: None },
        });
        match properties.iter_mut().find(|property| property.name == name) {
            Some(property) => property.phrases.extend(phrases),
            None => properties.push(Property { name, phrases: phrases.collect() }),
        }
    }
    let mut dropped_phrases: Vec<String> =
        dropped.iter().filter(|entry| is_phrase(entry)).cloned().collect();
    // Longer ones first: です before で.
    dropped_phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    RelationWords {
        negation: of("negation"),
        past: of("past"),
        purpose: set("purpose"),
        numbered: set("numbered"),
        permission: value_set("permission"),
        weekday: value_set("weekday"),
        month: value_set("month"),
        number: value_set("number"),
        copulas: set("being"),
        condition: set("condition"),
        country: value_set("country"),
        descriptions: set("vague"),
        person: [person.next().unwrap_or_default(), person.next().unwrap_or_default()],
        kinds: kinds
            .map(|(name, line)| (name, entries(line).into_iter().flat_map(stems).collect()))
            .collect(),
        language_markers: lines("marks"),
        usage: set("use"),
        value_ends: set("cut"),
        antonyms: antonyms.collect(),
        dropped_phrases,
        dropped: dropped.into_iter().collect(),
        properties,
        stop,
    }
});
