//! Turns ranked messages into an answer: one page of hits with snippets, neighbours and traces.

use super::confidence::AskedWords;
use super::features::Features;
use super::matcher::Matcher;
use super::page_start::PageStart;
use super::query_terms::QueryTerms;
use super::reading::WordMatches;
use super::rows::FoundEntry;
use super::run::SearchInput;
use super::scorer::Scored;
use super::snippet::{self, HighlightTerms};
use crate::index::texts;
use crate::notes::blocked_entries;
use oneiro_index::Source as _;
use oneiro_model::{
    AskedMemories, Expr, Found, Hit, HitKind, Memory, MemoryHit, MessageId, Neighbour, NoteHit,
    NoteName, Result, SearchRequest, SessionId, Tier, Trace, TracePart, TraceWord, searchable,
    searchable_split,
};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{Tx, lineage, sessions};
use oneiro_text::{Analyzer, Phrase};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;
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
    /// The memory, if it is one.
    pub(super) memory: Option<Box<Memory>>,
    /// The entry of a note, if it is one.
    pub(super) note: Option<Box<FoundEntry>>,
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
            memory: None,
            note: None,
        }
    }
}

/// The data of a [`Trace`].
pub(super) struct TraceData {
    parts: Vec<(&'static str, f32, f32)>,
    matched: Vec<f32>,
    from: Vec<&'static str>,
    /// What the confidence of the answer is measured by.
    pub(super) features: Features,
    pub(super) own: WordMatches,
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
            features: scored.features,
            own: scored.own,
        }
    }
}

/// An answer being built.
pub(super) struct Answer<'a, 'c> {
    tx: &'a Tx<'c>,
    request: &'a SearchRequest,
    terms: Vec<String>,
    weights: Vec<(String, f32)>,
    words: AskedWords,
    prefixes: Vec<String>,
    phrases: Vec<Phrase>,
    patterns: Vec<regex::Regex>,
    stopped: Option<i64>,
    notes: Vec<String>,
    truncated: bool,
    sessions: FxHashMap<i64, Option<(SessionId, Option<String>)>>,
    /// Placeholders of the blocked entries of each note, by handle.
    blocked: HashMap<NoteName, HashMap<String, String>>,
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
            words: AskedWords::default(),
            prefixes: Vec::new(),
            phrases: Vec::new(),
            patterns: Vec::new(),
            stopped: None,
            notes: Vec::new(),
            truncated: input.query.truncated,
            sessions: FxHashMap::default(),
            blocked: HashMap::new(),
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

    /// Sets the words that the confidence of the answer is measured by.
    pub(super) fn asks(&mut self, query_terms: &QueryTerms) {
        self.words = AskedWords::of(query_terms);
    }

    /// Records where reading texts stopped; of several places, the first that was not read.
    pub(super) fn add_scan_end(&mut self, stopped: Option<i64>) {
        self.stopped = self.stopped.max(stopped);
    }

    pub(super) fn has_scan_end(&self) -> bool {
        self.stopped.is_some()
    }

    /// Adds something that the caller should know.
    pub(super) fn add_note(&mut self, note: Option<String>) {
        self.notes.extend(note);
    }

    /// Builds the requested page of hits.
    pub(super) fn finish(
        mut self,
        mut ranked: Vec<Ranked>,
        analyzer: &mut Analyzer,
    ) -> Result<Found> {
        let (found, evidence) = self.words.confidence(&ranked.iter().collect::<Vec<_>>());
        let asked_for = self.asked_memories(&ranked);
        if self.request.one_per_lineage {
            self.best_of_each_lineage(&mut ranked)?;
        }
        let page_start = PageStart::of(self.request.cursor);
        let offset = page_start.offset;
        let more = ranked.len() > offset + self.request.limit;
        let page: Vec<Ranked> = ranked.into_iter().skip(offset).take(self.request.limit).collect();
        let last = match page_start.last {
            Some(last) => last,
            None => texts(self.tx).last()?,
        };
        let next = match (more, self.stopped) {
            (true, _) => Some(PageStart { offset: offset + page.len(), ..page_start }),
            (false, Some(stopped)) => {
                Some(PageStart { offset: 0, before: Some(stopped), ..page_start })
            }
            (false, None) => None,
        };
        let next = next.map(|page_start| page_start.cursor(last));
        let tier = page.first().map(|one| one.tier);
        let (mut hits, mut memories) = (Vec::with_capacity(page.len()), Vec::new());
        let mut notes = Vec::new();
        for mut one in page {
            match (one.memory.take(), one.note.take()) {
                (Some(memory), _) => {
                    let hit = self.memory_hit(one, *memory, analyzer);
                    memories.push(MemoryHit { messages_before: hits.len(), ..hit });
                }
                (None, Some(entry)) => {
                    let hit = self.note_hit(one, *entry, analyzer)?;
                    notes.push(NoteHit { others_before: hits.len() + memories.len(), ..hit });
                }
                (None, None) => hits.extend(self.hit(one, analyzer)?),
            }
        }
        let mut remarks = std::mem::take(&mut self.notes);
        let mut add = |remark: &str| remarks.push(remark.to_owned());
        if self.stopped.is_some() {
            add("only part of the messages was read for this pattern: continue with `next`");
        }
        if self.truncated {
            add("only the first 512 terms of the query count");
        }
        let note = (!remarks.is_empty()).then(|| remarks.join("; "));
        let part = |(name, value, added)| TracePart {
            name,
            value: f64::from(value),
            added: f64::from(added),
        };
        let evidence = evidence.filter(|_| self.request.explain);
        let evidence = evidence.iter().flat_map(|evidence| evidence.parts()).map(part).collect();
        let summaries = Vec::new();
        Ok(Found { found, evidence, tier, summaries, memories, asked_for, notes, hits, next, note })
    }

