//! Capture over HTTP: what is captured, choices and pauses.

use crate::call::{Answer, Call};
use oneiro::{CaptureStatus, PauseRequest, ProjectChoice, Result};

pub(super) fn status(call: &Call) -> Result<Answer<CaptureStatus>> {
    Answer::ok(call.oneiro()?.capture().status()?)
}

pub(super) fn choose(call: &Call, choice: ProjectChoice) -> Result<Answer<CaptureStatus>> {
    Answer::ok(call.oneiro()?.capture().choose(vec![choice])?)
}

pub(super) fn pause(call: &Call, request: PauseRequest) -> Result<Answer<CaptureStatus>> {
    Answer::ok(call.oneiro()?.capture().pause(request)?)
}

pub(super) fn resume(call: &Call) -> Result<Answer<CaptureStatus>> {
    Answer::ok(call.oneiro()?.capture().resume()?)
}
