//! Scans text into units: runs of letters and digits, single characters, clusters and emoji.

use crate::fold::lower;
use crate::folded_text::{FoldedText, end_of_stretch};
use crate::identifier::{
    Source, clitic, cluster_end, ends_word, groups_digits, is_address, separator,
};
use crate::script::{Class, ZERO_WIDTH_JOINER, class, is_emoji, is_regional, is_skin_tone, is_tag};
use crate::unit::{Link, Shape, Span, Unit};
use std::ops::Range;

/// Longer runs are cut.
pub(crate) const MAX_RUN_BYTES: usize = 64;

/// A bound on the characters in one cluster or emoji.
pub(crate) const MAX_CLUSTER_CHARS: usize = 12;

/// French and Italian words that lose their vowel before an apostrophe.
const ELIDED_WORDS: [&str; 27] = [
    "l", "d", "j", "m", "t", "s", "c", "n", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "dell",
    "all", "nell", "sull", "dall", "un", "quest", "quell", "bell", "sant", "gl", "coll", "dov",
    "com",
];

/// Scans texts into units. Keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    pub units: Vec<Unit>,
    /// The parts of camelCase and of letters mixed with digits.
    pub subwords: Vec<Span>,
    /// Normalised text. The units of an identifier are adjacent, with their separators.
    pub norm: String,
    letters: Vec<Letter>,
    folded: FoldedText,
}

#[derive(Debug, Clone, Copy)]
struct Letter {
    at: usize,
    norm: usize,
    case: Case,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    Digit,
}

/// The end of a run.
struct RunEnd {
    /// Where scanning continues.
    at: usize,
    /// Whether the run is a word before an apostrophe, so that the identifier ends.
    is_elided: bool,
}

