//! Removes echoes from a text: served lines with their markers and labels, and whole delimited blocks.

use super::tokens::{EchoToken, labels, tokens};
use super::{Match, OPENING, ServedLines, Stripped};
use std::ops::Range;

/// Tokens between two served lines that still count as one after the other: a label, a name.
const TOKENS_BETWEEN_MAX: usize = 2;

/// What may stand before a line: markers of lists and quotations.
const MARKERS: [char; 8] = ['-', '*', '>', '•', '+', '"', '“', '·'];

/// What may stand after a line.
const ENDINGS: [char; 12] = ['.', '!', '?', ',', ';', '…', '"', '”', ')', '*', '_', '`'];

impl ServedLines {
    /// Removes served lines and delimited blocks from a text.
    pub(crate) fn strip(&self, text: &str) -> Stripped {
        let words = tokens(text);
        let matches = self.matches(text, &words);
        let blocks = blocks(text);
        if matches.is_empty() && blocks.is_empty() {
            return Stripped { text: text.to_owned(), echoed: Vec::new(), consecutive: false };
        }
        let mut echoed = Vec::new();
        for id in matches.iter().filter_map(|found| self.memory(found.line)) {
            if !echoed.contains(&id) {
                echoed.push(id);
            }
        }
        let labels = labels(text);
        let mut removed: Vec<Range<usize>> =
            matches.iter().filter_map(|found| bytes_of(found, text, &words, &labels)).collect();
        let is_long = |block: &Range<usize>| {
            text.get(block.clone()).unwrap_or_default().lines().count() > LINES_OF_ONE
        };
        let consecutive = are_consecutive(&matches) || blocks.iter().any(is_long);
        removed.extend(blocks);
        removed.sort_by_key(|range| range.start);
        Stripped { text: without(text, &removed), echoed, consecutive }
    }
}

/// Lines of a block with one served line: its tags and that line.
const LINES_OF_ONE: usize = 3;

/// The blocks between tags of ours.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let Some(opening) = OPENING.as_ref() else { return found };
    for tag in opening.captures_iter(text) {
        let (Some(whole), Some(name)) = (tag.get(0), tag.get(1)) else { continue };
        if found.last().is_some_and(|last| whole.start() < last.end) {
            continue;
        }
        let closing = format!("</{}>", name.as_str());
        let rest = text.get(whole.end()..).unwrap_or_default();
        if let Some(end) = rest.find(&closing) {
            found.push(whole.start()..whole.end() + end + closing.len());
        }
    }
    found
}

fn are_consecutive(matches: &[Match]) -> bool {
    matches.windows(2).any(|pair| match pair {
        [one, next] => {
            one.line != next.line
                && next.tokens.start.saturating_sub(one.tokens.end) <= TOKENS_BETWEEN_MAX
        }
        _ => false,
    })
}

/// The bytes of a line with its marker, its label and the punctuation after it.
fn bytes_of(
    found: &Match,
    text: &str,
    words: &[EchoToken],
    labels: &[Range<usize>],
) -> Option<Range<usize>> {
    let first = words.get(found.tokens.start)?;
    let last = words.get(found.tokens.end.checked_sub(1)?)?;
    let (mut start, mut end) = (first.start, last.end);
    loop {
        let before = text.get(..start)?;
        let trimmed = before.trim_end_matches([' ', '\t']);
        let trimmed = trimmed.trim_end_matches(MARKERS);
        let label = labels.iter().find(|label| label.end == trimmed.len());
        let to = label.map_or(trimmed.len(), |label| label.start);
        if to == start {
            break;
        }
        start = to;
    }
    let after = text.get(end..)?;
    end += after.len() - after.trim_start_matches(ENDINGS).len();
    Some(start..end)
}

/// The text without some ranges of bytes. Lines of which nothing is left but a name are dropped.
fn without(text: &str, removed: &[Range<usize>]) -> String {
    let mut kept = Vec::new();
    let mut offset = 0;
    for line in text.split('\n') {
        let (start, end) = (offset, offset + line.len());
        offset = end + 1;
        let mut pieces = Vec::new();
        let mut at = start;
        let mut touched = false;
        for range in removed.iter().filter(|range| range.start < end && start < range.end) {
            touched = true;
            pieces.push(text.get(at..range.start.max(at)).unwrap_or_default());
            at = at.max(range.end.min(end));
        }
        if !touched {
            // An empty line inside a removed range is part of it.
            if !removed.iter().any(|range| range.start <= start && end < range.end) {
                kept.push(line.to_owned());
            }
            continue;
        }
        let after = text.get(at..end).unwrap_or_default();
        let before = pieces.concat();
        let is_bare = |part: &str| !part.contains(char::is_alphanumeric);
        let is_name =
            before.trim_end().ends_with(':') && tokens(&before).len() <= TOKENS_BETWEEN_MAX;
        if is_bare(after) && (is_bare(&before) || is_name) {
            continue;
        }
        kept.push(format!("{}{after}", before.trim_end_matches(MARKERS)).trim().to_owned());
    }
    kept.join("\n")
}
