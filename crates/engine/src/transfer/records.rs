//! Lines of a transfer that are not sessions: the store they come from, its projects, facts, distrusted
//! sources, memories, notes, operations, signals and revisions. Decodes and checks each line on its own.

use oneiro_model::contract::{decode_value, unknown_name};
use oneiro_model::{
    Distrust, Error, MEMORY_CHARS_MAX, MEMORY_FIELD_CHARS_MAX, Memory, NOTE_BYTES_MAX, NoteName,
    Operation, OperationVerb, PROJECT_CHARS_MAX, ProjectState, QUOTE_CHARS_MAX, RegisteredProject,
    Remedy, Result, Revision, STATE_CHARS_MAX, Signal, SubjectKind, Timestamp,
};
use oneiro_store::notes::NoteState;
use oneiro_store::operation_transfer::Stated;
use oneiro_store::operations::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The format of these lines.
pub(super) const FORMAT: u32 = 1;

/// The prefix of the id of a store.
const STORE_PREFIX: &str = "sto_";

/// Maximum characters of the id of a store.
const STORE_ID_CHARS_MAX: usize = 100;

/// Maximum bytes of a line that is not a session.
const RECORD_BYTES_MAX: usize = 16 << 20;

/// How far the clock of another store may be ahead, in microseconds: a day. Later operations of this
/// store get no earlier time, so a wrong clock must not be taken over.
const CLOCK_AHEAD_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// The field beside a record whose creation was undone.
pub(super) const REMOVED_FIELD: &str = "removed";

/// The kind of an edit of a memory.
const MEMORY_EDIT: &str = "memory.edit";

/// The fields that tell which record a line has.
pub(super) const KINDS: [&str; 10] = [
    "store",
    "project",
    "state",
    "distrust",
    "memory",
    "note",
    "operation",
    "signal",
    "note_text",
    "revision",
];

/// The store that the following lines come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SourceStore {
    /// Its id.
    pub(super) id: String,
    /// The format of its lines.
    pub(super) format: u32,
}

/// A line that is not a session.
#[derive(Debug)]
pub(super) enum RecordLine {
    Store(SourceStore),
    Project(Stated<RegisteredProject>),
    State(Stated<ProjectState>),
    Distrust(Stated<Distrust>),
    Memory(Box<Stated<Memory>>),
    Note(Stated<NoteState>),
    Operation(Box<Operation>),
    Signal(Signal),
    NoteText(NoteText),
    Revision(Box<RevisionRecord>),
}

/// A text of notes, which they name by its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NoteText {
    pub(super) text: String,
}

/// A revision with the text that it gave each note.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RevisionRecord {
    #[serde(flatten)]
    pub(super) revision: Revision,
    /// The store it was made in.
    pub(super) store_id: String,
    pub(super) changes: Vec<ChangeRecord>,
}

/// What a revision made of a note.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChangeRecord {
    pub(super) name: NoteName,
    /// The hash of its text; null if it was deleted or is erased.
    pub(super) text: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) erased: bool,
}

/// Which kind of record a line has; `None` if it is a session.
pub(super) fn kind_of(fields: &Map<String, Value>) -> Result<Option<&'static str>> {
    if fields.contains_key("id") {
        return Ok(None);
    }
    let found = KINDS.into_iter().find(|kind| fields.get(*kind).is_some_and(Value::is_object));
    match (found, fields.iter().next()) {
        (None, Some((name, Value::Object(_)))) if fields.len() == 1 => {
            Err(unknown_name(name, KINDS.into_iter()).remedy(Remedy::ImportExported))
        }
        (found, _) => Ok(found),
    }
}

/// Decodes a line of this kind.
pub(super) fn decode(
    kind: &'static str,
    mut fields: Map<String, Value>,
    (bytes, now): (usize, Timestamp),
) -> Result<RecordLine> {
    if bytes > RECORD_BYTES_MAX {
        return Err(Error::too_large(format!("{kind} is longer than {RECORD_BYTES_MAX} bytes")));
    }
    let value = fields.shift_remove(kind).unwrap_or_default();
    refuse_nul(kind, &value)?;
    let is_removed = match fields.shift_remove(REMOVED_FIELD) {
        None => false,
        Some(Value::Bool(is_removed)) => is_removed,
        Some(_) => return Err(Error::field(REMOVED_FIELD, "is not true or false")),
    };
    if let Some((name, _)) = fields.iter().next() {
        return Err(unknown_name(name, [kind, REMOVED_FIELD].into_iter()));
    }
    read(kind, value, is_removed, now).map_err(|error| match error.field_name() {
        Some(_) => error.at(kind),
        None => error.at(format!("{kind} cannot be read")),
    })
}

