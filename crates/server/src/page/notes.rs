//! Notes on the page: the list, one note, its editor, and one revision.

use super::view_request::ViewRequest;
use oneiro::{ErrorKind, ListNotes, ListRevisions, Note, NoteName, Oneiro, Result, ShowRevision};
use oneiro_page::note::{NoteView, TextMode};
use oneiro_page::note_editor::EditorView;
use oneiro_page::notes::NotesView;
use oneiro_page::revisions::{Changed, RevisionView};

/// The parameter that names the revision that a form made.
pub(super) const CHANGED: &str = "changed";

/// The same if changes of others were kept beside it.
pub(super) const MERGED: &str = "merged";

/// Revisions of the list, and of one note on a page.
const LATEST_REVISIONS: usize = 10;
const NOTE_REVISIONS: usize = 25;

pub(super) fn list(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let notes = oneiro.notes();
    let latest = ListRevisions { limit: LATEST_REVISIONS, ..ListRevisions::default() };
    let view = NotesView {
        frame: request.frame.clone(),
        notes: notes.list(&ListNotes::default())?,
        revisions: notes.log(&latest)?.items,
        changed: changed(request, oneiro)?,
    };
    Ok(request.render(&view, oneiro_page::notes::page, oneiro_page::notes::fragment))
}

pub(super) fn note(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let name = NoteName::parse(request.path_part(0))?;
    let wanted = ListRevisions {
        note: Some(name.clone()),
        limit: NOTE_REVISIONS,
        cursor: request.cursor()?,
        ..ListRevisions::default()
    };
    let revisions = oneiro.notes().log(&wanted)?;
    let note = match oneiro.notes().get(&name) {
        Ok(note) => Some(note),
        Err(error) if error.kind() == ErrorKind::NotFound && !revisions.items.is_empty() => None,
        Err(error) => return Err(error),
    };
    let shown = match request.text("view") {
        "source" => TextMode::Source,
        "blame" if note.is_some() => TextMode::Blame(oneiro.notes().blame(&name)?),
        _ => TextMode::Rendered,
    };
    let view = NoteView {
        frame: request.frame.clone(),
        changed: changed(request, oneiro)?,
        whole: request.is_on("all"),
        name,
        note,
        shown,
        revisions,
    };
    Ok(request.render(&view, oneiro_page::note::page, oneiro_page::note::fragment))
}

pub(super) fn edit(request: &ViewRequest) -> Result<String> {
    let name = NoteName::parse(request.path_part(0))?;
    let Note { content, etag, .. } = request.oneiro()?.notes().get(&name)?;
    let view =
        EditorView { name: Some(name), text: content, base: Some(etag), ..blank_editor(request) };
    Ok(request.render(&view, oneiro_page::note_editor::page, oneiro_page::note_editor::fragment))
}

pub(super) fn create(request: &ViewRequest) -> Result<String> {
    let view = blank_editor(request);
    Ok(request.render(&view, oneiro_page::note_editor::page, oneiro_page::note_editor::fragment))
}

fn blank_editor(request: &ViewRequest) -> EditorView {
    EditorView {
        frame: request.frame.clone(),
        name: None,
        typed_name: request.text("name").to_owned(),
        text: String::new(),
        base: None,
        message: String::new(),
        refused: None,
        theirs: None,
    }
}

pub(super) fn revision(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let view = RevisionView {
        frame: request.frame.clone(),
        detail: oneiro.notes().revision(request.path_part(0), &ShowRevision::default())?,
        whole: request.is_on("all"),
        changed: changed(request, oneiro)?,
    };
    Ok(request.render(&view, oneiro_page::revisions::page, oneiro_page::revisions::fragment))
}

/// What the last form did, if the address names its revision.
fn changed(request: &ViewRequest, oneiro: &Oneiro) -> Result<Option<Changed>> {
    let merged = request.param(MERGED);
    let Some(id) = merged.clone().or_else(|| request.param(CHANGED)) else { return Ok(None) };
    match oneiro.notes().revision(&id, &ShowRevision::default()) {
        Ok(detail) => Ok(Some(Changed { revision: detail.revision, merged: merged.is_some() })),
        // People edit addresses.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
