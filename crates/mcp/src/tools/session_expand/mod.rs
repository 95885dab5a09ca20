//! `session_expand`: the exact words behind a summary or an id, and where something was said within
//! a session's lineage. It must not know how any of it is kept.

mod ask;
mod hits;
mod pieces;
mod tell;

use super::{Answer, Call, Hints, Tool, never};
use crate::TokenRole;
use ask::{Asked, Wanted};
use oneiro::{EXPAND_TOKENS, Error, ErrorKind, ExpandRequest, ExpandWhat, GrepRequest, Result};
use serde_json::{Value, json};

/// Tokens of an answer, unless asked otherwise, at least, and at most.
const TOKENS: (usize, usize, usize) = (EXPAND_TOKENS, 200, 20_000);

/// Hits of each kind that a grep answers at most.
const HITS: usize = 20;

/// The row of the table.
pub(super) const TOOL: Tool = Tool {
    name: "session_expand",
    title: "Read the exact words",
    description: "The exact messages behind a summary (sum_..), a message id or a range (12-34) \
                  of your session; expand before you state an exact fact from a summary. Long \
                  answers go on with cursor and offset. grep instead of id looks for words or \
                  /regex/ in the session's messages and summaries.",
    input,
    output,
    hints: Hints::LOOKS,
    role: TokenRole::Read,
    may_call_model: never,
    run,
};

fn input() -> Value {
    let (text, number) = ("string", "integer");
    let said = |kind: &str, what: &str| json!({"type": kind, "description": what});
    json!({
        "type": "object",
        "properties": {
            "session": said(text, "The session it is in, or one that goes on from it"),
            "id": said(text, "sum_.., 12 or 12-34"),
            "grep": said(text, "Words or /regex/"),
            "anywhere": said("boolean", "In all conversations, not only the session's lineage"),
            "tokens": said(number, &format!("Size of the answer, default {}", TOKENS.0)),
            "cursor": said(text, "From the answer before"),
            "offset": said(number, "Of a long message, as the answer before says"),
        },
        "additionalProperties": false,
    })
}

fn output() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let list = json!({"type": "array", "items": {"type": "object"}});
    json!({
        "type": "object",
        "properties": {
            "messages": list, "hits": list, "summary": {"type": "object"},
            "cursor": text, "offset": number,
            "next": {"type": "array", "items": text}, "note": text,
        },
        "required": ["next"],
    })
}

/// What an agent can do about something that is not there; the engine's remedies are commands.
fn in_our_words(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.remedy(
            "give an id that memory_context, session_search or session_expand(grep=..) answered, \
             with the session that it named; anywhere=true looks beyond that session's lineage",
        ),
        ErrorKind::Forbidden => error.remedy("leave anywhere out, and give session"),
        ErrorKind::Conflict => error.remedy("give more of the id"),
        _ => error,
    }
}

fn run(call: &Call) -> Result<Answer> {
    let asked = ask::read(&call.arguments, &input())?;
    match &asked.wanted {
        Wanted::Words(pattern) => look(call, &asked, pattern).map_err(in_our_words),
        Wanted::Messages(what) => expand(call, &asked, what).map_err(in_our_words),
    }
}

fn expand(call: &Call, asked: &Asked, what: &ExpandWhat) -> Result<Answer> {
    let oneiro = &call.caller.oneiro;
    let summary = match what {
        ExpandWhat::Summary(id) => Some(oneiro.summary(id, &asked.scope)?),
        _ => None,
    };
    let found = oneiro.expand(&ExpandRequest {
        what: what.clone(),
        scope: asked.scope.clone(),
        tokens: asked.tokens,
        cursor: asked.cursor,
    })?;
    tell::answer(&found, summary.as_ref(), asked)
}

fn look(call: &Call, asked: &Asked, pattern: &str) -> Result<Answer> {
    let found = call.caller.oneiro.grep(&GrepRequest {
        pattern: pattern.to_owned(),
        scope: asked.scope.clone(),
        messages: true,
        summaries: true,
        roles: Vec::new(),
        since: None,
        until: None,
        limit: HITS,
    })?;
    Ok(hits::answer(&found, asked))
}
