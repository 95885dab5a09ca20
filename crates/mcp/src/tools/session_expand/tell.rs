//! The answer of `session_expand` to an id: the exact messages, what stands above them, and how to
//! go on, as text and as structure, each within the budget. It must not know how they were found.

use super::ask::{Asked, Wanted};
use super::pieces::{Filled, fill};
use crate::budget::Budget;
use crate::recalled::{FRAME, delimit};
use crate::tools::Answer;
use crate::tools::session_search::when;
use oneiro::count::tokens;
use oneiro::{Cursor, ExpandWhat, Expanded, Result, Summary};
use serde_json::{Map, Value, json};

/// What the structured part costs without messages, summary, note and calls, in tokens:
/// names, and a cursor with an offset.
const KEYS: usize = 36;

/// What a headline costs at most, in tokens.
const HEADLINE: usize = 10;

/// What the summary, the note and the call at the end cost at most, in tokens.
const END: usize = 500;

/// Makes the answer.
pub(super) fn answer(found: &Expanded, summary: Option<&Summary>, asked: &Asked) -> Result<Answer> {
    let mut budget = Budget::tokens(asked.tokens);
    budget.set_aside(Budget { text: FRAME + HEADLINE, json: KEYS });
    // For the summary, the note and the call at the end.
    let end = (budget.left() / 3).min(END);
    let mut close = budget.set_aside(Budget { text: end, json: end });
    let filled = fill(&found.messages, asked.offset, budget, |session| asked.is_of(session))?;
    let mut structured = Map::new();
    let mut text = headline(&filled);
    let about = summary.and_then(|summary| about(summary, &mut close));
    if let Some((line, facts)) = about {
        text = format!("{text}\n{line}");
        structured.insert("summary".to_owned(), facts);
    }
    if !filled.lines.is_empty() {
        text = format!("{text}\n{}", delimit(&filled.lines));
    }
    let (cursor, offset) = place(found, &filled, asked);
    let mut next = Vec::new();
    if cursor.is_some() || offset.is_some() {
        let call = onward(asked, cursor, offset);
        if close.spend(&format!("\nMore: {call}"), &json!(call).to_string()) {
            next.push(call);
        }
    }
    let note = asked.notes.join("; ");
    if !note.is_empty() && close.spend(&format!("\nNote: {note}"), &json!(note).to_string()) {
        text = format!("{text}\nNote: {note}");
        structured.insert("note".to_owned(), json!(note));
    }
    for call in &next {
        text = format!("{text}\nMore: {call}");
    }
    structured.insert("messages".to_owned(), Value::Array(filled.messages));
    if let Some(cursor) = cursor {
        structured.insert("cursor".to_owned(), json!(cursor));
    }
    if let Some(offset) = offset {
        structured.insert("offset".to_owned(), json!(offset));
    }
    structured.insert("next".to_owned(), json!(next));
    Ok(Answer { text, structured: Value::Object(structured) })
}

fn headline(filled: &Filled) -> String {
    match (filled.ended, filled.offset) {
        (0, None) => "Nothing more is there.".to_owned(),
        (0, Some(_)) => "A piece of a long message.".to_owned(),
        (1, _) => "1 message, in its own words.".to_owned(),
        (many, _) => format!("{many} messages, in their own words."),
    }
}

/// Where the next answer begins: after the last message that was shown to its end, and in the
/// midst of the one after it if a part of that was shown.
fn place(found: &Expanded, filled: &Filled, asked: &Asked) -> (Option<Cursor>, Option<usize>) {
    let last = filled.ended.checked_sub(1).and_then(|last| found.messages.get(last));
    let after = last.map(|message| Cursor { order: message.id.0, key: message.id.0 });
    let is_all = filled.ended == found.messages.len();
    match (is_all, filled.offset) {
        (true, _) => (found.next, None),
        (false, offset) => (after.or(asked.cursor), offset),
    }
}

fn onward(asked: &Asked, cursor: Option<Cursor>, offset: Option<usize>) -> String {
    let id = match &asked.wanted {
        Wanted::Messages(ExpandWhat::Summary(id)) => id.clone(),
        Wanted::Messages(ExpandWhat::Message(id)) => id.to_string(),
        Wanted::Messages(ExpandWhat::Range(first, last)) => format!("{first}-{last}"),
        Wanted::Words(_) => String::new(),
    };
    let cursor = cursor.map_or(String::new(), |cursor| format!(", cursor=\"{cursor}\""));
    let offset = offset.map_or(String::new(), |offset| format!(", offset={offset}"));
    asked.call(&id, &format!("{cursor}{offset}"))
}

/// A summary on a line of ours, and its facts: without the summaries it covers if these are more
/// than there is room for, and nothing if that is too much still.
fn about(summary: &Summary, budget: &mut Budget) -> Option<(String, Value)> {
    let mut children = summary.children.as_slice();
    loop {
        let mut line = format!(
            "summary {}: depth {}, {} messages, {} to {}",
            summary.id,
            summary.depth,
            summary.message_count,
            when(summary.earliest_at),
            when(summary.latest_at)
        );
        if !children.is_empty() {
            let named: Vec<String> = children.iter().map(ToString::to_string).collect();
            line = format!("{line}; it covers {}, to be expanded alike", named.join(", "));
        }
        let mut facts = json!({
            "id": summary.id, "kind": summary.kind, "depth": summary.depth,
            "level": summary.level, "messages": summary.message_count,
            "from": summary.earliest_at, "to": summary.latest_at, "children": children,
        });
        if let (true, Value::Object(facts)) = (summary.parents.len() == 1, &mut facts) {
            facts.insert("parent".to_owned(), json!(summary.parents.first()));
        }
        // With its name and the end of the line.
        let cost = (tokens(&line) + 1, tokens(&facts.to_string()) + 4);
        if budget.spend_tokens(cost.0, cost.1) {
            return Some((line, facts));
        }
        if children.is_empty() {
            return None;
        }
        children = children.get(..children.len() / 2).unwrap_or_default();
    }
}
