//! RelationWords memories by filters, now or as they were known at a time, and shows one.

use super::as_of::{KnownAt, known_at};
use super::{find, related, resolve, signals};
use crate::projects;
use crate::views::Memories;
use oneiro_model::{
    ListMemories, Memory, MemoryHistory, MemoryStatus, MemoryView, MessageId, Page, RelatedMemory,
    Result, ShowMemory,
};
use oneiro_store::memories::{self, Cited, Filter, MemoryRow, Stored};
use oneiro_store::{Tx, operations, pack_outcomes};
use std::collections::BTreeMap;

/// Maximum number of memories that are read at once.
const READ_BATCH_ROWS: usize = 256;

impl Memories<'_> {
    /// Memories that match every filter, newest first.
    pub fn list(&self, request: &ListMemories) -> Result<Page<Memory>> {
        self.oneiro.store.read(|tx| list_in(tx, request))
    }

    /// The memory with this id or unambiguous id prefix.
    pub fn show(&self, id: &str, request: &ShowMemory) -> Result<MemoryView> {
        let mut view = self.oneiro.store.read(|tx| {
            let memory = match request.known_at {
                None => resolve(tx, id)?,
                Some(at) => known_at(tx, id, at)?,
            };
            let (explanation, related) = if request.explain {
                (Some(signals::explain(tx, &memory)?), Some(related::find_related(tx, &memory)?))
            } else {
                (None, None)
            };
            let muted_in = pack_outcomes::muted_in(tx, &memory.id)?;
            Ok(MemoryView { memory, explanation, related, muted_in })
        })?;
        if let Some(known) = &mut view.related {
            let similar = related::find_similar(self.oneiro, &view.memory)?;
            let is_new = |one: &RelatedMemory| !known.iter().any(|known| known.id == one.id);
            let new: Vec<RelatedMemory> = similar.into_iter().filter(is_new).collect();
            known.extend(new);
            known.truncate(related::RELATED_MAX);
        }
        Ok(view)
    }

    /// The memories that cite each of these messages; messages without any are left out.
    pub fn learnt_from(&self, messages: &[MessageId]) -> Result<BTreeMap<MessageId, Vec<Memory>>> {
        self.oneiro.store.read(|tx| {
            let mut learnt = BTreeMap::new();
            for message in messages {
                let mut found = Vec::new();
                for id in memories::citing(tx, Cited::Message(message.0))? {
                    found.extend(resolve(tx, &id).ok());
                }
                if !found.is_empty() {
                    learnt.insert(*message, found);
                }
            }
            Ok(learnt)
        })
    }

    /// Every operation on a memory, oldest first, also after it was erased.
    pub fn history(&self, id: &str) -> Result<MemoryHistory> {
        self.oneiro.store.read(|tx| {
            let (memory, id) = match find(tx, id) {
                Ok((Stored::Present, memory)) => (Some(memory.clone()), memory.id.to_string()),
                Ok((Stored::Removed, memory)) => (None, memory.id.to_string()),
                Err(error) => {
                    if operations::of_subject(tx, id)?.is_empty() {
                        return Err(error);
                    }
                    (None, id.to_owned())
                }
            };
            let items = operations::of_subject(tx, &id)?;
            Ok(MemoryHistory { memory, items: items.into_iter().map(|(_, item)| item).collect() })
        })
    }

    /// How many memories have each status.
    pub fn counts(&self) -> Result<Vec<(MemoryStatus, i64)>> {
        self.oneiro.store.read(memories::counts)
    }

    /// How many memories a contradiction suspends.
    pub fn count_suspended(&self) -> Result<i64> {
        self.oneiro.store.read(memories::count_suspended)
    }
}

pub(super) fn list_in(tx: &Tx<'_>, request: &ListMemories) -> Result<Page<Memory>> {
    let known_at = request.known_at.map(|at| KnownAt::new(tx, at)).transpose()?;
    let project = request.project.as_deref().map(|name| projects::canonical(tx, name));
    let request = &ListMemories { project: project.transpose()?, ..request.clone() };
    let mut filter = match known_at {
        // What matched then may not match now, so the rows are filtered as they were.
        Some(_) => Filter { with_removed: true, ..Filter::default() },
        None => Filter {
            status: request.status,
            kind: request.kind,
            project: request.project.clone(),
            subject: request.subject.clone(),
            suspended: request.suspended,
            ..Filter::default()
        },
    };
    filter.before = request.cursor.as_ref().map(|cursor| cursor.key);
    let words: Vec<String> = words_of(request.text.as_deref().unwrap_or_default());
    let mut found = Vec::new();
    // Without other filters the first batch is the page; then batches grow.
    let mut batch = request.limit.saturating_add(1).min(READ_BATCH_ROWS);
    loop {
        let rows = memories::list_without_citations(tx, &filter, batch)?;
        let is_last = rows.len() < batch;
        batch = READ_BATCH_ROWS;
        for row in rows {
            let key = row.key;
            filter.before = Some(key);
            let Some(memory) = read(tx, row, known_at, |memory| matches(request, &words, memory))?
            else {
                continue;
            };
            found.push((key, memory));
            if found.len() > request.limit {
                return Ok(Page::of(found, request.limit));
            }
        }
        if is_last {
            return Ok(Page::of(found, request.limit));
        }
    }
}

/// The memory of a row, as it was, if it matches. Citations are read for those only.
fn read(
    tx: &Tx<'_>,
    row: MemoryRow,
    known_at: Option<KnownAt>,
    is_wanted: impl Fn(&Memory) -> bool,
) -> Result<Option<Memory>> {
    if known_at.is_none() && !is_wanted(&row.memory) {
        return Ok(None);
    }
    let MemoryRow { stored, memory, .. } = memories::with_citations(tx, row)?;
    let memory = match known_at {
        Some(known_at) => known_at.memory(tx, (stored, &memory))?,
        None => Some(memory),
    };
    Ok(memory.filter(is_wanted))
}

fn words_of(text: &str) -> Vec<String> {
    oneiro_text::normalise(text).split_whitespace().map(str::to_owned).collect()
}

fn matches(request: &ListMemories, words: &[String], memory: &Memory) -> bool {
    let equals = |wanted: Option<&str>, actual: Option<&str>| {
        wanted.is_none_or(|wanted| actual == Some(wanted))
    };
    let status = match (request.status, request.at) {
        (Some(status), _) => memory.status == status,
        (None, Some(_)) => {
            matches!(memory.status, MemoryStatus::Active | MemoryStatus::Superseded)
        }
        (None, None) => true,
    };
    status
        && request.kind.is_none_or(|kind| memory.kind == kind)
        && equals(request.project.as_deref(), memory.project.as_deref())
        && equals(request.subject.as_deref(), memory.subject.as_deref())
        && request.tag.as_ref().is_none_or(|tag| memory.tags.contains(tag))
        && (!request.suspended || memory.suspended_by.is_some())
        && request.since.is_none_or(|since| memory.created_at >= since)
        && request.at.is_none_or(|at| memory.is_valid_at(at))
        && (words.is_empty() || {
            let content = oneiro_text::normalise(&memory.content);
            words.iter().all(|word| content.contains(word.as_str()))
        })
}
