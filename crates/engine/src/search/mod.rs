//! Search: a query in, ranked hits out, in one snapshot. Candidates come from the index and the
//! rows after it, the ranking is the same on both engines, and every hit can tell why it is there.

mod best;
mod by_time;
mod candidates;
mod conversations;
mod doc_set;
mod exact;
mod hits;
mod look;
mod matches;
mod matching;
mod meaning;
mod mixed;
mod patterns;
mod place;
mod question;
mod rank;
mod scope;
mod searching;
mod snippet;
mod summaries;

use crate::index::{Segments, texts};
use crate::jobs::REBUILD_INDEX;
use crate::views::Search;
use crate::{EmbedderChoice, Oneiro};
use matches::Matches;
pub(crate) use meaning::Breaker;
use meaning::Meaning;
use oneiro_index::{Reader, View};
use oneiro_model::{
    Error, Found, NEIGHBOURS_MAX, Query, Result, SEARCH_LIMIT_MAX, SearchRequest, Session, SessionId,
};
use oneiro_store::{Tx, is_missing_table, is_unreadable};
pub(crate) use question::Kin;
use searching::{Asked, Searching};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Messages that are read for a pattern before the page ends.
const SCANNED: usize = 20_000;

impl Search<'_> {
    /// Searches what was said. Everything acknowledged before this began is found.
    pub fn run(&self, request: &SearchRequest) -> Result<Found> {
        if request.limit == 0 || request.limit > SEARCH_LIMIT_MAX {
            return Err(Error::field("limit", format!("is not between 1 and {SEARCH_LIMIT_MAX}")));
        }
        if request.neighbours > NEIGHBOURS_MAX {
            return Err(Error::field("neighbours", format!("is more than {NEIGHBOURS_MAX}")));
        }
        match request.wants_summaries() {
            true => self.oneiro.search_with_summaries(request),
            false => self.oneiro.search_typed(request),
        }
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
    fn search_messages(&self, request: &SearchRequest) -> Result<Found> {
        let query = Query::parse(&request.query, self.now())?;
        let meaning = match request.exact {
            true => Meaning::unasked(self.embedder_choice()?),
            false => self.meaning(&query)?,
        };
        let asked = Asked { request, query: &query, meaning: &meaning };
        let (mut found, note) = self.in_view(&meaning, |tx, view, reader| {
            Searching { oneiro: self, tx, view, asked }.run(reader)
        })?;
        found.note = joined(found.note, note);
        Ok(found)
    }

    /// Looks at the index in one snapshot and, when it is damaged, at the newest messages without
    /// it, and has it mended. Answers what could not be used, too.
    fn in_view<T>(
        &self,
        meaning: &Meaning,
        look: impl for<'t, 'c> Fn(&'t Tx<'c>, &'t View<'t>, &mut Reader) -> Result<T>,
    ) -> Result<(T, Option<String>)> {
        let mut reader = self.index.reader(meaning.choice);
        let mut is_current = true;
        let found = self.store.read(|tx| {
            let segments = Segments::answering(tx)?;
            let from = (&segments as _, &texts(tx) as _);
            let view = self.index.cache.view(from, &mut reader, meaning.kept_as())?;
            is_current = view.is_current;
            look(tx, &view, &mut reader)
        });
        let (found, damage) = match found {
            Err(error) if is_damage(&error) => (self.without_index(error, look)?, Some(DAMAGED)),
            found => (found?, None),
        };
        self.index.give_back(reader);
        if !is_current {
            self.rebuild_index_soon();
        }
        self.fold_soon()?;
        Ok((found, joined(damage.map(str::to_owned), meaning.note.clone())))
    }

    /// Looks at the newest messages without the index, which is damaged, and has it mended.
    fn without_index<T>(
        &self,
        damage: Error,
        look: impl for<'t, 'c> Fn(&'t Tx<'c>, &'t View<'t>, &mut Reader) -> Result<T>,
    ) -> Result<T> {
        tracing::warn!(error = %damage, "the text index is not used");
        self.rebuild_index_soon();
        let mut reader = self.index.reader(EmbedderChoice::Static);
        let found = self.store.read(|tx| {
            let view = View::newest(&texts(tx), &mut reader, SCANNED)?;
            look(tx, &view, &mut reader)
        });
        // Damage that is elsewhere stays what it is.
        found.map_err(|_| damage)
    }

    /// Has the index built anew, by a job that is left beside this search: it waits for nobody.
    pub(crate) fn rebuild_index_soon(&self) {
        let now = self.now();
        self.index.rebuild_soon(self.new_job(REBUILD_INDEX, serde_json::Value::Null, now));
    }
}

/// What an answer says that was found without the index.
const DAMAGED: &str = "the text index is damaged, so only the newest 20000 messages were \
                       searched; it is rebuilt in the background";

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

/// Whether an error may say that the index cannot be read: its bytes make no sense, a table of it is
/// gone, or the engine cannot read its own file. If something else is damaged, reading without the
/// index fails alike.
fn is_damage(error: &Error) -> bool {
    oneiro_index::is_damaged(error) || is_missing_table(error) || is_unreadable(error)
}

/// Room for what postings say, kept between searches.
#[derive(Default)]
pub(crate) struct Scratch(Mutex<Vec<Matches>>);

/// Searches at once for which room is kept.
const SCRATCH: usize = 4;

impl Scratch {
    fn take(&self) -> Matches {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back(&self, matches: Matches) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < SCRATCH {
            kept.push(matches);
        }
    }
}
