//! Tokens over HTTP.

use crate::call::{Answer, Call};
use oneiro::{Error, NewToken, Result, TokenRole};

/// Tokens to a page.
const PAGE: usize = 50;

pub(super) fn list(call: &Call) -> Result<Answer> {
    let (cursor, limit) = (call.query.cursor()?, call.query.count("limit", PAGE));
    Answer::ok(&call.oneiro()?.list_tokens(cursor, limit)?)
}

pub(super) fn create(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let token = NewToken {
        role: TokenRole::parse(&fields.needed_text("role")?)?,
        name: fields.text("name")?,
        expires_at: fields.time("expires_at")?,
    };
    fields.end()?;
    let token = call.oneiro()?.create_token(token)?;
    let place = format!("/v1/tokens/{}", token.id);
    Answer::created(&token, place)
}

pub(super) fn revoke(call: &Call) -> Result<Answer> {
    let id = call.part("id")?;
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(Error::not_found("there is no such token"));
    }
    Answer::ok(&call.oneiro()?.revoke_token(id)?)
}
