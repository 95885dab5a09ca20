//! Operations that come from other stores. They are inserted as they are and ordered by time among
//! those of this store; a record is what follows from its operations ([`replay`]), so an import cannot
//! write a record without them.

use crate::identity::Identity;
use crate::operations::{self, Record};
use crate::{Tx, sequence};
use oneiro_model::{
    Error, GroupId, MemoryId, Operation, OperationId, Result, SubjectKind, Timestamp,
};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

statements! {
    ANY = "SELECT key FROM operations ORDER BY key LIMIT 1";
    PAGE = "SELECT id, kind, actor, subject_kind, subject, before, after, reason, group_id, \
            undoes, undone_by, at, store_id, erased, key FROM operations \
            WHERE key > CAST(?1 AS BIGINT) ORDER BY key LIMIT CAST(?2 AS BIGINT)";
    MEMORY_IDS = "SELECT key, id FROM memories WHERE key > CAST(?1 AS BIGINT) ORDER BY key \
                  LIMIT CAST(?2 AS BIGINT)";
    INSERT = "INSERT INTO operations (key, id, kind, actor, actor_kind, subject_kind, subject, \
              before, after, reason, group_id, undoes, undone_by, store_id, at, erased) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
    LAST_AT = "SELECT at FROM operations ORDER BY key DESC LIMIT 1";
    COUNT_FROM = "SELECT COUNT(*) FROM operations WHERE at >= CAST(?1 AS BIGINT)";
    RENUMBER = "UPDATE operations SET key = CAST(?2 AS BIGINT) + o.place FROM ( \
                    SELECT id, ROW_NUMBER() OVER (ORDER BY at, store_id, key) AS place \
                    FROM operations WHERE at >= CAST(?1 AS BIGINT)) o \
                WHERE operations.id = o.id";
    REWRITE = "UPDATE operations SET before = ?2, after = ?3, claim = ?4, undone_by = ?5 \
               WHERE id = ?1";
    ERASE = "UPDATE operations SET before = NULL, after = NULL, claim = NULL, reason = NULL, \
             erased = 1 WHERE id = ?1";
    CLEAR_SUPERSEDED = "UPDATE memories SET superseded_by = NULL WHERE superseded_by IS NOT NULL \
                        AND NOT EXISTS (SELECT 1 FROM memories o \
                                        WHERE o.id = memories.superseded_by)";
    CLEAR_SUSPENDED = "UPDATE memories SET suspended_by = NULL WHERE suspended_by IS NOT NULL \
                       AND NOT EXISTS (SELECT 1 FROM memories o \
                                       WHERE o.id = memories.suspended_by)";
}

/// Whether there is any operation.
pub fn any(tx: &Tx<'_>) -> Result<bool> {
    Ok(tx.first(ANY, &[], |row| row.int(0))?.is_some())
}

/// Operations after a key, in order.
pub fn page(tx: &Tx<'_>, after: i64, limit: usize) -> Result<Vec<(i64, Operation)>> {
    tx.all(PAGE, &[after.into(), (limit as i64).into()], operations::read)
}

/// Keys and ids of memories after a key, oldest first, including those whose creation was undone.
pub fn memory_ids(tx: &Tx<'_>, after: i64, limit: usize) -> Result<Vec<(i64, MemoryId)>> {
    tx.all(MEMORY_IDS, &[after.into(), (limit as i64).into()], |row| {
        Ok((row.int(0)?, MemoryId::parse(row.text(1)?)?))
    })
}

/// The time of the last operation.
pub fn last_at(tx: &Tx<'_>) -> Result<Option<Timestamp>> {
    tx.first(LAST_AT, &[], |row| row.int(0).map(Timestamp::from_micros))
}

