//! `memory_note`: lists and reads notes, and changes their entries.

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::{Given, input_schema};
use crate::recalled;
use oneiro::contract::Request;
use oneiro::{
    ChangedNote, EditAction, EditNote, Error, ListNotes, Note, NoteEdit, NoteInfo, NoteName, Result,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_note",
    title: "Notes",
    description: "Read the user's notes (MEMORY.md, USER.md, others) or change one entry. Without \
                  arguments it lists them. A full note names its entries: shorten or remove one, then \
                  add. Done means done: do not repeat.",
    input,
    output,
    hints: Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
    role: TokenRole::Write,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

/// Maximum tokens of a note in an answer.
const ANSWER_TOKENS: usize = 4_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct UseNote {
    #[schemars(length(max = NoteName::MAX_CHARS))]
    name: Option<String>,
    action: Option<EditAction>,
    #[schemars(length(max = 10_000))]
    text: Option<String>,
    #[schemars(length(max = 10_000))]
    old: Option<String>,
}

impl Request for UseNote {}

fn input() -> Value {
    input_schema::<UseNote>(&[
        ("action", "absent: read".to_owned()),
        ("text", "the new entry".to_owned()),
        ("old", "unique part of the entry to replace or remove".to_owned()),
    ])
}

fn output() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "required": [],
        "properties": {
            "names": {"type": "array", "items": text}, "name": text,
            "chars": {"type": "integer"}, "limit": {"type": ["integer", "null"]},
            "etag": text, "revision": {"type": ["string", "null"]}, "changed": {"type": "boolean"},
        },
    })
}

fn run(call: &Call) -> Result<Answer> {
    let UseNote { name, action, text, old } = Given::<UseNote>::read(&call.arguments)?.request;
    let notes = call.caller.oneiro.notes();
    let Some(name) = name else {
        if action.is_some() {
            return Err(Error::field("name", "is missing").remedy("give a name such as MEMORY.md"));
        }
        return Ok(listed(&notes.list(&ListNotes::default())?));
    };
    let name = NoteName::parse(&name)?;
    match action {
        None => Ok(note_text(&notes.get(&name)?)),
        Some(action) => {
            let edits = vec![NoteEdit { action, text, old }];
            let edit = EditNote { edits, style: None, message: None };
            Ok(changed(&notes.edit(&name, edit)?))
        }
    }
}

fn listed(notes: &[NoteInfo]) -> Answer {
    let names: Vec<&str> = notes.iter().map(|note| note.name.as_str()).collect();
    let line = |note: &NoteInfo| {
        recalled::one_line(&format!("{} ({})", note.name, full(note.chars, note.limit)))
    };
    let text = if notes.is_empty() {
        "There are no notes.".to_owned()
    } else {
        let lines: Vec<String> = notes.iter().map(line).collect();
        recalled::delimit_within(&lines, ANSWER_TOKENS)
    };
    Answer::text(text, json!({"names": names}))
}

fn note_text(note: &Note) -> Answer {
    let lines = recalled::lines(&oneiro::without_blocked(&note.content));
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    let text = format!(
        "{} has {}.\n{}",
        recalled::quoted(note.name.as_str()),
        full(note.chars, note.limit),
        recalled::delimit_within(&lines, ANSWER_TOKENS)
    );
    Answer::text(text, fields(note, false))
}

fn changed(changed: &ChangedNote) -> Answer {
    let note = &changed.note;
    let done = if changed.changed { "Done" } else { "Nothing to do: it is there already" };
    let text = format!(
        "{done}. {} has {}.",
        recalled::quoted(note.name.as_str()),
        full(note.chars, note.limit)
    );
    Answer::text(text, fields(note, changed.changed))
}

fn fields(note: &Note, changed: bool) -> Value {
    json!({
        "name": note.name, "chars": note.chars, "limit": note.limit, "etag": note.etag,
        "revision": note.revision, "changed": changed,
    })
}

fn full(chars: usize, limit: Option<usize>) -> String {
    match limit {
        Some(limit) => format!("{chars} of {limit} characters"),
        None => format!("{chars} characters"),
    }
}
