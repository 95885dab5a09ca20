//! Successors of imported memories: no memory replaces itself, directly or through others.

use crate::operations::ImportEdits;
use oneiro_model::{
    Error, Memory, MemoryId, MemoryStatus, Operation, OperationId, OperationVerb, Result,
    SubjectKind, Timestamp,
};
use oneiro_store::Tx;
use oneiro_store::operations::{self, Record};
use std::collections::HashSet;

/// What to do about a file whose memories replace themselves.
const REPAIR_SOURCE: &str = "change this memory in the store it comes from, and export again";

/// How a memory got its successor.
struct Link<'m> {
    memory: &'m Memory,
    at: Timestamp,
    /// Whether only this import says so.
    is_new: bool,
}

/// Refuses a file whose memories replace or suspend themselves. If two stores replaced memories by each
/// other, the one that was replaced first becomes a candidate: a person decides.
pub(super) fn settle_successors(
    edits: &ImportEdits<'_, '_>,
    changed: &[String],
    inserted: &HashSet<OperationId>,
) -> Result<()> {
    let mut visited = HashSet::new();
    for id in changed {
        let Some(memory) = Memory::load(edits.tx(), id)? else { continue };
        refuse_self_reference(&memory)?;
        let ring = ring_from(edits.tx(), memory, &mut visited)?;
        break_ring(edits, &ring, inserted)?;
    }
    Ok(())
}

fn refuse_self_reference(memory: &Memory) -> Result<()> {
    let references = [
        ("memory: superseded_by", &memory.superseded_by),
        ("memory: suspended_by", &memory.suspended_by),
        ("memory: replaces", &memory.replaces),
    ];
    match references.into_iter().find(|(_, other)| other.as_ref() == Some(&memory.id)) {
        Some((field, _)) => {
            let problem = format!("{} refers to itself", memory.id);
            Err(Error::field(field, problem).remedy(REPAIR_SOURCE))
        }
        None => Ok(()),
    }
}

/// The memories that replace each other in a ring, to which the successors of a memory lead; empty if
/// they end, or lead to a visited memory.
fn ring_from(tx: &Tx<'_>, start: Memory, visited: &mut HashSet<MemoryId>) -> Result<Vec<Memory>> {
    let mut path: Vec<Memory> = Vec::new();
    let mut next = Some(start);
    while let Some(memory) = next {
        if !visited.insert(memory.id.clone()) {
            let first = path.iter().position(|it| it.id == memory.id);
            return Ok(first.map(|first| path.split_off(first)).unwrap_or_default());
        }
        next = match &memory.superseded_by {
            Some(successor) => Memory::load(tx, successor.as_str())?,
            None => None,
        };
        path.push(memory);
    }
    Ok(Vec::new())
}

fn break_ring(
    edits: &ImportEdits<'_, '_>,
    ring: &[Memory],
    inserted: &HashSet<OperationId>,
) -> Result<()> {
    let links = ring.iter().map(|memory| link_of(edits.tx(), memory, inserted));
    let links = links.collect::<Result<Vec<Link<'_>>>>()?;
    // Every store decides the same.
    let earliest = links.iter().min_by_key(|link| (link.at, link.memory.id.as_str()));
    let Some(earliest) = earliest else { return Ok(()) };
    let memory = earliest.memory;
    if links.iter().all(|link| link.is_new) {
        let problem = format!("{} replaces itself through its successors", memory.id);
        return Err(Error::field("memory: superseded_by", problem).remedy(REPAIR_SOURCE));
    }
    let status = MemoryStatus::Candidate;
    let after = Memory { status, superseded_by: None, ..memory.clone() };
    edits.single(|edit| edit.write(OperationVerb::Edit, Some(memory), Some(&after)))?;
    Ok(())
}

fn link_of<'m>(
    tx: &Tx<'_>,
    memory: &'m Memory,
    inserted: &HashSet<OperationId>,
) -> Result<Link<'m>> {
    let history = operations::of_subject(tx, memory.id.as_str())?;
    let sets_successor = |operation: &Operation| {
        let after = operation.after.as_ref().and_then(|after| after.get("superseded_by"));
        operation.subject.kind == SubjectKind::Memory && after.is_some_and(|by| !by.is_null())
    };
    Ok(match history.iter().rev().find(|(_, operation)| sets_successor(operation)) {
        Some((_, operation)) => {
            Link { memory, at: operation.at, is_new: inserted.contains(&operation.id) }
        }
        // That operation is erased.
        None => {
            let is_new = history.iter().all(|(_, operation)| inserted.contains(&operation.id));
            Link { memory, at: memory.updated_at, is_new }
        }
    })
}
