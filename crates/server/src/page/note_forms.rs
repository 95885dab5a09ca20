//! Forms that change notes: write, delete, undo, restore. A text that cannot be saved is shown again in
//! the editor, so that nothing that was typed is lost.

use super::decisions::{Outcome, PostedForm, handle_form};
use crate::state::State;
use axum::extract::{RawPathParams, Request, State as Shared};
use axum::http::StatusCode;
use axum::response::Response;
use oneiro::{
    ChangedNote, DeleteNote, Error, ErrorKind, ListRevisions, NoteName, Oneiro, RestoreNotes,
    Result, WriteNote,
};
use oneiro_page::note_editor::{self, EditorView};
use std::sync::Arc;

/// Writes the text of a note.
pub(super) async fn write(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let name = NoteName::parse(form.part(0))?;
        match save(form, oneiro, &name) {
            Ok(changed) => Ok(saved(changed)),
            Err(error) => refused(form, oneiro, Some(name), error),
        }
    })
    .await
}

/// Creates a note under the name that was typed.
pub(super) async fn create(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let made = NoteName::parse(&form.field("name").unwrap_or_default()).and_then(|name| {
            if oneiro.notes().get(&name).is_ok() {
                let taken = format!("is the name of a note that exists: {name}");
                return Err(
                    Error::field("name", taken).remedy("edit that note, or use another name")
                );
            }
            save(form, oneiro, &name)
        });
        match made {
            Ok(changed) => Ok(saved(changed)),
            Err(error) => refused(form, oneiro, None, error),
        }
    })
    .await
}

/// Deletes a note as it was shown.
pub(super) async fn delete(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let name = NoteName::parse(form.part(0))?;
        oneiro.notes().delete(&name, DeleteNote { base: form.field("base"), message: None })?;
        let last = ListRevisions { note: Some(name), limit: 1, ..ListRevisions::default() };
        let last = oneiro.notes().log(&last)?.items.pop();
        Ok(Outcome::Revision(last.map(|revision| revision.id)))
    })
    .await
}

/// Undoes one revision.
pub(super) async fn undo(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let made = oneiro.notes().undo(form.part(0), None)?;
        Ok(Outcome::Revision(Some(made.revision.id)))
    })
    .await
}

/// Restores a note to a revision.
pub(super) async fn restore(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let note = form.field("note").map(|name| NoteName::parse(&name)).transpose()?;
        let made = oneiro.notes().restore(form.part(0), RestoreNotes { note, message: None })?;
        Ok(Outcome::Revision(Some(made.revision.id)))
    })
    .await
}

fn save(form: &PostedForm, oneiro: &Oneiro, name: &NoteName) -> Result<ChangedNote> {
    let typed = form.field("content").unwrap_or_default();
    // Browsers send line ends of their own; the note keeps its.
    let stored = oneiro.notes().get(name).map(|note| note.content).unwrap_or_default();
    let content = if stored.contains("\r\n") { typed.replace('\n', "\r\n") } else { typed };
    let request = WriteNote { content, base: form.field("base"), message: form.field("message") };
    oneiro.notes().write(name, request)
}

fn saved(changed: ChangedNote) -> Outcome {
    let revision = changed.note.revision.filter(|_| changed.changed);
    if changed.merged { Outcome::Merged(revision) } else { Outcome::Revision(revision) }
}

/// The editor again, with what was typed, why it is not saved, and the text that stands there now.
fn refused(
    form: &PostedForm,
    oneiro: &Oneiro,
    name: Option<NoteName>,
    error: Error,
) -> Result<Outcome> {
    let status = StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::BAD_REQUEST);
    let is_conflict = error.kind() == ErrorKind::Conflict;
    let now = name.as_ref().filter(|_| is_conflict).map(|name| oneiro.notes().get(name));
    let now = now.and_then(Result::ok);
    let base =
        if is_conflict { now.as_ref().map(|note| note.etag.clone()) } else { form.field("base") };
    let typed_name = form.field("name").unwrap_or_default();
    let text = form.field("content").unwrap_or_default();
    let message = form.field("message").unwrap_or_default();
    let page = move |frame| {
        note_editor::page(&EditorView {
            frame,
            name,
            typed_name,
            text,
            base,
            message,
            refused: Some(error),
            theirs: now.map(|note| note.content),
        })
    };
    Ok(Outcome::Page(status, Box::new(page)))
}
