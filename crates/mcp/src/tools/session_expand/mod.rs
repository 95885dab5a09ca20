//! `session_expand`: the exact words behind a summary or an id, and where something was said within
//! a session's lineage. It must not know how any of it is kept.

mod ask;
mod hits;
mod pieces;
mod tell;

use super::{Answer, Call, Hints, Tool, never};
use crate::TokenRole;
use crate::arguments::input_schema;
use ask::{Arguments, Asked, Wanted};
use oneiro::{EXPAND_TOKENS, ExpandRequest, ExpandWhat, GrepRequest, Result};
use serde_json::{Value, json};

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
    input_schema::<Arguments>(&[
        ("session", "The session it is in, or one that goes on from it".to_owned()),
        ("id", "sum_.., 12, 12-34 or monday#3".to_owned()),
        ("grep", "Words or /regex/".to_owned()),
        ("anywhere", "In all conversations, not only the session's lineage".to_owned()),
        ("tokens", format!("Size of the answer, default {EXPAND_TOKENS}")),
        ("cursor", "From the answer before".to_owned()),
        ("offset", "Of a long message, as the answer before says".to_owned()),
    ])
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

fn run(call: &Call) -> Result<Answer> {
    let asked = ask::read(&call.arguments)?;
    match &asked.wanted {
        Wanted::Words(pattern) => look(call, &asked, pattern),
        Wanted::Messages(what) => expand(call, &asked, what),
    }
}

fn expand(call: &Call, asked: &Asked, what: &ExpandWhat) -> Result<Answer> {
    let oneiro = &call.caller.oneiro;
    let summary = match what {
        ExpandWhat::Summary(id) => Some(oneiro.context().summary(id, &asked.scope)?),
        _ => None,
    };
    let found = oneiro.context().expand(&ExpandRequest {
        what: what.clone(),
        scope: asked.scope.clone(),
        tokens: asked.tokens,
        cursor: asked.cursor,
    })?;
    tell::answer(&found, summary.as_ref(), asked)
}

fn look(call: &Call, asked: &Asked, pattern: &str) -> Result<Answer> {
    let found = call.caller.oneiro.search().grep(&GrepRequest {
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
