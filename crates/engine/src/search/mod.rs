//! Search: a query in, ranked hits out, in one snapshot.
//!
//! `run` is one search step by step. Candidates come from the text index and from the rows that are
//! not indexed yet (`candidates`), are scored on their texts (`scorer`, `features`), and become a
//! page of hits (`hits`). Both database engines rank alike, and every hit can explain its score.

mod all_words;
mod by_time;
mod by_words;
mod candidates;
mod confidence;
mod conversations;
mod doc_set;
mod features;
mod hits;
mod kinds;
mod known_text;
mod list_features;
mod matcher;
mod operators;
mod page_start;
mod posting_scores;
mod query_terms;
mod query_vector;
mod reading;
mod recall;
mod rows;
mod run;
mod scope;
mod scorer;
mod snippet;
mod summaries;
mod top_k;
mod with_summaries;

use crate::index::{Segments, texts};
use crate::jobs::REBUILD_INDEX;
use crate::views::Search;
use crate::{CACHE_WRITE_WAIT, EmbedderChoice, Oneiro, RECORD_WRITE_WAIT};
pub(crate) use known_text::KnownTexts;
use oneiro_index::{Reader, Snapshot, Source as _, View};
use oneiro_model::contract::Request as _;
use oneiro_model::{
    Error, Expr, Filters, Found, HitKind, MemoryHit, NEIGHBOURS_MAX, Query, Result,
    SEARCH_LIMIT_MAX, SearchRequest, Session, SessionId,
};
use oneiro_store::{Tx, is_missing_table, is_unreadable};
use posting_scores::PostingScores;
pub(crate) use query_terms::{SimilarWords, utc_date};
pub(crate) use query_vector::Breaker;
use query_vector::QueryVector;
use run::{SearchInput, SearchRun};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Messages that one page reads for a pattern before it stops and answers with a cursor.
const SCAN_MESSAGES_MAX: usize = 20_000;

impl Search<'_> {
    /// Searches messages, summaries, memories and notes. Everything acknowledged before the call began is
    /// found.
    pub fn run(&self, request: &SearchRequest) -> Result<Found> {
        if request.limit == 0 || request.limit > SEARCH_LIMIT_MAX {
            return Err(Error::field("limit", format!("is not between 1 and {SEARCH_LIMIT_MAX}")));
        }
        if request.neighbours > NEIGHBOURS_MAX {
            return Err(Error::field("neighbours", format!("is more than {NEIGHBOURS_MAX}")));
        }
        request.check()?;
        if request.wants_notes() {
            self.oneiro.with_max_write_wait(CACHE_WRITE_WAIT).index_earlier_notes();
        }
        let found = if request.wants_summaries() {
            self.oneiro.search_with_summaries(request)?
        } else {
            self.oneiro.search_as_typed(request)?
        };
        self.oneiro.with_max_write_wait(RECORD_WRITE_WAIT).record_recall(request, &found);
        Ok(found)
    }

    /// The sessions that an answer has hits in, for their titles and sources.
    pub fn sessions_of(&self, found: &Found) -> Result<BTreeMap<SessionId, Session>> {
        let summaries = found.summaries.iter().map(|hit| &hit.session_id);
        let all = summaries.chain(found.hits.iter().map(|hit| &hit.session_id));
        let ids: Vec<SessionId> = all.collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let sessions = self.oneiro.sessions().find_many(&ids, true)?;
        Ok(sessions.into_iter().flatten().map(|session| (session.id.clone(), session)).collect())
    }
}

impl Oneiro {
    /// The memories that a text is nearest to, without recording a recall.
    pub(crate) fn search_memories(&self, text: &str, limit: usize) -> Result<Vec<MemoryHit>> {
        let kinds = vec![HitKind::Memory];
        let request = SearchRequest { kinds, limit, ..SearchRequest::new(text) };
        Ok(self.search_messages(&request)?.memories)
    }

    fn search_messages(&self, request: &SearchRequest) -> Result<Found> {
        let query = Query::parse(&request.query, self.now())?;
        self.search_parsed(request, &query)
    }

    /// Searches for the words of a text, in which nothing is an operator.
    pub(crate) fn search_words(&self, request: &SearchRequest) -> Result<Found> {
        let text = request.query.clone();
        let query = Query {
            expr: Some(Expr::Word(text.clone())),
            filters: Filters::default(),
            text,
            explicit: false,
            truncated: false,
        };
        self.search_parsed(request, &query)
    }

