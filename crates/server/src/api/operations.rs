//! Operations over HTTP: list and undo.

use crate::call::{Answer, Call};
use oneiro::{ListOperations, Operation, Page, ReasonRequest, Result, Undone};

pub(super) fn list(call: &Call, request: ListOperations) -> Result<Answer<Page<Operation>>> {
    Answer::ok(call.oneiro()?.operations().list(&request)?)
}

pub(super) fn undo(call: &Call, request: ReasonRequest) -> Result<Answer<Undone>> {
    Answer::ok(call.oneiro()?.operations().undo(call.part("id")?, request.reason)?)
}
