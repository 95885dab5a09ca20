//! The texts of one kind that a search reads: messages, or memories and entries of notes in the form of
//! messages, so that all are matched and scored alike.

use crate::memories::with_asked_words;
use crate::notes::is_generated;
use crate::settings::Settings;
use oneiro_model::{Memory, MemoryStatus, NoteName, Result, Role, Timestamp, Visibility};
use oneiro_store::Tx;
use oneiro_store::memory_texts::{self, MemoryText};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::note_entries::{self, NoteEntry};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::sync::Arc;

/// The rows of the texts of one kind.
#[derive(Default)]
pub(super) enum Rows {
    #[default]
    Messages,
    Memories(MemoryRows),
    Notes(NoteRows),
}

impl Rows {
    /// The rows with these numbers that exist and may be shown, in any order.
    pub(super) fn by_numbers(&self, tx: &Tx<'_>, numbers: &[i64]) -> Result<Vec<MessageRow>> {
        match self {
            Rows::Messages => message_rows::by_ids(tx, numbers),
            Rows::Memories(memories) => memories.by_numbers(tx, numbers),
            Rows::Notes(notes) => notes.by_numbers(tx, numbers),
        }
    }

    pub(super) fn are_messages(&self) -> bool {
        matches!(self, Rows::Messages)
    }

    /// How far a text is believed, from 0 to 1; 0 for anything but a memory.
    pub(super) fn belief(&self, number: i64) -> f32 {
        let Rows::Memories(memories) = self else { return 0.0 };
        memories.with(number, BeliefStatus::of).map_or(0.0, |status| match status {
            BeliefStatus::Believed => 1.0,
            BeliefStatus::Unreviewed | BeliefStatus::Past => 0.0,
        })
    }

    /// The memory of a text.
    pub(super) fn memory(&self, number: i64) -> Option<Memory> {
        let Rows::Memories(memories) = self else { return None };
        memories.with(number, Memory::clone)
    }

    /// The entry of a note that a text is.
    pub(super) fn note(&self, number: i64) -> Option<FoundEntry> {
        let Rows::Notes(notes) = self else { return None };
        let entry = notes.read.borrow().get(&number).cloned()?;
        Some(FoundEntry { is_generated: is_generated(&notes.filter.settings, &entry.name), entry })
    }
}

/// How far a memory is believed, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BeliefStatus {
    /// It is active and nothing contradicts it.
    Believed,
    /// It waits for review.
    Unreviewed,
    /// It is suspended or superseded, or its validity has ended.
    Past,
}

impl BeliefStatus {
    pub(super) fn of(memory: &Memory) -> BeliefStatus {
        match memory.status {
            MemoryStatus::Active if memory.suspended_by.is_none() => BeliefStatus::Believed,
            MemoryStatus::Candidate => BeliefStatus::Unreviewed,
            _ => BeliefStatus::Past,
        }
    }
}

/// Which memories may be shown.
pub(super) struct MemoryFilter {
    /// Memories that do not hold now, too.
    pub(super) history: bool,
    /// Only memories that held then.
    pub(super) at: Option<Timestamp>,
    /// The time of the search.
    pub(super) now: Timestamp,
    /// Only memories of this project, and of none.
    pub(super) project: Option<String>,
}

impl MemoryFilter {
    fn allows(&self, memory: &Memory) -> bool {
        let is_of_project =
            |project: &String| memory.project.as_ref().is_none_or(|of| of == project);
        let holds = match (self.at, memory.status) {
            (_, MemoryStatus::Invalid) | (Some(_), MemoryStatus::Candidate) => false,
            (Some(at), _) => memory.is_valid_at(at),
            (None, _) if self.history => true,
            (None, MemoryStatus::Superseded) => false,
            (None, _) => {
                memory.suspended_by.is_none()
                    && memory.valid_until.is_none_or(|until| self.now < until)
            }
        };
        holds && self.project.as_ref().is_none_or(is_of_project)
    }
}

/// Memories, each read once per search.
pub(super) struct MemoryRows {
    filter: MemoryFilter,
    /// Those that were read and may be shown.
    read: RefCell<FxHashMap<i64, MemoryText>>,
    /// The memories as they were at an earlier time, instead of the stored ones.
    earlier: Option<FxHashMap<i64, MemoryText>>,
}

