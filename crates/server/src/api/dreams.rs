//! Dreams over HTTP: run, list, show, undo and replay them, and their candidates.

use crate::call::{Answer, Call};
use oneiro::{
    Dream, DreamCandidate, DreamDetail, DreamRequest, DreamRun, DreamStatus, ExplainedCandidate,
    ListCandidates, Page, PageOf, ReplayedDream, Result, ScheduleDreams, UndoDream, UndoneDream,
};

pub(super) fn run(call: &Call, request: DreamRequest) -> Result<Answer<DreamRun>> {
    Answer::ok(call.oneiro()?.dreams().run(&request)?)
}

pub(super) fn list(call: &Call, request: PageOf) -> Result<Answer<Page<Dream>>> {
    Answer::ok(call.oneiro()?.dreams().list(&request)?)
}

pub(super) fn show(call: &Call) -> Result<Answer<DreamDetail>> {
    Answer::ok(call.oneiro()?.dreams().show(call.part("id")?)?)
}

pub(super) fn undo(call: &Call, request: UndoDream) -> Result<Answer<UndoneDream>> {
    Answer::ok(call.oneiro()?.dreams().undo(call.part("id")?, &request)?)
}

pub(super) fn replay(call: &Call) -> Result<Answer<ReplayedDream>> {
    Answer::ok(call.oneiro()?.dreams().replay(call.part("id")?)?)
}

pub(super) fn candidates(
    call: &Call,
    request: ListCandidates,
) -> Result<Answer<Page<DreamCandidate>>> {
    Answer::ok(call.oneiro()?.dreams().candidates(&request)?)
}

pub(super) fn candidate(call: &Call) -> Result<Answer<ExplainedCandidate>> {
    Answer::ok(call.oneiro()?.dreams().explain(call.part("id")?)?)
}

pub(super) fn status(call: &Call) -> Result<Answer<DreamStatus>> {
    Answer::ok(call.oneiro()?.dreams().status()?)
}

pub(super) fn schedule(call: &Call, request: ScheduleDreams) -> Result<Answer<DreamStatus>> {
    Answer::ok(call.oneiro()?.dreams().schedule(&request)?)
}