fn read(kind: &str, value: Value, is_removed: bool, now: Timestamp) -> Result<RecordLine> {
    Ok(match kind {
        "store" => {
            let store: SourceStore = decode_value(value)?;
            check_store_id("id", &store.id)?;
            if store.format != FORMAT {
                let problem = format!("is {}, and this version reads {FORMAT}", store.format);
                return Err(Error::field("format", problem)
                    .remedy("import the file with the version that exported it, or a newer one"));
            }
            RecordLine::Store(store)
        }
        "project" => {
            let record: RegisteredProject = decode_value(value)?;
            record.check_limits(now)?;
            RecordLine::Project(Stated { record, is_removed })
        }
        "state" => {
            let record: ProjectState = decode_value(value)?;
            record.check_limits(now)?;
            RecordLine::State(Stated { record, is_removed })
        }
        "distrust" => {
            let record: Distrust = decode_value(value)?;
            record.check_limits(now)?;
            RecordLine::Distrust(Stated { record, is_removed })
        }
        "memory" => {
            let record: Memory = decode_value(value)?;
            record.check_limits(now)?;
            RecordLine::Memory(Box::new(Stated { record, is_removed }))
        }
        "note" => {
            let record: NoteState = decode_value(value)?;
            record.check_limits(now)?;
            RecordLine::Note(Stated { record, is_removed })
        }
        "note_text" => {
            let text: NoteText = decode_value(value)?;
            if text.text.len() > NOTE_BYTES_MAX {
                return Err(Error::field("text", format!("is longer than {NOTE_BYTES_MAX} bytes")));
            }
            RecordLine::NoteText(text)
        }
        "revision" => {
            let revision: RevisionRecord = decode_value(value)?;
            check_store_id("store_id", &revision.store_id)?;
            check_time("at", revision.revision.at, now)?;
            RecordLine::Revision(Box::new(revision))
        }
        "operation" => {
            let operation: Operation = decode_value(value)?;
            check_operation(&operation, now)?;
            RecordLine::Operation(Box::new(operation))
        }
        _ => {
            let signal: Signal = decode_value(value)?;
            let day = signal.at.to_string();
            if !day.starts_with(&signal.date) || signal.date.len() != DATE_BYTES {
                return Err(Error::field("date", "is not the day of `at`"));
            }
            check_time("at", signal.at, now)?;
            RecordLine::Signal(signal)
        }
    })
}

/// Bytes of a date in RFC 3339.
const DATE_BYTES: usize = 10;

/// A record whose limits an import checks: on its line, and after each imported operation on it.
pub(super) trait CheckedRecord: Record {
    /// Refuses values that an export never holds.
    fn check_limits(&self, now: Timestamp) -> Result<()>;
}

impl CheckedRecord for RegisteredProject {
    fn check_limits(&self, now: Timestamp) -> Result<()> {
        check_name("name", &self.name)?;
        self.aliases.iter().try_for_each(|alias| check_name("aliases", alias))?;
        check_time("created_at", self.created_at, now)
    }
}

impl CheckedRecord for ProjectState {
    fn check_limits(&self, _now: Timestamp) -> Result<()> {
        check_name("project", &self.project)?;
        check_name("key", &self.key)?;
        check_text("value", &self.value, STATE_CHARS_MAX)
    }
}

impl CheckedRecord for Distrust {
    fn check_limits(&self, _now: Timestamp) -> Result<()> {
        check_text("target", &self.target, oneiro_model::SessionId::MAX_CHARS)
    }
}

impl CheckedRecord for NoteState {
    fn check_limits(&self, _now: Timestamp) -> Result<()> {
        NoteName::parse(&self.name).map(|_| ())
    }
}

impl CheckedRecord for Memory {
    fn check_limits(&self, now: Timestamp) -> Result<()> {
        check_text("content", &self.content, MEMORY_CHARS_MAX)?;
        for (name, text) in [("subject", &self.subject), ("project", &self.project)] {
            text.iter().try_for_each(|text| check_text(name, text, MEMORY_FIELD_CHARS_MAX))?;
        }
        self.tags.iter().try_for_each(|tag| check_text("tags", tag, MEMORY_FIELD_CHARS_MAX))?;
        for citation in &self.citations {
            check_text("citations", &citation.quote, QUOTE_CHARS_MAX)?;
        }
        for (name, part) in
            [("confidence", self.confidence), ("initial_confidence", self.initial_confidence)]
        {
            if !(0.0..=1.0).contains(&part) {
                return Err(Error::field(name, "is not between 0 and 1"));
            }
        }
        check_time("created_at", self.created_at, now)?;
        check_time("updated_at", self.updated_at, now)
    }
}

