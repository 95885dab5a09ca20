//! What the operators of a query leave over: first a set of documents that may match, from the
//! index, then the exact answer on the text of each.

use super::doc_set::DocSet;
use oneiro_index::View;
use oneiro_model::{Error, Expr, Result};
use oneiro_text::{Analyzer, Phrase};
use rustc_hash::FxHashSet;

/// Words that a prefix stands for.
const PREFIXED: usize = 4_096;

/// The most memory a regular expression may take when compiled.
const PATTERN_BYTES: usize = 1 << 20;

/// A query, ready to be held against texts.
pub(super) enum Match {
    /// Words; with all of the terms of each, or any.
    Words(Vec<Vec<(Vec<String>, bool)>>),
    Phrase {
        phrase: Phrase,
        words: Box<Match>,
    },
    /// A prefix, and the terms that words which begin so may have been stemmed to.
    Prefix(String, Vec<String>),
    Infix(String),
    Regex(regex::Regex),
    All(Vec<Match>),
    Any(Vec<Match>),
    Not(Box<Match>),
}

/// In which ways a word may be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ways {
    /// Whole, or in all of its parts.
    Any,
    /// Whole.
    Whole,
}

/// What is asked of a set of documents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// It holds at least those that match.
    Above,
    /// It holds only those that match.
    Below,
}

impl Match {
    /// Compiles a query.
    pub(super) fn new(expr: &Expr, analyzer: &mut Analyzer) -> Result<Match> {
        Match::compile(expr, analyzer, Ways::Any)
    }

    /// Compiles a query whose words must stand as they are asked for.
    pub(super) fn exact(expr: &Expr, analyzer: &mut Analyzer) -> Result<Match> {
        Match::compile(expr, analyzer, Ways::Whole)
    }

    fn compile(expr: &Expr, analyzer: &mut Analyzer, ways: Ways) -> Result<Match> {
        Ok(match expr {
            Expr::Word(text) => Match::words(text, analyzer, ways),
            Expr::Phrase(text) => Match::Phrase {
                phrase: Phrase::new(text),
                words: Box::new(Match::words(text, analyzer, Ways::Any)),
            },
            Expr::Prefix(text) => {
                let prefix = oneiro_text::normalise(text);
                let stems = stems(&prefix, analyzer);
                Match::Prefix(prefix, stems)
            }
            Expr::Infix(text) => Match::Infix(oneiro_text::normalise(text)),
            Expr::Regex(pattern) => Match::Regex(compile(pattern)?),
            Expr::And(exprs) => Match::All(Match::list(exprs, analyzer, ways)?),
            Expr::Or(exprs) => Match::Any(Match::list(exprs, analyzer, ways)?),
            // What is refused is the word, and not every text that has its parts somewhere.
            Expr::Not(expr) => Match::Not(Box::new(Match::compile(expr, analyzer, Ways::Whole)?)),
        })
    }

    fn list(exprs: &[Expr], analyzer: &mut Analyzer, ways: Ways) -> Result<Vec<Match>> {
        // The same thing said twice is looked for once.
        let mut seen: Vec<&Expr> = Vec::with_capacity(exprs.len());
        for expr in exprs {
            if !seen.contains(&expr) {
                seen.push(expr);
            }
        }
        seen.into_iter().map(|expr| Match::compile(expr, analyzer, ways)).collect()
    }

    /// The words of a text, each of which must occur: whole, or in all of its parts.
    fn words(text: &str, analyzer: &mut Analyzer, ways: Ways) -> Match {
        let words = analyzer.query_words(text);
        let one = |word: oneiro_text::QueryWord| {
            let mut found = vec![(word.terms, word.all)];
            // A run of characters of a script without spaces is there in its pairs alone.
            if !word.parts.is_empty() && (ways == Ways::Any || !word.norm.is_ascii()) {
                let parts = word.parts.into_iter().flat_map(|part| part.terms.into_iter().next());
                found.push((parts.collect(), true));
            }
            found
        };
        Match::Words(words.into_iter().map(one).collect())
    }

    /// Whether the text must be read to know.
    pub(super) fn needs_text(&self) -> bool {
        match self {
            Match::Words(_) => false,
            Match::Prefix(..) | Match::Phrase { .. } | Match::Infix(_) | Match::Regex(_) => true,
            Match::All(list) | Match::Any(list) => list.iter().any(Match::needs_text),
            Match::Not(inner) => inner.needs_text(),
        }
    }

    /// The part of the query that refuses: what stays when its words are relaxed.
    pub(super) fn refusals(self) -> Option<Match> {
        match self {
            Match::Not(inner) => Some(Match::Not(inner)),
            Match::All(list) => {
                let kept: Vec<Match> = list.into_iter().filter_map(Match::refusals).collect();
                (!kept.is_empty()).then_some(Match::All(kept))
            }
            _ => None,
        }
    }

