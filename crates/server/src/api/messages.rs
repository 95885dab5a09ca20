//! Messages over HTTP.

use crate::call::{Answer, Call};
use crate::decode;
use oneiro::{
    AppendOptions, Appended, BATCH_MAX, Clock, Error, ListMessages, LookupRequest, Message,
    NewMessage, NewSession, Page, PageRequest, Result, SystemClock, json,
};
use schemars::JsonSchema;
use serde_json::Value;

/// The body of an append.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(super) enum NewMessages {
    One(NewMessage),
    Many(#[schemars(length(min = 1, max = BATCH_MAX))] Vec<NewMessage>),
}

pub(super) fn list(call: &Call, request: ListMessages) -> Result<Answer<Page<Message>>> {
    let page = PageRequest {
        after: request.cursor.map_or(0, |cursor| cursor.key),
        hidden: request.hidden,
        limit: request.limit,
    };
    Answer::ok(call.oneiro()?.messages().list(&call.session()?, page)?)
}

pub(super) fn show(call: &Call, request: LookupRequest) -> Result<Answer<Message>> {
    Answer::ok(call.oneiro()?.context().message(&call.message("id")?, &request.scope())?)
}

pub(super) fn append(call: &Call, options: AppendOptions) -> Result<Answer<Appended>> {
    let messages = read(&call.body)?;
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    let session = NewSession { source: options.source, ..NewSession::default() };
    Answer::ok(if options.create {
        oneiro.messages().append_or_create(&id, messages, session)?
    } else {
        oneiro.messages().append(&id, messages)?
    })
}

/// Whether an append creates the session, and with it the space.
pub(super) fn creates_session(query: &str) -> bool {
    decode::query(query, SystemClock.now()).is_ok_and(|options: AppendOptions| options.create)
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
    if items.len() > BATCH_MAX {
        let much = format!("{} messages in one request", items.len());
        return Err(Error::too_large(much).remedy(format!("send up to {BATCH_MAX} at a time")));
    }
    let mut messages = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let message = NewMessage::from_json(item);
        messages.push(message.map_err(|error| error.at(format!("message {}", index + 1)))?);
    }
    if let Some(first) = messages.first_mut() {
        // Which of them held the lone surrogates is not known.
        first.repaired = surrogates;
    }
    Ok(messages)
}
