//! The words of a question, each with every term that a row may hold it under. It owns what a
//! question asks for; it must not know how rows are searched or ranked.

use crate::analyzer::{Analyzer, is_plain, joined, shape_of, slice, split_group};
use crate::language::{LATIN, Language, language_of, stem, stop_set};
use crate::script::{CjkScript, cjk_script};
use crate::unit::{Shape, Span, Unit};

/// Units of a question that are looked at. Nobody asks longer ones, but somebody will paste one.
const LONGEST_QUESTION: usize = 4096;

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// Normalised and not stemmed.
    pub norm: String,
    /// Terms that it may be indexed under, without repetition, the likeliest first.
    pub terms: Vec<String>,
    /// Whether all of the terms have to occur (a run of characters, cut in pairs), or any one.
    pub all: bool,
    /// What to look for if the terms are not there, all of it: the parts of an identifier, the
    /// pairs of a run.
    pub parts: Vec<QueryWord>,
    /// Whether it is a stop word in the language of the question.
    pub stop: bool,
    /// Where it starts in the question, in bytes.
    pub start: u32,
    /// Where it ends in the question, in bytes.
    pub end: u32,
}

impl Analyzer {
    /// The words of a question, in order. Rows had their languages guessed one by one, so a word
    /// comes with its stems in every language.
    pub fn query_words(&mut self, text: &str) -> Vec<QueryWord> {
        self.scanner.scan(text, 0, LONGEST_QUESTION);
        let language = self.look_up().winner();
        let reader = Reader { norm: &self.scanner.norm, humps: &self.scanner.humps, language };
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
    humps: &'a [Span],
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
        let humps = self.humps.get(unit.humps.0 as usize..unit.humps.1 as usize);
        for hump in humps.unwrap_or_default() {
            word.parts.push(self.word(*hump, shape_of(slice(self.norm, *hump))));
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
        // E-mail is also written email, but a row is not indexed under both.
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

    /// A run of characters, divided where the script changes, which is mostly where words end.
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

/// The stem in the language of the question, then in all others.
fn stems(norm: &str, language: Language) -> Vec<String> {
    let mut terms = vec![stem(norm, language).into_owned()];
    if language != Language::Russian {
        for other in LATIN {
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
