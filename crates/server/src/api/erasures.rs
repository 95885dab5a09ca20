//! Erasure over HTTP.

use crate::call::{Answer, Call};
use oneiro::{EraseTarget, Error, Result};

pub(super) fn erase(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let (session, message) = (fields.session("session")?, fields.message("message")?);
    fields.end()?;
    let target = match (session, message) {
        (Some(session), None) => EraseTarget::Session(session),
        (None, Some(message)) => EraseTarget::Message(message),
        _ => {
            return Err(Error::field("session", "or `message` is needed, and not both")
                .remedy("name the one thing to erase by its whole id"));
        }
    };
    Answer::ok(&call.oneiro()?.erase(&target)?)
}
