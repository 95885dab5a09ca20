//! The answer of `session_expand` to an id: the messages, the summary above them, and how to
//! continue, within the budget.

use super::pieces::{Fitted, fit};
use super::request::{ExpandCall, Target};
use crate::budget::Budget;
use crate::recalled::{FRAME, delimit};
use crate::text::{count, minute};
use crate::tools::Answer;
use oneiro::count::tokens;
use oneiro::{Cursor, ExpandWhat, Expanded, Result, Summary};
use serde_json::{Map, Value, json};

/// The structured content without messages and summary, in tokens: names, a cursor and an offset.
const STRUCTURED_TOKENS: usize = 36;

/// The longest headline, in tokens.
const HEADLINE_TOKENS: usize = 10;

/// The longest summary, note and proposed call, in tokens.
const END_TOKENS: usize = 500;

/// Makes the answer.
pub(super) fn answer(
    found: &Expanded,
    summary: Option<&Summary>,
    call: &ExpandCall,
) -> Result<Answer> {
    let mut budget = Budget::tokens(call.tokens);
    budget.set_aside(Budget { text: FRAME + HEADLINE_TOKENS, json: STRUCTURED_TOKENS });
    let end = (budget.left() / 3).min(END_TOKENS);
    let mut end = budget.set_aside(Budget { text: end, json: end });
    let fitted = fit(&found.messages, call, budget)?;
    let mut structured = Map::new();
    let mut text = headline(&fitted);
    if let Some((line, fields)) = summary.and_then(|summary| summary_line(summary, &mut end)) {
        text = format!("{text}\n{line}");
        structured.insert("summary".to_owned(), fields);
    }
    if !fitted.lines.is_empty() {
        text = format!("{text}\n{}", delimit(&fitted.lines));
    }
    let (cursor, offset) = next_page(found, &fitted, call);
    let more = if cursor.is_some() || offset.is_some() {
        format!("\nMore: {}", next_call(call, cursor, offset))
    } else {
        String::new()
    };
    let has_more = end.spend(&more, "");
    let note = call.notes.join("; ");
    if !note.is_empty() && end.spend(&format!("\nNote: {note}"), "") {
        text = format!("{text}\nNote: {note}");
    }
    if has_more {
        text.push_str(&more);
    }
    structured.insert("messages".to_owned(), Value::Array(fitted.messages));
    if let Some(cursor) = cursor {
        structured.insert("cursor".to_owned(), json!(cursor));
    }
    if let Some(offset) = offset {
        structured.insert("offset".to_owned(), json!(offset));
    }
    Ok(Answer::text(text, Value::Object(structured)))
}

fn headline(fitted: &Fitted) -> String {
    match (fitted.complete, fitted.offset) {
        (0, None) => "No more messages.".to_owned(),
        (0, Some(_)) => "Part of a long message.".to_owned(),
        (many, _) => format!("{}.", count(many as i64, "message")),
    }
}

/// Where the next answer begins: after the last message that was shown to its end, and inside the
/// next one if a part of that was shown.
fn next_page(
    found: &Expanded,
    fitted: &Fitted,
    call: &ExpandCall,
) -> (Option<Cursor>, Option<usize>) {
    if fitted.complete == found.messages.len() {
        return (found.next, None);
    }
    let last = fitted.complete.checked_sub(1).and_then(|last| found.messages.get(last));
    let after = last.map(|message| Cursor { order: message.id.0, key: message.id.0 });
    (after.or(call.cursor), fitted.offset)
}

fn next_call(call: &ExpandCall, cursor: Option<Cursor>, offset: Option<usize>) -> String {
    let id = match &call.target {
        Target::Messages(ExpandWhat::Summary(id)) => id.clone(),
        Target::Messages(ExpandWhat::Message(id)) => id.to_string(),
        Target::Messages(ExpandWhat::Range(first, last)) => format!("{first}-{last}"),
        Target::Grep(_) => String::new(),
    };
    let cursor = cursor.map_or(String::new(), |cursor| format!(", cursor=\"{cursor}\""));
    let offset = offset.map_or(String::new(), |offset| format!(", offset={offset}"));
    call.propose(&id, &format!("{cursor}{offset}"))
}

/// A summary on one line, and its fields: with half as many children as long as there is no room,
/// and nothing if there is no room for the rest.
fn summary_line(summary: &Summary, budget: &mut Budget) -> Option<(String, Value)> {
    let mut children = summary.children.as_slice();
    loop {
        let mut line = format!(
            "summary {}: depth {}, {}, {} to {}",
            summary.id,
            summary.depth,
            count(summary.message_count, "message"),
            minute(summary.earliest_at),
            minute(summary.latest_at)
        );
        if !children.is_empty() {
            let ids: Vec<String> = children.iter().map(ToString::to_string).collect();
            line = format!("{line}; summaries below it: {}", ids.join(", "));
        }
        let mut fields = json!({
            "id": summary.id, "depth": summary.depth, "messages": summary.message_count,
            "from": summary.earliest_at, "to": summary.latest_at, "children": children,
        });
        if let ([parent], Value::Object(fields)) = (summary.parents.as_slice(), &mut fields) {
            fields.insert("parent".to_owned(), json!(parent));
        }
        // The line ends with a line break, and the fields have a name.
        if budget.spend_tokens(tokens(&line) + 1, tokens(&fields.to_string()) + 4) {
            return Some((line, fields));
        }
        if children.is_empty() {
            return None;
        }
        children = children.get(..children.len() / 2).unwrap_or_default();
    }
}
