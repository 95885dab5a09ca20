//! Imports memories, notes, projects, facts and distrusted sources with their operations, for a
//! person. Lines are collected first; at the end of a source the operations are merged by time, the
//! records follow from them, and what they mean for the memories that are here is settled.

use super::import_checks::{check_undone, not_before, refuse_different, refuse_other_record};
use super::import_revisions::RevisionImport;
use super::import_successors::settle_successors;
use super::message_ids::MessageIds;
use super::records::{CheckedRecord, RecordLine, SourceStore};
use crate::memories::{self, ImportedMemories};
use crate::notes::index_due_notes;
use crate::operations::{ImportEdits, identity_of, is_person};
use crate::{Oneiro, projects};
use oneiro_model::{
    Distrust, Error, Imported, Memory, Operation, OperationId, ProjectState, RegisteredProject,
    Result, Signal, Subject, SubjectKind, Timestamp,
};
use oneiro_store::identity::Identity;
use oneiro_store::notes::NoteState;
use oneiro_store::operation_transfer::{self, ReplayRequest, Replayed, Stated};
use oneiro_store::operations::{self, Record};
use oneiro_store::{Tx, signals};
use std::collections::{HashMap, HashSet};

/// The kind of an undo of a project.
const UNDONE: &str = "project.undo";

/// The records of one store.
pub(super) struct RecordImport<'t, 'c> {
    oneiro: &'t Oneiro,
    tx: &'t Tx<'c>,
    identity: Identity,
    store: SourceStore,
    /// Whether a person imports. What others import is proposed instead.
    by_person: bool,
    /// Whether there were no operations before.
    was_empty: bool,
    last_at: Option<Timestamp>,
    projects: Records<RegisteredProject>,
    states: Records<ProjectState>,
    distrusts: Records<Distrust>,
    memories: Records<Memory>,
    notes: Records<NoteState>,
    revisions: RevisionImport,
    /// Operations of the file, with their lines.
    seen: HashMap<OperationId, usize>,
    /// What the operations of the file changed.
    subjects: HashMap<OperationId, Subject>,
    inserted: HashSet<OperationId>,
    first_inserted_at: Option<Timestamp>,
    last_seen_at: Option<Timestamp>,
    signals: Vec<(usize, Signal)>,
}

/// The records of one kind in a file, in its order.
struct Records<R> {
    order: Vec<String>,
    by_id: HashMap<String, FileRecord<R>>,
}

struct FileRecord<R> {
    line: usize,
    stated: Stated<R>,
    notes: Notes,
}

/// What the operations of a file say about a record.
#[derive(Debug, Clone, Copy, Default)]
struct Notes {
    /// Whether one is about it.
    has_operation: bool,
    /// Whether one is new here.
    is_touched: bool,
    /// Whether the record was erased here.
    is_erased: bool,
}

impl<R> Default for Records<R> {
    fn default() -> Records<R> {
        Records { order: Vec::new(), by_id: HashMap::new() }
    }
}

impl<R: Record> Records<R> {
    fn add(&mut self, stated: Stated<R>, line: usize) -> Result<()> {
        let id = stated.record.id().to_owned();
        if let Some(other) = self.by_id.get(&id) {
            let problem = format!("{id:?} is already on line {}", other.line);
            return Err(Error::field(R::KIND.as_str(), problem));
        }
        self.order.push(id.clone());
        self.by_id.insert(id, FileRecord { line, stated, notes: Notes::default() });
        Ok(())
    }

    fn notes(&mut self, id: &str) -> Option<&mut Notes> {
        self.by_id.get_mut(id).map(|record| &mut record.notes)
    }

    /// Records with new operations, in the order of the file.
    fn touched(&self) -> impl Iterator<Item = (&String, &FileRecord<R>)> {
        let records = self.order.iter().filter_map(|id| Some((id, self.by_id.get(id)?)));
        records.filter(|(_, record)| record.notes.is_touched && !record.notes.is_erased)
    }

    /// Refuses a record that no operation is about.
    fn refuse_without_operation(&self) -> Result<()> {
        let mut records = self.order.iter().filter_map(|id| Some((id, self.by_id.get(id)?)));
        match records.find(|(_, record)| !record.notes.has_operation) {
            Some((id, record)) => Err(Error::field(
                R::KIND.as_str(),
                format!("{id:?} has no operation in this file; it may be cut off"),
            )
            .at(format!("line {}", record.line))),
            None => Ok(()),
        }
    }
}

