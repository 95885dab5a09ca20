//! Undo: the inverse of an operation, recorded as a new one.
//!
//! The value of a field is what the last operation on it that is not undone wrote. An operation can
//! therefore be undone as long as no later one that stands wrote the same field, and an undone one can
//! be redone as long as its fields still hold what it found. Undoing an undo redoes the operation.

use super::{Edit, Grouping, needs_person, resolve};
use crate::memories::{check_undo, refuse_undone};
use crate::notes::{invert, resolve_revision};
use crate::views::Operations;
use oneiro_model::{
    ActorKind, Distrust, Error, ErrorKind, GroupId, Memory, Operation, OperationId, OperationVerb,
    ProjectState, RegisteredProject, Remedy, Result, RevisionId, SubjectKind, UndoTarget, Undone,
};
use oneiro_store::operations::{self, Record};
use oneiro_store::{memories, project_state, projects};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The field of a memory that is judged again after every edit.
const SUSPENDED_BY: &str = "suspended_by";

/// What an undo does to the operation at the start of a chain of undos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Its fields get what they held before.
    Revert,
    /// Its fields get what it wrote.
    Redo,
}

impl Operations<'_> {
    /// Undoes an operation, or every operation of a group or a revision; all or none. An operation on
    /// a note is undone with its revision.
    pub fn undo(&self, id: &str, reason: Option<String>) -> Result<Undone> {
        let id = id.to_owned();
        self.oneiro.sync_mounts();
        // What an undo means for other memories belongs to it.
        let undone = self.oneiro.edit(reason, Grouping::Group, move |edit| {
            let target = target_of(edit, &id)?;
            let is_group = matches!(target, Target::Group(_));
            let operations = match target {
                Target::Group(group) => undo_group(edit, &group)?,
                Target::Operation(operation) => {
                    undo_one(edit, *operation)?.into_iter().collect::<Vec<_>>()
                }
            };
            let group = edit.group.filter(|_| is_group).cloned();
            let revision = edit.group.filter(|_| !edit.notes.is_empty()).map(RevisionId::of_group);
            Ok(Undone { operations, group, revision })
        })?;
        if undone.revision.is_some() {
            self.oneiro.sync_mounts();
        }
        Ok(undone)
    }
}

/// What an id names.
enum Target {
    Operation(Box<Operation>),
    Group(GroupId),
}

fn target_of(edit: &Edit<'_, '_>, id: &str) -> Result<Target> {
    if id.starts_with(RevisionId::PREFIX) {
        return Ok(Target::Group(resolve_revision(edit.tx, id)?.revision.id.group()));
    }
    if id.starts_with(GroupId::PREFIX) {
        let UndoTarget::Group(group) = UndoTarget::parse(id)? else {
            return Err(target_not_found(id));
        };
        return Ok(Target::Group(group));
    }
    let (_, operation) = resolve(edit.tx, id)?;
    if operation.undone_by.is_some() {
        return Err(already_undone(&operation));
    }
    Ok(match &operation.group {
        Some(group) if operation.subject.kind == SubjectKind::Note => Target::Group(group.clone()),
        _ => Target::Operation(Box::new(operation)),
    })
}

fn target_not_found(id: &str) -> Error {
    Error::not_found(format!("there is no operation, group or revision {id:?}"))
        .remedy(Remedy::ListOperations)
}

fn already_undone(operation: &Operation) -> Error {
    let by = operation.undone_by.as_ref().map(ToString::to_string).unwrap_or_default();
    Error::conflict(format!("{} is already undone by {by}", operation.id))
        .remedy(format!("undo {by} to redo it"))
}