impl MemoryRows {
    pub(super) fn new(filter: MemoryFilter) -> MemoryRows {
        MemoryRows { filter, read: RefCell::default(), earlier: None }
    }

    /// Memories as they were at an earlier time.
    pub(super) fn earlier(filter: MemoryFilter, texts: Vec<MemoryText>) -> MemoryRows {
        let earlier = texts.into_iter().map(|one| (one.number, one)).collect();
        MemoryRows { earlier: Some(earlier), ..MemoryRows::new(filter) }
    }

    fn by_numbers(&self, tx: &Tx<'_>, numbers: &[i64]) -> Result<Vec<MessageRow>> {
        let mut texts = match &self.earlier {
            Some(earlier) => {
                numbers.iter().filter_map(|number| earlier.get(number).cloned()).collect()
            }
            None => memory_texts::by_numbers(tx, numbers)?,
        };
        texts.retain(|one| self.filter.allows(&one.memory));
        let rows = texts.iter().map(as_message).collect();
        self.read.borrow_mut().extend(texts.into_iter().map(|one| (one.number, one)));
        Ok(rows)
    }

    fn with<T>(&self, number: i64, use_memory: impl FnOnce(&Memory) -> T) -> Option<T> {
        self.read.borrow().get(&number).map(|one| use_memory(&one.memory))
    }
}

/// A memory as something that a person said: its statement, with its subject as the speaker.
fn as_message(one: &MemoryText) -> MessageRow {
    let mut body = Map::new();
    body.insert("content".to_owned(), Value::String(with_asked_words(&one.memory.content)));
    if let Some(subject) = &one.memory.subject {
        body.insert("name".to_owned(), Value::String(subject.clone()));
    }
    MessageRow {
        seq: one.number,
        session_key: one.key,
        at: one.memory.holds_from(),
        role: Role::User,
        external_id: None,
        visibility: Visibility::Live,
        body,
    }
}

/// An entry that was found.
pub(super) struct FoundEntry {
    pub(super) entry: NoteEntry,
    /// Whether its note is a generated one.
    pub(super) is_generated: bool,
}

/// Which notes may be shown.
pub(super) struct NoteFilter {
    /// Names of the only project whose notes are shown, besides those of no project.
    pub(super) project: Option<Vec<String>>,
    /// Generated notes, too.
    pub(super) with_generated: bool,
    /// The settings, which name the generated notes.
    pub(super) settings: Arc<Settings>,
}

impl NoteFilter {
    fn allows(&self, name: &NoteName) -> bool {
        let mut parts = name.as_str().split('/');
        let project = parts.next().filter(|first| *first == PROJECTS).and(parts.next());
        let is_of_project = match (&self.project, project) {
            (Some(names), Some(project)) => names.iter().any(|name| name == project),
            _ => true,
        };
        is_of_project && (self.with_generated || !is_generated(&self.settings, name))
    }
}

/// The folder with a folder of notes for each project.
const PROJECTS: &str = "projects";

/// Entries of notes, each read once per search.
pub(super) struct NoteRows {
    filter: NoteFilter,
    /// Those that were read and may be shown.
    read: RefCell<FxHashMap<i64, NoteEntry>>,
}

impl NoteRows {
    pub(super) fn new(filter: NoteFilter) -> NoteRows {
        NoteRows { filter, read: RefCell::default() }
    }

    fn by_numbers(&self, tx: &Tx<'_>, numbers: &[i64]) -> Result<Vec<MessageRow>> {
        let mut entries = note_entries::by_numbers(tx, numbers)?;
        entries.retain(|entry| self.filter.allows(&entry.name));
        let rows = entries.iter().map(entry_as_message).collect();
        self.read.borrow_mut().extend(entries.into_iter().map(|entry| (entry.number, entry)));
        Ok(rows)
    }
}

/// An entry as something that a person said.
fn entry_as_message(entry: &NoteEntry) -> MessageRow {
    let mut body = Map::new();
    body.insert("content".to_owned(), Value::String(entry.text.clone()));
    MessageRow {
        seq: entry.number,
        session_key: entry.key,
        at: entry.at,
        role: Role::User,
        external_id: None,
        visibility: Visibility::Live,
        body,
    }
}
