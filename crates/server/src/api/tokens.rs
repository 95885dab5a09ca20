//! Tokens over HTTP.

use crate::call::{Answer, Call};
use oneiro::{ActorKind, Error, ErrorKind, NewToken, Page, PageOf, Result, Token};

pub(super) fn list(call: &Call, page: PageOf) -> Result<Answer<Page<Token>>> {
    Answer::ok(call.oneiro()?.tokens().list(page.cursor, page.limit)?)
}

pub(super) fn create(call: &Call, token: NewToken) -> Result<Answer<Token>> {
    // Otherwise any agent could make itself a person.
    if token.actor == ActorKind::Person && call.visitor.actor.kind != ActorKind::Person {
        return Err(Error::new(
            ErrorKind::Forbidden,
            "an agent cannot create a token for a person",
        )
        .remedy("create it at a terminal, or with a token of a person"));
    }
    let token = call.oneiro()?.tokens().create(token)?;
    let place = format!("/v1/tokens/{}", token.id);
    Answer::created(token, place)
}

pub(super) fn revoke(call: &Call) -> Result<Answer<Token>> {
    let id = call.part("id")?;
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(Error::not_found("there is no such token"));
    }
    Answer::ok(call.oneiro()?.tokens().revoke(id)?)
}
