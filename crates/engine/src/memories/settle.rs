//! Settles what changes of memories mean for other memories, at the end of every edit: what a person
//! asserts suspends what it contradicts, a suspension ends with its cause, one statement is active
//! once, and no memory refers to a removed one or replaces itself.

use super::change::is_superseded_by;
use super::related::{contradict, standing_contradictions};
use super::signals::NewSignal;
use crate::learning::last_said;
use crate::operations::Edit;
use oneiro_model::{
    ActorKind, Error, Memory, MemoryId, MemoryStatus, OperationVerb, Result, SignalKind, Trust,
};
use oneiro_store::operations::Record;
use oneiro_store::{Tx, claim_hash, memories};
use serde_json::{Map, Value};

/// Fields whose change asserts an active memory again.
const ASSERTING_FIELDS: [&str; 5] = ["status", "content", "subject", "project", "confirmed_at"];

/// Judges again what the memories that an edit changed contradict, suspend and supersede.
pub(crate) fn settle(edit: &Edit<'_, '_>) -> Result<()> {
    let changed = edit.changed.borrow().clone();
    for (id, before) in &changed {
        let id = MemoryId::parse(id)?;
        let Some(memory) = Memory::load(edit.tx, id.as_str())? else {
            refuse_removed(edit, &id)?;
            continue;
        };
        refuse_missing_successor(edit, &memory)?;
        refuse_cycle(edit, before.as_ref(), &memory)?;
        if is_asserted(before.as_ref(), &memory)? {
            refuse_duplicate(edit, &memory)?;
            assert_memory(edit, &memory)?;
        }
    }
    for id in changed.keys() {
        let id = MemoryId::parse(id)?;
        let referring = memories::referring_to(edit.tx, &id)?;
        let own = Memory::load(edit.tx, id.as_str())?;
        for memory in referring.into_iter().chain(own) {
            judge_suspension(edit, &memory)?;
        }
    }
    Ok(())
}

/// Whether a change says that a memory holds: it became active, says something else, was confirmed,
/// or is no longer suspended.
fn is_asserted(before: Option<&Map<String, Value>>, memory: &Memory) -> Result<bool> {
    if memory.status != MemoryStatus::Active || memory.suspended_by.is_some() {
        return Ok(false);
    }
    let Some(before) = before else { return Ok(true) };
    let after = memory.fields()?;
    let differs = |name: &str| before.get(name) != after.get(name);
    let was_suspended = before.get("suspended_by").is_some_and(|by| !by.is_null());
    Ok(was_suspended || ASSERTING_FIELDS.iter().any(|name| differs(name)))
}

/// What a person asserts suspends what it contradicts; what others assert is suspended by it.
fn assert_memory(edit: &Edit<'_, '_>, memory: &Memory) -> Result<()> {
    for other in standing_contradictions(edit.tx, memory)? {
        // What was learnt from a person's own words is asserted by that person.
        if !edit.is_person() && memory.trust != Trust::Owner {
            return suspend(edit, memory, Some(&other.id));
        }
        suspend(edit, &other, Some(&memory.id))?;
    }
    Ok(())
}

/// Ends a suspension whose cause is gone, unless another active memory is a cause.
pub(super) fn judge_suspension(edit: &Edit<'_, '_>, memory: &Memory) -> Result<()> {
    // An earlier judgement of the same edit may have changed it.
    let Some(memory) = Memory::load(edit.tx, memory.id.as_str())? else { return Ok(()) };
    let Some(by) = &memory.suspended_by else { return Ok(()) };
    let cause = Memory::load(edit.tx, by.as_str())?;
    let has_cause = match &cause {
        Some(cause) => {
            let are_active =
                memory.status == MemoryStatus::Active && cause.status == MemoryStatus::Active;
            are_active && contradict(&memory, cause) || is_replacement(edit.tx, &memory, cause)?
        }
        None => false,
    };
    if has_cause {
        return Ok(());
    }
    let other = match memory.status {
        MemoryStatus::Active => standing_contradictions(edit.tx, &memory)?.into_iter().next(),
        _ => None,
    };
    suspend(edit, &memory, other.as_ref().map(|other| &other.id))
}

/// Whether a later statement of the person, which still stands, was learnt to take the place of a memory.
fn is_replacement(tx: &Tx<'_>, memory: &Memory, by: &Memory) -> Result<bool> {
    let stands = |it: &Memory| it.status.is_standing();
    let is_learnt = |it: &Memory| it.origin == ActorKind::Job && it.trust == Trust::Owner;
    let may_replace = stands(memory) && stands(by) && is_learnt(memory) && is_learnt(by);
    Ok(may_replace && last_said(tx, by)? > last_said(tx, memory)?)
}

/// Writes what suspends a memory.
pub(crate) fn suspend(edit: &Edit<'_, '_>, memory: &Memory, by: Option<&MemoryId>) -> Result<()> {
    let after = Memory { suspended_by: by.cloned(), ..memory.clone() };
    edit.write(OperationVerb::Suspend, Some(memory), Some(&after))?;
    if by.is_some() && memory.suspended_by.is_none() {
        NewSignal::new(&memory.id, SignalKind::Contradicted).add(edit)?;
    }
    Ok(())
}

/// Refuses a second active memory with the same statement.
fn refuse_duplicate(edit: &Edit<'_, '_>, memory: &Memory) -> Result<()> {
    let claim = claim_hash::of_memory(edit.identity, memory);
    match memories::other_active_with_claim(edit.tx, &claim, &memory.id)? {
        Some(other) => {
            Err(Error::conflict(format!("{other} is active and states the same as {}", memory.id))
                .remedy(format!("merge {} into {other}", memory.id)))
        }
        None => Ok(()),
    }
}

/// Refuses to remove a memory that supersedes another.
fn refuse_removed(edit: &Edit<'_, '_>, id: &MemoryId) -> Result<()> {
    let referring = memories::referring_to(edit.tx, id)?;
    match referring.iter().find(|other| other.superseded_by.as_ref() == Some(id)) {
        Some(other) => {
            Err(Error::conflict(format!("{id} cannot be removed: it supersedes {}", other.id)))
        }
        None => Ok(()),
    }
}

/// Refuses a memory that a removed or erased one supersedes.
fn refuse_missing_successor(edit: &Edit<'_, '_>, memory: &Memory) -> Result<()> {
    let Some(by) = &memory.superseded_by else { return Ok(()) };
    match Memory::load(edit.tx, by.as_str())? {
        Some(_) => Ok(()),
        None => Err(Error::conflict(format!(
            "{} cannot be superseded by {by}, which is removed or erased",
            memory.id
        ))),
    }
}

/// Refuses a new successor that the memory itself replaced, directly or through others.
fn refuse_cycle(
    edit: &Edit<'_, '_>,
    before: Option<&Map<String, Value>>,
    memory: &Memory,
) -> Result<()> {
    let Some(by) = &memory.superseded_by else { return Ok(()) };
    let earlier = before.and_then(|before| before.get("superseded_by")).and_then(Value::as_str);
    // An existing cycle does not block a change of other fields.
    if earlier == Some(by.as_str()) || !is_superseded_by(edit.tx, memory, &memory.id)? {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "{} cannot be superseded by {by}: {by} is itself superseded by {}, directly or through others",
        memory.id, memory.id
    ))
    .remedy(format!("set the status of {by} to active first")))
}
