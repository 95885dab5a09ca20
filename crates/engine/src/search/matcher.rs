//! Evaluates the operators of a query in two steps: the index gives a superset of the matching
//! documents, then each text is checked exactly.

use super::doc_set::DocSet;
use oneiro_index::View;
use oneiro_model::{Error, Expr, Result};
use oneiro_text::{Analyzer, Phrase};
use rustc_hash::FxHashSet;

/// Terms that one prefix may expand to; a prefix with more is checked on the texts.
const PREFIX_TERMS_MAX: usize = 4_096;

/// Memory limit of a compiled regular expression.
const PATTERN_BYTES: usize = 1 << 20;

/// A compiled query.
pub(super) enum Matcher {
    /// For every word, its alternative forms.
    Words(Vec<Vec<WordForm>>),
    Phrase {
        phrase: Phrase,
        words: Box<Matcher>,
    },
    /// A prefix, and the stems that words with this prefix may be indexed under.
    Prefix(String, Vec<String>),
    Infix(String),
    Regex(regex::Regex),
    All(Vec<Matcher>),
    Any(Vec<Matcher>),
    Not(Box<Matcher>),
}

/// A form of a word as the index knows it.
pub(super) struct WordForm {
    pub(super) terms: Vec<String>,
    /// Whether all of the terms must occur, or any one.
    pub(super) needs_all: bool,
}

/// Which forms of a word match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordForms {
    /// The word itself, or all of its parts.
    Any,
    /// Only the word itself.
    Whole,
}

/// Which side of the exact result a document set may err on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// A superset of the matching documents.
    Above,
    /// A subset of the matching documents.
    Below,
}

impl Matcher {
    pub(super) fn new(expr: &Expr, analyzer: &mut Analyzer) -> Result<Matcher> {
        Matcher::compile(expr, analyzer, WordForms::Any)
    }

    /// Compiles a query whose words match only as they are written.
    pub(super) fn exact(expr: &Expr, analyzer: &mut Analyzer) -> Result<Matcher> {
        Matcher::compile(expr, analyzer, WordForms::Whole)
    }

    fn compile(expr: &Expr, analyzer: &mut Analyzer, forms: WordForms) -> Result<Matcher> {
        Ok(match expr {
            Expr::Word(text) => Matcher::words(text, analyzer, forms),
            Expr::Phrase(text) => Matcher::Phrase {
                phrase: Phrase::new(text),
                words: Box::new(Matcher::words(text, analyzer, WordForms::Any)),
            },
            Expr::Prefix(text) => {
                let prefix = oneiro_text::normalise(text);
                let stems = stems(&prefix, analyzer);
                Matcher::Prefix(prefix, stems)
            }
            Expr::Infix(text) => Matcher::Infix(oneiro_text::normalise(text)),
            Expr::Regex(pattern) => Matcher::Regex(compile(pattern)?),
            Expr::And(exprs) => Matcher::All(Matcher::list(exprs, analyzer, forms)?),
            Expr::Or(exprs) => Matcher::Any(Matcher::list(exprs, analyzer, forms)?),
            // A negation excludes texts with the word, not every text that happens to contain its
            // parts.
            Expr::Not(expr) => {
                Matcher::Not(Box::new(Matcher::compile(expr, analyzer, WordForms::Whole)?))
            }
        })
    }

    fn list(exprs: &[Expr], analyzer: &mut Analyzer, forms: WordForms) -> Result<Vec<Matcher>> {
        // Equal operands are evaluated once.
        let mut seen: Vec<&Expr> = Vec::with_capacity(exprs.len());
        for expr in exprs {
            if !seen.contains(&expr) {
                seen.push(expr);
            }
        }
        seen.into_iter().map(|expr| Matcher::compile(expr, analyzer, forms)).collect()
    }

    /// The words of a text, all of which must occur.
    fn words(text: &str, analyzer: &mut Analyzer, forms: WordForms) -> Matcher {
        let words = analyzer.query_words(text);
        let one = |word: oneiro_text::QueryWord| {
            let mut found = vec![WordForm { terms: word.terms, needs_all: word.all }];
            // In scripts without spaces a word is indexed only by its character pairs.
            if !word.parts.is_empty() && (forms == WordForms::Any || !word.norm.is_ascii()) {
                let parts = word.parts.into_iter().flat_map(|part| part.terms.into_iter().next());
                found.push(WordForm { terms: parts.collect(), needs_all: true });
            }
            found
        };
        Matcher::Words(words.into_iter().map(one).collect())
    }