    /// The memories among the hits, as an answer of their own.
    fn asked_memories(&self, ranked: &[Ranked]) -> AskedMemories {
        let own: Vec<&Ranked> = ranked.iter().filter(|one| one.memory.is_some()).collect();
        let (found, _) = self.words.confidence(&own);
        let memories = own.iter().filter_map(|one| one.memory.as_deref().cloned());
        AskedMemories { memories: memories.take(self.request.limit).collect(), found }
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
        let (snippet, highlights) = self.snippet(&text, ranked.chunk, analyzer);
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

    fn memory_hit(&self, ranked: Ranked, memory: Memory, analyzer: &mut Analyzer) -> MemoryHit {
        // The words that people ask by stand after the statement, and are not shown.
        let end = memory.content.len();
        let chunk = ranked.chunk.map(|chunk| chunk.start.min(end)..chunk.end.min(end));
        let (snippet, highlights) = self.snippet(&memory.content, chunk, analyzer);
        let trace = ranked.trace.filter(|_| self.request.explain);
        MemoryHit {
            kind: HitKind::Memory,
            id: memory.id,
            memory_kind: memory.kind,
            subject: memory.subject,
            content: memory.content,
            status: memory.status,
            trust: memory.trust,
            confidence: memory.confidence,
            project: memory.project,
            valid_from: memory.valid_from,
            valid_until: memory.valid_until,
            superseded_by: memory.superseded_by,
            suspended_by: memory.suspended_by,
            score: f64::from(ranked.score),
            tier: ranked.tier,
            snippet,
            highlights,
            at: memory.created_at,
            trace: trace.map(|trace| self.trace(trace)),
            messages_before: 0,
        }
    }

    /// An entry of a note; one that the injection scan blocks is a placeholder.
    fn note_hit(
        &mut self,
        ranked: Ranked,
        FoundEntry { entry, is_generated }: FoundEntry,
        analyzer: &mut Analyzer,
    ) -> Result<NoteHit> {
        if !self.blocked.contains_key(&entry.name) {
            let blocked = blocked_entries(self.tx, &entry.name)?;
            self.blocked.insert(entry.name.clone(), blocked);
        }
        let blocked = self.blocked.get(&entry.name).and_then(|it| it.get(&entry.handle));
        let (snippet, highlights) = match blocked {
            Some(placeholder) => (placeholder.clone(), Vec::new()),
            None => self.snippet(&entry.text, ranked.chunk, analyzer),
        };
        let trace = ranked.trace.filter(|_| self.request.explain);
        Ok(NoteHit {
            kind: HitKind::Note,
            id: format!("{}#{}", entry.name, entry.handle),
            generated: is_generated,
            note: entry.name,
            score: f64::from(ranked.score),
            tier: ranked.tier,
            snippet,
            highlights,
            at: entry.at,
            trace: trace.map(|trace| self.trace(trace)),
            others_before: 0,
        })
    }

    /// The part of a text that matters, and what in it met the query.
    fn snippet(
        &self,
        text: &str,
        chunk: Option<Range<usize>>,
        analyzer: &mut Analyzer,
    ) -> (String, Vec<(usize, usize)>) {
        let wanted = HighlightTerms {
            terms: &self.terms,
            prefixes: &self.prefixes,
            phrases: &self.phrases,
            patterns: &self.patterns,
        };
        snippet::snippet(analyzer, text, &chunk.unwrap_or(0..text.len()), &wanted)
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
