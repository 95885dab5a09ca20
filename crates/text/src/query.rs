//! Splits queries into words, each with the terms under which texts may be indexed.

use crate::analyzer::{Analyzer, is_plain, joined, shape_of, slice, split_group};
use crate::language::{LATIN_LANGUAGES, Language, language_of, stem, stop_set};
use crate::script::{CjkScript, cjk_script};
use crate::unit::{Shape, Span, Unit};

/// Later units of a query are ignored.
const MAX_QUERY_UNITS: usize = 4096;

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// Normalised and not stemmed.
    pub norm: String,
    /// The terms under which it may be indexed, without duplicates, most likely first.
    pub terms: Vec<String>,
    /// Whether all terms must occur (a run of characters, split into pairs), or any of them.
    pub all: bool,
    /// Matched together if the terms do not match: the parts of an identifier, the pairs of a run.
    pub parts: Vec<QueryWord>,
    /// Whether it is a stop word in the language of the query.
    pub stop: bool,
    /// The start in the query, in bytes.
    pub start: u32,
    /// The end in the query, in bytes.
    pub end: u32,
}

impl Analyzer {
    /// The words of a query, in order. The language of each indexed text is detected separately, so
    /// a word has its stems in all languages.
    pub fn query_words(&mut self, text: &str) -> Vec<QueryWord> {
        self.scanner.scan(text, 0, MAX_QUERY_UNITS);
        let language = self.look_up().winner();
        let reader =
            Reader { norm: &self.scanner.norm, subwords: &self.scanner.subwords, language };
        let mut words = Vec::new();
        let mut rest = self.scanner.units.as_slice();
        while let [unit, ..] = rest {
            let (group, after) = split_group(rest);
            match unit.shape {
                Shape::Cjk => reader.scripts(group, &mut words),
                Shape::Gram => words.extend(reader.pairs(group, false)),
                Shape::Emoji => words.push(reader.emoji(group, unit.span)),
                _ => reader.identifier(group, &mut words),
            }
            rest = after;
        }
        words
    }
}

struct Reader<'a> {
    norm: &'a str,
    subwords: &'a [Span],
    language: Language,
}

impl Reader<'_> {
    fn exact(&self, span: Span) -> QueryWord {
        let norm = slice(self.norm, span).to_owned();
        QueryWord {
            terms: vec![norm.clone()],
            norm,
            all: false,
            parts: Vec::new(),
            stop: false,
            start: span.start,
            end: span.end,
        }
    }

    fn word(&self, span: Span, shape: Shape) -> QueryWord {
        let mut word = self.exact(span);
        if shape == Shape::Word
            && let Some(language) = language_of(&word.norm, self.language)
        {
            word.stop = stop_set(&word.norm) & language.bit() != 0;
            word.terms = stems(&word.norm, language);
        }
        word
    }

    fn unit(&self, unit: &Unit) -> QueryWord {
        let mut word = self.word(unit.span, unit.shape);
        let subwords = self.subwords.get(unit.subwords.0 as usize..unit.subwords.1 as usize);
        for subword in subwords.unwrap_or_default() {
            word.parts.push(self.word(*subword, shape_of(slice(self.norm, *subword))));
        }
        word
    }

    fn identifier(&self, group: &[Unit], words: &mut Vec<QueryWord>) {
        if let [unit] = group
            && (is_plain(group) || unit.outer == unit.span)
        {
            return words.push(self.unit(unit));
        }
        let mut parts: Vec<QueryWord> = group.iter().map(|unit| self.unit(unit)).collect();
        let Some(span) = joined(group, self.norm) else {
            return words.append(&mut parts);
        };
        let mut word = self.exact(span);
        word.stop = parts.iter().all(|part| part.stop);
        // E-mail is also written email, but a text is indexed under one of them.
        let hyphenated = group.iter().all(|unit| unit.shape == Shape::Word)
            && word.norm.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphabetic());
        if hyphenated {
            add(&mut word.terms, stems(&word.norm.replace('-', ""), self.language));
        }
        word.parts = parts;
        words.push(word);
    }

    fn emoji(&self, group: &[Unit], span: Span) -> QueryWord {
        let mut word = self.exact(span);
        let forms = group.iter().map(|unit| slice(self.norm, unit.span).to_owned());
        add(&mut word.terms, forms.collect());
        word
    }

    /// Splits a run of CJK characters where the script changes, which is usually a word boundary.
    fn scripts(&self, group: &[Unit], words: &mut Vec<QueryWord>) {
        let mut start = 0;
        let mut current = None;
        for (at, unit) in group.iter().enumerate() {
            let Some(script) = slice(self.norm, unit.span).chars().next().and_then(cjk_script)
            else {
                continue;
            };
            if current.is_some_and(|current| current != script) {
                let run = group.get(start..at).unwrap_or_default();
                words.extend(self.pairs(run, is_particle(run, current)));
                start = at;
            }
            current = Some(script);
        }
        let run = group.get(start..).unwrap_or_default();
        words.extend(self.pairs(run, is_particle(run, current)));
    }

    fn pairs(&self, run: &[Unit], stop: bool) -> Option<QueryWord> {
        let (first, last) = (run.first()?, run.last()?);
        let over = |from: &Unit, to: &Unit| Span {
            end: to.span.end,
            norm_end: to.span.norm_end,
            ..from.span
        };
        let mut word = QueryWord { stop, ..self.exact(over(first, last)) };
        if run.len() == 1 {
            return Some(word);
        }
        word.all = true;
        word.terms.clear();
        let pairs = run.iter().zip(run.iter().skip(1));
        let pairs: Vec<QueryWord> = pairs.map(|(one, two)| self.exact(over(one, two))).collect();
        add(&mut word.terms, pairs.iter().map(|pair| pair.norm.clone()).collect());
        if pairs.len() > 1 {
            word.parts = pairs;
        }
        Some(word)
    }
}

/// Short runs of hiragana are particles and endings.
fn is_particle(run: &[Unit], script: Option<CjkScript>) -> bool {
    run.len() <= 2 && script == Some(CjkScript::Hiragana)
}

/// The stem in the language of the query, then in all others.
fn stems(norm: &str, language: Language) -> Vec<String> {
    let mut terms = vec![stem(norm, language).into_owned()];
    if language != Language::Russian {
        for other in LATIN_LANGUAGES {
            let stem = stem(norm, other);
            if !terms.iter().any(|term| *term == stem) {
                terms.push(stem.into_owned());
            }
        }
    }
    terms
}

fn add(terms: &mut Vec<String>, more: Vec<String>) {
    for term in more {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
}
