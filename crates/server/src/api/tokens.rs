//! Tokens over HTTP.

use crate::call::{Answer, Call};
use oneiro::{Error, NewToken, Page, PageOf, Result, Token};

pub(super) fn list(call: &Call, page: PageOf) -> Result<Answer<Page<Token>>> {
    Answer::ok(call.oneiro()?.tokens().list(page.cursor, page.limit)?)
}

pub(super) fn create(call: &Call, token: NewToken) -> Result<Answer<Token>> {
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
