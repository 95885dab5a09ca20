//! What is true in a simulated year: each claim with its value, its evidence and its end, and which
//! claims a text states.

use super::words::ClaimKind;
use std::collections::{BTreeMap, BTreeSet};

/// What a preset documents as the least evidence of a promotion.
#[derive(Debug, Clone, Copy)]
pub struct Minimum {
    /// The name of the preset.
    pub preset: &'static str,
    /// Recalls; later statements of the person count as recalls.
    pub recalls: usize,
    /// Different prompts among them.
    pub prompts: usize,
    /// Different days among them.
    pub days: usize,
    /// The score that the original formula asks for.
    pub min_score: f64,
}

/// The presets with their documented minima.
pub const MINIMA: [Minimum; 3] = [
    Minimum { preset: "core", recalls: 3, prompts: 2, days: 2, min_score: 0.75 },
    Minimum { preset: "deep", recalls: 3, prompts: 3, days: 2, min_score: 0.80 },
    Minimum { preset: "rem", recalls: 4, prompts: 3, days: 2, min_score: 0.85 },
];

/// How a claim ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Another value took its place, or the person corrected it.
    Superseded,
    /// It holds no longer, and nothing takes its place.
    Stopped,
}

/// A recall or a later statement that a human prompt makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The day, from 0.
    pub day: usize,
    /// What the person typed.
    pub prompt: String,
}

/// A claim of the year.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What it is about, such as `home`.
    pub topic: &'static str,
    /// What it is worth.
    pub kind: ClaimKind,
    /// The person or project it is about.
    pub subject: String,
    /// The words that tell it from every other claim.
    pub value: String,
    /// Claims of one slot follow each other: a person has one home at a time.
    pub slot: usize,
    /// The day of the first statement.
    pub first_day: usize,
    /// When and how it ended.
    pub ended: Option<(usize, End)>,
    /// Recalls and later statements, by day.
    pub evidence: Vec<Evidence>,
    /// The days on which the person stated it.
    pub said_on: BTreeSet<usize>,
}

impl Claim {
    /// Whether it holds on a day.
    pub fn holds_on(&self, day: usize) -> bool {
        self.first_day <= day && self.ended.is_none_or(|(end, _)| day < end)
    }

    /// The day on which it has earned promotion, if it ever does.
    pub fn due_on(&self, minimum: &Minimum) -> Option<usize> {
        if self.kind != ClaimKind::Durable {
            return None;
        }
        let mut recalls = BTreeSet::new();
        for evidence in &self.evidence {
            if !self.holds_on(evidence.day) {
                break;
            }
            recalls.insert((fold(&evidence.prompt), evidence.day));
            let prompts: BTreeSet<&str> =
                recalls.iter().map(|(prompt, _)| prompt.as_str()).collect();
            let days: BTreeSet<usize> = recalls.iter().map(|(_, day)| *day).collect();
            if recalls.len() >= minimum.recalls
                && prompts.len() >= minimum.prompts
                && days.len() >= minimum.days
            {
                return Some(evidence.day);
            }
        }
        None
    }
}

/// What a text states about the claims of a year.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stated {
    /// The claims that it states as true.
    pub claims: Vec<usize>,
    /// Whether it mentions a claim at all, if only to end it.
    pub is_known: bool,
}

/// Words that say that what they stand with holds no longer.
const ENDING_WORDS: &[&str] = &[
    " no longer ",
    " any more ",
    " anymore ",
    " stopped ",
    " quit ",
    " gave up ",
    " nicht mehr ",
    " ya no ",
];

/// Finds the claims that texts state, by their values.
pub struct Matcher {
    /// The folded value, slot and first day of each claim.
    values: Vec<(String, usize, usize)>,
}

impl Matcher {
    /// A matcher of these claims.
    pub fn new(claims: &[Claim]) -> Matcher {
        let value = |claim: &Claim| (fold(&claim.value), claim.slot, claim.first_day);
        Matcher { values: claims.iter().map(value).collect() }
    }

    /// What a text states. Of several values of one slot the newest counts: "I moved from A to B"
    /// states B.
    pub fn stated(&self, text: &str) -> Stated {
        let text = fold(text);
        let mut slots: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, (value, slot, _)) in self.values.iter().enumerate() {
            if text.contains(value.as_str()) {
                slots.entry(*slot).or_default().push(number);
            }
        }
        let is_known = !slots.is_empty();
        let ends = ENDING_WORDS.iter().any(|words| text.contains(words));
        let standing = slots.into_values().filter(|found| !(ends && found.len() == 1));
        let first_day = |number: &usize| self.values.get(*number).map(|(_, _, day)| *day);
        let newest = standing.filter_map(|found| found.into_iter().max_by_key(first_day));
        Stated { claims: newest.collect(), is_known }
    }
}

/// A text in lower case, each word between two spaces.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::from(" ");
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() || letter == '@' {
            folded.push(letter);
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    if !folded.ends_with(' ') {
        folded.push(' ');
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(value: &str, slot: usize, first_day: usize) -> Claim {
        Claim {
            topic: "home",
            kind: ClaimKind::Durable,
            subject: "Ana".to_owned(),
            value: value.to_owned(),
            slot,
            first_day,
            ended: None,
            evidence: Vec::new(),
            said_on: BTreeSet::new(),
        }
    }

    fn evidence(day: usize, prompt: &str) -> Evidence {
        Evidence { day, prompt: prompt.to_owned() }
    }

    #[test]
    fn the_newest_value_of_a_slot_is_stated_and_an_ended_one_is_not() {
        let claims =
            [claim("Braga", 0, 1), claim("Porto", 0, 9), claim("cello", 1, 2), claim("teal", 2, 3)];
        let matcher = Matcher::new(&claims);
        assert_eq!(matcher.stated("- Ana lives in Braga.").claims, [0]);
        assert_eq!(matcher.stated("Ana moved from Braga to Porto on 9 May").claims, [1]);
        let ended = matcher.stated("Ana no longer plays the cello");
        assert!(ended.claims.is_empty() && ended.is_known);
        assert_eq!(matcher.stated("steal the bragas"), Stated::default());
    }

    /// Three recalls by two prompts on two days; the same prompt counts once a day, and what comes
    /// after the end counts not at all.
    #[test]
    fn a_claim_is_due_on_the_day_of_its_last_missing_evidence() {
        let mut one = claim("Braga", 0, 1);
        one.evidence = vec![evidence(2, "Where?"), evidence(2, "where"), evidence(4, "Where?")];
        assert_eq!(one.due_on(&MINIMA[0]), None);
        one.evidence.push(evidence(6, "Which city?"));
        assert_eq!(one.due_on(&MINIMA[0]), Some(6));
        assert_eq!(one.due_on(&MINIMA[1]), None);
        one.ended = Some((6, End::Stopped));
        assert_eq!(one.due_on(&MINIMA[0]), None);
    }
}
