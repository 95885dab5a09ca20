//! Changes of one memory: promote, reject, confirm, forget, edit, supersede and merge. All of them load
//! the memory, check actor and status, and write the change with its operation.

use super::{NewSignal, lifecycle, resolve};
use crate::operations::{Edit, Grouping, needs_person};
use crate::projects;
use crate::views::Memories;
use oneiro_model::{
    ActorKind, ChangedMemory, Error, Memory, MemoryId, MemoryPatch, MemoryStatus, MergeRequest,
    Operation, OperationVerb, Result, SignalKind, SupersedeRequest, Timestamp, Trust,
};
use oneiro_store::operations::Record;
use oneiro_store::{Tx, claim_hash, memories};
use std::collections::HashSet;

impl Memories<'_> {
    /// Makes a candidate active. Active memories that it contradicts are suspended.
    pub fn promote(&self, id: &str, reason: Option<String>) -> Result<ChangedMemory> {
        self.change(id, (OperationVerb::Promote, reason), promote)
    }

    /// Makes a candidate invalid.
    pub fn reject(&self, id: &str, reason: Option<String>) -> Result<ChangedMemory> {
        self.change(id, (OperationVerb::Reject, reason), invalidate)
    }

    /// Makes a memory invalid; it is kept, and no longer believed.
    pub fn forget(&self, id: &str, reason: Option<String>) -> Result<ChangedMemory> {
        self.change(id, (OperationVerb::Forget, reason), invalidate)
    }

    /// Records that a person confirms an active memory. A suspension ends.
    pub fn confirm(&self, id: &str, reason: Option<String>) -> Result<ChangedMemory> {
        self.change(id, (OperationVerb::Confirm, reason), |edit, memory| {
            let after =
                Memory { confirmed_at: Some(edit.now), suspended_by: None, ..memory.clone() };
            NewSignal::new(&memory.id, SignalKind::Confirmed).add(edit)?;
            edit.write(OperationVerb::Confirm, Some(memory), Some(&after))
        })
    }

    /// Changes fields of a memory.
    pub fn edit(&self, id: &str, patch: MemoryPatch) -> Result<ChangedMemory> {
        let reason = patch.reason.clone();
        self.change(id, (OperationVerb::Edit, reason), move |edit, memory| {
            edit_fields(edit, memory, &patch)
        })
    }

    /// Replaces a memory by a new statement or by another memory. The old one keeps its dates.
    pub fn supersede(&self, id: &str, request: SupersedeRequest) -> Result<ChangedMemory> {
        let reason = request.reason.clone();
        self.change(id, (OperationVerb::Supersede, reason), move |edit, memory| {
            let new = match (&request.content, &request.by) {
                (Some(content), _) => successor(edit, memory, (content, request.since))?,
                (None, Some(by)) => resolve(edit.tx, by.as_str())?,
                (None, None) => return Err(Error::internal("nothing supersedes the memory")),
            };
            supersede(edit, memory, &new, request.since)
        })
    }

    /// Merges a memory into another, which gets its sources and tags.
    pub fn merge(&self, id: &str, request: MergeRequest) -> Result<ChangedMemory> {
        let reason = request.reason.clone();
        self.change(id, (OperationVerb::Merge, reason), move |edit, memory| {
            let into = resolve(edit.tx, request.into.as_str())?;
            if into.id == memory.id {
                return Err(Error::field("into", "is the memory itself"));
            }
            lifecycle::check(edit, OperationVerb::Merge, &into)?;
            refuse_inactive("into", memory, &into)?;
            let (merged, after) = merged(memory, &into);
            edit.write(OperationVerb::Merge, Some(&into), Some(&merged))?;
            edit.write(OperationVerb::Merge, Some(memory), Some(&after))
        })
    }

    /// The one path of a change: load, check actor and status, apply, answer.
    fn change(
        &self,
        id: &str,
        (verb, reason): (OperationVerb, Option<String>),
        apply: impl Fn(&Edit<'_, '_>, &Memory) -> Result<Option<Operation>> + Send + Sync + 'static,
    ) -> Result<ChangedMemory> {
        let id = id.to_owned();
        self.oneiro.edit(reason, Grouping::Group, move |edit| {
            let memory = resolve(edit.tx, &id)?;
            lifecycle::check(edit, verb, &memory)?;
            let operation = apply(edit, &memory)?.map(|operation| operation.id);
            let group = operation.as_ref().and(edit.group).cloned();
            Ok(ChangedMemory { memory: resolve(edit.tx, memory.id.as_str())?, operation, group })
        })
    }
}

