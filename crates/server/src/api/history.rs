//! What a session shows, over HTTP: its history set or truncated, and the summary that stands for
//! what is not shown. Whatever is hidden stays stored.

use super::messages::take_apart;
use crate::call::{Answer, Call};
use crate::decode::object;
use oneiro::contract::{Form, Reading, decode};
use oneiro::{
    HistoryRequest, KeptMessage, Message, NewSummary, Oneiro, Page, PageRequest, Result, SessionId,
    SessionSummary, Summary, SummaryKind, json,
};
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// Messages that are answered when a history is truncated; `next` leads on.
const TRUNCATED_PAGE: usize = 1_000;

/// The body: a list of messages, `{"messages": [..]}`, or `{"keep": N}`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(super) enum NewHistory {
    Messages(Vec<KeptMessage>),
    Request(HistoryRequest),
}

pub(super) fn set(call: &Call, _: super::NoFields) -> Result<Answer<Page<Message>>> {
    let read = json::parse(&call.body)?;
    let fields = match read.value {
        Value::Array(items) => Map::from_iter([("messages".to_owned(), Value::Array(items))]),
        other => object(other)?,
    };
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    let reading = Reading { form: Form::Json, now: oneiro.now() };
    let request: HistoryRequest = decode(fields, reading)?.request;
    if let Some(items) = request.messages {
        let messages = take_apart(items, read.surrogates)?;
        return Answer::ok(oneiro.messages().set_history(&id, messages)?.into());
    }
    oneiro.messages().truncate_history(&id, request.keep.unwrap_or_default())?;
    let page = PageRequest { after: 0, hidden: false, limit: TRUNCATED_PAGE };
    Answer::ok(oneiro.messages().list(&id, page)?)
}

pub(super) fn summary(call: &Call) -> Result<Answer<SessionSummary>> {
    session_summary(call.oneiro()?, &call.session()?)
}

pub(super) fn set_summary(call: &Call, request: NewSummary) -> Result<Answer<SessionSummary>> {
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    oneiro.context().set_summary(&id, &request.content)?;
    session_summary(oneiro, &id)
}

/// The whole summary as one text, and of it the part that was written by hand.
fn session_summary(oneiro: &Oneiro, id: &SessionId) -> Result<Answer<SessionSummary>> {
    let content = oneiro.context().summary_text(id)?;
    let by_hand = |summary: &Summary| summary.kind == SummaryKind::Written && summary.in_context;
    let summary = oneiro.context().summaries(id)?.into_iter().find(by_hand);
    Answer::ok(SessionSummary { content, summary })
}