    /// The patterns to highlight.
    pub(super) fn patterns(&self, patterns: &mut Vec<regex::Regex>, prefixes: &mut Vec<String>) {
        match self {
            Match::Regex(pattern) => patterns.push(pattern.clone()),
            Match::Infix(text) => {
                let pattern = format!("(?i){}", regex::escape(text));
                patterns.extend(regex::Regex::new(&pattern));
            }
            Match::Prefix(text, _) => prefixes.push(text.clone()),
            Match::All(list) | Match::Any(list) => {
                list.iter().for_each(|one| one.patterns(patterns, prefixes));
            }
            Match::Words(_) | Match::Phrase { .. } | Match::Not(_) => {}
        }
    }

    /// Messages that may match, each by its first document.
    pub(super) fn may_match(&self, view: &View<'_>) -> Result<DocSet> {
        self.bound(view, Bound::Above)
    }

    fn bound(&self, view: &View<'_>, bound: Bound) -> Result<DocSet> {
        let docs = view.docs();
        Ok(match self {
            Match::Words(words) => {
                let mut all = DocSet::all(docs);
                for ways in words {
                    let mut any = DocSet::none(docs);
                    for (terms, needs_all) in ways {
                        any.or(&with_terms(view, terms, *needs_all)?);
                    }
                    all.and(&any);
                }
                all
            }
            Match::Prefix(prefix, stems) if bound == Bound::Above => {
                let found = view.with_prefix(prefix.as_bytes(), PREFIXED)?;
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
            Match::Phrase { words, .. } if bound == Bound::Above => words.bound(view, bound)?,
            Match::Prefix(..) | Match::Phrase { .. } | Match::Infix(_) | Match::Regex(_) => {
                match bound {
                    Bound::Above => DocSet::all(docs),
                    Bound::Below => DocSet::none(docs),
                }
            }
            Match::All(list) => {
                let mut all = DocSet::all(docs);
                for one in list {
                    all.and(&one.bound(view, bound)?);
                }
                all
            }
            Match::Any(list) => {
                let mut any = DocSet::none(docs);
                for one in list {
                    any.or(&one.bound(view, bound)?);
                }
                any
            }
            Match::Not(inner) => {
                let other = if bound == Bound::Above { Bound::Below } else { Bound::Above };
                let mut set = inner.bound(view, other)?;
                set.flip();
                set
            }
        })
    }

    /// Whether a text matches.
    pub(super) fn matches(&self, text: &str, analyzer: &mut Analyzer) -> bool {
        let mut terms: FxHashSet<Box<str>> = FxHashSet::default();
        let mut norms: FxHashSet<Box<str>> = FxHashSet::default();
        let by_term = self.has(|one| matches!(one, Match::Words(_)));
        let by_norm = self.has(|one| matches!(one, Match::Prefix(..)));
        // Analysing a text costs twenty times what a pattern does.
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

    /// Whether any part of the expression is such.
    fn has(&self, wanted: fn(&Match) -> bool) -> bool {
        wanted(self)
            || match self {
                Match::All(list) | Match::Any(list) => list.iter().any(|one| one.has(wanted)),
                Match::Not(inner) => inner.has(wanted),
                _ => false,
            }
    }

    fn holds(&self, read: &Read<'_>) -> bool {
        match self {
            Match::Words(words) => words.iter().all(|ways| {
                ways.iter().any(|(terms, all)| {
                    let mut has = terms.iter().map(|term| read.terms.contains(term.as_str()));
                    if *all { has.all(|has| has) } else { has.any(|has| has) }
                })
            }),
            Match::Phrase { phrase, .. } => phrase.find(read.text).is_some(),
            Match::Prefix(prefix, _) => {
                read.norms.iter().any(|word| word.starts_with(prefix.as_str()))
            }
            Match::Infix(text) => oneiro_text::normalise(read.text).contains(text.as_str()),
            Match::Regex(pattern) => pattern.is_match(read.text),
            Match::All(list) => list.iter().all(|one| one.holds(read)),
            Match::Any(list) => list.iter().any(|one| one.holds(read)),
            Match::Not(inner) => !inner.holds(read),
        }
    }
}

struct Read<'r> {
    text: &'r str,
    terms: FxHashSet<Box<str>>,
    norms: FxHashSet<Box<str>>,
}

/// Shorter stems than a prefix: what words that begin so may have been cut to. A stem is the
/// beginning of its word, but for its last letters and the irregular words.
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
            .remedy("mend it, or put it in quotation marks to search for it as text")
            .because(error)
    })
}

fn with_terms(view: &View<'_>, terms: &[String], all: bool) -> Result<DocSet> {
    let docs = view.docs();
    let mut set = if all && !terms.is_empty() { DocSet::all(docs) } else { DocSet::none(docs) };
    for term in terms {
        match all {
            true => {
                let mut one = DocSet::none(docs);
                add(view, term.as_bytes(), &mut one)?;
                set.and(&one);
            }
            false => add(view, term.as_bytes(), &mut set)?,
        }
    }
    Ok(set)
}

/// Adds the messages that have a term.
fn add(view: &View<'_>, term: &[u8], set: &mut DocSet) -> Result<()> {
    let mut lists = view.lists(term)?;
    view.read_rest(&mut lists, u64::MAX)?;
    lists.postings().for_each(|(doc, _)| set.insert(view.first_chunk(doc)));
    Ok(())
}
