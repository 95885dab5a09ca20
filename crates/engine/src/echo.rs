//! Recognises lines that Oneiro served when they come back, so that they never count as evidence: in
//! the words of a user, in tool output, quoted, wrapped, cut or as items of a list. Lines are compared by
//! keyed hashes of runs of five tokens.

use oneiro_model::{Error, MemoryId, PackKind, Result, SessionId, Timestamp};
use oneiro_store::Tx;
use oneiro_store::identity::{self, LineHasher};
use oneiro_store::served_lines::{self, ServedLine, ServedTo};
use oneiro_text::Analyzer;
use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::LazyLock;

mod strip;
mod tokens;

use tokens::labels;
pub(crate) use tokens::{EchoToken, comparable, tokens, without_labelled_lines};

/// Tokens of a run that is hashed.
const SHINGLE_TOKENS: usize = 5;

/// The client of lines that were served to nobody in particular: they may come back from everywhere.
const ANYBODY: &str = "";

/// The share of a line's runs that must come back for it to be an echo.
const NEAR_SHARE: f64 = 0.8;

/// Tokens of a cut line that must come back.
const TRUNCATED_TOKENS_MIN: usize = 6;

/// Lines of a session that are compared, newest first.
const LINES_MAX: usize = 2_000;

/// Places of one run in a line that are known; a line that repeats itself more often says nothing.
const REPEATS_MAX: usize = 16;

/// Runs of a text that are compared with served lines, at most: a text with more is made to be slow.
const HITS_MAX: usize = 1 << 20;

/// The share of a memory's words that a sentence has if it rests on it.
const REST_SHARE: f64 = 0.7;

/// Words of a memory that a sentence has at least if it rests on it.
const REST_TERMS_MIN: usize = 3;

/// The tag around served lines.
pub(crate) const TAG: &str = "oneiro-memory";

/// Whether a text holds lines of a pack, with their labels or between their tags.
pub(crate) fn is_served_text(text: &str) -> bool {
    text.contains(TAG) || !labels(text).is_empty()
}

/// Opening tags of blocks that Oneiro served.
static OPENING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<(oneiro-memory|recalled-[0-9a-f]{6})>").ok());

/// A text without what was served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stripped {
    /// The text without echoed lines and delimited blocks.
    pub(crate) text: String,
    /// The memories whose lines came back, each once.
    pub(crate) echoed: Vec<MemoryId>,
    /// Whether two or more served lines came back one after the other.
    pub(crate) consecutive: bool,
}

/// The lines that were served to somebody.
pub(crate) struct ServedLines {
    hasher: Option<LineHasher>,
    lines: Vec<ServedLine>,
    /// Lines with a run of tokens, and its place in them.
    runs: FxHashMap<u64, Vec<(usize, usize)>>,
}

/// A line in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Match {
    line: usize,
    tokens: Range<usize>,
}

/// A line that is served, with the text that is compared.
pub(crate) struct NewServedLine<'a> {
    pub(crate) kind: PackKind,
    pub(crate) item_id: &'a str,
    pub(crate) statement: &'a str,
}