fn check_operation(operation: &Operation, now: Timestamp) -> Result<()> {
    let kind = operation.subject.kind;
    let verb = operation.kind.strip_prefix(kind.as_str()).and_then(|it| it.strip_prefix('.'));
    let is_known = verb.is_some_and(|verb| OperationVerb::parse(verb).is_ok());
    if matches!(kind, SubjectKind::Session | SubjectKind::Dream) || !is_known {
        return Err(Error::field("kind", format!("{:?} is not known", operation.kind)));
    }
    check_text("subject", &operation.subject.id, oneiro_model::SessionId::MAX_CHARS)?;
    check_store_id("store_id", &operation.store_id)?;
    let sides = [("before", &operation.before), ("after", &operation.after)];
    for (name, side) in sides {
        if side.as_ref().is_some_and(|side| !side.is_object()) {
            return Err(Error::field(name, "is not an object"));
        }
        if side.is_some() && operation.erased {
            return Err(Error::field(name, "is given, but the operation is erased"));
        }
    }
    let is_undo = verb == Some(OperationVerb::Undo.as_str());
    if is_undo != operation.undoes.is_some() {
        return Err(Error::field("undoes", "is given exactly for undos"));
    }
    if operation.before.is_none() && operation.after.is_none() && !operation.erased && !is_undo {
        return Err(Error::field("after", "is missing, and so is `before`"));
    }
    if let Some(reason) = &operation.reason
        && reason.chars().count() > MEMORY_FIELD_CHARS_MAX
    {
        let problem = format!("is longer than {MEMORY_FIELD_CHARS_MAX} characters");
        return Err(Error::field("reason", problem));
    }
    check_edited_validity(operation)?;
    check_time("at", operation.at, now)
}

/// Refuses an edit that sets a validity which ends before it starts. Other operations, and edits of
/// one end in each of two stores, may leave such a validity.
fn check_edited_validity(operation: &Operation) -> Result<()> {
    let time = |name: &str| {
        let text = operation.after.as_ref().and_then(|after| after.get(name))?.as_str()?;
        Timestamp::parse(text).ok()
    };
    let is_never =
        time("valid_from").zip(time("valid_until")).is_some_and(|(from, until)| until < from);
    if operation.kind == MEMORY_EDIT && is_never {
        return Err(Error::field("after", "valid_until is before valid_from"));
    }
    Ok(())
}

fn check_store_id(field: &'static str, id: &str) -> Result<()> {
    if id.starts_with(STORE_PREFIX) && id.len() <= STORE_ID_CHARS_MAX {
        Ok(())
    } else {
        Err(Error::field(field, format!("is not an id of the form {STORE_PREFIX}...")))
    }
}

fn check_name(field: &'static str, name: &str) -> Result<()> {
    let is_line = name.trim() == name && !name.chars().any(char::is_control);
    if !is_line {
        return Err(Error::field(field, "is not one line without spaces around it"));
    }
    check_text(field, name, PROJECT_CHARS_MAX.max(MEMORY_FIELD_CHARS_MAX))
}

fn check_text(field: &'static str, text: &str, chars_max: usize) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::field(field, "is empty"));
    }
    if text.chars().count() > chars_max {
        return Err(Error::field(field, format!("is longer than {chars_max} characters")));
    }
    Ok(())
}

fn check_time(field: &'static str, at: Timestamp, now: Timestamp) -> Result<()> {
    if at.micros() <= now.micros().saturating_add(CLOCK_AHEAD_MICROS) {
        return Ok(());
    }
    Err(Error::field(field, format!("{at} is in the future"))
        .remedy("check the clocks of both machines"))
}

/// Refuses NUL characters, which one of the engines cannot hold.
fn refuse_nul(kind: &'static str, value: &Value) -> Result<()> {
    let is_refused = |text: &str| text.contains('\0');
    match value {
        Value::String(text) if is_refused(text) => {
            Err(Error::field(kind, "contains a NUL character"))
        }
        Value::Array(values) => values.iter().try_for_each(|value| refuse_nul(kind, value)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            if is_refused(name) {
                return Err(Error::field(kind, "contains a NUL character"));
            }
            refuse_nul(kind, value)
        }),
        _ => Ok(()),
    }
}
