//! Turns ranked messages into an answer: one page of hits with snippets, neighbours and traces.

use super::matcher::Matcher;
use super::page_start::PageStart;
use super::query_terms::QueryTerms;
use super::run::SearchInput;
use super::scorer::Scored;
use super::snippet::{self, HighlightTerms};
use oneiro_model::{
    Expr, Found, Hit, HitKind, MessageId, Neighbour, Result, SearchRequest, SessionId, Tier, Trace,
    TracePart, TraceWord, searchable, searchable_split,
};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{Tx, lineage, sessions};
use oneiro_text::{Analyzer, Phrase};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::ops::Range;

/// A message with its rank.
pub(super) struct Ranked {
    pub(super) seq: i64,
    pub(super) session: i64,
    pub(super) tier: Tier,
    pub(super) score: f32,
    pub(super) trace: Option<TraceData>,
    pub(super) chunk: Option<Range<usize>>,
    pub(super) said: Option<MessageRow>,
}

impl Ranked {
    /// A message ranked by its time.
    pub(super) fn by_time(said: MessageRow) -> Ranked {
        Ranked {
            seq: said.seq,
            session: said.session_key,
            tier: Tier::Precise,
            score: 0.0,
            trace: None,
            chunk: None,
            said: Some(said),
        }
    }
}

/// The data of a [`Trace`].
pub(super) struct TraceData {
    parts: Vec<(&'static str, f32, f32)>,
    matched: Vec<f32>,
    from: Vec<&'static str>,
}

impl TraceData {
    /// Traces a candidate that is ranked by `score`, which may be lower than its own.
    pub(super) fn new(scored: &Scored, score: f32) -> TraceData {
        let origin = scored.candidate.origin;
        let all = [
            (origin.words, "text"),
            (origin.vector, "vector"),
            (origin.date, "date"),
            (origin.neighbour, "neighbour"),
        ];
        let mut parts = scored.features.parts().to_vec();
        let lowered = score - scored.features.score();
        if lowered < 0.0 {
            parts.push(("order", lowered, lowered));
        }
        TraceData {
            parts,
            matched: scored.matched.to_vec(),
            from: all.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect(),
        }
    }
}

/// An answer being built.
pub(super) struct Answer<'a, 'c> {
    tx: &'a Tx<'c>,
    request: &'a SearchRequest,
    terms: Vec<String>,
    weights: Vec<(String, f32)>,
    prefixes: Vec<String>,
    phrases: Vec<Phrase>,
    patterns: Vec<regex::Regex>,
    stopped: Option<i64>,
    truncated: bool,
    sessions: FxHashMap<i64, Option<(SessionId, Option<String>)>>,
}

impl<'a, 'c> Answer<'a, 'c> {
    pub(super) fn new(
        tx: &'a Tx<'c>,
        input: SearchInput<'a>,
        expr: Option<&Matcher>,
        query_terms: &QueryTerms,
    ) -> Answer<'a, 'c> {
        let mut answer = Answer {
            tx,
            request: input.request,
            terms: Vec::new(),
            weights: Vec::new(),
            prefixes: Vec::new(),
            phrases: Vec::new(),
            patterns: Vec::new(),
            stopped: None,
            truncated: input.query.truncated,
            sessions: FxHashMap::default(),
        };
        if let Some(expr) = expr {
            expr.patterns(&mut answer.patterns, &mut answer.prefixes);
        }
        if let Some(expr) = &input.query.expr {
            phrases(expr, &mut answer.phrases);
        }
        answer.query_terms(query_terms);
        answer
    }

    /// Sets the terms to highlight and the weights of the words.
    pub(super) fn query_terms(&mut self, query_terms: &QueryTerms) {
        self.terms = query_terms.words.iter().flat_map(|word| word.terms.clone()).collect();
        self.weights =
            query_terms.words.iter().map(|word| (word.text.clone(), word.weight)).collect();
    }

    /// Sets the message at which reading texts stopped.
    pub(super) fn set_scan_end(&mut self, stopped: Option<i64>) {
        self.stopped = stopped;
    }

    /// An answer without hits.
    pub(super) fn empty(&self, note: &str) -> Found {
        Found { note: Some(note.to_owned()), ..Found::default() }
    }