fn undo_group(edit: &Edit<'_, '_>, group: &GroupId) -> Result<Vec<Operation>> {
    let all = operations::of_group(edit.tx, group)?;
    if all.is_empty() {
        return Err(target_not_found(group.as_str()));
    }
    let stands = |one: &Operation| one.undone_by.is_none() && is_change(one);
    let standing: Vec<_> = all.iter().filter(|(_, one)| stands(one)).collect();
    if standing.is_empty() {
        return Err(Error::conflict(format!("every operation of {group} is already undone")));
    }
    let mut undone = Vec::with_capacity(standing.len());
    for (_, one) in standing.into_iter().rev() {
        match undo_one(edit, one.clone()) {
            // Suspensions are judged again at the end of the edit.
            Err(error) if is_suspension(one) && error.kind() == ErrorKind::Conflict => {}
            result => undone.extend(result?),
        }
    }
    if undone.is_empty() {
        return Err(Error::conflict(format!("{group} has nothing left to undo")));
    }
    Ok(undone)
}

/// Undoes the operations of a group that stand, except some. `refused` gets the one that cannot be undone,
/// before the error is returned. Returns the ids of the undone ones.
pub(crate) fn undo_group_except(
    edit: &Edit<'_, '_>,
    group: &GroupId,
    skipped: &[OperationId],
    refused: &mut dyn FnMut(&Operation, &Error),
) -> Result<Vec<OperationId>> {
    let all = operations::of_group(edit.tx, group)?;
    let mut undone = Vec::new();
    for (_, one) in all.iter().rev() {
        let stands = one.undone_by.is_none() && is_change(one);
        if !stands || skipped.contains(&one.id) {
            continue;
        }
        match undo_one(edit, one.clone()) {
            Ok(Some(_)) => undone.push(one.id.clone()),
            Ok(None) => {}
            // Suspensions are judged again at the end of the edit.
            Err(error) if is_suspension(one) && error.kind() == ErrorKind::Conflict => {}
            Err(error) => {
                refused(one, &error);
                return Err(error);
            }
        }
    }
    Ok(undone)
}

/// Whether an operation only changed what suspends a memory.
fn is_suspension(operation: &Operation) -> bool {
    let fields = operation.after.as_ref().and_then(Value::as_object);
    fields.is_some_and(|fields| fields.keys().all(|name| name == SUSPENDED_BY))
}

/// Whether an operation changed anything: of two stores that made the same change, the second did not.
fn is_change(operation: &Operation) -> bool {
    operation.erased || operation.before != operation.after
}

/// Undoes one operation that stands; `None` if nothing of it is left to undo.
fn undo_one(edit: &Edit<'_, '_>, operation: Operation) -> Result<Option<Operation>> {
    check_actor(edit, &operation)?;
    let (base_key, base, direction) = base_of(edit, &operation)?;
    check_actor(edit, &base)?;
    if base.subject.kind == SubjectKind::Memory {
        check_undo(edit, (base_key, &base))?;
    }
    if operation.erased || base.erased {
        return Err(Error::conflict(format!(
            "{} cannot be undone: its content is erased",
            operation.id
        )));
    }
    let undo = match base.subject.kind {
        SubjectKind::Memory => apply::<Memory>(edit, &operation, (base_key, &base), direction)?,
        SubjectKind::Project => {
            apply::<RegisteredProject>(edit, &operation, (base_key, &base), direction)?
        }
        SubjectKind::State => {
            apply::<ProjectState>(edit, &operation, (base_key, &base), direction)?
        }
        SubjectKind::Distrust => apply::<Distrust>(edit, &operation, (base_key, &base), direction)?,
        SubjectKind::Note => match invert(edit, &operation)? {
            Some(undo) => undo,
            None => return Ok(None),
        },
        SubjectKind::Session | SubjectKind::Dream => {
            return Err(Error::internal("sessions and dreams have no operations"));
        }
    };
    refuse_restored(edit, &undo)?;
    operations::set_undone_by(edit.tx, &operation.id, Some(&undo.id))?;
    let undone_by = (direction == Direction::Revert).then_some(&undo.id);
    operations::set_undone_by(edit.tx, &base.id, undone_by)?;
    Ok(Some(undo))
}

