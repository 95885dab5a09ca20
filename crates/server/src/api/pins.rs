//! Pinned messages over HTTP. Whatever is done, all that are pinned are answered.

use crate::call::{Answer, Call};
use oneiro::Result;
use serde_json::json;

pub(super) fn list(call: &Call) -> Result<Answer> {
    let pinned = call.oneiro()?.pinned_messages(&call.session()?)?;
    Answer::ok(&json!({ "items": pinned, "next": null }))
}

pub(super) fn pin(call: &Call) -> Result<Answer> {
    call.fields()?.end()?;
    call.oneiro()?.pin_message(&call.session()?, call.message("message")?)?;
    list(call)
}

pub(super) fn unpin(call: &Call) -> Result<Answer> {
    call.oneiro()?.unpin_message(&call.session()?, call.message("message")?)?;
    list(call)
}
