//! `session_expand`: the messages behind a summary or an id, and text search within a session's
//! lineage.

mod answer;
mod grep_answer;
mod pieces;
mod request;

use super::{Answer, Call, Hints, Profile, Tool, never};
use crate::TokenRole;
use crate::arguments::input_schema;
use oneiro::{EXPAND_TOKENS, ExpandRequest, ExpandWhat, GrepRequest, Result};
use request::{Arguments, ExpandCall, Target};
use serde_json::{Value, json};

/// Maximum hits of each kind that a grep shows.
const GREP_HITS: usize = 20;

pub(super) const TOOL: Tool = Tool {
    name: "session_expand",
    title: "Read the exact words",
    description: "The exact messages behind a summary (sum_..), a message id or a range (12-34) \
                  of a session. Expand before you state an exact fact from a summary. Continue \
                  long answers with cursor and offset. grep instead of id searches the session's \
                  messages and summaries for words or /regex/.",
    input,
    output,
    hints: Hints::READ_ONLY,
    role: TokenRole::Read,
    profile: Profile::Agent,
    may_call_model: never,
    run,
};

fn input() -> Value {
    input_schema::<Arguments>(&[
        (
            "session",
            "Session of the id, or a later one of its lineage: id, unique prefix or title"
                .to_owned(),
        ),
        ("id", "sum_.., 12, 12-34 or monday#3".to_owned()),
        ("grep", "Words or /regex/".to_owned()),
        ("project", "With grep: only sessions of this project".to_owned()),
        ("anywhere", "All conversations, not only the session's lineage".to_owned()),
        ("raw", "Messages as stored JSON".to_owned()),
        ("tokens", format!("Size of the answer, default {EXPAND_TOKENS}")),
        ("cursor", "From the previous answer".to_owned()),
        ("offset", "From the previous answer".to_owned()),
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
        },
        "required": [],
    })
}

fn run(call: &Call) -> Result<Answer> {
    let expand_call = request::read(&call.arguments, &call.caller.oneiro)?;
    match &expand_call.target {
        Target::Grep(pattern) => grep(call, &expand_call, pattern),
        Target::Messages(what) => expand(call, &expand_call, what),
    }
}

fn expand(call: &Call, expand_call: &ExpandCall, what: &ExpandWhat) -> Result<Answer> {
    let context = call.caller.oneiro.context();
    let summary = match what {
        ExpandWhat::Summary(id) => Some(context.summary(id, &expand_call.scope)?),
        _ => None,
    };
    let found = context.expand(&ExpandRequest {
        what: what.clone(),
        scope: expand_call.scope.clone(),
        tokens: expand_call.tokens,
        cursor: expand_call.cursor,
    })?;
    answer::answer(&found, summary.as_ref(), expand_call)
}

fn grep(call: &Call, expand_call: &ExpandCall, pattern: &str) -> Result<Answer> {
    let found = call.caller.oneiro.search().grep(&GrepRequest {
        pattern: pattern.to_owned(),
        scope: expand_call.scope.clone(),
        messages: true,
        summaries: true,
        roles: Vec::new(),
        project: expand_call.project.clone(),
        since: None,
        until: None,
        limit: GREP_HITS,
    })?;
    Ok(grep_answer::answer(&found, expand_call))
}
