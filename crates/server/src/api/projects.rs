//! Projects and their state over HTTP.

use crate::call::{Answer, Call};
use oneiro::{
    EndState, ListState, Page, ProjectRequest, ProjectState, RegisteredProject, Result,
    StateRequest,
};

pub(super) fn list(call: &Call) -> Result<Answer<Page<RegisteredProject>>> {
    Answer::ok(call.oneiro()?.projects().list()?.into())
}

pub(super) fn register(call: &Call, request: ProjectRequest) -> Result<Answer<RegisteredProject>> {
    Answer::ok(call.oneiro()?.projects().register(request)?)
}

pub(super) fn state(call: &Call, request: ListState) -> Result<Answer<Page<ProjectState>>> {
    Answer::ok(call.oneiro()?.projects().state(call.part("name")?, &request)?.into())
}

pub(super) fn set_state(call: &Call, request: StateRequest) -> Result<Answer<ProjectState>> {
    Answer::ok(call.oneiro()?.projects().set_state(call.part("name")?, request)?)
}

pub(super) fn end_state(call: &Call, request: EndState) -> Result<Answer<ProjectState>> {
    Answer::ok(call.oneiro()?.projects().end_state(call.part("name")?, request)?)
}