/// Inserts an operation of another store. [`merge_order`] and [`replay`] must follow.
pub fn insert(tx: &Tx<'_>, operation: &Operation) -> Result<()> {
    let (before, after) = (json(operation.before.as_ref()), json(operation.after.as_ref()));
    let actor = serde_json::to_string(&operation.actor)
        .map_err(|error| Error::internal("an actor is not JSON").because(error))?;
    let values = [
        sequence::take_key(tx)?.into(),
        operation.id.as_str().into(),
        operation.kind.as_str().into(),
        actor.as_str().into(),
        operation.actor.kind.as_str().into(),
        operation.subject.kind.as_str().into(),
        operation.subject.id.as_str().into(),
        before.as_deref().into(),
        after.as_deref().into(),
        operation.reason.as_deref().into(),
        operation.group.as_ref().map(GroupId::as_str).into(),
        operation.undoes.as_ref().map(OperationId::as_str).into(),
        operation.undone_by.as_ref().map(OperationId::as_str).into(),
        operation.store_id.as_str().into(),
        operation.at.micros().into(),
        i64::from(operation.erased).into(),
    ];
    tx.execute(INSERT, &values).map(|_| ())
}

/// Gives the operations from `first` on keys in the order of their times. At one time, those of one
/// store follow each other, so that every store that merges the same operations has the same order.
pub fn merge_order(tx: &Tx<'_>, first: Timestamp) -> Result<()> {
    let count = tx.one(COUNT_FROM, &[first.micros().into()], |row| row.int(0))?;
    let before_first = sequence::take_keys(tx, count)?;
    tx.execute(RENUMBER, &[first.micros().into(), before_first.into()]).map(|_| ())
}

/// Clears references to memories that were erased in the store they come from, as erasing does.
pub fn clear_references_to_erased(tx: &Tx<'_>) -> Result<()> {
    tx.execute(CLEAR_SUPERSEDED, &[])?;
    tx.execute(CLEAR_SUSPENDED, &[]).map(|_| ())
}

/// A record as another store has it.
#[derive(Debug, Clone)]
pub struct Stated<R> {
    /// The record.
    pub record: R,
    /// Whether its creation was undone.
    pub is_removed: bool,
}

/// What [`replay`] needs besides the operations.
pub struct ReplayRequest<'a, R> {
    /// The id of the record.
    pub id: &'a str,
    /// The record as the other store has it.
    pub stated: Option<&'a Stated<R>>,
    /// Ids of the operations that this import inserted.
    pub inserted: &'a HashSet<OperationId>,
    /// The identity of this space.
    pub identity: &'a Identity,
    /// Refuses a record that breaks a limit. It gets the record after each inserted operation.
    pub check: &'a dyn Fn(&R) -> Result<()>,
}

/// A record that follows from its operations.
#[derive(Debug, Clone)]
pub struct Replayed<R> {
    record: R,
    is_removed: bool,
    at: Timestamp,
}

impl<R: Record> Replayed<R> {
    /// The record; `None` if its creation was undone.
    pub fn record(&self) -> Option<&R> {
        (!self.is_removed).then_some(&self.record)
    }

    /// Stores the record.
    pub fn save(&self, tx: &Tx<'_>, identity: &Identity) -> Result<()> {
        self.record.save(tx, identity, self.at)?;
        if self.is_removed { self.record.remove(tx) } else { Ok(()) }
    }
}

