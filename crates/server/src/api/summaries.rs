//! Summaries over HTTP, and the way back from them to the exact messages.

use crate::call::{Answer, Call};
use oneiro::{
    ContextScope, Error, ExpandOptions, ExpandRequest, ExpandWhat, ExpandWithin, Expanded,
    LookupRequest, Page, Result, Summary,
};

pub(super) fn list(call: &Call) -> Result<Answer<Page<Summary>>> {
    Answer::ok(call.oneiro()?.context().summaries(&call.session()?)?.into())
}

pub(super) fn show(call: &Call, request: LookupRequest) -> Result<Answer<Summary>> {
    Answer::ok(call.oneiro()?.context().summary(named(call)?, &request.scope())?)
}

pub(super) fn expand(call: &Call, options: ExpandOptions) -> Result<Answer<Expanded>> {
    let ExpandOptions { tokens, cursor, session } = options;
    let what = ExpandWhat::parse(named(call)?)?;
    let scope = LookupRequest { session }.scope();
    Answer::ok(call.oneiro()?.context().expand(&ExpandRequest { what, scope, tokens, cursor })?)
}

pub(super) fn expand_within(call: &Call, request: ExpandWithin) -> Result<Answer<Expanded>> {
    let ExpandWithin { id, tokens, cursor } = request;
    let (what, scope) = (ExpandWhat::parse(&id)?, ContextScope::Lineage(call.session()?));
    Answer::ok(call.oneiro()?.context().expand(&ExpandRequest { what, scope, tokens, cursor })?)
}

/// The summary that the path names, by its id or the beginning of it.
fn named(call: &Call) -> Result<&str> {
    let id = call.part("id")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if id.starts_with("sum_") && id.bytes().all(plain) {
        Ok(id)
    } else {
        Err(Error::not_found("there is no such summary")
            .remedy("ids of summaries begin with sum_; GET /v1/sessions/{id}/summaries lists them"))
    }
}
