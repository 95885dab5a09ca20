//! Reads a text in the form that rules are written for, piece by piece: compatibility forms, accents,
//! look-alikes, case, invisible characters and runs of white space make no difference.

use std::ops::Range;
use std::str::CharIndices;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::confusable::plain;
use crate::invisible::is_ignorable;

/// Folded bytes that are scanned at a time.
pub(crate) const WINDOW_BYTES: usize = 64 << 10;

/// Bytes that a window shares with the one before, so that nothing hides across the border. A match
/// of a rule is shorter unless somebody makes a single word longer than this.
pub(crate) const OVERLAP_BYTES: usize = 4 << 10;

/// A folded piece of a text, with the way back to the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece {
    pub text: String,
    /// For each byte, where its character begins in the original.
    origins: Vec<usize>,
}

impl Piece {
    pub fn push(&mut self, c: char, origin: usize) {
        self.text.push(c);
        self.origins.resize(self.text.len(), origin);
    }

    /// A line break counts more than a space, and either only once.
    fn push_space(&mut self, space: char, origin: usize) {
        match self.text.chars().next_back() {
            Some('\n') => {}
            Some(' ') if space == '\n' => {
                self.text.pop();
                self.origins.pop();
                self.push('\n', origin);
            }
            Some(' ') => {}
            _ => self.push(space, origin),
        }
    }

    pub fn origin(&self, at: usize) -> usize {
        self.origins.get(at).copied().unwrap_or_default()
    }

    /// The characters of the original that a range of this piece comes from.
    pub fn original_span(&self, range: &Range<usize>, original: &str) -> Range<usize> {
        let start = self.origin(range.start);
        let last = self.origin(range.end.saturating_sub(1)).max(start);
        let length = original.get(last..).and_then(|rest| rest.chars().next());
        start..last + length.map_or(0, char::len_utf8)
    }

    /// The sentences, each with the punctuation before it. One that goes on in the next line is one,
    /// and long ones come in parts that overlap.
    pub fn sentences(&self, original: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = 0;
        for (at, c) in self.text.char_indices() {
            let end = at + c.len_utf8();
            let next = self.text.get(end..).unwrap_or_default().chars().next();
            let is_end = match c {
                '.' | '!' | '?' | ';' => next.is_none_or(|it| it == ' ' || it == '\n'),
                '。' => true,
                '\n' => !self.is_lowercase_at(end, original),
                _ => false,
            };
            if is_end {
                push_parts(&mut found, &self.text, start..end);
                start = at;
            }
        }
        push_parts(&mut found, &self.text, start..self.text.len());
        found
    }

    /// Whether the original has a small letter where a place of this piece comes from.
    fn is_lowercase_at(&self, at: usize, original: &str) -> bool {
        let Some(origin) = self.origins.get(at) else { return false };
        let rest = original.get(*origin..).unwrap_or_default();
        rest.chars().next().is_some_and(char::is_lowercase)
    }

    /// Keeps the end, from the first word that begins in it.
    fn keep_overlap(&mut self) {
        let overlap = self.text.len().saturating_sub(OVERLAP_BYTES);
        let mut cut = self.text.ceil_char_boundary(overlap);
        let tail = self.text.get(cut..).unwrap_or_default();
        cut += tail.find([' ', '\n']).unwrap_or(0);
        self.text.drain(..cut);
        self.origins.drain(..cut);
    }
}

/// Bytes of a sentence that are read at a time; ordinary ones are shorter.
const SENTENCE_BYTES: usize = 480;

fn push_parts(found: &mut Vec<Range<usize>>, text: &str, sentence: Range<usize>) {
    let mut start = sentence.start;
    while sentence.end - start > SENTENCE_BYTES {
        found.push(start..text.floor_char_boundary(start + SENTENCE_BYTES));
        start = text.floor_char_boundary(start + SENTENCE_BYTES / 2);
    }
    if start < sentence.end {
        found.push(start..sentence.end);
    }
}

/// The folded windows of a text, in order, each with the end of the one before.
pub(crate) struct Windows<'t> {
    rest: CharIndices<'t>,
    piece: Piece,
}

