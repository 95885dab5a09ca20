//! Notes and their revisions over HTTP. A note has an ETag; If-Match names the text that a change is
//! based on.

use crate::call::{Answer, Call};
use oneiro::{
    BlameLine, ChangedNote, DeleteNote, DiffNotes, EditNote, ListNotes, ListRevisions, Note,
    NoteInfo, NotePrompt, NotePromptRequest, NotesDiff, Page, ReasonRequest, RestoreNotes, Result,
    Revision, RevisionDetail, ShowRevision, WriteNote,
};

pub(super) fn list(call: &Call, request: ListNotes) -> Result<Answer<Page<NoteInfo>>> {
    Answer::ok(call.oneiro()?.notes().list(&request)?.into())
}

pub(super) fn show(call: &Call) -> Result<Answer<Note>> {
    let note = call.oneiro()?.notes().get(&call.note()?)?;
    let etag = note.etag.clone();
    Answer::tagged(note, &etag)
}

pub(super) fn write(call: &Call, request: WriteNote) -> Result<Answer<ChangedNote>> {
    let base = request.base.or_else(|| call.matching_etag());
    tagged(call.oneiro()?.notes().write(&call.note()?, WriteNote { base, ..request })?)
}

pub(super) fn edit(call: &Call, request: EditNote) -> Result<Answer<ChangedNote>> {
    tagged(call.oneiro()?.notes().edit(&call.note()?, request)?)
}

fn tagged(changed: ChangedNote) -> Result<Answer<ChangedNote>> {
    let etag = changed.note.etag.clone();
    Answer::tagged(changed, &etag)
}

pub(super) fn delete(call: &Call, request: DeleteNote) -> Result<Answer<Note>> {
    let base = request.base.or_else(|| call.matching_etag());
    Answer::ok(call.oneiro()?.notes().delete(&call.note()?, DeleteNote { base, ..request })?)
}

pub(super) fn blame(call: &Call) -> Result<Answer<Page<BlameLine>>> {
    Answer::ok(call.oneiro()?.notes().blame(&call.note()?)?.into())
}

pub(super) fn prompt(call: &Call, request: NotePromptRequest) -> Result<Answer<NotePrompt>> {
    Answer::ok(call.oneiro()?.notes().prompt(&request)?)
}

pub(super) fn revisions(call: &Call, request: ListRevisions) -> Result<Answer<Page<Revision>>> {
    Answer::ok(call.oneiro()?.notes().log(&request)?)
}

pub(super) fn revision(call: &Call, request: ShowRevision) -> Result<Answer<RevisionDetail>> {
    Answer::ok(call.oneiro()?.notes().revision(call.part("id")?, &request)?)
}

pub(super) fn diff(call: &Call, request: DiffNotes) -> Result<Answer<NotesDiff>> {
    Answer::ok(call.oneiro()?.notes().diff(&request)?)
}

pub(super) fn restore(call: &Call, request: RestoreNotes) -> Result<Answer<RevisionDetail>> {
    Answer::ok(call.oneiro()?.notes().restore(call.part("id")?, request)?)
}

pub(super) fn undo(call: &Call, request: ReasonRequest) -> Result<Answer<RevisionDetail>> {
    Answer::ok(call.oneiro()?.notes().undo(call.part("id")?, request.reason)?)
}
