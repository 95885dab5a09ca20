//! Operations: every change of a memory, a note, a project or its state is made through an
//! [`Edit`], which records it, and can be listed and undone.

mod undo;

pub(crate) use undo::undo_group_except;

use crate::Oneiro;
use crate::memories::{self, clean};
use crate::notes::{self, NoteEdits};
use crate::ports::Ids;
use crate::views::Operations;
use oneiro_model::{
    Actor, ActorKind, Error, ErrorKind, GroupId, ListOperations, Operation, OperationId,
    OperationVerb, Page, Remedy, Result, SubjectKind, Timestamp,
};
use oneiro_store::identity::Identity;
use oneiro_store::operations::{Change, OperationMeta, Record};
use oneiro_store::{Tx, identity, operations};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether the operations of an edit belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// It is one operation.
    Single,
    /// They are undone together.
    Group,
}

/// A write transaction that records what it changes, and who does it.
pub(crate) struct Edit<'e, 'c> {
    pub(crate) tx: &'e Tx<'c>,
    pub(crate) actor: &'e Actor,
    pub(crate) identity: &'e Identity,
    pub(crate) ids: &'e dyn Ids,
    pub(crate) group: Option<&'e GroupId>,
    pub(crate) reason: Option<&'e str>,
    pub(crate) now: Timestamp,
    /// The memories that it changed, with their fields before the first change.
    pub(crate) changed: ChangedMemories,
    /// The notes that it changed.
    pub(crate) notes: NoteEdits,
}

/// Ids of changed memories, with their fields before the first change; `None` for created ones.
pub(crate) type ChangedMemories = RefCell<BTreeMap<String, Option<Map<String, Value>>>>;

impl Edit<'_, '_> {
    /// Stores a change with its operation; `None` if nothing changes.
    pub(crate) fn write<R: Record>(
        &self,
        verb: OperationVerb,
        before: Option<&R>,
        after: Option<&R>,
    ) -> Result<Option<Operation>> {
        self.write_undo(verb, (before, after), None)
    }

    /// Stores a new record with a reason of its own.
    pub(crate) fn create_because<R: Record>(
        &self,
        record: &R,
        reason: &str,
    ) -> Result<Option<Operation>> {
        self.record(OperationVerb::Create, (None, Some(record)), (None, Some(reason)))
    }

    /// Stores a change with a reason of its own.
    pub(crate) fn write_because<R: Record>(
        &self,
        verb: OperationVerb,
        change: (Option<&R>, Option<&R>),
        reason: &str,
    ) -> Result<Option<Operation>> {
        self.record(verb, change, (None, Some(reason)))
    }

    /// The same for a change that undoes an operation.
    pub(crate) fn write_undo<R: Record>(
        &self,
        verb: OperationVerb,
        change: (Option<&R>, Option<&R>),
        undoes: Option<&OperationId>,
    ) -> Result<Option<Operation>> {
        self.record(verb, change, (undoes, self.reason))
    }

    fn record<R: Record>(
        &self,
        verb: OperationVerb,
        (before, after): (Option<&R>, Option<&R>),
        (undoes, reason): (Option<&OperationId>, Option<&str>),
    ) -> Result<Option<Operation>> {
        let note = OperationMeta {
            id: OperationId::from_random(self.ids.random()),
            verb,
            actor: self.actor,
            reason,
            group: self.group,
            undoes,
            identity: self.identity,
            now: self.now,
        };
        if let Some(record) = after.or(before).filter(|_| R::KIND == SubjectKind::Memory) {
            let fields = before.map(Record::fields).transpose()?;
            self.changed.borrow_mut().entry(record.id().to_owned()).or_insert(fields);
        }
        let operation = operations::write(self.tx, Change { before, after, note })?;
        operation.iter().for_each(|operation| self.notes.record(operation));
        Ok(operation)
    }

    pub(crate) fn is_person(&self) -> bool {
        self.actor.kind == ActorKind::Person
    }

    /// Refuses everyone but a person.
    pub(crate) fn require_person(&self, what: &str) -> Result<()> {
        if self.is_person() { Ok(()) } else { Err(needs_person(what)) }
    }
}

/// Whether a person makes a change.
pub(crate) fn is_person(tx: &Tx<'_>) -> bool {
    tx.actor().is_some_and(|actor| actor.kind == ActorKind::Person)
}

/// Whether an agent makes a change, and no person, job or import.
pub(crate) fn is_agent(tx: &Tx<'_>) -> bool {
    tx.actor().unwrap_or_default().kind == ActorKind::Agent
}

/// The error for what only a person may do.
pub(crate) fn needs_person(what: &str) -> Error {
    Error::new(ErrorKind::Forbidden, format!("only a person may {what}")).remedy(Remedy::AskPerson)
}

impl Oneiro {
    /// Runs `work` as one atomic, durable write.
    pub(crate) fn edit<T: Send + 'static>(
        &self,
        reason: Option<String>,
        grouping: Grouping,
        work: impl Fn(&Edit<'_, '_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let (ids, now) = (Arc::clone(&self.ids), self.now());
        let group = (grouping == Grouping::Group).then(|| GroupId::from_random(ids.random()));
        let reason = reason.map(|reason| clean(&reason)).filter(|reason| !reason.is_empty());
        let done = self.store.write(move |tx| {
            let identity = identity_of(tx, &*ids)?;
            let actor = tx.actor().unwrap_or_default();
            let edit = Edit {
                tx,
                actor: &actor,
                identity: &identity,
                ids: &*ids,
                group: group.as_ref(),
                reason: reason.as_deref(),
                now,
                changed: ChangedMemories::default(),
                notes: NoteEdits::default(),
            };
            let done = work(&edit)?;
            memories::settle(&edit)?;
            notes::commit(&edit)?;
            Ok(done)
        })?;
        self.schedule_indexing()?;
        Ok(done)
    }
}