impl<'t, 'c> RecordImport<'t, 'c> {
    pub(super) fn new(oneiro: &'t Oneiro, tx: &'t Tx<'c>, store: SourceStore) -> Result<Self> {
        Ok(RecordImport {
            oneiro,
            tx,
            identity: identity_of(tx, &*oneiro.ids)?,
            store,
            by_person: is_person(tx),
            was_empty: !operation_transfer::any(tx)?,
            last_at: operation_transfer::last_at(tx)?,
            projects: Records::default(),
            states: Records::default(),
            distrusts: Records::default(),
            memories: Records::default(),
            notes: Records::default(),
            revisions: RevisionImport::default(),
            seen: HashMap::new(),
            subjects: HashMap::new(),
            inserted: HashSet::new(),
            first_inserted_at: None,
            last_seen_at: None,
            signals: Vec::new(),
        })
    }

    /// Takes one line. Records come before their operations, operations before signals.
    pub(super) fn line(
        &mut self,
        record: RecordLine,
        number: usize,
        ids: &mut MessageIds,
    ) -> Result<()> {
        let tx = self.tx;
        match record {
            RecordLine::Store(_) => Err(Error::internal("a store is not a record")),
            RecordLine::Project(stated) => self.projects.add(stated, number),
            RecordLine::State(stated) => self.states.add(stated, number),
            RecordLine::Distrust(mut stated) => {
                let target = (stated.record.target_kind, stated.record.target.as_str());
                stated.record.target = ids.map_target(tx, target, &self.store.id)?;
                self.distrusts.add(stated, number)
            }
            RecordLine::Memory(mut stated) => {
                ids.map_citations(tx, &mut stated.record.citations)?;
                self.memories.add(*stated, number)
            }
            RecordLine::Note(stated) => self.notes.add(stated, number),
            RecordLine::NoteText(text) => {
                self.revisions.add_text(text.text);
                Ok(())
            }
            RecordLine::Revision(revision) => {
                self.revisions.add_revision(*revision, number);
                Ok(())
            }
            RecordLine::Operation(operation) => self.operation(*operation, number, ids),
            RecordLine::Signal(signal) => {
                if !self.memories.by_id.contains_key(signal.memory_id.as_str()) {
                    return Err(not_before("signal: memory_id", signal.memory_id.as_str()));
                }
                self.signals.push((number, signal));
                Ok(())
            }
        }
    }

    fn operation(
        &mut self,
        mut operation: Operation,
        number: usize,
        ids: &mut MessageIds,
    ) -> Result<()> {
        // Before the operation itself is known: it cannot undo itself.
        check_undone(&operation, &self.subjects)?;
        self.subjects.insert(operation.id.clone(), operation.subject.clone());
        if let Some(other) = self.seen.insert(operation.id.clone(), number) {
            let problem = format!("{} is already on line {other}", operation.id);
            return Err(Error::field("operation", problem));
        }
        if self.last_seen_at.is_some_and(|last| operation.at < last) {
            return Err(Error::field("operation: at", "is before that of the operation above"));
        }
        self.last_seen_at = Some(operation.at);
        let record = self.note(&operation, |notes| notes.has_operation = true);
        if record.is_none() && !operation.erased {
            return Err(not_before("operation: subject", &operation.subject.id));
        }
        if !self.by_person {
            return Ok(());
        }
        self.map_messages(&mut operation, ids)?;
        let known = operations::by_id_prefix(self.tx, operation.id.as_str())?;
        let known = known.into_iter().find(|(_, known)| known.id == operation.id);
        if let Some((_, known)) = known {
            return refuse_different(&known, &operation);
        }
        if self.is_erased_here(&operation)? {
            return Ok(());
        }
        operation_transfer::insert(self.tx, &operation)?;
        self.note(&operation, |notes| notes.is_touched = true);
        let first = self.first_inserted_at.map_or(operation.at, |first| first.min(operation.at));
        self.first_inserted_at = Some(first);
        self.inserted.insert(operation.id);
        Ok(())
    }

    /// Changes what is noted about the record of an operation; `None` if the file has no such
    /// record.
    fn note(&mut self, operation: &Operation, change: impl FnOnce(&mut Notes)) -> Option<()> {
        let id = operation.subject.id.as_str();
        let notes = match operation.subject.kind {
            SubjectKind::Memory => self.memories.notes(id),
            SubjectKind::Project => self.projects.notes(id),
            SubjectKind::State => self.states.notes(id),
            SubjectKind::Distrust => self.distrusts.notes(id),
            SubjectKind::Note => self.notes.notes(id),
            SubjectKind::Session | SubjectKind::Dream => None,
        };
        notes.map(change)
    }