    /// The words of a query that consists of words alone, all of which must occur.
    pub(super) fn all_words(&self) -> Option<Vec<&[WordForm]>> {
        match self {
            Matcher::Words(words) if !words.is_empty() => {
                Some(words.iter().map(Vec::as_slice).collect())
            }
            Matcher::All(list) if !list.is_empty() => {
                let words = list.iter().map(Matcher::all_words).collect::<Option<Vec<_>>>()?;
                Some(words.concat())
            }
            _ => None,
        }
    }

    /// Whether the index alone cannot decide, so that the text must be read.
    pub(super) fn needs_text(&self) -> bool {
        match self {
            Matcher::Words(_) => false,
            Matcher::Prefix(..)
            | Matcher::Phrase { .. }
            | Matcher::Infix(_)
            | Matcher::Regex(_) => true,
            Matcher::All(list) | Matcher::Any(list) => list.iter().any(Matcher::needs_text),
            Matcher::Not(inner) => inner.needs_text(),
        }
    }

    /// The negated part of the query, which stays in force when its words are relaxed.
    pub(super) fn negations(self) -> Option<Matcher> {
        match self {
            Matcher::Not(inner) => Some(Matcher::Not(inner)),
            Matcher::All(list) => {
                let kept: Vec<Matcher> = list.into_iter().filter_map(Matcher::negations).collect();
                (!kept.is_empty()).then_some(Matcher::All(kept))
            }
            _ => None,
        }
    }

    /// Collects the patterns and prefixes to highlight.
    pub(super) fn patterns(&self, patterns: &mut Vec<regex::Regex>, prefixes: &mut Vec<String>) {
        match self {
            Matcher::Regex(pattern) => patterns.push(pattern.clone()),
            Matcher::Infix(text) => {
                let pattern = format!("(?i){}", regex::escape(text));
                patterns.extend(regex::Regex::new(&pattern));
            }
            Matcher::Prefix(text, _) => prefixes.push(text.clone()),
            Matcher::All(list) | Matcher::Any(list) => {
                list.iter().for_each(|one| one.patterns(patterns, prefixes));
            }
            Matcher::Words(_) | Matcher::Phrase { .. } | Matcher::Not(_) => {}
        }
    }

    /// Messages that may match, each represented by its first document.
    pub(super) fn may_match(&self, view: &View<'_>) -> Result<DocSet> {
        self.bound(view, Bound::Above)
    }

    fn bound(&self, view: &View<'_>, bound: Bound) -> Result<DocSet> {
        let docs = view.docs();
        Ok(match self {
            Matcher::Words(words) => {
                let mut all = DocSet::all(docs);
                for forms in words {
                    let mut any = DocSet::none(docs);
                    for form in forms {
                        any.or(&with_terms(view, &form.terms, form.needs_all)?);
                    }
                    all.and(&any);
                }
                all
            }
            Matcher::Prefix(prefix, stems) if bound == Bound::Above => {
                let found = view.with_prefix(prefix.as_bytes(), PREFIX_TERMS_MAX)?;
                if !found.is_all {
                    return Ok(DocSet::all(docs));
                }
                let mut any = DocSet::none(docs);
                let stems = stems.iter().map(String::as_bytes);
                let terms = found.terms.iter().map(Vec::as_slice).chain(stems);
                for term in terms {
                    add(view, term, &mut any)?;
                }
                any
            }
            Matcher::Phrase { words, .. } if bound == Bound::Above => words.bound(view, bound)?,
            Matcher::Prefix(..)
            | Matcher::Phrase { .. }
            | Matcher::Infix(_)
            | Matcher::Regex(_) => match bound {
                Bound::Above => DocSet::all(docs),
                Bound::Below => DocSet::none(docs),
            },
            Matcher::All(list) => {
                let mut all = DocSet::all(docs);
                for one in list {
                    all.and(&one.bound(view, bound)?);
                }
                all
            }
            Matcher::Any(list) => {
                let mut any = DocSet::none(docs);
                for one in list {
                    any.or(&one.bound(view, bound)?);
                }
                any
            }
            Matcher::Not(inner) => {
                let other = if bound == Bound::Above { Bound::Below } else { Bound::Above };
                let mut set = inner.bound(view, other)?;
                set.flip();
                set
            }
        })
    }