/// Applies all operations on a record in their order. Where two stores changed the same field, the
/// later change holds; `before` of a change is what the field held in this order. What one store
/// changed after another removed the record counts as undone by the removal. Returns `None` if the
/// record is erased.
///
/// The content of erased operations is missing, so changes are applied only after the last of them;
/// inserted ones that belong before it lose their content too.
pub fn replay<R: Record>(
    tx: &Tx<'_>,
    request: &ReplayRequest<'_, R>,
) -> Result<Option<Replayed<R>>> {
    let stored = operations::of_subject(tx, request.id)?;
    // A note and a project may have one name.
    let stored = stored.into_iter().filter(|(_, it)| it.subject.kind == R::KIND);
    let mut history: Vec<Step> = stored.map(|(_, it)| Step::new(it)).collect();
    let is_inserted = |step: &Step| request.inserted.contains(&step.operation.id);
    let is_known = history.iter().any(|step| !is_inserted(step));
    let mut state = State::default();
    let mut first = 0;
    if history.iter().any(|step| step.operation.erased) {
        let base = R::load(tx, request.id)?;
        match (base, request.stated) {
            (Some(base), _) if is_known => {
                let known = history.iter().rposition(|step| !is_inserted(step));
                first = known.map_or(0, |last| last + 1);
                for step in history.iter().take(first).filter(|step| is_inserted(step)) {
                    tx.execute(ERASE, &[step.operation.id.as_str().into()])?;
                }
                state = State { fields: base.fields()?, exists: true, removed_by: None };
            }
            (None, Some(stated)) if !is_known => {
                set_undone_by(&mut history);
                let mut fields = stated.record.fields()?;
                State::default().end_references::<R>(&mut fields);
                for step in &history {
                    step.check_sides(&fields, request)?;
                    let claim = stated.record.claim(request.identity);
                    step.rewrite(tx, claim.filter(|_| !step.operation.erased).as_deref())?;
                }
                let at = history.last().map_or(Timestamp::from_micros(0), |it| it.operation.at);
                let record = R::from_fields(fields, request.id, at)?;
                return Ok(Some(Replayed { record, is_removed: stated.is_removed, at }));
            }
            _ => return Ok(None),
        }
    }
    set_undone_by(&mut history);
    let mut at = None;
    for step in history.iter_mut().skip(first) {
        let claim = state.apply::<R>(step, request)?;
        if step.operation.after.is_some() {
            at = Some(step.operation.at);
        }
        if step.is_changed() || request.inserted.contains(&step.operation.id) {
            step.rewrite(tx, claim.as_deref())?;
        }
    }
    let last = history.last().map(|step| step.operation.at);
    let Some(at) = at.or(last) else { return Ok(None) };
    if state.fields.is_empty() {
        return Err(Error::invalid(format!("no operation creates {}", request.id)));
    }
    let record = R::from_fields(state.fields, request.id, at).map_err(|error| {
        Error::invalid(format!("the operations on {} do not give a record", request.id))
            .because(error)
    })?;
    Ok(Some(Replayed { record, is_removed: !state.exists, at }))
}

/// An operation with what the order of all operations makes of it.
struct Step {
    operation: Operation,
    before: Option<Value>,
    after: Option<Value>,
    undone_by: Option<OperationId>,
}

impl Step {
    fn new(operation: Operation) -> Step {
        let (before, after) = (operation.before.clone(), operation.after.clone());
        Step { undone_by: operation.undone_by.clone(), operation, before, after }
    }

    fn is_changed(&self) -> bool {
        let own = &self.operation;
        (&self.before, &self.after, &self.undone_by) != (&own.before, &own.after, &own.undone_by)
    }

    /// Checks the records that undoing and redoing the operation would write.
    fn check_sides<R: Record>(
        &self,
        fields: &Map<String, Value>,
        request: &ReplayRequest<'_, R>,
    ) -> Result<()> {
        for side in [&self.before, &self.after].into_iter().flatten() {
            let mut fields = fields.clone();
            fields.extend(side.as_object().cloned().unwrap_or_default());
            // What gives no record can be neither undone nor redone.
            if let Ok(record) = R::from_fields(fields, request.id, self.operation.at) {
                check_record(request, &record, &self.operation.id)?;
            }
        }
        Ok(())
    }

    fn rewrite(&self, tx: &Tx<'_>, claim: Option<&str>) -> Result<()> {
        let (before, after) = (json(self.before.as_ref()), json(self.after.as_ref()));
        let values = [
            self.operation.id.as_str().into(),
            before.as_deref().into(),
            after.as_deref().into(),
            claim.into(),
            self.undone_by.as_ref().map(OperationId::as_str).into(),
        ];
        tx.execute(REWRITE, &values).map(|_| ())
    }
}

/// Sets which operation undoes which, from the undos in their order: an undo of an undo redoes the
/// operation at the start of the chain.
fn set_undone_by(history: &mut [Step]) {
    let undoes: HashMap<OperationId, OperationId> = history
        .iter()
        .filter_map(|step| Some((step.operation.id.clone(), step.operation.undoes.clone()?)))
        .collect();
    let mut undone: HashMap<OperationId, Option<OperationId>> = HashMap::new();
    for step in history.iter() {
        let by = &step.operation.id;
        let Some(mut base) = undoes.get(by) else { continue };
        undone.insert(base.clone(), Some(by.clone()));
        let mut is_revert = true;
        // A chain is not longer than the operations; a file may claim a circle.
        for _ in 0..history.len() {
            let Some(next) = undoes.get(base) else { break };
            (base, is_revert) = (next, !is_revert);
        }
        undone.insert(base.clone(), is_revert.then(|| by.clone()));
    }
    for step in history {
        if let Some(by) = undone.remove(&step.operation.id) {
            step.undone_by = by;
        }
    }
}

