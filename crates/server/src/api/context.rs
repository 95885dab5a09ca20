//! Windows of a session and its compaction over HTTP.

use crate::call::{Answer, Call};
use oneiro::{CompactRequest, Compacted, Result, TokenRole, Window, WindowRequest};

/// A window may compact a context that is over its budget, and leaves a mark for the next one:
/// a client that may only read gets the same content and changes nothing.
pub(super) fn window(call: &Call, request: WindowRequest) -> Result<Answer<Window>> {
    let peek = request.peek || call.visitor.role == TokenRole::Read;
    let request = WindowRequest { peek, ..request };
    Answer::ok(call.oneiro()?.context().window(&call.session()?, &request)?)
}

pub(super) fn compact(call: &Call, request: CompactRequest) -> Result<Answer<Compacted>> {
    Answer::ok(call.oneiro()?.context().compact(&call.session()?, &request)?)
}