/// Records that lines were served. The space has an identity.
pub(crate) fn record_served(
    tx: &Tx<'_>,
    to: ServedTo<'_>,
    lines: &[NewServedLine<'_>],
    now: Timestamp,
) -> Result<()> {
    let is_unknown = to.session.is_none() && to.client.is_none();
    let to = if is_unknown { ServedTo { session: None, client: Some(ANYBODY) } } else { to };
    let identity = identity::get(tx)?;
    let identity = identity.ok_or_else(|| Error::internal("the space has no identity"))?;
    let (hasher, mut analyzer) = (identity.line_hasher(), Analyzer::default());
    for line in lines {
        let tokens = tokens(line.statement);
        let served = ServedLine {
            kind: line.kind,
            item_id: line.item_id.to_owned(),
            tokens: tokens.len(),
            shingles: shingles(&hasher, &tokens),
            terms: terms(&hasher, &mut analyzer, line.statement),
            repeatable: false,
        };
        if !tokens.is_empty() {
            served_lines::add(tx, to, &served, now)?;
        }
    }
    Ok(())
}

/// The lines that were served to a session, to a client outside of sessions, and to nobody in particular.
pub(crate) fn served_to(
    tx: &Tx<'_>,
    session: Option<&SessionId>,
    client: Option<&str>,
) -> Result<ServedLines> {
    let hasher = identity::get(tx)?.map(|identity| identity.line_hasher());
    let lines = match &hasher {
        Some(_) => {
            let anybody = ServedTo { session: None, client: Some(ANYBODY) };
            let mut lines = served_lines::newest(tx, ServedTo { session, client }, LINES_MAX)?;
            lines.extend(served_lines::newest(tx, anybody, LINES_MAX)?);
            lines
        }
        None => Vec::new(),
    };
    Ok(ServedLines::new(hasher, lines))
}

impl ServedLines {
    fn new(hasher: Option<LineHasher>, lines: Vec<ServedLine>) -> ServedLines {
        let mut runs: FxHashMap<u64, Vec<(usize, usize)>> = FxHashMap::default();
        // A line that was served often is compared once.
        let mut known: FxHashSet<&[u64]> = FxHashSet::default();
        for (at, line) in lines.iter().enumerate() {
            if !known.insert(&line.shingles) {
                continue;
            }
            for (place, hash) in line.shingles.iter().enumerate() {
                let places = runs.entry(*hash).or_default();
                if places.iter().rev().take_while(|(line, _)| *line == at).count() < REPEATS_MAX {
                    places.push((at, place));
                }
            }
        }
        ServedLines { hasher, lines, runs }
    }

    /// The memory that a sentence rests on: it repeats most of a served line, or has most of its words.
    pub(crate) fn sentence_rests_on(&self, sentence: &str) -> Option<MemoryId> {
        let hasher = self.hasher.as_ref()?;
        let words = tokens(sentence);
        let repeated = self.matches(sentence, &words);
        if let Some(id) = repeated.iter().find_map(|found| self.memory(found.line)) {
            return Some(id);
        }
        let has: FxHashSet<u64> =
            terms(hasher, &mut Analyzer::default(), sentence).into_iter().collect();
        let share = |line: &ServedLine| {
            let met = line.terms.iter().filter(|term| has.contains(term)).count();
            (met >= REST_TERMS_MIN).then(|| met as f64 / line.terms.len() as f64)
        };
        let of_memories =
            self.lines.iter().enumerate().filter(|(_, line)| line.kind == PackKind::Memory);
        let shares = of_memories.filter_map(|(at, line)| share(line).map(|share| (share, at)));
        let best =
            shares.filter(|(share, _)| *share >= REST_SHARE).max_by(|a, b| a.0.total_cmp(&b.0));
        best.and_then(|(_, at)| self.memory(at))
    }

    fn memory(&self, line: usize) -> Option<MemoryId> {
        let line = self.lines.get(line).filter(|line| line.kind == PackKind::Memory)?;
        MemoryId::parse(&line.item_id).ok()
    }

    /// Where served lines stand in a text, in order.
    fn matches(&self, text: &str, words: &[EchoToken]) -> Vec<Match> {
        let Some(hasher) = self.hasher.as_ref().filter(|_| !self.lines.is_empty()) else {
            return Vec::new();
        };
        let mut by_line: FxHashMap<usize, Vec<(usize, usize)>> = FxHashMap::default();
        let mut left = HITS_MAX;
        for (at, run) in words.windows(SHINGLE_TOKENS).enumerate() {
            let hash = hasher.hash(run.iter().map(|token| token.word.as_str()));
            let places = self.runs.get(&hash).map(Vec::as_slice).unwrap_or_default();
            for of_line in places.chunk_by(|one, other| one.0 == other.0).take(left) {
                let Some((line, first)) = of_line.first() else { continue };
                let hits = by_line.entry(*line).or_default();
                // Of a run that the line repeats, the one after the last that was met.
                let last = hits.last().map(|last| last.1);
                let next = of_line.iter().map(|it| it.1).find(|place| Some(*place) > last);
                hits.push((at, next.unwrap_or(*first)));
                left -= 1;
            }
        }
        let mut found = Vec::new();
        for (line, hits) in &by_line {
            let Some(served) = self.lines.get(*line) else { continue };
            for cluster in clusters(hits) {
                let candidate = EchoCandidate { text, words, hasher, served, cluster: &cluster };
                if let Some(tokens) = candidate.echo() {
                    found.push(Match { line: *line, tokens });
                }
            }
        }
        found.extend(self.short_matches(hasher, text, words));
        // Of lines that overlap, the longest counts.
        found.sort_by_key(|one| (one.tokens.start, std::cmp::Reverse(one.tokens.end), one.line));
        let mut end = 0;
        found.retain(|one| {
            let is_new = one.tokens.end > end;
            end = end.max(one.tokens.end);
            is_new
        });
        found
    }

    /// Lines with fewer tokens than a run: only a whole sentence or line of the text is one.
    fn short_matches(&self, hasher: &LineHasher, text: &str, words: &[EchoToken]) -> Vec<Match> {
        let mut found = Vec::new();
        for range in tokens::segments(text, words) {
            let Some(segment) = words.get(range.clone()).filter(|it| it.len() < SHINGLE_TOKENS)
            else {
                continue;
            };
            let hash = hasher.hash(segment.iter().map(|token| token.word.as_str()));
            let lines = self.runs.get(&hash).into_iter().flatten();
            let is_whole = |line: &&(usize, usize)| {
                self.lines.get(line.0).is_some_and(|line| line.tokens == segment.len())
            };
            if let Some((line, _)) = lines.into_iter().find(is_whole) {
                found.push(Match { line: *line, tokens: range });
            }
        }
        found
    }
}

/// Runs of one line in a text that follow each other, as (place in the text, place in the line).
fn clusters(hits: &[(usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    let mut clusters: Vec<Vec<(usize, usize)>> = Vec::new();
    for hit in hits {
        let follows = |last: &(usize, usize)| {
            hit.1 > last.1 && hit.0 > last.0 && hit.0 - last.0 <= 2 * SHINGLE_TOKENS
        };
        match clusters.last_mut() {
            Some(cluster) if cluster.last().is_some_and(follows) => cluster.push(*hit),
            _ => clusters.push(vec![*hit]),
        }
    }
    clusters
}

/// One place of a text that may be an echo of a line.
struct EchoCandidate<'a> {
    text: &'a str,
    words: &'a [EchoToken],
    hasher: &'a LineHasher,
    served: &'a ServedLine,
    cluster: &'a [(usize, usize)],
}

impl EchoCandidate<'_> {
    /// The tokens of the text that are an echo.
    fn echo(&self) -> Option<Range<usize>> {
        let (first, last) = (self.cluster.first()?, self.cluster.last()?);
        let range = first.0..last.0 + SHINGLE_TOKENS;
        let share = self.cluster.len() as f64 / self.served.shingles.len() as f64;
        if share >= 1.0 {
            return Some(range);
        }
        if share >= NEAR_SHARE {
            return (!self.adds_or_changes_word(&range)).then_some(range);
        }
        let is_start = self
            .cluster
            .iter()
            .enumerate()
            .all(|(at, (place, of_line))| *of_line == at && *place == first.0 + at);
        let is_cut = is_start
            && range.len() >= TRUNCATED_TOKENS_MIN
            && tokens::ends_after(self.text, self.words, range.end - 1);
        is_cut.then_some(range)
    }

    /// Whether a word that the line does not have stands in it, or in place of its first or last words:
    /// then it is a correction.
    fn adds_or_changes_word(&self, range: &Range<usize>) -> bool {
        let covered: FxHashSet<usize> =
            self.cluster.iter().flat_map(|(at, _)| *at..*at + SHINGLE_TOKENS).collect();
        let inside = range.clone().filter(|at| !covered.contains(at));
        let starts_late = self.cluster.first().is_some_and(|(_, place)| *place > 0);
        let ends_early =
            self.cluster.last().is_some_and(|(_, place)| *place + 1 < self.served.shingles.len());
        let before = (starts_late && !tokens::starts_before(self.text, self.words, range.start))
            .then(|| range.start.saturating_sub(1));
        let after = (ends_early && !tokens::ends_after(self.text, self.words, range.end - 1))
            .then_some(range.end);
        let mut analyzer = Analyzer::default();
        inside.chain(before).chain(after).filter_map(|at| self.words.get(at)).any(|token| {
            let mut is_other = tokens::denies(&token.word);
            analyzer.tokens(&token.word, |term| {
                let hash = self.hasher.hash(std::iter::once(term.term));
                is_other |= !term.stop && !self.served.terms.contains(&hash);
            });
            is_other
        })
    }
}

/// A hash of each run of five tokens, or of all if there are fewer.
fn shingles(hasher: &LineHasher, tokens: &[EchoToken]) -> Vec<u64> {
    let hash = |run: &[EchoToken]| hasher.hash(run.iter().map(|token| token.word.as_str()));
    if tokens.len() < SHINGLE_TOKENS {
        return vec![hash(tokens)];
    }
    tokens.windows(SHINGLE_TOKENS).map(hash).collect()
}

/// A hash of each word that carries meaning, each once.
fn terms(hasher: &LineHasher, analyzer: &mut Analyzer, text: &str) -> Vec<u64> {
    let mut terms = Vec::new();
    analyzer.tokens(text, |token| {
        let hash = hasher.hash(std::iter::once(token.term));
        if !token.stop && !terms.contains(&hash) {
            terms.push(hash);
        }
    });
    terms
}

#[cfg(test)]
mod tests;
