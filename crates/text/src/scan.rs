//! Text to units: runs of letters and digits, single characters, clusters, emoji. It owns where
//! they start and end and what holds them together; it must not know languages or stems.

use crate::fold::lower;
use crate::joints::{Source, clitic, cluster_end, ends_word, groups_digits, is_address, separator};
use crate::piece::{Piece, stretch};
use crate::script::{Class, ZERO_WIDTH_JOINER, class, is_emoji, is_regional, is_skin_tone, is_tag};
use crate::unit::{Joint, Shape, Span, Unit};

/// The longest run that is kept whole; what is beyond is cut off.
pub(crate) const LONGEST_RUN: usize = 64;

/// Characters in one cluster or emoji, so that nothing grows without end.
pub(crate) const LONGEST_CLUSTER: usize = 12;

/// What may stand before an apostrophe as a word of its own, in French and Italian.
const ELIDED: [&str; 27] = [
    "l", "d", "j", "m", "t", "s", "c", "n", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "dell",
    "all", "nell", "sull", "dall", "un", "quest", "quell", "bell", "sant", "gl", "coll", "dov",
    "com",
];

/// Reads texts into units, over buffers that it keeps.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    /// The units, in order.
    pub units: Vec<Unit>,
    /// The pieces of camelCase and of letters mixed with digits.
    pub humps: Vec<Span>,
    /// Normalised text. Units of one identifier lie side by side, with their separators.
    pub norm: String,
    letters: Vec<Letter>,
    piece: Piece,
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

