//! Messages over HTTP.

use super::sessions::page_request;
use crate::call::{Answer, Call};
use oneiro::{Error, NewMessage, NewSession, Result, json};
use serde_json::Value;

/// Messages in one request.
const BATCH: usize = 10_000;

pub(super) fn list(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.messages(&call.session()?, page_request(call)?)?)
}

pub(super) fn show(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.message(call.message()?)?)
}

pub(super) fn append(call: &Call) -> Result<Answer> {
    let messages = read(&call.body)?;
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    let appended = match call.query.bool("create").unwrap_or(false) {
        false => oneiro.append(&id, messages)?,
        true => {
            let source = call.query.text("source");
            oneiro.append_or_create(
                &id,
                messages,
                NewSession { source, ..NewSession::default() },
            )?
        }
    };
    Answer::ok(&appended)
}

/// One message, or an array of them.
fn read(body: &[u8]) -> Result<Vec<NewMessage>> {
    let read = json::parse(body)?;
    let items = match read.value {
        Value::Array(items) => items,
        one => vec![one],
    };
    if items.is_empty() {
        return Err(Error::field("messages", "are none")
            .remedy(r#"send {"role":"user","content":"..."} or an array of such"#));
    }
    if items.len() > BATCH {
        let much = format!("{} messages in one request", items.len());
        return Err(Error::too_large(much).remedy(format!("send up to {BATCH} at a time")));
    }
    let mut messages = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let message = NewMessage::from_json(item);
        messages.push(message.map_err(|error| error.at(format!("message {}", index + 1)))?);
    }
    if let Some(first) = messages.first_mut() {
        // Which of them held the lone surrogates is not told apart.
        first.repaired = read.surrogates;
    }
    Ok(messages)
}