/// Refuses to undo what a person did, and changes of projects, facts and distrusted sources, for everyone
/// but a person.
fn check_actor(edit: &Edit<'_, '_>, operation: &Operation) -> Result<()> {
    let by_person = operation.actor.kind == ActorKind::Person;
    let is_open = matches!(operation.subject.kind, SubjectKind::Memory | SubjectKind::Note);
    if !edit.is_person() && (by_person || !is_open) {
        return Err(needs_person("undo what a person did"));
    }
    Ok(())
}

/// Refuses an undo that brings back what a person refused.
fn refuse_restored(edit: &Edit<'_, '_>, undo: &Operation) -> Result<()> {
    let restores = |name: &str| undo.after.as_ref().is_some_and(|after| after.get(name).is_some());
    let is_restored = restores("content") || restores("status");
    if undo.subject.kind != SubjectKind::Memory || !is_restored {
        return Ok(());
    }
    match Memory::load(edit.tx, &undo.subject.id)? {
        Some(memory) if memory.status.is_standing() => refuse_undone(edit, &memory, None),
        _ => Ok(()),
    }
}

/// The operation at the start of a chain of undos, with its key, and what undoing the last does to it.
fn base_of(edit: &Edit<'_, '_>, operation: &Operation) -> Result<(i64, Operation, Direction)> {
    let mut direction = Direction::Revert;
    let (mut key, mut base) = resolve(edit.tx, operation.id.as_str())?;
    let mut visited = HashSet::from([base.id.clone()]);
    while let Some(undone) = base.undoes.clone() {
        (key, base) = resolve(edit.tx, undone.as_str())?;
        if !visited.insert(undone) || base.subject != operation.subject {
            return Err(broken_chain(operation));
        }
        direction = match direction {
            Direction::Revert => Direction::Redo,
            Direction::Redo => Direction::Revert,
        };
    }
    let is_undone = base.undone_by.is_some();
    match direction {
        Direction::Revert if is_undone => Err(already_undone(&base)),
        Direction::Redo if !is_undone => {
            Err(Error::conflict(format!("{} is not undone any more", base.id)))
        }
        direction => Ok((key, base, direction)),
    }
}

/// The error for an undo that leads back to itself or to another subject. Files could once bring such
/// operations.
fn broken_chain(operation: &Operation) -> Error {
    let problem = "the operations that it undoes lead back to themselves or to another subject";
    Error::conflict(format!("{} cannot be undone: {problem}", operation.id))
        .remedy(format!("change {} itself instead", operation.subject.id))
}

fn apply<R: Record>(
    edit: &Edit<'_, '_>,
    operation: &Operation,
    (base_key, base): (i64, &Operation),
    direction: Direction,
) -> Result<Operation> {
    let (from, to) = match direction {
        Direction::Revert => (&base.after, &base.before),
        Direction::Redo => (&base.before, &base.after),
    };
    refuse_later(edit, base_key, base)?;
    let id = base.subject.id.as_str();
    let stored = R::load(edit.tx, id)?;
    let mut fields = stored.as_ref().map(Record::fields).transpose()?;
    if !holds(fields.as_ref(), from.as_ref(), is_suspension(base)) {
        return Err(Error::conflict(format!(
            "{} cannot be undone: {id} has changed since, or an earlier change of it is undone",
            operation.id
        )));
    }
    let after = match to {
        None => None,
        Some(to) => {
            let mut fields = fields.take().unwrap_or_default();
            fields.extend(to.as_object().cloned().unwrap_or_default());
            Some(R::from_fields(fields, id, edit.now)?)
        }
    };
    let changed = (stored.as_ref(), after.as_ref());
    if base.subject.kind == SubjectKind::Project && after.is_some() {
        refuse_taken_aliases(edit, id, to.as_ref())?;
    }
    let undo = edit.write_undo(OperationVerb::Undo, changed, Some(&operation.id))?;
    refuse_inconsistent(edit, base, after.is_none())?;
    undo.ok_or_else(|| {
        Error::conflict(format!("{} cannot be undone: it changed nothing here", operation.id))
    })
}

