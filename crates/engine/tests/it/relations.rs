//! How well statements are compared, on a table of pairs in seven languages.

use oneiro::{Relation, compare_statements};
use std::collections::BTreeSet;

const PAIRS: &str = include_str!("../fixtures/relations.txt");

/// Of the pairs that the rules call a contradiction, the part that must be one.
const PRECISION: f64 = 0.9;

/// Of the contradictions of the table, the part that was found when the rules were written: 0.934.
const RECALL: f64 = 0.9;

/// The same for the pairs that were written after the rules.
const RECALL_BLIND: f64 = 0.7;

struct Pair {
    /// The heading in the table; "" above the first one.
    heading: &'static str,
    language: &'static str,
    relation: Relation,
    one: &'static str,
    other: &'static str,
}

fn pairs() -> Vec<Pair> {
    let mut heading = "";
    let mut pairs = Vec::new();
    for line in PAIRS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            heading = name;
            continue;
        }
        let [language, relation, one, other] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let relation = Relation::parse(relation).unwrap();
        pairs.push(Pair { heading, language, relation, one, other });
    }
    pairs
}

/// Precision and recall of contradictions, and the pairs that were judged wrongly.
fn measure(pairs: &[Pair]) -> (f64, f64, Vec<String>) {
    let is_called =
        |pair: &&Pair| compare_statements(pair.one, pair.other).relation == Relation::Contradicts;
    let is_one = |pair: &&Pair| pair.relation == Relation::Contradicts;
    let called: Vec<_> = pairs.iter().filter(is_called).collect();
    let right = called.iter().filter(|pair| is_one(pair)).count() as f64;
    let wrong = pairs.iter().filter(|pair| is_called(pair) != is_one(pair)).map(|pair| {
        let compared = compare_statements(pair.one, pair.other);
        format!(
            "{} | {} ({}, {})",
            pair.one,
            pair.other,
            compared.relation.as_str(),
            compared.reason
        )
    });
    let recall = right / pairs.iter().filter(is_one).count() as f64;
    (right / called.len() as f64, recall, wrong.collect())
}

#[test]
fn contradictions_are_found_with_few_false_alarms_in_seven_languages() {
    let pairs = pairs();
    let languages: BTreeSet<_> = pairs.iter().map(|pair| pair.language).collect();
    assert!(pairs.len() >= 250 && languages.len() == 7, "{} {languages:?}", pairs.len());
    let (precision, recall, wrong) = measure(&pairs);
    assert!(
        precision >= PRECISION && recall >= RECALL,
        "precision {precision}, recall {recall}: {wrong:#?}"
    );
}

#[test]
fn contradictions_that_no_rule_was_written_for_are_found_with_few_false_alarms() {
    let mut blind = pairs();
    blind.retain(|pair| pair.heading == "blind");
    let (precision, recall, wrong) = measure(&blind);
    assert!(
        blind.len() >= 50 && precision >= PRECISION && recall >= RECALL_BLIND,
        "precision {precision}, recall {recall}: {wrong:#?}"
    );
}

#[test]
fn what_was_reported_as_judged_wrongly_is_judged_rightly() {
    let mut reported = pairs();
    reported.retain(|pair| pair.heading == "reported");
    let (_, _, wrong) = measure(&reported);
    assert!(!reported.is_empty() && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_comparison_does_not_depend_on_the_order_and_says_why() {
    for Pair { one, other, .. } in pairs() {
        let (there, back) = (compare_statements(one, other), compare_statements(other, one));
        assert_eq!(there.relation, back.relation, "{one} / {other}");
        assert!(!there.reason.is_empty());
        assert_eq!(compare_statements(one, one).relation, Relation::Same, "{one}");
    }
}
