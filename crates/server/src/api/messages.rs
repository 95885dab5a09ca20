//! Messages over HTTP.

use super::sessions::page_request;
use super::summaries::scope;
use crate::call::{Answer, Call};
use oneiro::{Error, LookedUp, NewMessage, NewSession, Result, json};
use serde_json::Value;

/// Messages in one request.
const BATCH: usize = 10_000;

pub(super) fn list(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.messages(&call.session()?, page_request(call)?)?)
}

pub(super) fn show(call: &Call) -> Result<Answer> {
    let id = call.message("id")?;
    match call.oneiro()?.look_up(&id.to_string(), &scope(call)?)? {
        LookedUp::Message(message) => Answer::ok(&message),
        LookedUp::Summary(_) => Err(Error::internal("the number of a message named a summary")),
    }
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
    take_apart(items, read.surrogates)
}

/// Messages from their JSON, and how many lone surrogates were replaced while reading it.
pub(super) fn take_apart(items: Vec<Value>, surrogates: usize) -> Result<Vec<NewMessage>> {
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
        first.repaired = surrogates;
    }
    Ok(messages)
}
