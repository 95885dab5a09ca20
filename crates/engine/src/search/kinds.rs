//! Searches of several kinds: each kind is ranked by itself, and the lists are merged.

use super::hits::Ranked;
use super::rows::{BeliefStatus, MemoryRows, NoteRows, Rows};
use super::run::{SearchInput, SearchRun};
use super::scope::Scope;
use crate::index::memory_text;
use crate::memories;
use oneiro_index::{Kind, Reader, Text, View};
use oneiro_model::{Result, Sort};
use oneiro_store::note_entries;

/// A memory with less than this share of the best memory's score is a weak match.
const WEAK_MEMORY_SHARE: f32 = 0.5;

/// The memories that a search covers.
pub(super) enum MemoryScope {
    /// As they are stored, in the index.
    Stored(Scope),
    /// As they were at an earlier time, in a view of their own.
    Earlier(View<'static>, Scope),
}

/// How lists of several kinds are merged. Each list keeps its own order.
#[derive(Clone, Copy)]
pub(super) enum MergeOrder {
    Relevance,
    /// By relevance within each tier, because the words are required.
    Tier,
    Newest,
    Oldest,
}

/// The list of one scope: memories and notes get their row, and what is believed comes before what is not.
pub(super) fn of_scope(scope: &Scope, mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    for one in &mut ranked {
        one.memory = scope.rows.memory(one.seq).map(Box::new);
        one.note = scope.rows.note(one.seq).map(Box::new);
    }
    let best = ranked.iter().map(|one| one.score).fold(0.0, f32::max);
    ranked.sort_by_key(|one| {
        // What has next to nothing of the query does not come first for being believed.
        let is_weak = one.score < best * WEAK_MEMORY_SHARE;
        let status = one.memory.as_deref().map(BeliefStatus::of);
        status.map(|it| if is_weak { it.max(BeliefStatus::Unreviewed) } else { it })
    });
    let mut lowest = f32::MAX;
    for one in ranked.iter_mut().filter(|one| one.memory.is_some()) {
        lowest = lowest.min(one.score);
        one.score = lowest;
    }
    ranked
}

/// Merges lists, best first; of equals, those of later lists come first: memories before messages.
pub(super) fn merge(lists: Vec<Vec<Ranked>>, order: MergeOrder) -> Vec<Ranked> {
    let at = |one: &Ranked| one.said.as_ref().map(|said| said.at);
    let is_before = |one: &Ranked, other: &Ranked| match order {
        MergeOrder::Tier if one.tier != other.tier => one.tier < other.tier,
        MergeOrder::Relevance | MergeOrder::Tier => one.score >= other.score,
        MergeOrder::Newest => at(one) >= at(other),
        MergeOrder::Oldest => at(one) <= at(other),
    };
    let merge_two = |earlier: Vec<Ranked>, later: Vec<Ranked>| {
        let mut merged = Vec::with_capacity(earlier.len() + later.len());
        let mut later = later.into_iter().peekable();
        for one in earlier {
            while let Some(other) = later.next_if(|other| is_before(other, &one)) {
                merged.push(other);
            }
            merged.push(one);
        }
        merged.extend(later);
        merged
    };
    lists.into_iter().reduce(merge_two).unwrap_or_default()
}

impl SearchRun<'_, '_> {
    /// How lists of several kinds are merged.
    pub(super) fn order(&self) -> MergeOrder {
        match self.asked.request.sort {
            Sort::Relevance => MergeOrder::Relevance,
            Sort::Newest => MergeOrder::Newest,
            Sort::Oldest => MergeOrder::Oldest,
        }
    }

    /// The memories to search, if the request wants any, or a note why none can be found.
    pub(super) fn memory_scope(
        &self,
        reader: &mut Reader,
    ) -> Result<(Option<MemoryScope>, Option<String>)> {
        let SearchInput { request, query, .. } = self.asked;
        if !request.wants_memories() || request.exact {
            return Ok((None, None));
        }
        let filter = Scope::memory_filter(self.tx, request, &query.filters, self.oneiro.now())?;
        let scope = match request.known_at {
            None => {
                let rows = MemoryRows::new(filter);
                let rows = (Kind::Memory, Rows::Memories(rows));
                Scope::of_kind(self.view, request, &query.filters, rows).map(MemoryScope::Stored)
            }
            Some(at) => {
                let texts = memories::texts_known_at(self.tx, at)?;
                let indexed: Vec<Text> = texts.iter().map(memory_text).collect();
                let view = View::of(&indexed, reader)?;
                let rows = MemoryRows::earlier(filter, texts);
                let rows = (Kind::Memory, Rows::Memories(rows));
                Scope::of_kind(&view, request, &query.filters, rows)
                    .map(|scope| MemoryScope::Earlier(view, scope))
            }
        };
        Ok(match scope {
            Ok(scope) => (Some(scope), None),
            Err(name) => (None, Some(format!("memories are not searched together with {name}"))),
        })
    }

    /// The notes to search, if the request wants any, or a note why none can be found.
    pub(super) fn note_scope(&self) -> Result<(Option<Scope>, Option<String>)> {
        let SearchInput { request, query, .. } = self.asked;
        if !request.wants_notes() || request.exact {
            return Ok((None, None));
        }
        let settings = self.oneiro.settings_in(self.tx)?;
        let filter = Scope::note_filter(self.tx, request, &query.filters, settings)?;
        let rows = (Kind::Note, Rows::Notes(NoteRows::new(filter)));
        // The entries are those of now.
        let earlier = [("at", request.at.is_some()), ("known_at", request.known_at.is_some())];
        let earlier = earlier.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        let scope = match earlier {
            Some(name) => Err(name),
            None => {
                let numbers = note_entries::numbers(self.tx, 0, i64::MAX)?;
                let scope = Scope::of_kind(self.view, request, &query.filters, rows);
                scope.map(|scope| scope.keep_existing(self.view, numbers))
            }
        };
        Ok(match scope {
            Ok(scope) => (Some(scope), None),
            Err(name) => (None, Some(format!("notes are not searched together with {name}"))),
        })
    }
}
