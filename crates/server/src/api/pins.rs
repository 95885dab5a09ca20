//! Pinned messages over HTTP. Whatever is done, all that are pinned are answered.

use crate::call::{Answer, Call};
use oneiro::{Message, Page, Result};

pub(super) fn list(call: &Call) -> Result<Answer<Page<Message>>> {
    Answer::ok(call.oneiro()?.messages().pinned(&call.session()?)?.into())
}

pub(super) fn pin(call: &Call) -> Result<Answer<Page<Message>>> {
    call.oneiro()?.messages().pin(&call.session()?, call.message("message")?)?;
    list(call)
}

pub(super) fn unpin(call: &Call) -> Result<Answer<Page<Message>>> {
    call.oneiro()?.messages().unpin(&call.session()?, call.message("message")?)?;
    list(call)
}
