//! What a statement ends: "I quit fencing" is about "I go fencing on Tuesdays", and what replaces one memory
//! replaces those that say the same in other words.

use super::read::MessageClaims;
use crate::change_words::Statement;
use crate::memories::with_asked_words;
use crate::operations::Edit;
use oneiro_model::{Memory, MemoryStatus, Result};
use oneiro_store::memories;
use oneiro_store::operations::Record as _;

/// Newest memories among which what has ended is looked for.
const COMPARED_MEMORIES: usize = 500;

/// Where memories are looked for that may be about the same as a new one.
struct Scope<'s> {
    message: &'s MessageClaims,
    memory: &'s Memory,
    status: MemoryStatus,
}

impl Scope<'_> {
    /// What the person of the message, or nobody in particular, is the subject of, in the same project.
    fn memories(&self, edit: &Edit<'_, '_>) -> Result<Vec<Memory>> {
        let filter = memories::Filter { status: Some(self.status), ..memories::Filter::default() };
        let rows = memories::list_without_citations(edit.tx, &filter, COMPARED_MEMORIES)?;
        let memory = self.memory;
        let is_of_same = |other: &Memory| {
            let is_same_subject = other.subject.as_ref().is_none_or(|subject| {
                Some(subject) == memory.subject.as_ref() || *subject == self.message.subject
            });
            let is_same_project =
                other.project == memory.project || other.project == self.message.project;
            other.id != memory.id && is_same_subject && is_same_project
        };
        Ok(rows.into_iter().map(|row| row.memory).filter(is_of_same).collect())
    }
}

/// The memories of a status that a new one says have ended: of those that have the words of what ended, the
/// ones that share most with it.
pub(super) fn ended_by(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    (memory, status): (&Memory, MemoryStatus),
) -> Result<Vec<Memory>> {
    let statement = Statement::read(&memory.content);
    if !statement.ends_something() {
        return Ok(Vec::new());
    }
    let mut found: Vec<(usize, Memory)> = Vec::new();
    for other in (Scope { message, memory, status }).memories(edit)? {
        if let Some(shared) = statement.ends(&Statement::read(&other.content)) {
            found.push((shared, other));
        }
    }
    let most = found.iter().map(|(shared, _)| *shared).max().unwrap_or_default();
    let best = found.into_iter().filter(|(shared, _)| *shared == most);
    best.map(|(_, other)| reload(edit, &other)).collect()
}

/// The memories of a status that say in other words what those say that a new one replaces: they have the same
/// names, which the new one has not, and are about the same.
pub(super) fn restated(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    (memory, status): (&Memory, MemoryStatus),
    replaced: &[Memory],
) -> Result<Vec<Memory>> {
    let new = Statement::read(&memory.content);
    let read = |memory: &Memory| Statement::read(&with_asked_words(&memory.content));
    let old: Vec<Statement> = replaced.iter().map(read).collect();
    if !old.iter().any(|old| old.has_values_beside(&new)) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for other in (Scope { message, memory, status }).memories(edit)? {
        let is_known = replaced.iter().any(|known| known.id == other.id);
        let statement = read(&other);
        if !is_known && old.iter().any(|old| old.is_restated_by(&statement, &new)) {
            found.push(reload(edit, &other)?);
        }
    }
    Ok(found)
}

/// A memory with its citations.
fn reload(edit: &Edit<'_, '_>, memory: &Memory) -> Result<Memory> {
    Ok(Memory::load(edit.tx, memory.id.as_str())?.unwrap_or_else(|| memory.clone()))
}
