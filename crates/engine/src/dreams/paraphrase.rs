//! Finds claims that state the same in other words: they share their rarest word, the value, and most of the
//! others. "My sister is called Ann" and "my sister's name is Ann" are one claim.

use super::gather::Claim;
use crate::memories::compare_statements;
use oneiro_model::{MemoryKind, MemoryStatus, Relation};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A word of more claims than this is no value.
const VALUE_CLAIMS_MAX: usize = 6;

/// The part of the words of the shorter claim that the other has.
const SHARED_PART: f64 = 0.5;

/// The indices of claims that state the same in other words as a claim that leads them, each once.
pub(super) fn pairs(claims: &[Claim]) -> Vec<(usize, usize)> {
    let mut analyzer = Analyzer::default();
    let words: Vec<BTreeSet<String>> = claims
        .iter()
        .map(|claim| {
            if is_joined(claim) {
                analyzer.content_terms(&claim.memory.content)
            } else {
                BTreeSet::new()
            }
        })
        .collect();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    words.iter().flatten().for_each(|word| *counts.entry(word).or_default() += 1);
    let count = |word: &str| counts.get(word).copied().unwrap_or(usize::MAX);
    let mut groups: FxHashMap<(&str, &str, &str), Vec<usize>> = FxHashMap::default();
    for (index, (claim, words)) in claims.iter().zip(&words).enumerate() {
        let about = claim.memory.subject.as_deref().unwrap_or_default();
        let project = claim.memory.project.as_deref().unwrap_or_default();
        for word in words.iter().filter(|word| (2..=VALUE_CLAIMS_MAX).contains(&count(word))) {
            groups.entry((about, project, word)).or_default().push(index);
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut joined = BTreeSet::new();
    let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|it| it.len() > 1).collect();
    groups.sort();
    for group in groups {
        for (at, one) in group.iter().enumerate() {
            for other in group.iter().skip(at + 1) {
                let (Some(a), Some(b)) = (claims.get(*one), claims.get(*other)) else { continue };
                let (Some(x), Some(y)) = (words.get(*one), words.get(*other)) else { continue };
                if joined.contains(one) || joined.contains(other) || !is_same(x, y, &count) {
                    continue;
                }
                let compared = compare_statements(&a.memory.content, &b.memory.content);
                if compared.relation == Relation::Contradicts {
                    continue;
                }
                let leads = |claim: &Claim| {
                    (claim.promoted_at().is_some(), claim.memory.status == MemoryStatus::Active)
                };
                let (leader, led) =
                    if leads(b) > leads(a) { (*other, *one) } else { (*one, *other) };
                joined.insert(led);
                found.push((leader, led));
            }
        }
    }
    // A claim that leads one and is led by another hands on what it has.
    found
}

/// Whether a claim is one that a person made in own words and that stands.
fn is_joined(claim: &Claim) -> bool {
    claim.is_own_words
        && claim.same_as.is_none()
        && claim.memory.suspended_by.is_none()
        && claim.memory.valid_until.is_none()
        && claim.memory.kind != MemoryKind::Episodic
        && claim.memory.status.is_standing()
}

/// Whether two claims share the words that tell them from others: not both have a word of their own that is
/// rarer than every word they share.
fn is_same(
    one: &BTreeSet<String>,
    other: &BTreeSet<String>,
    count: &dyn Fn(&str) -> usize,
) -> bool {
    let shared: Vec<&String> = one.intersection(other).collect();
    let Some(rarest) = shared.iter().map(|word| count(word)).min() else { return false };
    let has_rarer = |words: &BTreeSet<String>, than: &BTreeSet<String>| {
        words.difference(than).any(|word| count(word) < rarest)
    };
    let shorter = one.len().min(other.len()).max(1);
    shared.len() as f64 >= shorter as f64 * SHARED_PART
        && !(has_rarer(one, other) && has_rarer(other, one))
}
