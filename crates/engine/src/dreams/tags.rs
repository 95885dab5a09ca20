//! The concepts of a claim: its words that tell most in the vocabulary of the space, in any script. They are
//! chosen once, when a candidate is staged.

use oneiro_text::{Analyzer, Kind, is_time_word};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of concepts of a claim.
pub(crate) const TAGS_MAX: usize = 8;

/// Shortest and longest concept, in characters; in scripts without spaces two make one.
const TAG_CHARS_MIN: usize = 3;
const CJK_TAG_CHARS_MIN: usize = 2;
const TAG_CHARS_MAX: usize = 32;

/// A word of more than this share of the claims tells nothing, if there are enough claims to say so.
const COMMON_SHARE: f64 = 0.5;
const COMMON_AMONG: usize = 20;

/// In how many claims each word stands.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    claims: usize,
    counts: BTreeMap<String, usize>,
    analyzer: Analyzer,
}

impl Vocabulary {
    /// Counts the words of a claim.
    pub(crate) fn add(&mut self, claim: &str) {
        self.claims += 1;
        for (_, word) in concepts(&mut self.analyzer, claim) {
            *self.counts.entry(word).or_default() += 1;
        }
    }

    /// The concepts of a claim about `subject`, rarest first. What it is about and its kind are concepts of
    /// it too.
    pub(crate) fn tags(&mut self, claim: &str, around: &[&str]) -> Vec<String> {
        let mut found: Vec<(usize, usize, String)> = Vec::new();
        for (place, word) in concepts(&mut self.analyzer, claim) {
            let count = self.counts.get(&word).copied().unwrap_or(0);
            let is_common =
                self.claims >= COMMON_AMONG && count as f64 > self.claims as f64 * COMMON_SHARE;
            if !is_common {
                found.push((count, place, word));
            }
        }
        found.sort();
        let mut tags: Vec<String> = found.into_iter().map(|(_, _, word)| word).collect();
        tags.truncate(TAGS_MAX - around.len().min(TAGS_MAX));
        for text in around {
            let name = oneiro_text::normalise(text.trim());
            let cut: String = name.chars().take(TAG_CHARS_MAX).collect();
            if !cut.is_empty() && !tags.contains(&cut) {
                tags.push(cut);
            }
        }
        tags
    }
}

/// The words of a claim that tell what it says, in one order: claims with the same ones may say the same.
pub(crate) fn signature(analyzer: &mut Analyzer, claim: &str) -> String {
    analyzer.content_terms(claim).into_iter().collect::<Vec<_>>().join(" ")
}

/// The words of a text that can be concepts, with their first place.
fn concepts(analyzer: &mut Analyzer, text: &str) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    analyzer.tokens(text, |token| {
        let shortest = match token.kind {
            Kind::Word | Kind::Whole => TAG_CHARS_MIN,
            Kind::CjkPair | Kind::Gram => CJK_TAG_CHARS_MIN,
            Kind::Part | Kind::Cjk | Kind::Emoji => return,
        };
        let length = token.norm.chars().count();
        let is_number = !token.norm.chars().any(char::is_alphabetic);
        let is_concept = !token.stop
            && !is_number
            && !is_time_word(token.norm)
            && (shortest..=TAG_CHARS_MAX).contains(&length);
        if is_concept && seen.insert(token.term.to_owned()) {
            found.push((token.position as usize, token.term.to_owned()));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_come_first_and_stop_words_never() {
        let mut words = Vocabulary::default();
        for claim in ["I drink tea", "I drink coffee", "I drink tea in Porto"] {
            words.add(claim);
        }
        assert_eq!(words.tags("I drink tea in Porto", &["Ann"]), ["porto", "tea", "drink", "ann"]);
    }

    #[test]
    fn words_of_nearly_every_claim_dates_and_numbers_are_no_concepts() {
        let mut words = Vocabulary::default();
        for number in 0..40 {
            words.add(&format!("the assistant likes thing{number}"));
        }
        let tags = words.tags("the assistant likes jazz on 2026-05-07 at 28-31, Monday", &[]);
        assert_eq!(tags, ["jazz"], "{tags:?}");
    }

    #[test]
    fn claims_in_other_scripts_have_concepts() {
        let mut words = Vocabulary::default();
        for claim in ["我住在北京", "я живу в Москве", "東京に住んでいます"]
        {
            words.add(claim);
            assert!(!words.tags(claim, &[]).is_empty(), "{claim}");
        }
    }

    #[test]
    fn there_are_at_most_eight() {
        let mut words = Vocabulary::default();
        let claim = "alpha bravo charlie delta echoes foxtrot golf hotel india juliet kilogram";
        assert_eq!(words.tags(claim, &["Ann", "preference"]).len(), TAGS_MAX);
    }
}