/// A record between two operations.
#[derive(Default)]
struct State {
    fields: Map<String, Value>,
    exists: bool,
    removed_by: Option<OperationId>,
}

impl State {
    /// Applies an operation; returns the hash of what it found stated.
    fn apply<R: Record>(
        &mut self,
        step: &mut Step,
        request: &ReplayRequest<'_, R>,
    ) -> Result<Option<String>> {
        let operation = &step.operation;
        if operation.erased {
            return Ok(None);
        }
        let Some(after) = operation.after.as_ref().and_then(Value::as_object) else {
            step.before = self.exists.then(|| Value::Object(self.fields.clone()));
            self.exists = false;
            self.removed_by = Some(operation.id.clone());
            return self.claim(request, operation.at);
        };
        // A change after a removal has no `before` either, but does not give a complete record.
        let is_creation = operation.before.is_none()
            && R::from_fields(after.clone(), request.id, operation.at).is_ok();
        if !self.exists && !is_creation {
            step.before = None;
            if step.undone_by.is_none() {
                step.undone_by = self.removed_by.clone();
            }
            return Ok(None);
        }
        let mut after = after.clone();
        self.end_references::<R>(&mut after);
        let found = self.exists.then(|| {
            let names = after.keys().filter_map(|name| self.fields.get_key_value(name));
            names.map(|(name, value)| (name.clone(), value.clone())).collect()
        });
        let claim = if self.exists { self.claim(request, operation.at)? } else { None };
        step.before = found.map(Value::Object);
        step.after = Some(Value::Object(after.clone()));
        self.fields.extend(after);
        self.exists = true;
        if request.inserted.contains(&operation.id) {
            check_record(request, &self.record(request, operation.at)?, &operation.id)?;
        }
        match claim {
            None => self.claim(request, operation.at),
            claim => Ok(claim),
        }
    }

    /// Adds to a change of a memory's status that a reference ends which another store set: only a
    /// superseded memory has a successor, and only an active one is suspended.
    fn end_references<R: Record>(&self, after: &mut Map<String, Value>) {
        if R::KIND != SubjectKind::Memory {
            return;
        }
        let text = |name: &str| {
            let value = after.get(name).or_else(|| self.fields.get(name));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        let status = text("status").unwrap_or_default();
        let references = [("superseded_by", "superseded"), ("suspended_by", "active")];
        let is_ended = |(name, needed): &(&str, &str)| text(name).is_some() && status != *needed;
        let ended: Vec<_> = references.into_iter().filter(is_ended).collect();
        after.extend(ended.into_iter().map(|(name, _)| (name.to_owned(), Value::Null)));
    }

    fn claim<R: Record>(
        &self,
        request: &ReplayRequest<'_, R>,
        at: Timestamp,
    ) -> Result<Option<String>> {
        if R::KIND != SubjectKind::Memory || self.fields.is_empty() {
            return Ok(None);
        }
        Ok(self.record(request, at)?.claim(request.identity))
    }

    fn record<R: Record>(&self, request: &ReplayRequest<'_, R>, at: Timestamp) -> Result<R> {
        R::from_fields(self.fields.clone(), request.id, at).map_err(|error| {
            let what = format!("an operation on {} does not hold a record", request.id);
            Error::invalid(what).because(error)
        })
    }
}

/// Checks a record that follows from an operation, which the error names.
fn check_record<R>(
    request: &ReplayRequest<'_, R>,
    record: &R,
    operation: &OperationId,
) -> Result<()> {
    (request.check)(record).map_err(|error| error.at(format!("operation {operation}")))
}

fn json(value: Option<&Value>) -> Option<String> {
    value.map(Value::to_string)
}
