//! The order in which an agent would expand the items of a window: by the words that an item shares
//! with the question, weighted by rarity. Also computes which words of an answer are in a text.

use super::view::{Truncated, WindowView};
use oneiro_text::Analyzer;
use std::collections::HashSet;

/// The words of a window and of the truncations.
pub(super) struct Guide {
    analyzer: Analyzer,
    /// Terms of each item of the window.
    named: Vec<HashSet<String>>,
    /// Terms of the window, and of each truncation.
    texts: Vec<HashSet<String>>,
}

/// The share of an answer's words in the window and in each truncation.
pub(super) type Answer = Option<Vec<f64>>;

impl Guide {
    pub(super) fn of(view: &WindowView, truncations: &[&Truncated]) -> Guide {
        let mut analyzer = Analyzer::default();
        let named = view.named.iter().map(|one| terms(&mut analyzer, &one.content)).collect();
        let texts = std::iter::once(&view.text).chain(truncations.iter().map(|one| &one.text));
        let texts = texts.map(|text| terms(&mut analyzer, text)).collect();
        Guide { analyzer, named, texts }
    }

    /// The items, most likely first, then in order of time.
    pub(super) fn order(&mut self, question: &str) -> Vec<usize> {
        let words = self.words(question);
        let has = |terms: &HashSet<String>, word: &Vec<String>| {
            word.iter().any(|term| terms.contains(term))
        };
        let weights = words.iter().map(|word| {
            let in_some = self.named.iter().filter(|terms| has(terms, word)).count();
            (1.0 + self.named.len() as f64 / in_some.max(1) as f64).ln()
        });
        let weighed: Vec<(&Vec<String>, f64)> = words.iter().zip(weights).collect();
        let score = |terms: &HashSet<String>| {
            let met = weighed.iter().filter(|(word, _)| has(terms, word));
            met.map(|(_, weight)| weight).sum::<f64>()
        };
        let mut order: Vec<(usize, f64)> = self.named.iter().map(score).enumerate().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.into_iter().map(|(index, _)| index).collect()
    }

    /// The share of an answer's words in each text; `None` for an answer without words.
    pub(super) fn answer(&mut self, answer: &str) -> Answer {
        let words = self.words(answer);
        if words.is_empty() {
            return None;
        }
        let percentile = |terms: &HashSet<String>| {
            let met = words.iter().filter(|word| word.iter().any(|term| terms.contains(term)));
            met.count() as f64 / words.len() as f64
        };
        Some(self.texts.iter().map(percentile).collect())
    }

    /// Content words, each with the terms it may be indexed under.
    fn words(&mut self, text: &str) -> Vec<Vec<String>> {
        let words = self.analyzer.query_words(text).into_iter();
        words.filter(|word| !word.stop).map(|word| word.terms).collect()
    }
}

fn terms(analyzer: &mut Analyzer, text: &str) -> HashSet<String> {
    let mut terms = HashSet::new();
    analyzer.tokens(text, |token| {
        terms.insert(token.term.to_owned());
    });
    terms
}
