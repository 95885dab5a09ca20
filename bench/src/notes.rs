//! `oneiro bench notes`: a note with a long history, and how long log, blame, restore, undo and an edit
//! take on it.

use crate::machine;
use crate::search::percentile;
use oneiro::{
    EditAction, EditNote, Error, ListRevisions, NoteEdit, NoteName, Oneiro, Options, RestoreNotes,
    Result, Target,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// The note.
const NOTE: &str = "MEMORY.md";

/// Entries that the note has while its history grows, about as many as fit into its budget.
const ENTRIES: usize = 24;

/// Revisions after which progress is reported.
const PROGRESS_STEP: usize = 1_000;

/// The seed of the points that are restored.
const SEED: u64 = 20;

/// The configuration.
pub struct NotesRequest {
    /// Revisions of the note.
    pub revisions: usize,
    /// Times that each operation is measured.
    pub rounds: usize,
    /// Where to put the store; a temporary folder if absent.
    pub folder: Option<PathBuf>,
    /// How the engine opens its store.
    pub options: Options,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct NotesResults {
    /// The machine.
    pub machine: String,
    /// Revisions of the note before anything was measured.
    pub revisions: usize,
    /// Characters of the note.
    pub chars: usize,
    /// By operation.
    pub times: BTreeMap<&'static str, Times>,
}

/// How long an operation takes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Times {
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// 95 % take no longer, in milliseconds.
    pub p95_ms: f64,
}

/// Makes the history and measures. The store stays if a folder is given, and is used again.
pub fn run(request: &NotesRequest, say: &mut dyn FnMut(&str)) -> Result<NotesResults> {
    let temporary = tempfile::tempdir().map_err(|error| {
        Error::internal("cannot create a folder for the benchmark").because(error)
    })?;
    let folder = request.folder.clone().unwrap_or_else(|| temporary.path().to_owned());
    let target = Target::parse(&folder.join("notes.db").to_string_lossy(), None)?;
    let oneiro = Oneiro::open(&target, request.options.clone())?;
    let name = NoteName::parse(NOTE)?;
    make_history(&oneiro, &name, request.revisions, say)?;
    let points = every_revision(&oneiro, &name)?;
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut times = BTreeMap::new();
    let mut measure = |what: &'static str, work: &mut dyn FnMut(usize) -> Result<()>| {
        say(&format!("measuring {what}"));
        let mut taken = Vec::with_capacity(request.rounds);
        for round in 0..request.rounds {
            let began = Instant::now();
            work(round)?;
            taken.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
        let (p50_ms, p95_ms) = (percentile(&mut taken, 0.5), percentile(&mut taken, 0.95));
        times.insert(what, Times { p50_ms, p95_ms });
        Ok::<(), Error>(())
    };
    let notes = oneiro.notes();
    let of_note = ListRevisions { note: Some(name.clone()), ..ListRevisions::default() };
    measure("log", &mut |_| notes.log(&ListRevisions::default()).map(|_| ()))?;
    measure("log_of_note", &mut |_| notes.log(&of_note).map(|_| ()))?;
    measure("blame", &mut |_| notes.blame(&name).map(|_| ()))?;
    measure("restore", &mut |_| {
        let at = random.usize(..points.len().max(1));
        let id = points.get(at).map(String::as_str).unwrap_or_default();
        notes.restore(id, RestoreNotes::default()).map(|_| ())
    })?;
    measure("edit", &mut |round| {
        // Restoring may have left a note that is nearly full.
        change(&oneiro, &name, request.revisions + round)
    })?;
    measure("undo", &mut |_| {
        let newest = ListRevisions { limit: 1, ..ListRevisions::default() };
        let newest = notes.log(&newest)?.items.pop();
        let id = newest.map(|revision| revision.id.to_string()).unwrap_or_default();
        notes.undo(&id, None).map(|_| ())
    })?;
    let chars = notes.get(&name)?.chars;
    Ok(NotesResults { machine: machine::describe(), revisions: points.len(), chars, times })
}

/// Adds revisions until the note has as many as wanted.
fn make_history(
    oneiro: &Oneiro,
    name: &NoteName,
    wanted: usize,
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    let there = match oneiro.notes().get(name) {
        Ok(_) => every_revision(oneiro, name)?.len(),
        Err(_) => 0,
    };
    for number in there..wanted {
        if number % PROGRESS_STEP == 0 {
            say(&format!("{number} of {wanted} revisions"));
        }
        change(oneiro, name, number)?;
    }
    Ok(())
}

/// The change with this number: an entry is added, and later replaced in turn. The first one stays, so
/// that a line is as old as the history.
fn change(oneiro: &Oneiro, name: &NoteName, number: usize) -> Result<()> {
    let text = format!("entry {:02}: as revision {number} of the note left it", number % ENTRIES);
    let found = oneiro.notes().get(name).map(|note| note.content).unwrap_or_default();
    let old = format!("entry {:02}:", number % ENTRIES);
    let is_there = found.contains(&old);
    let edit = if is_there && !number.is_multiple_of(ENTRIES) {
        NoteEdit { action: EditAction::Replace, text: Some(text), old: Some(old) }
    } else if is_there {
        // In place of the entry that stays, one after all others comes and goes.
        let last = "the last entry".to_owned();
        if found.contains(&last) {
            NoteEdit { action: EditAction::Remove, text: None, old: Some(last) }
        } else {
            NoteEdit { action: EditAction::Add, text: Some(last), old: None }
        }
    } else {
        NoteEdit { action: EditAction::Add, text: Some(text), old: None }
    };
    let edits = EditNote { edits: vec![edit], style: None, message: None };
    oneiro.notes().edit(name, edits).map(|_| ())
}

/// The ids of all revisions of the note.
fn every_revision(oneiro: &Oneiro, name: &NoteName) -> Result<Vec<String>> {
    let mut request =
        ListRevisions { note: Some(name.clone()), limit: 500, ..ListRevisions::default() };
    let mut ids = Vec::new();
    loop {
        let page = oneiro.notes().log(&request)?;
        ids.extend(page.items.into_iter().map(|revision| revision.id.to_string()));
        request.cursor = page.next;
        if request.cursor.is_none() {
            return Ok(ids);
        }
    }
}

/// Formats the results for people.
pub fn describe(results: &NotesResults) -> String {
    let head = format!(
        "{}, {} revisions of a note with {} characters",
        results.machine, results.revisions, results.chars
    );
    let line = |(what, times): (&&str, &Times)| {
        format!("{what:<14} p50 {:>8.2} ms   p95 {:>8.2} ms", times.p50_ms, times.p95_ms)
    };
    let lines = results.times.iter().map(line);
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}
