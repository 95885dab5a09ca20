//! Writes a claim as one sentence: cleaned, dated, with its subject.

use crate::patterns::RuleBook;
use crate::sentence::{Sentence, is_quote};

/// Shorter contents say nothing, longer ones are not one statement.
const CONTENT_CHARS: std::ops::RangeInclusive<usize> = 8..=280;

/// What a content is written from.
pub(crate) struct Draft<'d> {
    pub text: &'d str,
    pub sentence: &'d Sentence,
    /// The tokens of the statement.
    pub tokens: (usize, usize),
    /// What is written before them: the subject that they share.
    pub subject: Option<&'d str>,
    pub replacements: &'d [(usize, usize, String)],
    /// Whether the verb stands before its subject, because a word that was left out preceded it.
    pub is_inverted: bool,
}

impl Draft<'_> {
    /// The sentence, or nothing if it is too short or too long.
    pub fn write(&self) -> Option<String> {
        let (from, to) = self.tokens;
        let start = self.sentence.tokens.get(from)?.start;
        let end = self.sentence.tokens.get(to.checked_sub(1)?)?.end;
        let mut out = String::new();
        if let Some(subject) = self.subject {
            out.push_str(subject);
            out.push(' ');
        }
        let mut at = start;
        if self.is_inverted {
            let (verb, subject) =
                (self.sentence.tokens.get(from)?, self.sentence.tokens.get(from + 1)?);
            out.push_str(self.text.get(subject.start..subject.end)?);
            out.push(' ');
            out.push_str(&self.text.get(verb.start..verb.end)?.to_lowercase());
            at = subject.end;
        }
        for (from, to, words) in self.replacements {
            if *from < at || *to > end + 2 {
                continue;
            }
            out.push_str(self.text.get(at..*from)?);
            out.push_str(words);
            at = *to;
        }
        out.push_str(self.text.get(at..end.max(at))?);
        finish(&out)
    }
}

/// The tokens without the words at their end that say nothing.
pub(crate) fn without_trailing(
    sentence: &Sentence,
    (from, to): (usize, usize),
    book: &RuleBook,
) -> (usize, usize) {
    let folded = sentence.fold_of((from, to));
    let base = sentence.tokens.get(from).map_or(0, |token| token.fold_start);
    let cut = book.trailing.start(folded).map(|at| base + at);
    let mut to = match cut {
        Some(cut) => {
            let tokens = sentence.tokens.iter().enumerate().take(to).skip(from);
            tokens.take_while(|(_, token)| token.fold_end <= cut).last().map_or(from, |it| it.0 + 1)
        }
        None => to,
    };
    while to > from && matches!(sentence.word(to - 1), "," | ":" | ";") {
        to -= 1;
    }
    (from, to)
}

/// One sentence: single spaces, no marks of emphasis, a capital letter, a full stop.
pub(crate) fn finish(words: &str) -> Option<String> {
    // Half of a pair of quotation marks says nothing.
    let has_half = words.chars().filter(|letter| is_quote(*letter)).count() % 2 == 1;
    let is_dropped = |letter: &char| matches!(letter, '*' | '`') || has_half && is_quote(*letter);
    let plain: String = words.chars().filter(|letter| !is_dropped(letter)).collect();
    let mut out = String::with_capacity(plain.len() + 1);
    for word in plain.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    let open = out.matches('(').count();
    if open > out.matches(')').count() {
        out.push(')');
    }
    let first = out.chars().next()?;
    if first.is_lowercase() && !starts_with_name(&out) {
        let rest = out.get(first.len_utf8()..)?;
        out = first.to_uppercase().chain(rest.chars()).collect();
    }
    if !out.ends_with(['.', '!', '…']) {
        out.push('.');
    }
    CONTENT_CHARS.contains(&out.chars().count()).then_some(out)
}

/// Whether the first word is written in lower case on purpose: pgvector2, iPhone.
fn starts_with_name(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    word.chars().skip(1).any(char::is_uppercase) || word.contains(['_', '/', '.'])
}