impl Scanner {
    /// Scans from `at` to the end of the text or until there are about `limit` units, and returns
    /// where it stopped. An identifier is never split.
    pub fn scan(&mut self, text: &str, mut at: usize, limit: usize) -> usize {
        self.units.clear();
        self.subwords.clear();
        self.norm.clear();
        let bytes = text.as_bytes();
        while self.units.len() < limit
            && let Some(&byte) = bytes.get(at)
        {
            at = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => match self.plain_word(text, at) {
                    Some(end) => end,
                    None => self.end_of_stretch(text, at),
                },
                b'0'..=b'9' | b'#' | b'@' | 0x80.. => self.end_of_stretch(text, at),
                _ => at + 1,
            };
        }
        at
    }

    /// The fast path for most words: ASCII letters with nothing attached.
    fn plain_word(&mut self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes().get(at..)?;
        let letters = bytes.iter().take(MAX_RUN_BYTES + 1);
        let length = letters.take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = bytes.get(..length)?;
        let is_upper = word.first()?.is_ascii_uppercase();
        let rest = word.get(1..)?;
        let is_plain = length <= MAX_RUN_BYTES
            && (rest.iter().all(u8::is_ascii_lowercase)
                || (is_upper && rest.iter().all(u8::is_ascii_uppercase)));
        if !is_plain || !ends_word(bytes.get(length).copied(), bytes.get(length + 1).copied()) {
            return None;
        }
        let norm = self.norm.len();
        self.norm.push_str(text.get(at..at + length)?);
        if is_upper {
            self.norm.get_mut(norm..)?.make_ascii_lowercase();
        }
        let span = Span {
            start: at as u32,
            end: (at + length) as u32,
            norm: norm as u32,
            norm_end: self.norm.len() as u32,
        };
        self.push(span, Shape::Word, Link::None);
        Some(at + length)
    }

    fn end_of_stretch(&mut self, text: &str, at: usize) -> usize {
        let end = end_of_stretch(text, at).max(at + 1);
        let slice = text.get(at..end).unwrap_or_default();
        if slice.is_ascii() {
            self.scan_source(Source { text: slice, offset: at, folded: None });
        } else {
            let mut folded = std::mem::take(&mut self.folded);
            folded.fill(slice, at);
            self.scan_source(Source { text: &folded.text, offset: 0, folded: Some(&folded) });
            self.folded = folded;
        }
        end
    }

    fn scan_source(&mut self, source: Source<'_>) {
        let mut at = 0;
        // The end of the previous character or cluster, to see whether the next one is adjacent.
        let mut previous_end = (0, Shape::Word);
        while let Some(letter) = source.letter(at) {
            let next = at + letter.len_utf8();
            let shape = match class(letter) {
                Class::Letter | Class::Digit => {
                    at = self.identifier(source, at);
                    continue;
                }
                Class::Break | Class::Joiner if matches!(letter, '#' | '@') => {
                    at = if source.is_run(next) { self.identifier(source, at) } else { next };
                    continue;
                }
                Class::Break | Class::Joiner | Class::Apostrophe | Class::Mark => {
                    at = next;
                    continue;
                }
                Class::Emoji => {
                    at = self.emoji(source, at);
                    continue;
                }
                Class::Cjk => Shape::Cjk,
                Class::Gram => Shape::Gram,
            };
            let end = if shape == Shape::Gram { cluster_end(source, at) } else { next };
            let link = if previous_end == (at, shape) { Link::Run } else { Link::None };
            let norm = self.norm.len();
            for letter in source.text.get(at..end).unwrap_or_default().chars() {
                lower(letter, |low| self.norm.push(low));
            }
            let span = self.span(source, at..end, norm);
            self.push(span, shape, link);
            previous_end = (end, shape);
            at = end;
        }
    }

    fn span(&self, source: Source<'_>, range: Range<usize>, norm: usize) -> Span {
        Span {
            start: source.start(range.start),
            end: source.end(range.end),
            norm: norm as u32,
            norm_end: self.norm.len() as u32,
        }
    }

    fn push(&mut self, span: Span, shape: Shape, link: Link) {
        let unit =
            Unit { span, outer: span, shape, link, cut: false, subwords: (0, 0), entry: u32::MAX };
        self.units.push(unit);
    }

    fn emoji(&mut self, source: Source<'_>, at: usize) -> usize {
        let norm = self.norm.len();
        let mut end = at;
        let mut previous = None;
        let mut toned = false;
        for letter in source.text.get(at..).unwrap_or_default().chars().take(MAX_CLUSTER_CHARS) {
            let belongs = match previous {
                None => true,
                Some(ZERO_WIDTH_JOINER) => is_emoji(letter),
                Some(before) if is_regional(before) => {
                    is_regional(letter) && end - at == before.len_utf8()
                }
                Some(_) => letter == ZERO_WIDTH_JOINER || is_skin_tone(letter) || is_tag(letter),
            };
            if !belongs {
                break;
            }
            toned |= previous.is_some() && is_skin_tone(letter);
            previous = Some(letter);
            self.norm.push(letter);
            end += letter.len_utf8();
        }
        while self.norm.ends_with(ZERO_WIDTH_JOINER) {
            self.norm.pop();
            end -= ZERO_WIDTH_JOINER.len_utf8();
        }
        let span = self.span(source, at..end, norm);
        self.push(span, Shape::Emoji, Link::None);
        if toned && !source.letter(at).is_some_and(is_skin_tone) {
            let norm = self.norm.len();
            let plain = |letter: &char| !is_skin_tone(*letter);
            let sequence = source.text.get(at..end).unwrap_or_default();
            self.norm.extend(sequence.chars().filter(plain));
            let span = self.span(source, at..end, norm);
            self.push(span, Shape::Emoji, Link::Run);
        }
        end
    }

    /// A run of letters and digits with everything attached to it.
    fn identifier(&mut self, source: Source<'_>, mut at: usize) -> usize {
        let outer_start = at;
        let outer_norm = self.norm.len();
        if let Some(sign @ ('#' | '@')) = source.letter(at) {
            self.norm.push(sign);
            at += 1;
        }
        let is_address = is_address(source.text.get(at..).unwrap_or_default());
        let mut link = Link::None;
        let mut bracket = false;
        let first = self.units.len();
        loop {
            let run = self.run(source, at, link);
            at = run.at;
            if run.is_elided {
                break;
            }
            let tail = self.tail(source, at, bracket);
            at += tail;
            if tail > 0 && !bracket {
                break;
            }
            let Some(separator) = separator(source, at, is_address) else { break };
            let text = source.text.get(at..at + separator.length).unwrap_or_default();
            bracket = text == "[";
            self.norm.extend(text.chars().map(|sign| if sign == '\\' { '/' } else { sign }));
            at += separator.length;
            link = if tail > 0 { Link::Component } else { separator.link };
        }
        let start = source.start(outer_start);
        if let Some(unit) = self.units.get_mut(first) {
            unit.outer.start = start;
            unit.outer.norm = outer_norm as u32;
        }
        at
    }

    /// Trailing signs that belong to a name, as in C++.
    fn tail(&mut self, source: Source<'_>, at: usize, bracket: bool) -> usize {
        let rest = source.text.get(at..).unwrap_or_default();
        let short = self.units.last().is_some_and(|unit| {
            unit.shape == Shape::Word && unit.span.norm_end - unit.span.norm <= 2
        });
        let tail = if bracket && rest.starts_with(']') {
            "]"
        } else if short && rest.starts_with("++") && !source.is_run(at + 2) {
            "++"
        } else if short && rest.starts_with('#') && !source.is_run(at + 1) {
            "#"
        } else {
            return 0;
        };
        self.norm.push_str(tail);
        let norm_end = self.norm.len() as u32;
        let end = source.end(at + tail.len());
        if let Some(unit) = self.units.last_mut() {
            unit.outer.end = end;
            unit.outer.norm_end = norm_end;
        }
        tail.len()
    }

    /// One run of letters and digits.
    fn run(&mut self, source: Source<'_>, start: usize, link: Link) -> RunEnd {
        let norm = self.norm.len();
        let mut at = start;
        let mut end = start;
        let mut resume = None;
        let mut is_elided = false;
        let mut contracted = false;
        let (mut has_letters, mut has_digits) = (false, false);
        self.letters.clear();
        while let Some(letter) = source.letter(at) {
            let class = class(letter);
            let is_mark = class == Class::Mark;
            match class {
                Class::Letter => has_letters = true,
                Class::Digit => has_digits = true,
                Class::Mark if at > start => {}
                Class::Apostrophe if !has_digits && source.class(at + 1) == Class::Letter => {
                    let after = at + 1;
                    if let Some(length) = clitic(source, after) {
                        resume = Some(after + length);
                        break;
                    }
                    if ELIDED_WORDS.contains(&self.norm.get(norm..).unwrap_or_default()) {
                        resume = Some(after);
                        is_elided = true;
                        break;
                    }
                    at = after;
                    contracted = true;
                    continue;
                }
                _ if letter == ',' && !has_letters && groups_digits(source, start, at) => {
                    at += 1;
                    continue;
                }
                _ => break,
            }
            let case = match letter {
                'a'..='z' | 'а'..='я' => Case::Lower,
                _ if letter.is_numeric() => Case::Digit,
                _ if letter.is_uppercase() => Case::Upper,
                _ => Case::Lower,
            };
            if !is_mark && self.letters.len() <= MAX_RUN_BYTES {
                self.letters.push(Letter { at, norm: self.norm.len(), case });
            }
            if self.norm.len() <= norm + MAX_RUN_BYTES {
                lower(letter, |low| self.norm.push(low));
            }
            at += letter.len_utf8();
            end = at;
        }
        let cut = self.cut_off(norm);
        let span = self.span(source, start..end, norm);
        let shape = match (has_letters, has_digits) {
            (true, true) => Shape::Mixed,
            (false, true) => Shape::Number,
            _ => Shape::Word,
        };
        self.push(span, shape, link);
        // Names with an apostrophe are not split: O'Brien is one name.
        if !cut && !contracted {
            self.split_subwords(source, span, end);
        }
        if let Some(unit) = self.units.last_mut() {
            unit.cut = cut;
        }
        RunEnd { at: resume.unwrap_or(end), is_elided }
    }

    fn cut_off(&mut self, norm: usize) -> bool {
        let longest = norm + MAX_RUN_BYTES;
        if self.norm.len() <= longest {
            return false;
        }
        self.norm.truncate(self.norm.floor_char_boundary(longest));
        true
    }

    /// Splits a run at changes of case and between letters and digits. A run with many changes is a
    /// hash or encoded data and is not split.
    fn split_subwords(&mut self, source: Source<'_>, span: Span, end: usize) {
        let starts_subword = |window: &[Letter]| match window {
            [previous, letter, rest @ ..] => match (previous.case, letter.case) {
                (Case::Lower, Case::Upper) => true,
                (Case::Digit, Case::Digit) => false,
                (Case::Digit, _) | (_, Case::Digit) => true,
                // The last of several capitals starts the next word, but URLs is one word.
                (Case::Upper, Case::Upper) => match rest {
                    [next, after @ ..] => {
                        next.case == Case::Lower
                            && !(after.first().is_none_or(|letter| letter.case != Case::Lower)
                                && source.letter(next.at) == Some('s'))
                    }
                    [] => false,
                },
                _ => false,
            },
            _ => false,
        };
        let first = self.subwords.len();
        let mut opened = (span.start, span.norm);
        for at in 0..self.letters.len() {
            let window = self.letters.get(at..).unwrap_or_default();
            if let [previous, letter, ..] = window
                && starts_subword(window)
                // Both letters come from different characters of the original.
                && source.start(previous.at) != source.start(letter.at)
            {
                let norm_end = letter.norm as u32;
                let (start, norm) = opened;
                self.subwords.push(Span { start, end: source.end(letter.at), norm, norm_end });
                opened = (source.start(letter.at), norm_end);
            }
        }
        let (start, norm) = opened;
        self.subwords.push(Span { start, end: source.end(end), norm, norm_end: span.norm_end });
        let count = self.subwords.len() - first;
        let is_opaque = count > 4 && self.letters.len() * 2 < count * 5;
        if count == 1 || is_opaque {
            self.subwords.truncate(first);
        } else if let Some(unit) = self.units.last_mut() {
            unit.subwords = (first as u32, (first + count) as u32);
        }
    }
}
