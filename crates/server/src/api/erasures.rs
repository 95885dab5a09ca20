//! Erasure over HTTP.

use crate::call::{Answer, Call};
use oneiro::{EraseRequest, Erased, Result};

pub(super) fn erase(call: &Call, request: EraseRequest) -> Result<Answer<Erased>> {
    let oneiro = call.oneiro()?;
    Answer::ok(oneiro.erase(&oneiro.erase_requested(&request)?)?)
}
