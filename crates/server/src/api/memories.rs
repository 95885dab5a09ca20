//! Memories over HTTP: remember, review, correct, forget, explain.

use crate::call::{Answer, Call, segment};
use oneiro::{
    ChangedMemories, ChangedMemory, DistrustRequest, ForgetRequest, ListMemories, Memory,
    MemoryHistory, MemoryPatch, MemoryView, MergeRequest, NewMemory, Page, ReasonRequest,
    ReinforceRequest, Reinforced, Remembered, Result, ReviewRequest, ShowMemory, SupersedeRequest,
    UnmuteRequest, Why, WhyRequest,
};

pub(super) fn remember(call: &Call, request: NewMemory) -> Result<Answer<Remembered>> {
    let remembered = call.oneiro()?.memories().remember(request)?;
    if remembered.is_duplicate {
        return Answer::ok(remembered);
    }
    let location = format!("/v1/memories/{}", segment(remembered.memory.id.as_str()));
    Answer::created(remembered, location)
}

pub(super) fn list(call: &Call, request: ListMemories) -> Result<Answer<Page<Memory>>> {
    Answer::ok(call.oneiro()?.memories().list(&request)?)
}

pub(super) fn show(call: &Call, request: ShowMemory) -> Result<Answer<MemoryView>> {
    Answer::ok(call.oneiro()?.memories().show(call.part("id")?, &request)?)
}

pub(super) fn edit(call: &Call, patch: MemoryPatch) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().edit(call.part("id")?, patch)?)
}

pub(super) fn promote(call: &Call, request: ReasonRequest) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().promote(call.part("id")?, request.reason)?)
}

pub(super) fn reject(call: &Call, request: ReasonRequest) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().reject(call.part("id")?, request.reason)?)
}

pub(super) fn confirm(call: &Call, request: ReasonRequest) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().confirm(call.part("id")?, request.reason)?)
}

pub(super) fn forget(call: &Call, request: ReasonRequest) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().forget(call.part("id")?, request.reason)?)
}

pub(super) fn supersede(call: &Call, request: SupersedeRequest) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().supersede(call.part("id")?, request)?)
}

pub(super) fn merge(call: &Call, request: MergeRequest) -> Result<Answer<ChangedMemory>> {
    Answer::ok(call.oneiro()?.memories().merge(call.part("id")?, request)?)
}

pub(super) fn reinforce(call: &Call, request: ReinforceRequest) -> Result<Answer<Reinforced>> {
    Answer::ok(call.oneiro()?.memories().reinforce(call.part("id")?, request)?)
}

pub(super) fn unmute(call: &Call, request: UnmuteRequest) -> Result<Answer<MemoryView>> {
    Answer::ok(call.oneiro()?.memories().unmute(call.part("id")?, &request)?)
}

pub(super) fn history(call: &Call) -> Result<Answer<MemoryHistory>> {
    Answer::ok(call.oneiro()?.memories().history(call.part("id")?)?)
}

pub(super) fn why(call: &Call, request: WhyRequest) -> Result<Answer<Why>> {
    Answer::ok(call.oneiro()?.memories().why(call.part("id")?, &request)?)
}

pub(super) fn forget_many(call: &Call, request: ForgetRequest) -> Result<Answer<ChangedMemories>> {
    Answer::ok(call.oneiro()?.memories().forget_many(request)?)
}

pub(super) fn review(call: &Call, request: ReviewRequest) -> Result<Answer<ChangedMemories>> {
    Answer::ok(call.oneiro()?.memories().review_many(request)?)
}

pub(super) fn distrust(call: &Call, request: DistrustRequest) -> Result<Answer<ChangedMemories>> {
    Answer::ok(call.oneiro()?.memories().distrust(request)?)
}
