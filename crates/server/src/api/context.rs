//! Windows of a session and its compaction over HTTP.

use super::sessions::tokens;
use crate::call::{Answer, Call};
use oneiro::{CompactRequest, Result, TokenRole, WINDOW_BUDGET, WindowFormat, WindowRequest};

/// A window may compact a context that has outgrown it, and leaves a mark for the next one: whoever
/// may only read gets the same content and leaves everything as it is.
pub(super) fn window(call: &Call) -> Result<Answer> {
    let query = &call.query;
    let format = query.text("format").map(|name| WindowFormat::parse(&name)).transpose()?;
    let request = WindowRequest {
        budget: query.count("budget", WINDOW_BUDGET),
        reserve: query.count("reserve", 0),
        format: format.unwrap_or_default(),
        explain: query.bool("explain").unwrap_or(false),
        peek: query.bool("peek").unwrap_or(false) || call.visitor.role == TokenRole::Read,
    };
    Answer::ok(&call.oneiro()?.context(&call.session()?, &request)?)
}

pub(super) fn compact(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let request = CompactRequest {
        until: tokens(&mut fields, "until")?,
        redo: fields.bool("redo")?.unwrap_or(false),
    };
    fields.end()?;
    Answer::ok(&call.oneiro()?.compact(&call.session()?, &request)?)
}
