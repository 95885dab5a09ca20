//! Turns the units of a text into the tokens it is indexed under.

use crate::language::{Language, Vote, language_of};
use crate::scan::Scanner;
use crate::token::{Kind, Token};
use crate::unit::{Link, Shape, Span, Unit};
use crate::word_cache::{NOT_CACHED, WordCache};
use std::collections::BTreeSet;

/// Longer identifiers are indexed by their parts only.
pub(crate) const MAX_IDENTIFIER_BYTES: usize = 96;

/// Units scanned at a time. The first block decides the language of a text.
const BLOCK_UNITS: usize = 4096;

/// Turns texts into tokens. Reuse one: it keeps buffers and a cache of stems.
#[derive(Debug, Default)]
pub struct Analyzer {
    pub(crate) scanner: Scanner,
    words: WordCache,
}

impl Analyzer {
    /// The terms of a text without stop words.
    pub fn content_terms(&mut self, text: &str) -> BTreeSet<String> {
        let mut terms = BTreeSet::new();
        self.tokens(text, |token| {
            if !token.stop {
                terms.insert(token.term.to_owned());
            }
        });
        terms
    }

    /// Calls `each` with every token of a text, in order. The language is detected, for stems and
    /// stop words.
    pub fn tokens(&mut self, text: &str, mut each: impl FnMut(Token<'_>)) {
        let mut at = 0;
        let mut position = 0;
        let mut language = None;
        self.words.evict_if_full();
        while at < text.len() {
            at = self.scanner.scan(text, at, BLOCK_UNITS);
            let vote = self.look_up();
            let language = *language.get_or_insert_with(|| vote.winner());
            let mut writer =
                Writer { norm: &self.scanner.norm, words: &mut self.words, language, position };
            writer.write(&self.scanner.units, &self.scanner.subwords, &mut each);
            position = writer.position;
        }
    }

    /// Looks every word up in the cache and counts stop words by language.
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
            // Parts of identifiers belong to no language: the com of a domain is not Portuguese.
            let is_separate =
                unit.link == Link::None && units.peek().is_none_or(|next| next.link == Link::None);
            if stop_set != 0 && is_separate && norm.len() > 1 {
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

/// Splits off the units of the first identifier.
pub(crate) fn split_group(units: &[Unit]) -> (&[Unit], &[Unit]) {
    let joined = |unit: &&Unit| unit.link != Link::None;
    let count = 1 + units.iter().skip(1).take_while(joined).count();
    units.split_at_checked(count).unwrap_or((units, &[]))
}

/// Splits off the first component of an identifier.
pub(crate) fn split_component(units: &[Unit]) -> (&[Unit], &[Unit]) {
    let joined = |unit: &&Unit| unit.link == Link::Run;
    let count = 1 + units.iter().skip(1).take_while(joined).count();
    units.split_at_checked(count).unwrap_or((units, &[]))
}

/// The span of an identifier or a component as one token; `None` if it is too long.
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
    // Equal URLs and versions are written in several ways.
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
    (text.len() <= MAX_IDENTIFIER_BYTES).then_some(span)
}

/// Whether a group is one plain word or number.
pub(crate) fn is_plain(group: &[Unit]) -> bool {
    matches!(group, [unit] if unit.shape != Shape::Mixed
        && unit.subwords.0 == unit.subwords.1
        && unit.outer == unit.span)
}

/// The kinds of single units and of pairs.
#[derive(Clone, Copy)]
struct PairKinds {
    single: Kind,
    pair: Kind,
}

/// A token that is stemmed if it is a word.
struct WordToken {
    span: Span,
    kind: Kind,
    shape: Shape,
    /// The id of the word in the cache.
    id: u32,
}

impl WordToken {
    fn of(unit: &Unit, kind: Kind) -> Self {
        WordToken { span: unit.span, kind, shape: unit.shape, id: unit.entry }
    }
}

struct Writer<'a> {
    norm: &'a str,
    words: &'a mut WordCache,
    language: Language,
    position: u32,
}

impl Writer<'_> {
    fn write(&mut self, units: &[Unit], subwords: &[Span], each: &mut impl FnMut(Token<'_>)) {
        let mut rest = units;
        while let [unit, ..] = rest {
            let (group, after) = split_group(rest);
            match unit.shape {
                Shape::Cjk => {
                    self.pairs(group, PairKinds { single: Kind::Cjk, pair: Kind::CjkPair }, each)
                }
                Shape::Gram => {
                    self.pairs(group, PairKinds { single: Kind::Gram, pair: Kind::Gram }, each)
                }
                Shape::Emoji => {
                    group.iter().for_each(|unit| self.exact(unit.span, Kind::Emoji, each));
                    self.position += 1;
                }
                _ => {
                    if is_plain(group) {
                        self.word(WordToken::of(unit, Kind::Word), each);
                    } else {
                        self.identifier(group, subwords, each);
                    }
                    self.position += 1;
                }
            }
            rest = after;
        }
    }

    /// Every unit alone and with the next one.
    fn pairs(&mut self, group: &[Unit], kinds: PairKinds, each: &mut impl FnMut(Token<'_>)) {
        for (at, unit) in group.iter().enumerate() {
            self.exact(unit.span, kinds.single, each);
            if let Some(next) = group.get(at + 1) {
                let span = Span { end: next.span.end, norm_end: next.span.norm_end, ..unit.span };
                self.exact(span, kinds.pair, each);
            }
            self.position += 1;
        }
    }

    fn identifier(&mut self, group: &[Unit], subwords: &[Span], each: &mut impl FnMut(Token<'_>)) {
        let whole = joined(group, self.norm);
        let single = group.len() == 1;
        if let ([unit], Some(whole)) = (group, whole) {
            if unit.outer == unit.span {
                self.word(WordToken { span: whole, ..WordToken::of(unit, Kind::Whole) }, each);
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
                    self.word(WordToken::of(unit, Kind::Part), each);
                }
                let range = unit.subwords.0 as usize..unit.subwords.1 as usize;
                for subword in subwords.get(range).unwrap_or_default() {
                    let shape = shape_of(slice(self.norm, *subword));
                    let id = match shape {
                        Shape::Word => self.words.look_up(slice(self.norm, *subword)).0,
                        _ => NOT_CACHED,
                    };
                    self.word(WordToken { span: *subword, kind: Kind::Part, shape, id }, each);
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

    fn word(&mut self, word: WordToken, each: &mut impl FnMut(Token<'_>)) {
        let WordToken { span, kind, shape, id } = word;
        let norm = slice(self.norm, span);
        let language = match shape {
            Shape::Word => language_of(norm, self.language),
            _ => None,
        };
        let Some(language) = language else {
            return self.exact(span, kind, each);
        };
        let stop = self.words.stop_set(id, norm) & language.bit() != 0;
        let term = self.words.stem(id, norm, language);
        let (start, end, position) = (span.start, span.end, self.position);
        each(Token { term, norm, start, end, position, kind, stop });
    }
}

/// The shape of a subword.
pub(crate) fn shape_of(norm: &str) -> Shape {
    if norm.starts_with(char::is_numeric) { Shape::Number } else { Shape::Word }
}