/// Both sides of a merge afterwards: the one that has the evidence of both, and the one that is replaced.
fn merged(memory: &Memory, into: &Memory) -> (Memory, Memory) {
    let after = Memory {
        status: MemoryStatus::Superseded,
        superseded_by: Some(into.id.clone()),
        suspended_by: None,
        ..memory.clone()
    };
    (with_evidence_of(into, memory), after)
}

/// Merges a memory into another that says the same, for a reason.
pub(crate) fn merge_into(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    into: &Memory,
    reason: &str,
) -> Result<()> {
    let (merged, after) = merged(memory, into);
    edit.write_because(OperationVerb::Merge, (Some(into), Some(&merged)), reason)?;
    edit.write_because(OperationVerb::Merge, (Some(memory), Some(&after)), reason)?;
    Ok(())
}

/// Makes a candidate active.
pub(super) fn promote(edit: &Edit<'_, '_>, memory: &Memory) -> Result<Option<Operation>> {
    let after = Memory { status: MemoryStatus::Active, replaces: None, ..memory.clone() };
    let operation = edit.write(OperationVerb::Promote, Some(memory), Some(&after))?;
    if let Some(old) = &memory.replaces
        && let Ok(old) = resolve(edit.tx, old.as_str())
    {
        let promoted = resolve(edit.tx, memory.id.as_str())?;
        super::remember::replace(edit, &old, &promoted)?;
    }
    Ok(operation)
}

/// Makes a memory invalid: rejected if it is a candidate, otherwise forgotten.
pub(super) fn invalidate(edit: &Edit<'_, '_>, memory: &Memory) -> Result<Option<Operation>> {
    let after = Memory { status: MemoryStatus::Invalid, suspended_by: None, ..memory.clone() };
    edit.write(invalidating(memory), Some(memory), Some(&after))
}

/// What making a memory invalid is called.
fn invalidating(memory: &Memory) -> OperationVerb {
    if memory.status == MemoryStatus::Candidate {
        OperationVerb::Reject
    } else {
        OperationVerb::Forget
    }
}

/// Marks `old` as replaced by `new`: it holds until then, and the new one from then on.
pub(crate) fn supersede(
    edit: &Edit<'_, '_>,
    old: &Memory,
    new: &Memory,
    since: Option<Timestamp>,
) -> Result<Option<Operation>> {
    if new.id == old.id {
        return Err(Error::field("by", "is the memory itself"));
    }
    refuse_inactive("by", old, new)?;
    if is_superseded_by(edit.tx, new, &old.id)? {
        return Err(Error::conflict(format!("{} already supersedes {}", old.id, new.id)));
    }
    let since = since.or(new.valid_from).unwrap_or(edit.now);
    if new.valid_until.is_some_and(|until| until <= since) {
        return Err(Error::field("since", "is not before the end of the new memory"));
    }
    // A memory that started to hold later than it ended would never have held.
    let until = old.valid_from.map_or(since, |from| since.max(from));
    let suspended_by = new.suspended_by.clone().filter(|by| *by != old.id);
    let started = Memory { valid_from: Some(since), suspended_by, ..new.clone() };
    edit.write(OperationVerb::Edit, Some(new), Some(&started))?;
    let after = superseded(old, &new.id, until);
    edit.write(OperationVerb::Supersede, Some(old), Some(&after))
}

/// Marks a memory that was said before `newer` as replaced by it from the beginning.
pub(crate) fn mark_superseded(edit: &Edit<'_, '_>, old: &Memory, newer: &Memory) -> Result<()> {
    let stored = resolve(edit.tx, old.id.as_str())?;
    let after = superseded(&stored, &newer.id, newer.holds_from());
    edit.write(OperationVerb::Supersede, Some(&stored), Some(&after)).map(|_| ())
}

/// A memory as it is after another replaced it.
fn superseded(old: &Memory, by: &MemoryId, until: Timestamp) -> Memory {
    Memory {
        status: MemoryStatus::Superseded,
        superseded_by: Some(by.clone()),
        suspended_by: None,
        valid_until: Some(old.valid_until.map_or(until, |end| end.min(until))),
        ..old.clone()
    }
}

/// Refuses a successor that is not believed; a candidate may take the place of a candidate.
fn refuse_inactive(field: &'static str, old: &Memory, new: &Memory) -> Result<()> {
    let is_believed = new.status == MemoryStatus::Active;
    if is_believed || new.status == MemoryStatus::Candidate && old.status == new.status {
        return Ok(());
    }
    Err(Error::field(field, format!("is {}, not active", new.status.as_str())))
}