impl Scanner {
    /// Reads from `at` until the end or until there are about `limit` units; returns where it
    /// stopped. No identifier is divided by the limit.
    pub fn scan(&mut self, text: &str, mut at: usize, limit: usize) -> usize {
        self.units.clear();
        self.humps.clear();
        self.norm.clear();
        let bytes = text.as_bytes();
        while self.units.len() < limit
            && let Some(&byte) = bytes.get(at)
        {
            at = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => match self.plain_word(text, at) {
                    Some(end) => end,
                    None => self.stretch(text, at),
                },
                b'0'..=b'9' | b'#' | b'@' | 0x80.. => self.stretch(text, at),
                _ => at + 1,
            };
        }
        at
    }

    /// The short way for most words of most texts: ASCII letters that nothing is attached to.
    fn plain_word(&mut self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes().get(at..)?;
        let letters = bytes.iter().take(LONGEST_RUN + 1);
        let length = letters.take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = bytes.get(..length)?;
        let is_upper = word.first()?.is_ascii_uppercase();
        let rest = word.get(1..)?;
        let is_plain = length <= LONGEST_RUN
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
        self.push(span, Shape::Word, Joint::Open);
        Some(at + length)
    }

    fn stretch(&mut self, text: &str, at: usize) -> usize {
        let end = stretch(text, at).max(at + 1);
        let slice = text.get(at..end).unwrap_or_default();
        if slice.is_ascii() {
            self.scan_source(Source { text: slice, offset: at, piece: None });
        } else {
            let mut piece = std::mem::take(&mut self.piece);
            piece.fill(slice, at);
            self.scan_source(Source { text: &piece.text, offset: 0, piece: Some(&piece) });
            self.piece = piece;
        }
        end
    }

    fn scan_source(&mut self, source: Source<'_>) {
        let mut at = 0;
        // Where the last single character or cluster ended, to know what stands beside it.
        let mut beside = (0, Shape::Word);
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
            let joint = if beside == (at, shape) { Joint::Run } else { Joint::Open };
            let norm = self.norm.len();
            for letter in source.text.get(at..end).unwrap_or_default().chars() {
                lower(letter, |low| self.norm.push(low));
            }
            let span = self.span(source, (at, end), norm);
            self.push(span, shape, joint);
            beside = (end, shape);
            at = end;
        }
    }

    fn span(&self, source: Source<'_>, (start, end): (usize, usize), norm: usize) -> Span {
        Span {
            start: source.start(start),
            end: source.end(end),
            norm: norm as u32,
            norm_end: self.norm.len() as u32,
        }
    }

    fn push(&mut self, span: Span, shape: Shape, joint: Joint) {
        let unit =
            Unit { span, outer: span, shape, joint, cut: false, humps: (0, 0), entry: u32::MAX };
        self.units.push(unit);
    }

    fn emoji(&mut self, source: Source<'_>, at: usize) -> usize {
        let norm = self.norm.len();
        let mut end = at;
        let mut previous = None;
        let mut toned = false;
        for letter in source.text.get(at..).unwrap_or_default().chars().take(LONGEST_CLUSTER) {
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
        let span = self.span(source, (at, end), norm);
        self.push(span, Shape::Emoji, Joint::Open);
        if toned && !source.letter(at).is_some_and(is_skin_tone) {
            let norm = self.norm.len();
            let plain = |letter: &char| !is_skin_tone(*letter);
            let sequence = source.text.get(at..end).unwrap_or_default();
            self.norm.extend(sequence.chars().filter(plain));
            let span = self.span(source, (at, end), norm);
            self.push(span, Shape::Emoji, Joint::Run);
        }
        end
    }

    /// A run of letters and digits with all that hangs on it.
    fn identifier(&mut self, source: Source<'_>, mut at: usize) -> usize {
        let outer_start = at;
        let outer_norm = self.norm.len();
        if let Some(sign @ ('#' | '@')) = source.letter(at) {
            self.norm.push(sign);
            at += 1;
        }
        let is_address = is_address(source.text.get(at..).unwrap_or_default());
        let mut joint = Joint::Open;
        let mut bracket = false;
        let first = self.units.len();
        loop {
            let (end, elided) = self.run(source, at, joint);
            at = end;
            if elided {
                break;
            }
            let tail = self.tail(source, at, bracket);
            at += tail;
            if tail > 0 && !bracket {
                break;
            }
            let (separator, component) = separator(source, at, is_address);
            if separator == 0 {
                break;
            }
            let text = source.text.get(at..at + separator).unwrap_or_default();
            bracket = text == "[";
            self.norm.extend(text.chars().map(|sign| if sign == '\\' { '/' } else { sign }));
            at += separator;
            joint = if component || tail > 0 { Joint::Component } else { Joint::Run };
        }
        let start = source.start(outer_start);
        if let Some(unit) = self.units.get_mut(first) {
            unit.outer.start = start;
            unit.outer.norm = outer_norm as u32;
        }
        at
    }

    /// The signs after the last run that belong to the name, such as those of C++.
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

    /// One run of letters and digits. Says where to go on, and whether an elided word ended it.
    fn run(&mut self, source: Source<'_>, start: usize, joint: Joint) -> (usize, bool) {
        let norm = self.norm.len();
        let mut at = start;
        let mut end = start;
        let mut resume = None;
        let mut elided = false;
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
                    if ELIDED.contains(&self.norm.get(norm..).unwrap_or_default()) {
                        resume = Some(after);
                        elided = true;
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
            if !is_mark && self.letters.len() <= LONGEST_RUN {
                self.letters.push(Letter { at, norm: self.norm.len(), case });
            }
            if self.norm.len() <= norm + LONGEST_RUN {
                lower(letter, |low| self.norm.push(low));
            }
            at += letter.len_utf8();
            end = at;
        }
        let cut = self.cut_off(norm);
        let span = self.span(source, (start, end), norm);
        let shape = match (has_letters, has_digits) {
            (true, true) => Shape::Mixed,
            (false, true) => Shape::Number,
            _ => Shape::Word,
        };
        self.push(span, shape, joint);
        // With an apostrophe inside there are no humps: O'Brien is one name.
        if !cut && !contracted {
            self.split_humps(source, span, end);
        }
        if let Some(unit) = self.units.last_mut() {
            unit.cut = cut;
        }
        (resume.unwrap_or(end), elided)
    }

    fn cut_off(&mut self, norm: usize) -> bool {
        let mut longest = norm + LONGEST_RUN;
        if self.norm.len() <= longest {
            return false;
        }
        while !self.norm.is_char_boundary(longest) {
            longest -= 1;
        }
        self.norm.truncate(longest);
        true
    }

    /// Divides a run at changes of case and between letters and digits. What changes at every
    /// turn is no name but a hash or encoded data, and stays in one piece.
    fn split_humps(&mut self, source: Source<'_>, span: Span, end: usize) {
        let starts_hump = |window: &[Letter]| match window {
            [previous, letter, rest @ ..] => match (previous.case, letter.case) {
                (Case::Lower, Case::Upper) => true,
                (Case::Digit, Case::Digit) => false,
                (Case::Digit, _) | (_, Case::Digit) => true,
                // The last capital of several opens the next word, but URLs are URLs.
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
        let first = self.humps.len();
        let mut opened = (span.start, span.norm);
        for at in 0..self.letters.len() {
            let window = self.letters.get(at..).unwrap_or_default();
            if let [previous, letter, ..] = window
                && starts_hump(window)
                // Not within what is one character of the original.
                && source.start(previous.at) != source.start(letter.at)
            {
                let norm_end = letter.norm as u32;
                let (start, norm) = opened;
                self.humps.push(Span { start, end: source.end(letter.at), norm, norm_end });
                opened = (source.start(letter.at), norm_end);
            }
        }
        let (start, norm) = opened;
        self.humps.push(Span { start, end: source.end(end), norm, norm_end: span.norm_end });
        let count = self.humps.len() - first;
        let is_opaque = count > 4 && self.letters.len() * 2 < count * 5;
        if count == 1 || is_opaque {
            self.humps.truncate(first);
        } else if let Some(unit) = self.units.last_mut() {
            unit.humps = (first as u32, (first + count) as u32);
        }
    }
}
