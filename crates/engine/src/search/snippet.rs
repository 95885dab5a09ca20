//! Cuts the snippet of a message: the verbatim part with the most matches, and the positions of the
//! matches.

use oneiro_text::{Analyzer, Phrase};
use std::ops::Range;

const SNIPPET_CHARS: usize = 240;

const NEIGHBOUR_CHARS: usize = 200;

/// What to highlight.
pub(super) struct HighlightTerms<'w> {
    pub(super) terms: &'w [String],
    pub(super) prefixes: &'w [String],
    pub(super) phrases: &'w [Phrase],
    pub(super) patterns: &'w [regex::Regex],
}

/// A part of the text, and the character ranges in it that match.
pub(super) fn snippet(
    analyzer: &mut Analyzer,
    text: &str,
    chunk: &Range<usize>,
    wanted: &HighlightTerms<'_>,
) -> (String, Vec<(usize, usize)>) {
    let mut marks = marks(analyzer, text, chunk, wanted);
    if marks.is_empty() && chunk.len() < text.len() {
        marks = self::marks(analyzer, text, &(0..text.len().min(1 << 20)), wanted);
    }
    marks.sort_unstable_by_key(|mark| (mark.start, std::cmp::Reverse(mark.end)));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match joined.last_mut() {
            Some(last) if mark.start < last.end => last.end = last.end.max(mark.end),
            _ => joined.push(mark),
        }
    }
    let window = window(text, chunk, &joined);
    let shown = text.get(window.clone()).unwrap_or_default();
    let mut out = String::with_capacity(shown.len() + 6);
    if window.start > 0 {
        out.push('…');
    }
    let lead = out.chars().count();
    out.push_str(shown);
    if window.end < text.len() {
        out.push('…');
    }
    let chars = |until: usize| text.get(window.start..until).map_or(0, |part| part.chars().count());
    let inside = joined.iter().filter(|mark| mark.start >= window.start && mark.end <= window.end);
    let highlights = inside.map(|mark| (lead + chars(mark.start), lead + chars(mark.end)));
    (out, highlights.collect())
}

fn marks(
    analyzer: &mut Analyzer,
    text: &str,
    chunk: &Range<usize>,
    wanted: &HighlightTerms<'_>,
) -> Vec<Range<usize>> {
    let part = text.get(chunk.clone()).unwrap_or_default();
    let mut marks = Vec::new();
    analyzer.tokens(part, |token| {
        let is_wanted = wanted.terms.iter().any(|term| term == token.term)
            || wanted.prefixes.iter().any(|prefix| token.norm.starts_with(prefix.as_str()));
        if is_wanted {
            marks.push(chunk.start + token.start as usize..chunk.start + token.end as usize);
        }
    });
    let found = wanted.phrases.iter().filter_map(|phrase| phrase.find(part));
    marks.extend(found.map(|found| chunk.start + found.start..chunk.start + found.end));
    for pattern in wanted.patterns {
        let found = pattern.find_iter(part).take(20).filter(|found| !found.is_empty());
        marks.extend(found.map(|found| chunk.start + found.start()..chunk.start + found.end()));
    }
    marks
}

/// The range of the text to show: the one with the most marks, cut between words.
fn window(text: &str, chunk: &Range<usize>, marks: &[Range<usize>]) -> Range<usize> {
    let limit = text.char_indices().nth(SNIPPET_CHARS).map(|(at, _)| at);
    if limit.is_none() {
        return 0..text.len();
    }
    let far = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.char_indices().nth(SNIPPET_CHARS).map_or(text.len(), |(at, _)| from + at)
    };
    let covered = |mark: &Range<usize>| {
        let until = far(mark.start);
        marks.iter().filter(|other| other.start >= mark.start && other.end <= until).count()
    };
    let first = marks.iter().take(64).rev().max_by_key(|mark| covered(mark));
    let anchor = first.map_or(chunk.start, |mark| mark.start);
    // Starts a few words before the first mark.
    let before = text.get(..anchor).unwrap_or_default();
    let lead = before.char_indices().rev().nth(39).map_or(0, |(at, _)| at);
    let lead = match lead {
        0 => 0,
        lead => before
            .get(lead..)
            .and_then(|part| part.find(char::is_whitespace))
            .map_or(anchor, |at| lead + at),
    };
    let start = lead + text.get(lead..).map_or(0, |part| part.len() - part.trim_start().len());
    let end = far(start);
    let end = match text.get(start..end).and_then(|part| part.rfind(char::is_whitespace)) {
        Some(at) if end < text.len() && at > (end - start) / 2 => start + at,
        _ => end,
    };
    start..end
}

/// The first `chars` characters of a text.
pub(super) fn beginning(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// The text of a neighbour, shortened.
pub(super) fn neighbour(text: &str) -> String {
    beginning(text, NEIGHBOUR_CHARS)
}