/// Whether the stored fields hold what an operation wrote; both are `None` if nothing is stored. What
/// suspends a memory counts only if the operation changed nothing else.
fn holds(
    stored: Option<&Map<String, Value>>,
    written: Option<&Value>,
    is_suspension: bool,
) -> bool {
    match (stored, written.and_then(Value::as_object)) {
        (Some(stored), Some(written)) => written.iter().all(|(name, value)| {
            stored.get(name) == Some(value) || name == SUSPENDED_BY && !is_suspension
        }),
        (None, None) => true,
        _ => false,
    }
}

/// Refuses an undo when a later operation that stands wrote one of the same fields.
fn refuse_later(edit: &Edit<'_, '_>, base_key: i64, base: &Operation) -> Result<()> {
    let later = operations::of_subject_after(edit.tx, &base.subject.id, base_key)?;
    let touches = |(_, later): &(i64, Operation)| {
        let is_same_subject = later.subject.kind == base.subject.kind;
        let is_judged_again = is_suspension(later) && !is_suspension(base);
        let stands = later.undone_by.is_none() && later.undoes.is_none();
        is_same_subject
            && stands
            && is_change(later)
            && !is_judged_again
            && shares_field(base, later)
    };
    // They come newest first, which is the order in which they can be undone.
    match later.iter().find(|later| touches(later)) {
        Some((_, later)) => Err(Error::conflict(format!(
            "{} cannot be undone: {} ({}) changed the same field of {} later",
            base.id, later.id, later.kind, base.subject.id
        ))
        .remedy(format!("undo {} first", later.id))),
        None => Ok(()),
    }
}

/// Whether two operations wrote a field in common; a creation wrote them all.
fn shares_field(one: &Operation, other: &Operation) -> bool {
    let creates = |it: &Operation| it.before.is_none() || it.after.is_none();
    let names = |it: &Operation| -> Vec<String> {
        let after = it.after.as_ref().and_then(Value::as_object);
        after.map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    };
    creates(one) || creates(other) || names(one).iter().any(|name| names(other).contains(name))
}

fn refuse_taken_aliases(edit: &Edit<'_, '_>, name: &str, to: Option<&Value>) -> Result<()> {
    let aliases = to.and_then(|to| to.get("aliases")).and_then(Value::as_array);
    for alias in aliases.into_iter().flatten().filter_map(Value::as_str) {
        if let Some(owner) = projects::name_of_alias(edit.tx, alias)?.filter(|owner| owner != name)
        {
            return Err(Error::conflict(format!("{alias:?} is now an alias of {owner:?}")));
        }
    }
    Ok(())
}

/// Refuses what one operation of a group alone would leave inconsistent.
fn refuse_inconsistent(edit: &Edit<'_, '_>, base: &Operation, is_removed: bool) -> Result<()> {
    let together = |problem: String| {
        let error = Error::conflict(problem);
        match &base.group {
            Some(group) => error.remedy(format!("undo {group}, which undoes all of it")),
            None => error,
        }
    };
    match base.subject.kind {
        SubjectKind::Memory if is_removed => {
            let id = oneiro_model::MemoryId::parse(&base.subject.id)?;
            let referring = memories::referring_to(edit.tx, &id)?;
            match referring.iter().find(|other| other.superseded_by.as_ref() == Some(&id)) {
                Some(other) => {
                    Err(together(format!("{id} cannot be removed: it supersedes {}", other.id)))
                }
                None => Ok(()),
            }
        }
        SubjectKind::State => {
            let Some(state) = ProjectState::load(edit.tx, &base.subject.id)? else { return Ok(()) };
            match project_state::current(edit.tx, &state.project, &state.key)?.len() {
                0 | 1 => Ok(()),
                _ => Err(together(format!("{:?} would have two values", state.key))),
            }
        }
        _ => Ok(()),
    }
}