    /// Builds the requested page of hits.
    pub(super) fn finish(
        mut self,
        mut ranked: Vec<Ranked>,
        analyzer: &mut Analyzer,
    ) -> Result<Found> {
        if self.request.one_per_lineage {
            self.best_of_each_lineage(&mut ranked)?;
        }
        let page_start = PageStart::of(self.request.cursor);
        let offset = page_start.offset;
        let more = ranked.len() > offset + self.request.limit;
        let page: Vec<Ranked> = ranked.into_iter().skip(offset).take(self.request.limit).collect();
        let last = match page_start.last {
            Some(last) => last,
            None => message_rows::last_id(self.tx)?,
        };
        let next = match (more, self.stopped) {
            (true, _) => Some(PageStart { offset: offset + page.len(), ..page_start }),
            (false, Some(stopped)) => {
                Some(PageStart { offset: 0, before: Some(stopped), ..page_start })
            }
            (false, None) => None,
        };
        let next = next.map(|page_start| page_start.cursor(last));
        let mut hits = Vec::with_capacity(page.len());
        for one in page {
            hits.extend(self.hit(one, analyzer)?);
        }
        let mut notes = Vec::new();
        if self.stopped.is_some() {
            notes.push("only part of the messages was read for this pattern: go on with `next`");
        }
        if self.truncated {
            notes.push("only the first 512 terms of the query count");
        }
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let tier = hits.first().map(|hit: &Hit| hit.tier);
        Ok(Found { tier, summaries: Vec::new(), hits, next, note })
    }

    /// The id and the project of a session.
    fn session(&mut self, key: i64) -> Result<Option<(SessionId, Option<String>)>> {
        if let Some(known) = self.sessions.get(&key) {
            return Ok(known.clone());
        }
        let found = sessions::id_and_project(self.tx, key)?;
        self.sessions.insert(key, found.clone());
        Ok(found)
    }

    fn best_of_each_lineage(&mut self, ranked: &mut Vec<Ranked>) -> Result<()> {
        let mut roots: FxHashMap<i64, i64> = FxHashMap::default();
        for one in ranked.iter() {
            if let Entry::Vacant(root) = roots.entry(one.session) {
                root.insert(lineage::root_key(self.tx, one.session)?);
            }
        }
        let mut seen = FxHashSet::default();
        ranked.retain(|one| roots.get(&one.session).is_some_and(|root| seen.insert(*root)));
        Ok(())
    }

    fn hit(&mut self, ranked: Ranked, analyzer: &mut Analyzer) -> Result<Option<Hit>> {
        let Some((session_id, project)) = self.session(ranked.session)? else { return Ok(None) };
        let said = match ranked.said {
            Some(said) => said,
            None => match message_rows::by_ids(self.tx, &[ranked.seq])?.pop() {
                Some(said) => said,
                None => return Ok(None),
            },
        };
        let text = searchable(&said.role, &said.body);
        let chunk = ranked.chunk.unwrap_or(0..text.len());
        let wanted = HighlightTerms {
            terms: &self.terms,
            prefixes: &self.prefixes,
            phrases: &self.phrases,
            patterns: &self.patterns,
        };
        let (snippet, highlights) = snippet::snippet(analyzer, &text, &chunk, &wanted);
        let neighbours = self.neighbours(&said)?;
        let trace =
            ranked.trace.filter(|_| self.request.explain).map(|trace_data| self.trace(trace_data));
        Ok(Some(Hit {
            kind: HitKind::Message,
            id: MessageId(said.seq),
            session_id,
            project,
            external_id: said.external_id.clone(),
            score: f64::from(ranked.score),
            tier: ranked.tier,
            snippet,
            highlights,
            at: said.at,
            name: name(&said),
            role: said.role,
            neighbours,
            trace,
        }))
    }

    fn trace(&self, trace_data: TraceData) -> Trace {
        let part = |(name, value, added)| TracePart {
            name,
            value: f64::from(value),
            added: f64::from(added),
        };
        let words = self.weights.iter().zip(trace_data.matched).map(|((word, weight), matched)| {
            TraceWord { word: word.clone(), weight: f64::from(*weight), met: f64::from(matched) }
        });
        let parts =
            trace_data.parts.into_iter().filter(|(_, value, _): &(_, f32, f32)| *value != 0.0);
        Trace { parts: parts.map(part).collect(), words: words.collect(), from: trace_data.from }
    }

    fn neighbours(&self, said: &MessageRow) -> Result<Vec<Neighbour>> {
        let count = self.request.neighbours;
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut near = message_rows::session_before(self.tx, said.session_key, said.seq, count)?;
        near.reverse();
        near.append(&mut message_rows::session_after(self.tx, said.session_key, said.seq, count)?);
        let shown = |said: MessageRow| Neighbour {
            id: MessageId(said.seq),
            name: name(&said),
            at: said.at,
            text: snippet::neighbour(searchable_split(&said.role, &said.body).words()),
            role: said.role,
        };
        Ok(near.into_iter().map(shown).collect())
    }
}

/// The name of the speaker.
pub(super) fn name(said: &MessageRow) -> Option<String> {
    said.body.get("name").and_then(serde_json::Value::as_str).map(str::to_owned)
}

fn phrases(expr: &Expr, found: &mut Vec<Phrase>) {
    match expr {
        Expr::Phrase(text) => found.push(Phrase::new(text)),
        Expr::And(list) | Expr::Or(list) => list.iter().for_each(|expr| phrases(expr, found)),
        _ => {}
    }
}
