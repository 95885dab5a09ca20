//! The answer of `session_expand` to a grep: summaries and messages that have the words, with ids to
//! expand, within the budget. It must not know how they were found.

use super::ask::Asked;
use crate::budget::Budget;
use crate::recalled::{FRAME, delimit, one_line};
use crate::tools::Answer;
use crate::tools::session_search::{seconds, when};
use oneiro::count::{prefix, tokens};
use oneiro::{Grepped, SessionId, Timestamp};
use serde_json::{Map, Value, json};

/// What the structured part costs without hits, note and call, in tokens.
const KEYS: usize = 10;

/// What a headline costs at most, in tokens.
const HEADLINE: usize = 16;

/// What is shown of a hit at most, in tokens; in a small answer a third of what is left.
const SNIPPET: usize = 60;

/// What the note and the call at the end cost at most, in tokens.
const END: usize = 200;

/// A hit of either kind.
struct Shown<'a> {
    id: Value,
    /// What a call names it by.
    named: String,
    at: Timestamp,
    session: &'a SessionId,
    /// Who said it, or how deep a summary it is.
    by: String,
    snippet: &'a str,
}

/// Makes the answer.
pub(super) fn answer(found: &Grepped, asked: &Asked) -> Answer {
    let shown = shown(found);
    let mut budget = Budget::tokens(asked.tokens);
    budget.set_aside(Budget { text: FRAME + HEADLINE, json: KEYS });
    let end = (budget.left() / 3).min(END);
    let mut close = budget.set_aside(Budget { text: end, json: end });
    let (mut lines, mut hits) = (String::new(), Vec::new());
    let most = SNIPPET.min(budget.left() / 3);
    for one in &shown {
        let (line, json) = one.told(asked, most);
        if !budget.spend(&line, &format!("{json},")) {
            break;
        }
        lines.push_str(&line);
        hits.push(json);
    }
    let mut text = match shown.len() {
        0 => "Nothing was found there. Try fewer words, or anywhere=true.".to_owned(),
        many => format!("Found {many}, summaries first; expand their ids to read them."),
    };
    if !lines.is_empty() {
        text = format!("{text}\n{}", delimit(&lines));
    }
    let left_out = found.summary_total.saturating_sub(found.summaries.len());
    let cut = shown.len() - hits.len() + left_out;
    let mut notes = asked.notes.clone();
    if cut > 0 {
        notes.push(format!("{cut} not shown; more words find fewer"));
    }
    let note = notes.join("; ");
    let mut structured = Map::new();
    if !note.is_empty() && close.spend(&format!("\nNote: {note}"), &json!(note).to_string()) {
        text = format!("{text}\nNote: {note}");
        structured.insert("note".to_owned(), json!(note));
    }
    let mut next = Vec::new();
    if let (Some(first), false) = (shown.first(), hits.is_empty()) {
        let call = asked.call(&first.named, "");
        if close.spend(&format!("\nMore: {call}"), &json!(call).to_string()) {
            text = format!("{text}\nMore: {call}");
            next.push(call);
        }
    }
    structured.insert("hits".to_owned(), Value::Array(hits));
    structured.insert("next".to_owned(), json!(next));
    Answer { text, structured: Value::Object(structured) }
}

fn shown(found: &Grepped) -> Vec<Shown<'_>> {
    let summaries = found.summaries.iter().map(|hit| Shown {
        id: json!(hit.id),
        named: hit.id.to_string(),
        at: hit.at,
        session: &hit.session_id,
        by: format!("summary of depth {}", hit.depth),
        snippet: &hit.snippet,
    });
    let messages = found.messages.iter().map(|hit| Shown {
        id: json!(hit.id),
        named: hit.id.to_string(),
        at: hit.at,
        session: &hit.session_id,
        by: hit.role.as_str().to_owned(),
        snippet: &hit.snippet,
    });
    summaries.chain(messages).collect()
}

impl Shown<'_> {
    fn told(&self, asked: &Asked, most: usize) -> (String, Value) {
        let snippet = one_line(self.snippet);
        let short = prefix(&snippet, most);
        let snippet = if short.len() < snippet.len() { format!("{short}…") } else { snippet };
        let mark = if self.id.is_number() { "id " } else { "" };
        let by = one_line(&self.by);
        let line = format!("  {mark}{} {} {by}: {snippet}\n", self.named, when(self.at));
        let mut json = json!({
            "id": self.id, "by": self.by, "at": seconds(self.at), "snippet": snippet,
        });
        let is_near = asked.is_of(self.session) || tokens(self.session.as_str()) > SNIPPET;
        if let (false, Value::Object(fields)) = (is_near, &mut json) {
            fields.insert("session_id".to_owned(), json!(self.session));
        }
        (line, json)
    }
}