    fn search_parsed(&self, request: &SearchRequest, query: &Query) -> Result<Found> {
        let query_vector = if request.exact {
            QueryVector::disabled(self.embedder_choice()?)
        } else {
            self.query_vector(query)?
        };
        let asked = SearchInput { request, query, query_vector: &query_vector };
        let (mut found, note) = self.with_index_view(&query_vector, |tx, view, reader| {
            SearchRun { oneiro: self, tx, view, asked }.run(reader)
        })?;
        found.note = join_notes(found.note, note);
        Ok(found)
    }

    /// Runs `search` on the index in one snapshot. When the index is damaged, runs it on the newest
    /// messages instead and queues a rebuild. The second result is a note for the caller about what
    /// could not be used.
    fn with_index_view<T>(
        &self,
        query_vector: &QueryVector,
        search: impl for<'t, 'c> Fn(&'t Tx<'c>, &'t View<'t>, &mut Reader) -> Result<T>,
    ) -> Result<(T, Option<String>)> {
        let mut reader = self.index.reader(query_vector.choice);
        let (mut is_current, mut last) = (true, None);
        let found = self.store.read(|tx| {
            let segments = Segments::answering(tx)?;
            let (storage, texts) = (&segments, &texts(tx));
            last = Some(texts.last()?);
            let view = self.index.cache.view(
                Snapshot { storage, texts },
                &mut reader,
                query_vector.remote_name(),
            )?;
            is_current = view.is_current;
            search(tx, &view, &mut reader)
        });
        let (found, damage) = match found {
            Err(error) if is_index_damage(&error) => {
                (self.search_without_index(error, search)?, Some(DAMAGED_INDEX_NOTE))
            }
            found => (found?, None),
        };
        self.index.give_back(reader);
        if !is_current {
            self.rebuild_index_soon();
        }
        // As of the snapshot: what is written meanwhile asks for indexing itself.
        if let Some(last) = last {
            self.index.schedule_indexing_after_search(last);
        }
        Ok((found, join_notes(damage.map(str::to_owned), query_vector.note.clone())))
    }

    /// Runs `search` on the newest messages without the damaged index, and queues a rebuild.
    fn search_without_index<T>(
        &self,
        damage: Error,
        search: impl for<'t, 'c> Fn(&'t Tx<'c>, &'t View<'t>, &mut Reader) -> Result<T>,
    ) -> Result<T> {
        tracing::warn!(error = %damage, "the text index is not used");
        self.rebuild_index_soon();
        let mut reader = self.index.reader(EmbedderChoice::Static);
        let found = self.store.read(|tx| {
            let view = View::newest(&texts(tx), &mut reader, SCAN_MESSAGES_MAX)?;
            search(tx, &view, &mut reader)
        });
        // If this fails as well, the damage is not in the index: report the original error.
        found.map_err(|_| damage)
    }

    /// Queues a job that rebuilds the index; the search does not wait for it.
    pub(crate) fn rebuild_index_soon(&self) {
        let now = self.now();
        self.index.rebuild_soon(self.new_job(REBUILD_INDEX, serde_json::Value::Null, now));
    }
}

/// The note on an answer that was found without the index.
const DAMAGED_INDEX_NOTE: &str = "the text index is damaged, so only the newest 20000 messages were \
                       searched; it is rebuilt in the background";

fn join_notes(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

/// Whether an error may mean that the index cannot be read: its bytes are invalid, one of its tables
/// is missing, or the database cannot read its own file. If something else is damaged, the search
/// without the index fails with the same error.
fn is_index_damage(error: &Error) -> bool {
    oneiro_index::is_damaged(error) || is_missing_table(error) || is_unreadable(error)
}

/// Buffers for posting scores, reused between searches.
#[derive(Default)]
pub(crate) struct Scratch(Mutex<Vec<PostingScores>>);

/// Buffers kept for reuse; more concurrent searches allocate their own.
const SCRATCH_POOL_SIZE: usize = 4;

impl Scratch {
    fn take(&self) -> PostingScores {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back(&self, matches: PostingScores) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < SCRATCH_POOL_SIZE {
            kept.push(matches);
        }
    }
}
