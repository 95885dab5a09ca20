//! What would have been promoted otherwise: by the formula of openclaw with its gates, and by the
//! rule "the person said it on two days", from the same evidence.

use super::claim::{Claim, Minimum, fold};
use super::words::ClaimKind;
use oneiro_text::Analyzer;
use std::collections::{BTreeMap, BTreeSet};

/// A search by anyone that showed a claim.
#[derive(Debug, Clone)]
pub struct Recall {
    /// The claim.
    pub claim: usize,
    /// The day.
    pub day: usize,
    /// What was searched for.
    pub query: String,
    /// The share of the query's words that the hit has.
    pub score: f64,
}

/// The night on which each claim was promoted. Night n follows day n.
pub type Promotions = BTreeMap<usize, usize>;

/// Promotions of one night, in every preset of openclaw.
const LIMIT: usize = 10;

/// Days in which recency halves.
const HALF_LIFE_DAYS: f64 = 14.0;

/// Query hashes, days and tags that an entry keeps.
const QUERIES_MAX: usize = 32;
const DAYS_MAX: usize = 16;
const TAGS_MAX: usize = 8;

/// Shorter words are no tags.
const TAG_CHARS_MIN: usize = 3;

/// The entry of openclaw's recall store for a claim.
#[derive(Default)]
struct Entry {
    count: usize,
    total_score: f64,
    queries: BTreeSet<String>,
    days: BTreeSet<usize>,
    tags: usize,
}

impl Entry {
    fn add(&mut self, recall: &Recall) {
        self.count += 1;
        self.total_score += recall.score.clamp(0.0, 1.0);
        if self.queries.len() < QUERIES_MAX {
            self.queries.insert(fold(&recall.query));
        }
        self.days.insert(recall.day);
        if self.days.len() > DAYS_MAX {
            self.days.pop_first();
        }
    }

    /// The score with its six components, without phase boost.
    fn score(&self, night: usize) -> f64 {
        let count = self.count as f64;
        let days = self.days.len() as f64;
        let first = self.days.first().copied().unwrap_or(night);
        let last = self.days.last().copied().unwrap_or(night);
        let frequency = (count.ln_1p() / 11f64.ln()).clamp(0.0, 1.0);
        let relevance = (self.total_score / count.max(1.0)).clamp(0.0, 1.0);
        let diversity = (self.queries.len() as f64 / 5.0).clamp(0.0, 1.0);
        let age = night.saturating_sub(last) as f64;
        let recency = (-std::f64::consts::LN_2 * age / HALF_LIFE_DAYS).exp();
        let consolidation = match self.days.len() {
            0 => 0.0,
            1 => 0.2,
            _ => {
                let spacing = (days.ln() / 5f64.ln()).clamp(0.0, 1.0);
                let span = ((last - first) as f64 / 7.0).clamp(0.0, 1.0);
                (0.55 * spacing + 0.45 * span).clamp(0.0, 1.0)
            }
        };
        let conceptual = (self.tags as f64 / 6.0).clamp(0.0, 1.0);
        0.24 * frequency
            + 0.30 * relevance
            + 0.15 * diversity
            + 0.15 * recency
            + 0.10 * consolidation
            + 0.06 * conceptual
    }
}

/// What openclaw would have promoted: every claim that a search showed is an entry, and a later
/// statement of the person counts as a recall of relevance 1, as it does for us.
pub fn openclaw(
    claims: &[Claim],
    recalls: &[Recall],
    minimum: &Minimum,
    days: usize,
) -> Promotions {
    let mut by_day: BTreeMap<usize, Vec<Recall>> = BTreeMap::new();
    for recall in recalls {
        by_day.entry(recall.day).or_default().push(recall.clone());
    }
    for (number, claim) in claims.iter().enumerate() {
        let later = claim.said_on.iter().filter(|day| **day > claim.first_day);
        for day in later {
            let said = claim.evidence.iter().find(|evidence| evidence.day == *day);
            let query = said.map_or_else(String::new, |evidence| evidence.prompt.clone());
            let recall = Recall { claim: number, day: *day, query, score: 1.0 };
            by_day.entry(*day).or_default().push(recall);
        }
    }
    let mut entries: BTreeMap<usize, Entry> = BTreeMap::new();
    let mut promoted = Promotions::new();
    for night in 0..days {
        for recall in by_day.get(&night).into_iter().flatten() {
            let tags = claims.get(recall.claim).map_or(0, count_tags);
            entries
                .entry(recall.claim)
                .or_insert_with(|| Entry { tags, ..Entry::default() })
                .add(recall);
        }
        let mut ranked: Vec<(f64, usize)> = entries
            .iter()
            .filter(|(claim, entry)| {
                !promoted.contains_key(*claim)
                    && entry.count >= minimum.recalls
                    && entry.queries.len() >= minimum.prompts
            })
            .map(|(claim, entry)| (entry.score(night), *claim))
            .filter(|(score, _)| *score >= minimum.min_score)
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        promoted.extend(ranked.into_iter().take(LIMIT).map(|(_, claim)| (claim, night)));
    }
    promoted
}

/// What the rule "the person said it on two days" would have promoted.
pub fn said_on_two_days(claims: &[Claim]) -> Promotions {
    let second = |(number, claim): (usize, &Claim)| {
        claim.said_on.iter().nth(1).map(|second_day| (number, *second_day))
    };
    claims.iter().enumerate().filter_map(second).collect()
}

/// The concept tags of a claim: its distinct words that are no stop words.
fn count_tags(claim: &Claim) -> usize {
    let mut tags = BTreeSet::new();
    let text = format!("{} {} {}", claim.subject, claim.topic, claim.value);
    Analyzer::default().tokens(&text, |token| {
        if !token.stop && token.norm.chars().count() >= TAG_CHARS_MIN {
            tags.insert(token.norm.to_owned());
        }
    });
    // A note names the kind of thing with a word or two more than a claim of ours does.
    let of_the_sentence = if claim.kind == ClaimKind::Durable { 2 } else { 1 };
    (tags.len() + of_the_sentence).min(TAGS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dreams::claim::MINIMA;

    fn entry(recalls: &[(usize, &str, f64)]) -> Entry {
        let mut entry = Entry { tags: 6, ..Entry::default() };
        for (day, query, score) in recalls {
            let query = (*query).to_owned();
            entry.add(&Recall { claim: 0, day: *day, query, score: *score });
        }
        entry
    }

    /// The figures that the documentation of the formula gives: core's own minimum of three recalls
    /// by two queries needs an average score of .88 over three days that span six, and more than 1
    /// on one day or two.
    #[test]
    fn the_gates_of_the_original_formula_are_out_of_reach_at_their_minimum() {
        let at = |score| entry(&[(0, "a", score), (3, "b", score), (6, "a", score)]).score(6);
        assert!(at(0.87) < 0.75 && at(0.89) > 0.75, "{} {}", at(0.87), at(0.89));
        let two_days = entry(&[(0, "a", 1.0), (0, "b", 1.0), (1, "a", 1.0)]);
        assert!(two_days.score(1) < MINIMA[0].min_score, "{}", two_days.score(1));
        let one_day = entry(&[(0, "a", 1.0), (0, "b", 1.0), (0, "a", 1.0)]);
        assert!(one_day.score(0) < two_days.score(1));
    }
}