/// The identity of the space, which is created if it has none.
pub(crate) fn identity_of(tx: &Tx<'_>, ids: &dyn Ids) -> Result<Identity> {
    match identity::get(tx)? {
        Some(identity) => Ok(identity),
        None => {
            let id = GroupId::from_random(ids.random()).as_str().replacen("grp_", "sto_", 1);
            identity::get_or_create(tx, &id, &ids.secret()?)
        }
    }
}

/// Edits of an import, in one transaction with all of it.
pub(crate) struct ImportEdits<'e, 'c> {
    oneiro: &'e Oneiro,
    tx: &'e Tx<'c>,
    identity: &'e Identity,
    actor: Actor,
    reason: String,
    /// The ids of the memories that they changed.
    changed: RefCell<BTreeSet<String>>,
}

impl<'e, 'c> ImportEdits<'e, 'c> {
    /// Edits in the name of the import from a store.
    pub(crate) fn new(
        oneiro: &'e Oneiro,
        tx: &'e Tx<'c>,
        identity: &'e Identity,
        store: &str,
    ) -> ImportEdits<'e, 'c> {
        let caller = tx.actor().unwrap_or_default();
        let actor = Actor { kind: ActorKind::Import, ..(*caller).clone() };
        let reason = format!("imported from {store}");
        ImportEdits { oneiro, tx, identity, actor, reason, changed: RefCell::default() }
    }

    /// Edits in the name of the importer.
    pub(crate) fn by_caller(
        oneiro: &'e Oneiro,
        tx: &'e Tx<'c>,
        identity: &'e Identity,
        store: &str,
    ) -> ImportEdits<'e, 'c> {
        let actor = (*tx.actor().unwrap_or_default()).clone();
        ImportEdits { actor, ..ImportEdits::new(oneiro, tx, identity, store) }
    }

    pub(crate) fn tx(&self) -> &'e Tx<'c> {
        self.tx
    }

    /// The ids of the memories that were changed so far.
    pub(crate) fn changed(&self) -> BTreeSet<String> {
        self.changed.borrow().clone()
    }

    /// Runs `work`, whose operations have no group.
    pub(crate) fn single<T>(&self, work: impl FnOnce(&Edit<'_, '_>) -> Result<T>) -> Result<T> {
        self.run(None, work)
    }

    /// Runs `work`, whose operations are undone together.
    pub(crate) fn group<T>(&self, work: impl FnOnce(&Edit<'_, '_>) -> Result<T>) -> Result<T> {
        let group = GroupId::from_random(self.oneiro.ids.random());
        self.run(Some(&group), work)
    }

    fn run<T>(
        &self,
        group: Option<&GroupId>,
        work: impl FnOnce(&Edit<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let edit = Edit {
            tx: self.tx,
            actor: &self.actor,
            identity: self.identity,
            ids: &*self.oneiro.ids,
            group,
            reason: Some(&self.reason),
            now: self.oneiro.now(),
            changed: ChangedMemories::default(),
            notes: NoteEdits::default(),
        };
        let done = work(&edit)?;
        notes::commit(&edit)?;
        self.changed.borrow_mut().extend(edit.changed.into_inner().into_keys());
        Ok(done)
    }
}

impl Operations<'_> {
    /// Operations, newest first.
    pub fn list(&self, request: &ListOperations) -> Result<Page<Operation>> {
        let found = self.oneiro.store.read(|tx| operations::list(tx, request))?;
        Ok(Page::of(found, request.limit))
    }

    /// The id of this store, which operations carry into other stores.
    pub fn store_id(&self) -> Result<String> {
        let known = self.oneiro.store.read(identity::get)?;
        match known {
            Some(identity) => Ok(identity.store_id),
            None => {
                self.oneiro.edit(None, Grouping::Single, |edit| Ok(edit.identity.store_id.clone()))
            }
        }
    }

    /// The operation with this id or unambiguous id prefix.
    pub fn show(&self, id: &str) -> Result<Operation> {
        self.oneiro.store.read(|tx| Ok(resolve(tx, id)?.1))
    }
}

/// The operation with this id or unambiguous id prefix, with its key.
pub(crate) fn resolve(tx: &Tx<'_>, id: &str) -> Result<(i64, Operation)> {
    let is_prefix = id.len() > OperationId::PREFIX.len() && id.starts_with(OperationId::PREFIX);
    let found = if is_prefix { operations::by_id_prefix(tx, id)? } else { Vec::new() };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), other) if other.is_none() || one.1.id.as_str() == id => Ok(one),
        (Some(_), _) => Err(Error::conflict(format!("several operation ids begin with {id:?}"))
            .remedy("give more of the id")),
        (None, _) => Err(Error::not_found(format!("there is no operation {id:?}"))
            .remedy(Remedy::ListOperations)),
    }
}