/// Whether the line of successors of `memory` leads to `id`.
pub(super) fn is_superseded_by(tx: &Tx<'_>, memory: &Memory, id: &MemoryId) -> Result<bool> {
    let mut visited = HashSet::new();
    let mut next = memory.superseded_by.clone();
    while let Some(successor) = next {
        if successor == *id {
            return Ok(true);
        }
        if visited.contains(&successor) {
            return Err(Error::conflict(format!(
                "the successors of {} form a cycle through {successor}",
                memory.id
            ))
            .remedy(format!("set the status of {successor} to active, then try again")));
        }
        next = Memory::load(tx, successor.as_str())?.and_then(|stored| stored.superseded_by);
        visited.insert(successor);
    }
    Ok(false)
}

/// A person's new statement in the place of an old one: the active memory that already states it, or
/// a new one.
fn successor(
    edit: &Edit<'_, '_>,
    old: &Memory,
    (content, since): (&str, Option<Timestamp>),
) -> Result<Memory> {
    let new = Memory {
        id: MemoryId::from_random(edit.ids.random()),
        content: super::remember::clean(content),
        status: MemoryStatus::Active,
        trust: Trust::Owner,
        origin: ActorKind::Person,
        initial_confidence: 1.0,
        valid_from: Some(since.unwrap_or(edit.now)),
        valid_until: None,
        superseded_by: None,
        suspended_by: None,
        replaces: None,
        confirmed_at: None,
        created_at: edit.now,
        citations: Vec::new(),
        ..old.clone()
    };
    let claim = claim_hash::of_memory(edit.identity, &new);
    match memories::by_claim(edit.tx, &claim, MemoryStatus::Active)? {
        Some(known) => Ok(known),
        None => {
            edit.write(OperationVerb::Create, None, Some(&new))?;
            Ok(new)
        }
    }
}

/// A memory with the sources and tags of another; its trust is that of the less trusted one.
pub(super) fn with_evidence_of(memory: &Memory, other: &Memory) -> Memory {
    let mut merged = memory.clone();
    merged.add_citations(&other.citations);
    merged.tags.extend(other.tags.iter().filter(|tag| !memory.tags.contains(tag)).cloned());
    merged.trust = memory.trust.min(other.trust);
    merged.initial_confidence = memory.initial_confidence.max(other.initial_confidence);
    merged
}

fn edit_fields(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    patch: &MemoryPatch,
) -> Result<Option<Operation>> {
    let mut after = memory.clone();
    if let Some(content) = &patch.content {
        after.content = super::remember::clean(content);
    }
    after.kind = patch.kind.unwrap_or(after.kind);
    if let Some(subject) = &patch.subject {
        after.subject = subject.as_deref().map(super::clean);
    }
    let is_about_changed = patch.kind.is_some() || patch.subject.is_some();
    if is_about_changed && after.kind.is_personal() && after.subject.is_none() {
        return Err(Error::field("subject", "is required for this kind"));
    }
    if let Some(project) = &patch.project {
        after.project =
            project.as_deref().map(|name| projects::canonical(edit.tx, name)).transpose()?;
    }
    if let Some(tags) = &patch.tags {
        after.tags = super::remember::clean_tags(tags);
    }
    after.valid_from = patch.valid_from.unwrap_or(after.valid_from);
    after.valid_until = patch.valid_until.unwrap_or(after.valid_until);
    let sets_time = patch.valid_from.is_some() || patch.valid_until.is_some();
    let is_never =
        after.valid_from.zip(after.valid_until).is_some_and(|(from, until)| until <= from);
    if sets_time && is_never {
        return Err(Error::conflict("valid_until is not after valid_from"));
    }
    if after.content != memory.content {
        super::refuse_undone(edit, &after, None)?;
    }
    let status = patch.status.unwrap_or(memory.status);
    let mut verb = OperationVerb::Edit;
    if status != memory.status {
        let may_set = edit.is_person() || status == MemoryStatus::Invalid;
        if !may_set {
            return Err(needs_person("set this status"));
        }
        after.status = status;
        after.suspended_by = None;
        if status != MemoryStatus::Superseded {
            after.superseded_by = None;
        }
        // What holds again has not ended.
        let is_ended = after.valid_until.is_some_and(|until| until <= edit.now);
        if status == MemoryStatus::Active && is_ended && patch.valid_until.is_none() {
            after.valid_until = None;
        }
        if status == MemoryStatus::Invalid {
            verb = invalidating(memory);
        }
    }
    edit.write(verb, Some(memory), Some(&after))
}