    /// Whether the memory of an operation was erased here: only operations without content are
    /// left.
    fn is_erased_here(&mut self, operation: &Operation) -> Result<bool> {
        let id = operation.subject.id.as_str();
        let Some(notes) = self.memories.notes(id) else { return Ok(false) };
        if !notes.is_erased && !notes.is_touched {
            let history = operations::of_subject(self.tx, id)?;
            notes.is_erased = !history.is_empty() && memories::find(self.tx, id).is_err();
        }
        Ok(notes.is_erased)
    }

    fn map_messages(&self, operation: &mut Operation, ids: &mut MessageIds) -> Result<()> {
        for side in [&mut operation.before, &mut operation.after].into_iter().flatten() {
            match operation.subject.kind {
                SubjectKind::Memory => ids.map_fields(self.tx, side)?,
                SubjectKind::Distrust => {
                    // The record, which comes first, has the same target.
                    let record = self.distrusts.by_id.get(&operation.subject.id);
                    if let (Some(record), Some(fields)) = (record, side.as_object_mut()) {
                        let target = record.stated.record.target.clone();
                        fields.insert("target".to_owned(), target.into());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes over what the lines of this source say.
    pub(super) fn finish(self, done: &mut Imported) -> Result<()> {
        self.projects.refuse_without_operation()?;
        self.states.refuse_without_operation()?;
        self.distrusts.refuse_without_operation()?;
        self.memories.refuse_without_operation()?;
        self.notes.refuse_without_operation()?;
        if !self.by_person {
            return self.propose(done);
        }
        if let Some(first) = self.first_inserted_at
            && self.last_at.is_some_and(|last| last >= first)
        {
            operation_transfer::merge_order(self.tx, first)?;
        }
        let (oneiro, tx) = (self.oneiro, self.tx);
        let edits = ImportEdits::new(oneiro, tx, &self.identity, &self.store.id);
        done.operations += self.inserted.len();
        done.state += self.save_projects(&edits)?;
        done.state += self.save_records(&self.states)?.len();
        let new_distrusts: HashSet<String> =
            self.distrusts.touched().map(|(id, _)| id.clone()).collect();
        done.state += self.save_records(&self.distrusts)?.len();
        done.notes += self.save_notes()?;
        let changed = self.save_records(&self.memories)?;
        operation_transfer::clear_references_to_erased(tx)?;
        settle_successors(&edits, &changed, &self.inserted)?;
        done.memories += changed.len();
        done.erased += self.memories.by_id.values().filter(|it| it.notes.is_erased).count();
        done.signals += self.add_signals()?;
        let is_anything_new = !self.inserted.is_empty();
        if self.was_empty || !is_anything_new {
            return Ok(());
        }
        edits.group(projects::settle_imported)?;
        let imported = ImportedMemories {
            same_as_source: self.same_as_source()?,
            in_source: self.memories.by_id.keys().cloned().collect(),
            changed,
            new_distrusts,
            operations: &self.seen,
            new_operations: &self.inserted,
        };
        let settled = memories::settle_imported(&edits, &imported)?;
        done.merged += settled.merged;
        done.suspended += settled.suspended;
        done.refused += settled.refused;
        Ok(())
    }

    /// Replays and saves the records with new operations; returns their ids.
    fn save_records<R: CheckedRecord>(&self, records: &Records<R>) -> Result<Vec<String>> {
        let mut saved = Vec::new();
        for (id, record) in records.touched() {
            if let Some(replayed) = self.replay(id, record)? {
                replayed.save(self.tx, &self.identity)?;
                saved.push(id.clone());
            }
        }
        Ok(saved)
    }

    /// Saves the notes with their texts and revisions; returns how many changed.
    fn save_notes(&self) -> Result<usize> {
        self.revisions.save_texts(self.tx)?;
        let saved = self.save_records(&self.notes)?;
        let touched = self.notes.touched().map(|(name, _)| name.clone());
        let erased = touched.filter(|name| !saved.contains(name)).collect();
        self.revisions.save(self.tx, &erased)?;
        index_due_notes(self.tx)?;
        Ok(saved.len())
    }

    fn replay<R: CheckedRecord>(
        &self,
        id: &str,
        record: &FileRecord<R>,
    ) -> Result<Option<Replayed<R>>> {
        let now = self.oneiro.now();
        let check =
            |replayed: &R| replayed.check_limits(now).map_err(|error| error.at(R::KIND.as_str()));
        let request = ReplayRequest {
            id,
            stated: Some(&record.stated),
            inserted: &self.inserted,
            identity: &self.identity,
            check: &check,
        };
        let place = |error: Error| error.at(format!("line {}", record.line));
        let is_known = operations::of_subject(self.tx, id)?
            .iter()
            .any(|(_, it)| it.subject.kind == R::KIND && !self.inserted.contains(&it.id));
        let replayed = operation_transfer::replay(self.tx, &request).map_err(place)?;
        if let (false, Some(replayed)) = (is_known, &replayed) {
            refuse_other_record(&record.stated, replayed).map_err(place)?;
        }
        Ok(replayed)
    }

    /// Saves projects. An alias that another project has here is left out; projects of both stores
    /// with one name have the aliases of both.
    fn save_projects(&self, edits: &ImportEdits<'_, '_>) -> Result<usize> {
        let mut touched = Vec::new();
        for (name, file) in self.projects.touched() {
            let here = RegisteredProject::load(self.tx, name)?;
            if let Some(replayed) = self.replay(name, file)? {
                touched.push((name, here, replayed));
            }
        }
        // Projects that lose an alias come first: another may have it now.
        touched.sort_by_key(|(_, here, replayed)| {
            let has = |alias| replayed.record().is_some_and(|it| it.aliases.contains(alias));
            let mut aliases = here.iter().flat_map(|here| &here.aliases);
            !aliases.any(|alias| !has(alias))
        });
        for (name, here, replayed) in &touched {
            let Some(project) = replayed.record() else {
                replayed.save(self.tx, &self.identity)?;
                continue;
            };
            let history = operations::of_subject(self.tx, name)?;
            let is_registered_there = history.iter().any(|(_, operation)| {
                operation.subject.kind == SubjectKind::Project
                    && operation.kind != UNDONE
                    && self.inserted.contains(&operation.id)
                    && operation.after.as_ref().is_some_and(|it| it.get("created_at").is_some())
            });
            let here = here.as_ref().filter(|_| is_registered_there);
            let joined = projects::join(self.tx, project, here)?;
            if joined == *project {
                replayed.save(self.tx, &self.identity)?;
            } else {
                edits.single(|edit| projects::save_joined(edit, project, &joined))?;
            }
        }
        Ok(touched.len())
    }

    fn add_signals(&self) -> Result<usize> {
        let mut added = 0;
        for (_, signal) in &self.signals {
            let record = self.memories.by_id.get(signal.memory_id.as_str());
            if record.is_some_and(|record| record.notes.is_erased) {
                continue;
            }
            let hash = memories::query_hash(&self.identity, signal.query.as_deref());
            added += usize::from(signals::add_imported(self.tx, signal, &hash)?);
        }
        Ok(added)
    }

    /// Memories that are here as they are in the source: nothing among them is left to settle.
    fn same_as_source(&self) -> Result<HashSet<String>> {
        let mut same = HashSet::new();
        for (id, file) in &self.memories.by_id {
            let stored = Memory::load(self.tx, id)?;
            let stored = stored.as_ref().map(Record::fields).transpose()?;
            let stated = (!file.stated.is_removed).then(|| file.stated.record.fields());
            if stored == stated.transpose()? {
                same.insert(id.clone());
            }
        }
        Ok(same)
    }

    /// Proposes the memories of the file instead: the importer is not a person.
    fn propose(&self, done: &mut Imported) -> Result<()> {
        done.withheld += self.seen.len() + self.signals.len();
        done.withheld += self.notes.order.len() + self.revisions.len();
        done.withheld +=
            self.projects.order.len() + self.states.order.len() + self.distrusts.order.len();
        let memories = self.memories.order.iter().filter_map(|id| self.memories.by_id.get(id));
        let memories: Vec<&Stated<Memory>> = memories.map(|file| &file.stated).collect();
        let edits = ImportEdits::by_caller(self.oneiro, self.tx, &self.identity, &self.store.id);
        let proposed = memories::propose_imported(&edits, &memories)?;
        done.memories += proposed.created;
        done.refused += proposed.refused;
        done.withheld += proposed.withheld;
        Ok(())
    }
}
