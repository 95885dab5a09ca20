//! The words of a simulated year, read from `bench/assets/year.txt`: topics with their phrases, pools of
//! values, and lines that state nothing.

use oneiro_text::sections;
use std::collections::BTreeMap;

const ASSET: &str = include_str!("../../assets/year.txt");

/// What the claims of a topic are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimKind {
    /// About a person or a project, and true until it is replaced or stops.
    Durable,
    /// Bound to a day, an end or a condition, or not meant.
    Passing,
    /// Small talk.
    SmallTalk,
    /// From a page, a tool or pasted text.
    Tainted,
    /// What an assistant claimed.
    SelfWritten,
    /// From a scheduled job.
    MachineMade,
}

impl ClaimKind {
    /// All kinds.
    pub const ALL: [ClaimKind; 6] = [
        ClaimKind::Durable,
        ClaimKind::Passing,
        ClaimKind::SmallTalk,
        ClaimKind::Tainted,
        ClaimKind::SelfWritten,
        ClaimKind::MachineMade,
    ];

    /// The name in results.
    pub fn as_str(self) -> &'static str {
        match self {
            ClaimKind::Durable => "durable",
            ClaimKind::Passing => "passing",
            ClaimKind::SmallTalk => "small_talk",
            ClaimKind::Tainted => "tainted",
            ClaimKind::SelfWritten => "self_written",
            ClaimKind::MachineMade => "machine_made",
        }
    }

    /// Whether no claim of this kind may ever be promoted.
    pub fn is_forbidden(self) -> bool {
        !matches!(self, ClaimKind::Durable | ClaimKind::Passing)
    }
}

/// What a phrase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Say,
    /// The person asks; the text is `PROMPT | QUERY`.
    Ask,
    /// Somebody else asks.
    Other,
    Change,
    Correct,
    Stop,
}

impl Form {
    fn parse(word: &str) -> Option<Form> {
        Some(match word {
            "say" => Form::Say,
            "ask" => Form::Ask,
            "other" => Form::Other,
            "change" => Form::Change,
            "correct" => Form::Correct,
            "stop" => Form::Stop,
            _ => return None,
        })
    }
}

pub(super) struct Phrase {
    pub language: &'static str,
    pub form: Form,
    pub text: &'static str,
}

pub(super) struct Topic {
    pub kind: ClaimKind,
    /// Whether it is about a project, not about a person.
    pub is_project: bool,
    pub name: &'static str,
    /// The pool of its values.
    pub values: &'static str,
    pub phrases: Vec<Phrase>,
}

impl Topic {
    pub fn texts(&self, language: &str, form: Form) -> Vec<&'static str> {
        let phrases = self.phrases.iter();
        let wanted = phrases.filter(|it| it.language == language && it.form == form);
        wanted.map(|phrase| phrase.text).collect()
    }

    pub fn speaks(&self, language: &str) -> bool {
        self.phrases.iter().any(|phrase| phrase.language == language)
    }
}

/// Everything that the asset holds.
pub(super) struct Words {
    pub topics: Vec<Topic>,
    pub pools: BTreeMap<&'static str, Vec<&'static str>>,
    /// Lines of the sections without a kind, by section.
    pub lines: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Words {
    pub fn read() -> Words {
        let mut words =
            Words { topics: Vec::new(), pools: BTreeMap::new(), lines: BTreeMap::new() };
        for (section, line) in sections(ASSET) {
            let parts: Vec<&'static str> = section.split(' ').collect();
            match parts.as_slice() {
                ["values", pool] => {
                    let values = line.split(',').map(str::trim).filter(|value| !value.is_empty());
                    words.pools.entry(pool).or_default().extend(values);
                }
                [class, name, values] => words.add((class, name, values), line),
                _ => words.lines.entry(section).or_default().push(line),
            }
        }
        words
    }

    fn add(
        &mut self,
        (class, name, values): (&'static str, &'static str, &'static str),
        line: &'static str,
    ) {
        let kind = match class {
            "fact" | "project" => ClaimKind::Durable,
            "passing" => ClaimKind::Passing,
            "talk" => ClaimKind::SmallTalk,
            "tainted" => ClaimKind::Tainted,
            "self" => ClaimKind::SelfWritten,
            _ => ClaimKind::MachineMade,
        };
        let mut pieces = line.splitn(3, ' ');
        let (Some(language), Some(form), Some(text)) =
            (pieces.next(), pieces.next().and_then(Form::parse), pieces.next())
        else {
            return;
        };
        let phrase = Phrase { language, form, text };
        let is_project = class == "project";
        match self.topics.last_mut() {
            Some(topic) if topic.name == name && topic.kind == kind => topic.phrases.push(phrase),
            _ => {
                let phrases = vec![phrase];
                self.topics.push(Topic { kind, is_project, name, values, phrases });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dreams::claim::fold;
    use std::collections::BTreeSet;

    #[test]
    fn every_line_is_a_phrase_and_every_pool_exists() {
        let words = Words::read();
        let phrases: usize = words.topics.iter().map(|topic| topic.phrases.len()).sum();
        let lines = sections(ASSET).filter(|(section, _)| {
            section.split(' ').count() == 3 && !section.starts_with("values")
        });
        assert_eq!(phrases, lines.count(), "a line has no language or no form");
        for topic in &words.topics {
            assert!(words.pools.contains_key(topic.values), "{} has no pool", topic.name);
            for phrase in &topic.phrases {
                let asks = matches!(phrase.form, Form::Ask | Form::Other);
                assert_eq!(asks, phrase.text.contains(" | "), "{}", phrase.text);
                assert_eq!(!asks, phrase.text.contains("{v}"), "{}", phrase.text);
            }
        }
    }

    #[test]
    fn no_value_occurs_twice_or_in_a_phrase() {
        let words = Words::read();
        let mut seen = BTreeSet::new();
        let phrases = words.topics.iter().flat_map(|topic| &topic.phrases).map(|it| it.text);
        let texts: Vec<String> =
            phrases.chain(words.lines.values().flatten().copied()).map(fold).collect();
        for value in words.pools.values().flatten() {
            let folded = fold(value);
            assert!(!texts.iter().any(|text| text.contains(&folded)), "{value} is in a phrase");
            assert!(seen.insert(folded), "{value} occurs twice");
        }
        let all: Vec<&String> = seen.iter().collect();
        for one in &all {
            let inside = all.iter().filter(|other| other.contains(one.as_str())).count();
            assert_eq!(inside, 1, "{one} is part of another value");
        }
    }
}
