//! Erasure over HTTP.

use crate::call::{Answer, Call};
use oneiro::{EraseRequest, Erased, Result};

pub(super) fn erase(call: &Call, request: EraseRequest) -> Result<Answer<Erased>> {
    Answer::ok(call.oneiro()?.erase(&request.target()?)?)
}
