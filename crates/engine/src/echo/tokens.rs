//! Tokens of a text for comparison with served lines: lower case, in compatible forms, without
//! punctuation, list markers and ids in brackets; and where its sentences end.

use oneiro_text::{is_default_ignorable, normalise};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// From here on, scripts have no spaces between words: each character is a token.
const FIRST_WIDE: char = '\u{2E80}';

/// The id and date before a served line.
static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ids = r"(?:mem|sta)_[a-z2-7]+|message \d+|#\d+(?: #\d+)*, ";
    Regex::new(&format!(r"\[(?:{ids})[^\]\n]{{0,80}}\]")).ok()
});

/// Words that turn a statement into its opposite.
const DENYING: [&str; 20] = [
    "not", "no", "never", "don", "doesn", "didn", "isn", "won", "aren", "wasn", "nicht", "kein",
    "keine", "nie", "nunca", "jamas", "pas", "nao", "non", "without",
];

/// Words of a line that begins something new. A single word may be the end of a wrapped line, in
/// which it may be a correction.
const NEXT_LINE_WORDS_MIN: usize = 2;

/// A token with its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EchoToken {
    pub(crate) word: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What may stand before the label of a line that was served: markers of lists and quotations.
const BEFORE_LABEL: &[char] = &[
    '-', '*', '>', '•', '+', '"', '“', '\'', '`', '·', ' ', '\t', '.', ')', '(', '0', '1', '2',
    '3', '4', '5', '6', '7', '8', '9', '_', '#',
];

/// A text without the lines that begin with the label of a served line: a person who pastes them
/// does not say what they say, even if they were served to somebody else.
pub(crate) fn without_labelled_lines(text: &str) -> String {
    let is_labelled = |line: &str| {
        let rest = line.trim_start_matches(BEFORE_LABEL);
        let rest =
            rest.strip_prefix("[ ]").or(rest.strip_prefix("[x]")).unwrap_or(rest).trim_start();
        labels(rest).first().is_some_and(|label| {
            label.start == 0 && rest.get(label.clone()).is_some_and(|label| label.contains(", "))
        })
    };
    if labels(text).is_empty() {
        return text.to_owned();
    }
    let kept: Vec<&str> = text.split('\n').filter(|line| !is_labelled(line)).collect();
    kept.join("\n")
}

/// Labels of served lines in a text, in bytes.
pub(super) fn labels(text: &str) -> Vec<Range<usize>> {
    let found = LABEL.iter().flat_map(|label| label.find_iter(text));
    found.map(|label| label.range()).collect()
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<EchoToken> {
    let labels = labels(text);
    let mut labels = labels.iter().peekable();
    let mut tokens: Vec<EchoToken> = Vec::new();
    let mut open: Option<usize> = None;
    let mut close = |open: &mut Option<usize>, end: usize| {
        if let Some(start) = open.take() {
            let shown = text.get(start..end).unwrap_or_default().chars();
            let shown: String = shown.filter(|letter| !is_default_ignorable(*letter)).collect();
            let word = normalise(&shown);
            if !word.is_empty() {
                tokens.push(EchoToken { word, start, end });
            }
        }
    };
    for (at, letter) in text.char_indices() {
        while labels.next_if(|label| label.end <= at).is_some() {}
        let is_label = labels.peek().is_some_and(|label| label.contains(&at));
        // A mark belongs to the letter before it, and so does what is not seen.
        let is_mark = (matches!(letter, '\u{300}'..='\u{36F}') || is_default_ignorable(letter))
            && open.is_some();
        let is_word = !is_label && (letter.is_alphanumeric() || is_mark);
        let is_wide = letter >= FIRST_WIDE && !is_mark;
        if !is_word || is_wide {
            close(&mut open, at);
        }
        if is_word && open.is_none() {
            open = Some(at);
        }
        if is_word && is_wide {
            close(&mut open, at + letter.len_utf8());
        }
    }
    close(&mut open, text.len());
    tokens
}

/// A text as its tokens, with a space on each side of each, to look for one in another.
pub(crate) fn comparable(text: &str) -> String {
    let mut joined = String::from(" ");
    for token in tokens(text) {
        joined.push_str(&token.word);
        joined.push(' ');
    }
    joined
}

/// Whether a word turns a statement into its opposite.
pub(super) fn denies(word: &str) -> bool {
    DENYING.contains(&word)
}

/// What stands between a token and the next one.
fn gap<'t>(text: &'t str, words: &[EchoToken], at: usize) -> &'t str {
    let from = words.get(at).map_or(0, |token| token.end);
    let to = words.get(at + 1).map_or(text.len(), |token| token.start);
    text.get(from..to).unwrap_or_default()
}

/// Whether a sentence, an item or the text ends after a token.
pub(super) fn ends_after(text: &str, words: &[EchoToken], at: usize) -> bool {
    let gap = gap(text, words, at);
    let is_end = gap.contains(['…', '!', '?', ';', '。', '！', '？']) || gap.contains("...");
    let mut letters = gap.chars().peekable();
    let mut after_stop = false;
    while let Some(letter) = letters.next() {
        after_stop |= letter == '.' && letters.peek().is_none_or(|next| next.is_whitespace());
    }
    let is_item = gap.split_once('\n').is_some_and(|(_, rest)| {
        rest.contains(['\n', '-', '*', '>', '•', '[', '<'])
            || rest.trim().is_empty() && at + 1 >= words.len()
    });
    let is_line_end = gap.contains('\n') && line_words(text, words, at + 1) >= NEXT_LINE_WORDS_MIN;
    is_end || after_stop || is_item || is_line_end || at + 1 >= words.len()
}

/// How many words stand on a line from one on.
fn line_words(text: &str, words: &[EchoToken], from: usize) -> usize {
    let ends = (from..words.len()).position(|at| gap(text, words, at).contains('\n'));
    ends.map_or(words.len() - from.min(words.len()), |at| at + 1)
}

/// Whether a sentence, an item or the text begins at a token.
pub(super) fn starts_before(text: &str, words: &[EchoToken], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| {
        ends_after(text, words, before) || gap(text, words, before).contains([':', '\n'])
    })
}

/// The sentences and lines of a text, as ranges of its tokens. What follows a colon is one too.
pub(super) fn segments(text: &str, words: &[EchoToken]) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = 0;
    for at in 0..words.len() {
        let gap = gap(text, words, at);
        let ends = ends_after(text, words, at) || gap.contains('\n') || gap.contains(": ");
        if ends {
            segments.push(start..at + 1);
            start = at + 1;
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_dates_of_served_lines_are_no_words() {
        for label in [
            "[mem_abc2, 2026-05-07]",
            "[#12, 2026-05-07]",
            "[#12 #15 #16, 2026-05-07]",
            "[message 12]",
        ] {
            let text = format!("- {label} Ann: we move");
            let found: Vec<&str> = labels(&text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [label]);
        }
        assert!(labels("see [#12] and [12, 2026-05-07]").is_empty());
    }

    #[test]
    fn lines_with_our_label_are_not_said_by_whoever_pastes_them() {
        let pasted = "Look:\n- [mem_abc2, 2026-05-07] Ann: I like tea.\n1. [#12 #13, 2026-05-07] Ben: No.\n\
                      > * [mem_abc3, 2026-05-07] I like jam.\nI like both. [mem_abc2] is wrong.";
        assert_eq!(without_labelled_lines(pasted), "Look:\nI like both. [mem_abc2] is wrong.");
    }
}
