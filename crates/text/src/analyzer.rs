//! Units to tokens. It owns what a text is indexed under; it must not know questions.

use crate::cache::{UNKNOWN, Words};
use crate::language::{Language, Vote, language_of};
use crate::scan::Scanner;
use crate::token::{Kind, Token};
use crate::unit::{Joint, Shape, Span, Unit};

/// The longest identifier that is kept whole.
pub(crate) const LONGEST_WHOLE: usize = 96;

/// Units read at a time. The first so many decide the language of a text.
const BLOCK: usize = 4096;

/// Turns texts into tokens, over buffers and a cache of stems that it keeps.
#[derive(Debug, Default)]
pub struct Analyzer {
    pub(crate) scanner: Scanner,
    words: Words,
    spare: String,
}

impl Analyzer {
    /// Hands every token of a text to `each`, in order. The language is guessed from the text, so
    /// that stems and stop words fit.
    pub fn tokens(&mut self, text: &str, mut each: impl FnMut(Token<'_>)) {
        let mut at = 0;
        let mut position = 0;
        let mut language = None;
        self.words.make_room();
        while at < text.len() {
            at = self.scanner.scan(text, at, BLOCK);
            let vote = self.look_up();
            let language = *language.get_or_insert_with(|| vote.winner());
            let mut writer = Writer {
                norm: &self.scanner.norm,
                words: &mut self.words,
                spare: &mut self.spare,
                language,
                position,
            };
            writer.write(&self.scanner.units, &self.scanner.humps, &mut each);
            position = writer.position;
        }
    }

    /// Notes for every word what the cache knows of it, and counts the votes.
    pub(crate) fn look_up(&mut self) -> Vote {
        let mut vote = Vote::default();
        let mut units = self.scanner.units.iter_mut().peekable();
        while let Some(unit) = units.next() {
            if unit.shape != Shape::Word {
                continue;
            }
            let norm = slice(&self.scanner.norm, unit.span);
            let (id, stop_set) = self.words.look_up(norm);
            unit.entry = id;
            // Parts of identifiers are in no language: the com of an address is not Portuguese.
            let alone = unit.joint == Joint::Open
                && units.peek().is_none_or(|next| next.joint == Joint::Open);
            if stop_set != 0 && alone && norm.len() > 1 {
                vote.count(stop_set);
            }
        }
        vote
    }
}

/// The normalised text of a span.
pub(crate) fn slice(norm: &str, span: Span) -> &str {
    norm.get(span.norm as usize..span.norm_end as usize).unwrap_or_default()
}

/// The units from the first on that make one identifier, and the rest.
pub(crate) fn split_group(units: &[Unit]) -> (&[Unit], &[Unit]) {
    let joined = |unit: &&Unit| unit.joint != Joint::Open;
    let count = 1 + units.iter().skip(1).take_while(joined).count();
    units.split_at_checked(count).unwrap_or((units, &[]))
}

/// The components of an identifier.
pub(crate) fn split_component(units: &[Unit]) -> (&[Unit], &[Unit]) {
    let joined = |unit: &&Unit| unit.joint == Joint::Run;
    let count = 1 + units.iter().skip(1).take_while(joined).count();
    units.split_at_checked(count).unwrap_or((units, &[]))
}

/// What an identifier or a component of one is found by as a whole; nothing if it is too long.
pub(crate) fn joined(group: &[Unit], norm: &str) -> Option<Span> {
    let (first, last) = (group.first()?, group.last()?);
    let mut span = Span {
        start: first.outer.start,
        end: last.outer.end,
        norm: first.outer.norm,
        norm_end: last.outer.norm_end,
    };
    if group.len() == 1 {
        return Some(span);
    }
    if group.iter().any(|unit| unit.cut) {
        return None;
    }
    let mut text = slice(norm, span);
    // The same place, page or release, whichever way it is written.
    if let Some((_, rest)) = text.split_once("://") {
        text = rest;
    }
    if let Some(rest) = text.strip_prefix("www.") {
        text = rest;
    } else if let Some(rest) = text.strip_prefix('v')
        && first.shape == Shape::Mixed
        && rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).starts_with('.')
    {
        text = rest;
    }
    span.norm = span.norm_end - text.len() as u32;
    (text.len() <= LONGEST_WHOLE).then_some(span)
}

