//! What a session shows, over HTTP: its history set or truncated, and the summary that stands for
//! what is not shown. Whatever is hidden stays stored.

use super::messages::take_apart;
use crate::call::{Answer, Call, MOST};
use crate::decode::Fields;
use oneiro::{Error, Message, Oneiro, PageRequest, Result, SessionId, SummaryKind, json};
use serde_json::{Value, json};

/// Messages that are answered when a history is truncated; `next` leads on.
const SHOWN: usize = 1_000;

/// What a body asks a history to be.
enum Wanted {
    Messages(Vec<Value>),
    Newest(usize),
}

pub(super) fn set(call: &Call) -> Result<Answer> {
    let read = json::parse(&call.body)?;
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    match wanted(read.value)? {
        Wanted::Messages(items) => {
            let messages = take_apart(items, read.surrogates)?;
            shown(&oneiro.set_history(&id, messages)?)
        }
        Wanted::Newest(keep) => {
            oneiro.truncate_history(&id, keep)?;
            let page = PageRequest { after: 0, hidden: false, limit: SHOWN };
            Answer::ok(&oneiro.messages(&id, page)?)
        }
    }
}

fn shown(messages: &[Message]) -> Result<Answer> {
    Answer::ok(&json!({ "items": messages, "next": null }))
}

/// A list of messages, `{"messages": [..]}`, or `{"keep": N}`.
fn wanted(value: Value) -> Result<Wanted> {
    if let Value::Array(items) = value {
        return Ok(Wanted::Messages(items));
    }
    let mut fields = Fields::of(value)?;
    let messages = fields.value("messages");
    let keep = fields.int("keep", (0, MOST))?;
    fields.end()?;
    match (messages, keep) {
        (Some(Value::Array(items)), None) => Ok(Wanted::Messages(items)),
        (Some(_), None) => Err(Error::field("messages", "is not a list of messages")),
        (None, Some(keep)) => Ok(Wanted::Newest(usize::try_from(keep).unwrap_or(usize::MAX))),
        _ => Err(Error::field("messages", "or `keep` is needed, and not both")
            .remedy("send the messages to be shown, or how many of the newest to keep")),
    }
}

pub(super) fn summary(call: &Call) -> Result<Answer> {
    told(call.oneiro()?, &call.session()?)
}

pub(super) fn set_summary(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let content = fields.needed_text("content")?;
    fields.end()?;
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    oneiro.set_summary(&id, &content)?;
    told(oneiro, &id)
}

/// The whole summary as one text, and of it the part that was written by hand.
fn told(oneiro: &Oneiro, id: &SessionId) -> Result<Answer> {
    let content = oneiro.session_summary(id)?;
    let summaries = oneiro.summaries(id)?;
    let by_hand = summaries
        .into_iter()
        .find(|summary| summary.kind == SummaryKind::Written && summary.in_context);
    Answer::ok(&json!({ "content": content, "summary": by_hand }))
}
