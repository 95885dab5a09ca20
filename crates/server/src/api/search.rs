//! Search over HTTP.

use crate::body::SMALL_BODY_BYTES;
use crate::call::{Answer, Call};
use crate::decode;
use oneiro::{Found, Result, SearchRequest, SessionFound, SessionSearchRequest, Timestamp};

pub(super) fn search(call: &Call, request: SearchRequest) -> Result<Answer<Found>> {
    Answer::ok(call.oneiro()?.search().run(&request)?)
}

pub(super) fn sessions(call: &Call, request: SessionSearchRequest) -> Result<Answer<SessionFound>> {
    Answer::ok(call.oneiro()?.search().sessions(&request)?)
}

/// Whether the body of a session search asks for digests, which a model writes if there is one.
/// What is refused later anyway may be taken for one that does.
pub(super) fn wants_digests(body: &[u8]) -> bool {
    // A large body is not worth reading twice.
    let now = Timestamp::from_micros(0);
    body.len() > SMALL_BODY_BYTES
        || decode::body::<SessionSearchRequest>(body, now).is_ok_and(|request| request.summarise)
}
