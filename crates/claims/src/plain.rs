//! The sentences of a text that its writer states plainly: typed, not quoted, pasted, made up, reported,
//! asked, hedged or conditional.

use std::ops::Range;

use crate::language::Language;
use crate::patterns::RuleBook;
use crate::secrets::has_secret;
use crate::sentence::{Sentence, sentences};
use crate::typed::typed_lines;

/// The plain statements of what a person typed, in bytes of the text. None if the text tries to give
/// orders to a model.
pub fn plain_sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut is_fiction, mut is_injected) = (false, false);
    let mut language = Language::English;
    typed_lines(text, |line| {
        sentences(text, (line.start, line.end), |sentence| {
            language = sentence.language().unwrap_or(language);
            let book = RuleBook::of(language);
            is_fiction |= book.frames.matches(&sentence.folded);
            is_injected |= book.injections.matches(&sentence.folded);
            let is_stated = line.own && !is_fiction && is_plain(sentence, book);
            let place = sentence.tokens.first().zip(sentence.tokens.last());
            if let Some((first, last)) = place.filter(|_| is_stated) {
                found.push(first.start..last.end);
            }
        });
    });
    if is_injected { Vec::new() } else { found }
}

fn is_plain(sentence: &Sentence, book: &RuleBook) -> bool {
    let folded = &sentence.folded;
    let lists = [&book.vetoes, &book.hedges, &book.jokes, &book.conditions, &book.speech];
    !sentence.is_question
        && sentence.quoted.is_empty()
        && !has_secret(folded)
        && !lists.into_iter().any(|list| list.matches(folded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Vec<&str> {
        plain_sentences(text).into_iter().filter_map(|range| text.get(range)).collect()
    }

    #[test]
    fn what_is_stated_is_plain() {
        assert_eq!(plain("Hi. We moved to Linear. Did you know?"), ["Hi", "We moved to Linear"]);
        for text in [
            "If we move to Linear, tell me.",
            "Maybe we moved to Linear.",
            "> We moved to Linear.",
            "Write a story. We moved to Linear.",
            "From the mail:\nWe moved to Linear.",
            "My boss says we moved to Linear.",
        ] {
            assert!(!plain(text).iter().any(|said| said.contains("Linear")), "{text}");
        }
    }
}