    pub(super) fn matches(&self, text: &str, analyzer: &mut Analyzer) -> bool {
        let mut terms: FxHashSet<Box<str>> = FxHashSet::default();
        let mut norms: FxHashSet<Box<str>> = FxHashSet::default();
        let by_term = self.has(|one| matches!(one, Matcher::Words(_)));
        let by_norm = self.has(|one| matches!(one, Matcher::Prefix(..)));
        // Analysing a text costs about twenty times as much as a regular expression.
        if by_term || by_norm {
            for chunk in oneiro_text::chunks(text) {
                analyzer.tokens(text.get(chunk).unwrap_or_default(), |token| {
                    if by_term {
                        terms.insert(token.term.into());
                    }
                    if by_norm {
                        norms.insert(token.norm.into());
                    }
                });
            }
        }
        self.holds(&Read { text, terms, norms })
    }

    /// Whether any node of the expression satisfies `wanted`.
    fn has(&self, wanted: fn(&Matcher) -> bool) -> bool {
        wanted(self)
            || match self {
                Matcher::All(list) | Matcher::Any(list) => list.iter().any(|one| one.has(wanted)),
                Matcher::Not(inner) => inner.has(wanted),
                _ => false,
            }
    }

    fn holds(&self, read: &Read<'_>) -> bool {
        match self {
            Matcher::Words(words) => words.iter().all(|forms| {
                forms.iter().any(|form| {
                    let mut has = form.terms.iter().map(|term| read.terms.contains(term.as_str()));
                    if form.needs_all { has.all(|has| has) } else { has.any(|has| has) }
                })
            }),
            Matcher::Phrase { phrase, .. } => phrase.find(read.text).is_some(),
            Matcher::Prefix(prefix, _) => {
                read.norms.iter().any(|word| word.starts_with(prefix.as_str()))
            }
            Matcher::Infix(text) => oneiro_text::normalise(read.text).contains(text.as_str()),
            Matcher::Regex(pattern) => pattern.is_match(read.text),
            Matcher::All(list) => list.iter().all(|one| one.holds(read)),
            Matcher::Any(list) => list.iter().any(|one| one.holds(read)),
            Matcher::Not(inner) => !inner.holds(read),
        }
    }
}

struct Read<'r> {
    text: &'r str,
    terms: FxHashSet<Box<str>>,
    norms: FxHashSet<Box<str>>,
}

/// Stems that words with this prefix may be indexed under. A stem is a prefix of its word, except
/// for its last letters and irregular words.
fn stems(prefix: &str, analyzer: &mut Analyzer) -> Vec<String> {
    let mut stems: Vec<String> =
        analyzer.query_words(prefix).into_iter().flat_map(|word| word.terms).collect();
    let ends = prefix.char_indices().map(|(at, _)| at).skip(2);
    for beginning in ends.filter_map(|at| prefix.get(..at)) {
        stems.push(beginning.to_owned());
        stems.push(format!("{beginning}i"));
    }
    stems.push(format!("{prefix}i"));
    for irregular in oneiro_text::irregular_words(prefix) {
        stems.extend(analyzer.query_words(irregular).into_iter().flat_map(|word| word.terms));
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn compile(pattern: &str) -> Result<regex::Regex> {
    let built = regex::RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .multi_line(true)
        .build();
    built.map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Error::field("query", format!("/{pattern}/ is not a regular expression: {why}"))
            .remedy("fix it, or put it in quotation marks to search for it as text")
            .because(error)
    })
}

fn with_terms(view: &View<'_>, terms: &[String], all: bool) -> Result<DocSet> {
    let docs = view.docs();
    let mut set = if all && !terms.is_empty() { DocSet::all(docs) } else { DocSet::none(docs) };
    for term in terms {
        if all {
            let mut one = DocSet::none(docs);
            add(view, term.as_bytes(), &mut one)?;
            set.and(&one);
        } else {
            add(view, term.as_bytes(), &mut set)?
        }
    }
    Ok(set)
}

/// Adds the messages that contain a term.
fn add(view: &View<'_>, term: &[u8], set: &mut DocSet) -> Result<()> {
    let mut lists = view.lists(term)?;
    view.read_rest(&mut lists, u64::MAX)?;
    lists.postings().for_each(|(doc, _)| set.insert(view.first_chunk(doc)));
    Ok(())
}
