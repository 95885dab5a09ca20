//! The lifecycle of memories: which operation is allowed in which status, and to whom.

use crate::operations::{Edit, needs_person};
use oneiro_model::MemoryStatus::{Active, Candidate, Invalid, Superseded};
use oneiro_model::{
    ActorKind, Error, Memory, MemoryStatus, Operation, OperationVerb, Result, Trust,
};
use oneiro_store::Tx;
use oneiro_store::operations::{self, Record};

/// Who may do something to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// A person.
    Person,
    /// A person; others only if it is not a person's.
    AnyoneUnlessOwned,
    /// A person; others only candidates that are not a person's.
    PersonOrUnownedCandidate,
}

/// One row of the lifecycle.
struct Rule {
    verb: OperationVerb,
    from: &'static [MemoryStatus],
    who: Who,
}

const ANY: &[MemoryStatus] = &[Candidate, Active, Superseded, Invalid];

/// The kind of an edit.
const EDITED: &str = "memory.edit";

const RULES: &[Rule] = &[
    Rule { verb: OperationVerb::Promote, from: &[Candidate], who: Who::Person },
    Rule { verb: OperationVerb::Reject, from: &[Candidate], who: Who::AnyoneUnlessOwned },
    Rule { verb: OperationVerb::Confirm, from: &[Active], who: Who::Person },
    Rule { verb: OperationVerb::Forget, from: &[Candidate, Active], who: Who::AnyoneUnlessOwned },
    Rule { verb: OperationVerb::Supersede, from: &[Candidate, Active], who: Who::Person },
    Rule { verb: OperationVerb::Merge, from: &[Candidate, Active], who: Who::Person },
    Rule { verb: OperationVerb::Edit, from: ANY, who: Who::PersonOrUnownedCandidate },
];

/// Whether a memory is a person's: one stated, promoted, confirmed, merged or rewrote it.
pub(super) fn is_owned(tx: &Tx<'_>, memory: &Memory) -> Result<bool> {
    let is_stated = memory.is_stated_or_confirmed() || memory.trust == Trust::Owner;
    Ok(is_stated || operations::is_decided_by_person(tx, memory.id.as_str())?)
}

/// Whether a memory was learnt from a conversation, and no person has decided about it.
pub(crate) fn is_only_learnt(tx: &Tx<'_>, memory: &Memory) -> Result<bool> {
    Ok(!memory.is_stated_or_confirmed()
        && !operations::is_decided_by_person(tx, memory.id.as_str())?)
}

/// Refuses an undo that changes what a person decided since, or that its actor could not do as a change
/// of its own now.
pub(crate) fn check_undo(edit: &Edit<'_, '_>, (key, base): (i64, &Operation)) -> Result<()> {
    if edit.is_person() {
        return Ok(());
    }
    let id = base.subject.id.as_str();
    let later = operations::of_subject_after(edit.tx, id, key)?;
    let mut standing = later.iter().filter(|(_, later)| later.undone_by.is_none());
    if standing.any(|(_, later)| later.actor.kind == ActorKind::Person) {
        return Err(needs_person("undo a change of what a person decided about since"));
    }
    let Some(memory) = Memory::load(edit.tx, id)? else { return Ok(()) };
    if is_owned(edit.tx, &memory)? {
        return Err(needs_person("undo a change of what a person stated, promoted or confirmed"));
    }
    if base.kind == EDITED { check(edit, OperationVerb::Edit, &memory) } else { Ok(()) }
}

/// Refuses an operation that the status of a memory or the actor does not allow.
pub(super) fn check(edit: &Edit<'_, '_>, verb: OperationVerb, memory: &Memory) -> Result<()> {
    let Some(rule) = RULES.iter().find(|rule| rule.verb == verb) else { return Ok(()) };
    let (verb, status) = (rule.verb.as_str(), memory.status);
    let is_allowed = match rule.who {
        _ if edit.is_person() => true,
        Who::Person => false,
        Who::AnyoneUnlessOwned => !is_owned(edit.tx, memory)?,
        Who::PersonOrUnownedCandidate => status == Candidate && !is_owned(edit.tx, memory)?,
    };
    if !is_allowed {
        return Err(needs_person(&format!("{verb} this memory")));
    }
    check_status(rule, memory)
}

/// Refuses to replace what is no longer believed.
pub(super) fn check_replaceable(memory: &Memory) -> Result<()> {
    let rule = RULES.iter().find(|rule| rule.verb == OperationVerb::Supersede);
    rule.map_or(Ok(()), |rule| check_status(rule, memory))
}

fn check_status(rule: &Rule, memory: &Memory) -> Result<()> {
    let (verb, id, status) = (rule.verb.as_str(), &memory.id, memory.status);
    if rule.from.contains(&status) {
        return Ok(());
    }
    let from: Vec<&str> = rule.from.iter().map(|status| status.as_str()).collect();
    Err(Error::conflict(format!(
        "{id} is {}, and {verb} needs {}",
        status.as_str(),
        from.join(" or ")
    )))
}
