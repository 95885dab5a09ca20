//! Memories, operations and reasons as text for people.

use crate::output::{ago, one_line, plain, table};
use oneiro::{
    Actor, Memory, MemoryView, Operation, RelatedMemory, Relation, Timestamp, Why, WhyKind,
};
use serde_json::Value;

/// Columns of a statement in a table.
const STATEMENT_COLUMNS: usize = 70;

/// Characters of an id in a table; a unique prefix is enough for every command.
const ID_CHARS: usize = 12;

/// The beginning of an id.
fn short_id(id: &str) -> String {
    id.chars().take(ID_CHARS).collect()
}

/// The status, and whether a contradiction suspends it.
fn status(memory: &Memory) -> String {
    match memory.suspended_by {
        Some(_) => format!("{}, suspended", memory.status.as_str()),
        None => memory.status.as_str().to_owned(),
    }
}

/// A memory on one line.
pub fn line(memory: &Memory) -> String {
    let about = memory.subject.as_deref().map(|subject| format!(" about {}", plain(subject)));
    format!(
        "{} {} ({}{}): {}",
        memory.id,
        memory.kind.as_str(),
        status(memory),
        about.unwrap_or_default(),
        one_line(&memory.content, 200),
    )
}

/// A table of memories.
pub fn list(memories: &[Memory], now: Timestamp) -> String {
    if memories.is_empty() {
        return "No memories match.".to_owned();
    }
    let row = |memory: &Memory| {
        vec![
            short_id(memory.id.as_str()),
            status(memory),
            memory.kind.as_str().to_owned(),
            one_line(memory.subject.as_deref().unwrap_or("-"), 16),
            one_line(&memory.content, STATEMENT_COLUMNS),
            ago(memory.created_at, now),
        ]
    };
    let rows: Vec<_> = memories.iter().map(row).collect();
    table(&["id", "status", "kind", "subject", "statement", "created"], &rows)
}

/// A memory with everything known about it.
pub fn view(view: &MemoryView, now: Timestamp) -> String {
    let memory = &view.memory;
    let mut lines = vec![plain(&memory.content), String::new()];
    let mut field = |name: &str, value: String| lines.push(format!("{name:<12} {value}"));
    field("id", memory.id.to_string());
    field("status", status(memory));
    field("kind", memory.kind.as_str().to_owned());
    for (name, value) in [("subject", &memory.subject), ("project", &memory.project)] {
        if let Some(value) = value {
            field(name, one_line(value, STATEMENT_COLUMNS));
        }
    }
    if !memory.tags.is_empty() {
        field("tags", one_line(&memory.tags.join(", "), STATEMENT_COLUMNS));
    }
    field("trust", memory.trust.as_str().to_owned());
    field("confidence", format!("{:.2}", memory.confidence));
    for (name, at) in [("valid from", memory.valid_from), ("valid until", memory.valid_until)] {
        if let Some(at) = at {
            field(name, at.to_string());
        }
    }
    if let Some(by) = &memory.superseded_by {
        field("replaced by", by.to_string());
    }
    if let Some(by) = &memory.suspended_by {
        field("contradicted", format!("by {by}; settle it with confirm, supersede or forget"));
    }
    if let Some(at) = memory.confirmed_at {
        field("confirmed", ago(at, now));
    }
    if !view.muted_in.is_empty() {
        let projects = one_line(&view.muted_in.join(", "), STATEMENT_COLUMNS);
        field("muted in", format!("{projects}; `oneiro memory unmute {}` ends it", memory.id));
    }
    field("created", format!("{} by {}", ago(memory.created_at, now), memory.origin.as_str()));
    for citation in &memory.citations {
        let place = match (citation.message_id, &citation.session_id) {
            (Some(message), Some(session)) => {
                format!("message {message} of {}", plain(session.as_str()))
            }
            _ => "no captured message".to_owned(),
        };
        let quote = one_line(&citation.quote, STATEMENT_COLUMNS);
        field("source", format!("{quote:?} ({place}, trust {})", citation.trust.as_str()));
    }
    if let Some(explained) = &view.explanation {
        let parts: Vec<String> =
            explained.parts.iter().map(|part| format!("{} {:.2}", part.name, part.value)).collect();
        field("explained", parts.join(", "));
        let signals: Vec<String> = explained
            .signals
            .iter()
            .map(|signal| format!("{} {}", signal.count, signal.kind.as_str()))
            .collect();
        if !signals.is_empty() {
            field("signals", signals.join(", "));
        }
    }
    for other in view.related.iter().flatten() {
        field(relation(other), format!("{} {}", other.id, one_line(&other.content, 60)));
    }
    lines.join("\n")
}