/// Whether a group is one plain word or number.
pub(crate) fn is_plain(group: &[Unit]) -> bool {
    matches!(group, [unit] if unit.shape != Shape::Mixed
        && unit.humps.0 == unit.humps.1
        && unit.outer == unit.span)
}

struct Writer<'a> {
    norm: &'a str,
    words: &'a mut Words,
    spare: &'a mut String,
    language: Language,
    position: u32,
}

impl Writer<'_> {
    fn write(&mut self, units: &[Unit], humps: &[Span], each: &mut impl FnMut(Token<'_>)) {
        let mut rest = units;
        while let [unit, ..] = rest {
            let (group, after) = split_group(rest);
            match unit.shape {
                Shape::Cjk => self.pairs(group, (Kind::Cjk, Kind::CjkPair), each),
                Shape::Gram => self.pairs(group, (Kind::Gram, Kind::Gram), each),
                Shape::Emoji => {
                    group.iter().for_each(|unit| self.exact(unit.span, Kind::Emoji, each));
                    self.position += 1;
                }
                _ => {
                    if is_plain(group) {
                        self.word(unit.span, (Kind::Word, unit.shape), (unit.entry, each));
                    } else {
                        self.identifier(group, humps, each);
                    }
                    self.position += 1;
                }
            }
            rest = after;
        }
    }

    fn pairs(&mut self, group: &[Unit], kinds: (Kind, Kind), each: &mut impl FnMut(Token<'_>)) {
        for (at, unit) in group.iter().enumerate() {
            self.exact(unit.span, kinds.0, each);
            if let Some(next) = group.get(at + 1) {
                let pair = Span { end: next.span.end, norm_end: next.span.norm_end, ..unit.span };
                self.exact(pair, kinds.1, each);
            }
            self.position += 1;
        }
    }

    fn identifier(&mut self, group: &[Unit], humps: &[Span], each: &mut impl FnMut(Token<'_>)) {
        let whole = joined(group, self.norm);
        let single = group.len() == 1;
        if let ([unit], Some(whole)) = (group, whole) {
            if unit.outer == unit.span {
                self.word(whole, (Kind::Whole, unit.shape), (unit.entry, each));
            } else {
                self.exact(whole, Kind::Whole, each);
            }
        } else if let Some(whole) = whole {
            self.exact(whole, Kind::Whole, each);
        }
        let mut rest = group;
        while let [first, ..] = rest {
            let (component, after) = split_component(rest);
            if component.len() > 1
                && component.len() < group.len()
                && let Some(span) = joined(component, self.norm)
                && whole.is_none_or(|whole| slice(self.norm, whole) != slice(self.norm, span))
            {
                self.exact(span, Kind::Part, each);
            }
            for unit in component {
                if !single || first.outer != first.span {
                    self.word(unit.span, (Kind::Part, unit.shape), (unit.entry, each));
                }
                let range = unit.humps.0 as usize..unit.humps.1 as usize;
                for hump in humps.get(range).unwrap_or_default() {
                    let shape = shape_of(slice(self.norm, *hump));
                    let id = match shape {
                        Shape::Word => self.words.look_up(slice(self.norm, *hump)).0,
                        _ => UNKNOWN,
                    };
                    self.word(*hump, (Kind::Part, shape), (id, each));
                }
            }
            rest = after;
        }
    }

    fn exact(&mut self, span: Span, kind: Kind, each: &mut impl FnMut(Token<'_>)) {
        let norm = slice(self.norm, span);
        let (start, end, position) = (span.start, span.end, self.position);
        each(Token { term: norm, norm, start, end, position, kind, stop: false });
    }

    fn word<F: FnMut(Token<'_>)>(
        &mut self,
        span: Span,
        (kind, shape): (Kind, Shape),
        (id, each): (u32, &mut F),
    ) {
        let norm = slice(self.norm, span);
        let language = match shape {
            Shape::Word => language_of(norm, self.language),
            _ => None,
        };
        let Some(language) = language else {
            return self.exact(span, kind, each);
        };
        let stop = self.words.stop_set(id, norm) & language.bit() != 0;
        let term = self.words.stem(id, (norm, language), self.spare);
        let (start, end, position) = (span.start, span.end, self.position);
        each(Token { term, norm, start, end, position, kind, stop });
    }
}

/// The shape of a piece of a run.
pub(crate) fn shape_of(norm: &str) -> Shape {
    if norm.starts_with(char::is_numeric) { Shape::Number } else { Shape::Word }
}
