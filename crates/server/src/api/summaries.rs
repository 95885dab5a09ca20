//! Summaries over HTTP, and the way back from them to the exact messages.

use crate::call::{Answer, Call};
use oneiro::{ContextScope, EXPAND_TOKENS, Error, ExpandRequest, ExpandWhat, Result};
use serde_json::json;

pub(super) fn list(call: &Call) -> Result<Answer> {
    let summaries = call.oneiro()?.summaries(&call.session()?)?;
    Answer::ok(&json!({ "items": summaries, "next": null }))
}

pub(super) fn show(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.summary(named(call)?, &scope(call)?)?)
}

pub(super) fn expand(call: &Call) -> Result<Answer> {
    let what = ExpandWhat::parse(named(call)?)?;
    expanded(call, what, scope(call)?)
}

pub(super) fn expand_any(call: &Call) -> Result<Answer> {
    let what = ExpandWhat::parse(&call.query.text("id").unwrap_or_default())?;
    expanded(call, what, ContextScope::Lineage(call.session()?))
}

fn expanded(call: &Call, what: ExpandWhat, scope: ContextScope) -> Result<Answer> {
    let request = ExpandRequest {
        what,
        scope,
        tokens: call.query.count("tokens", EXPAND_TOKENS),
        cursor: call.query.cursor()?,
    };
    Answer::ok(&call.oneiro()?.expand(&request)?)
}

/// Within what a thing is looked up that the path names.
pub(super) fn scope(call: &Call) -> Result<ContextScope> {
    let session = call.query.session("session")?;
    Ok(session.map_or(ContextScope::Space, ContextScope::Lineage))
}

/// The summary that the path names, by its id or the beginning of it.
fn named(call: &Call) -> Result<&str> {
    let id = call.part("id")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match id.starts_with("sum_") && id.bytes().all(plain) {
        true => Ok(id),
        false => Err(Error::not_found("there is no such summary").remedy(
            "ids of summaries begin with sum_; GET /v1/sessions/{id}/summaries lists them",
        )),
    }
}