fn relation(other: &RelatedMemory) -> &'static str {
    match other.relation {
        Relation::Same => "same as",
        Relation::Contradicts => "contradicts",
        Relation::Refines | Relation::Unrelated => "similar to",
    }
}

/// Who acts.
pub fn actor(actor: &Actor) -> String {
    match &actor.client {
        Some(client) => format!("{} ({})", actor.kind.as_str(), one_line(client, 30)),
        None => actor.kind.as_str().to_owned(),
    }
}

/// A table of operations.
pub fn operations(operations: &[Operation], now: Timestamp) -> String {
    if operations.is_empty() {
        return "No operations match.".to_owned();
    }
    let row = |operation: &Operation| {
        let mut what = difference(operation);
        if operation.undone_by.is_some() {
            what = format!("(undone) {what}");
        }
        if let Some(reason) = &operation.reason {
            what = format!("{what} - {reason}");
        }
        vec![
            operation.id.to_string(),
            operation.kind.clone(),
            one_line(&short_id(&operation.subject.id), ID_CHARS),
            actor(&operation.actor),
            ago(operation.at, now),
            one_line(&what, STATEMENT_COLUMNS),
        ]
    };
    let rows: Vec<_> = operations.iter().map(row).collect();
    table(&["operation", "kind", "subject", "by", "when", "what"], &rows)
}

/// What an operation changed, in a few words.
fn difference(operation: &Operation) -> String {
    if operation.erased {
        return "(erased)".to_owned();
    }
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let named = |fields: &Value| {
        let name = ["content", "value", "target", "root"].iter().find_map(|name| fields.get(name));
        text(name)
    };
    match (&operation.before, &operation.after) {
        (None, Some(after)) => named(after),
        (Some(before), None) => format!("removed: {}", named(before)),
        (Some(before), Some(Value::Object(after))) => {
            let change = |(name, value): (&String, &Value)| {
                format!("{name}: {} -> {}", text(before.get(name)), text(Some(value)))
            };
            after.iter().map(change).collect::<Vec<_>>().join("; ")
        }
        _ => String::new(),
    }
}

/// A tree of reasons.
pub fn why(why: &Why, now: Timestamp) -> String {
    let mut lines = vec![node(why, now)];
    add_children(why, "", now, &mut lines);
    lines.join("\n")
}

fn add_children(why: &Why, indent: &str, now: Timestamp, lines: &mut Vec<String>) {
    let last = why.children.len().saturating_sub(1);
    for (index, child) in why.children.iter().enumerate() {
        let (branch, below) = if index == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lines.push(format!("{indent}{branch}{}", node(child, now)));
        add_children(child, &format!("{indent}{below}"), now, lines);
    }
}

fn node(why: &Why, now: Timestamp) -> String {
    let when = why.at.map(|at| format!(", {}", ago(at, now))).unwrap_or_default();
    let text = one_line(&why.text, 100);
    match why.kind {
        WhyKind::Memory | WhyKind::State => format!("{text} [{}{when}]", why.id),
        WhyKind::Quote => format!("quote: {text:?}"),
        WhyKind::Message => format!("message {}: {text}{when}", why.id),
        WhyKind::Neighbour => format!("beside it, message {}: {text}", why.id),
        WhyKind::Missing => text,
        WhyKind::Operation => {
            let by = why.actor.as_ref().map(|by| format!(" by {}", actor(by))).unwrap_or_default();
            format!("{text}{by}{when} [{}]", why.id)
        }
    }
}

/// What a review shows of a candidate.
pub fn candidate(view: &MemoryView, now: Timestamp) -> String {
    let mut text = self::view(view, now);
    if view.memory.citations.is_empty() {
        text.push_str("\nIt has no source.");
    }
    text
}