impl<'t> Windows<'t> {
    pub fn new(text: &'t str) -> Windows<'t> {
        let mut piece = Piece::default();
        // Rules ask for a line break where a line begins.
        piece.push('\n', 0);
        Windows { rest: text.char_indices(), piece }
    }

    /// The next window, if something is left.
    pub fn advance(&mut self) -> Option<&Piece> {
        self.rest.clone().next()?;
        if self.piece.text.len() > OVERLAP_BYTES {
            self.piece.keep_overlap();
        }
        while self.piece.text.len() < WINDOW_BYTES {
            let Some((at, c)) = self.rest.next() else { break };
            fold_char(c, |folded| match folded {
                ' ' | '\n' => self.piece.push_space(folded, at),
                _ => self.piece.push(folded, at),
            });
        }
        Some(&self.piece)
    }
}

fn fold_char(c: char, mut emit: impl FnMut(char)) {
    if c.is_ascii() && !c.is_ascii_control() {
        return emit(c.to_ascii_lowercase());
    }
    if is_ignorable(c) {
        return;
    }
    // Two letters in one that have no compatibility form, and an accent that NFKC sets after a space.
    let written_out = match c {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        '´' => "'",
        _ => "",
    };
    if !written_out.is_empty() {
        return written_out.chars().for_each(emit);
    }
    decompose_compatible(c, |part| match part {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => emit('\n'),
        _ if part.is_whitespace() => emit(' '),
        _ if is_combining_mark(part) || part.is_control() => {}
        _ => plain(part).to_lowercase().filter(|it| !is_combining_mark(*it)).for_each(&mut emit),
    });
}

/// The characters of a pattern as folded text has them. Its ASCII is syntax and stays.
pub(crate) fn fold_pattern(pattern: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            fold_char(c, |folded| out.push(folded));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut windows = Windows::new(text);
        windows.advance().map(|piece| piece.text.clone()).unwrap_or_default()
    }

    #[test]
    fn forms_accents_case_and_space_make_no_difference() {
        assert_eq!(folded("Ｉｇｎｏｒｅ \t ALL"), "\nignore all");
        assert_eq!(folded("règles \r\n\n  Überall"), "\nregles\nuberall");
        assert_eq!(folded("außer œuvre"), "\nausser oeuvre");
        assert_eq!(folded("ig\u{200b}no\u{ad}re “x”"), "\nignore \"x\"");
    }

    #[test]
    fn a_span_leads_back_to_whole_characters() {
        let text = "é ﬁn 𝐢";
        let mut windows = Windows::new(text);
        let piece = windows.advance().cloned().unwrap();
        assert_eq!(piece.text, "\ne fin i");
        let fin = piece.original_span(&(3..6), text);
        assert_eq!(text.get(fin), Some("ﬁn"));
        assert_eq!(text.get(piece.original_span(&(7..8), text)), Some("𝐢"));
    }

    #[test]
    fn sentences_end_at_punctuation_and_lines_that_do_not_go_on() {
        let sentences = |text: &str| -> Vec<String> {
            let mut windows = Windows::new(text);
            let piece = windows.advance().cloned().unwrap();
            let found = piece.sentences(text);
            found.into_iter().map(|it| piece.text[it].trim().to_owned()).collect()
        };
        assert_eq!(
            sentences("Read a.b now. Then\ngo on!"),
            ["", "read a.b now.", ". then\ngo on!", "!"]
        );
        assert_eq!(sentences("Tea\n- Milk\nBread"), ["", "tea", "- milk", "bread"]);
        let long = "word ".repeat(300);
        let parts = sentences(&long);
        assert!(parts.iter().all(|it| it.len() <= SENTENCE_BYTES), "{parts:?}");
        assert!(parts.len() >= 2 * long.len() / SENTENCE_BYTES, "{}", parts.len());
    }

    #[test]
    fn windows_overlap_and_cover_the_text() {
        let text = "word ".repeat(WINDOW_BYTES / 2);
        let mut windows = Windows::new(&text);
        let (mut end, mut count) = (0, 0);
        while let Some(piece) = windows.advance() {
            assert!(piece.text.len() <= WINDOW_BYTES);
            assert!(piece.origin(0) <= end, "a gap before {}", piece.origin(0));
            end = piece.origin(piece.text.len() - 1);
            count += 1;
        }
        assert_eq!(end, text.len() - 1);
        assert_eq!(count, 3);
    }
}
