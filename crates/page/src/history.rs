//! The history of a memory: every recorded change, oldest first, each with a button that undoes it.

use crate::belief::{actor, operation_name};
use crate::layout::Frame;
use crate::numbers::counted;
use crate::text::{line, plain};
use crate::{forms, when};
use maud::{Markup, html};
use oneiro::{GroupId, Operation};
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters of a value before or after a change.
const VALUE_CHARS: usize = 300;

/// Fields that a creation shows; the others are on the page of the memory.
const CREATED_FIELDS: [&str; 3] = ["content", "status", "trust"];

/// Every operation, with the number of changes of each group.
pub(crate) fn list(
    operations: &[Operation],
    group_sizes: &BTreeMap<GroupId, usize>,
    frame: &Frame,
    back: &str,
) -> Markup {
    html! {
        ol.history {
            @for operation in operations {
                li #(operation.id.to_string()) {
                    p.what {
                        strong { (operation_name(&operation.kind)) }
                        " by "
                        (actor(&operation.actor))
                        ", "
                        (when::ago(operation.at, frame.now))
                        @if operation.undone_by.is_some() {
                            " "
                            span.badge { "undone" }
                        }
                    }
                    @if let Some(reason) = &operation.reason {
                        p.note { "Reason: " (line(reason, VALUE_CHARS)) }
                    }
                    (difference(operation))
                    @if operation.undone_by.is_none() && !operation.erased {
                        (undo(operation, group_sizes, frame, back))
                    }
                }
            }
        }
    }
}

fn undo(
    operation: &Operation,
    group_sizes: &BTreeMap<GroupId, usize>,
    frame: &Frame,
    back: &str,
) -> Markup {
    let label = if operation.undoes.is_some() { "Redo" } else { "Undo" };
    let group = operation.group.as_ref();
    let group =
        group.and_then(|id| Some((id, *group_sizes.get(id)?))).filter(|(_, size)| *size > 1);
    html! {
        div.acts {
            (forms::undo(frame, &operation.id, label, back))
            @if let Some((id, size)) = group {
                @let label = format!("{label} with {}", counted(size as i64 - 1, "related change"));
                (forms::undo_group(frame, id, &label, back))
            }
        }
    }
}

fn difference(operation: &Operation) -> Markup {
    if operation.erased {
        return html! {
            p.note { "Its content was erased." }
        };
    }
    let after = operation.after.as_ref().and_then(Value::as_object);
    let before = operation.before.as_ref().and_then(Value::as_object);
    html! {
        @match (before, after) {
            (Some(before), Some(after)) => dl.changes {
                @for (name, value) in after {
                    div {
                        dt { (field_name(name)) }
                        dd {
                            del { (field_value(before.get(name))) }
                            " "
                            span aria-hidden="true" { "→" }
                            " "
                            (field_value(Some(value)))
                        }
                    }
                }
            },
            (None, Some(after)) => dl.changes {
                @for (name, value) in CREATED_FIELDS.iter().filter_map(|name| Some((name, after.get(*name)?))) {
                    div {
                        dt { (field_name(name)) }
                        dd { (field_value(Some(value))) }
                    }
                }
            },
            (Some(_), None) => p.note { "It was removed." },
            (None, None) => {}
        }
    }
}

fn field_name(name: &str) -> Markup {
    let known = match name {
        "content" => "statement",
        "citations" => "sources",
        "superseded_by" => "superseded by",
        "suspended_by" => "contradicted by",
        "valid_from" => "valid from",
        "valid_until" => "valid until",
        "confirmed_at" => "confirmed",
        "initial_confidence" => "initial confidence",
        other => other,
    };
    plain(known)
}

fn field_value(value: Option<&Value>) -> Markup {
    html! {
        @match value {
            None | Some(Value::Null) => span.none { "none" },
            Some(Value::String(text)) => (line(text, VALUE_CHARS)),
            Some(Value::Array(values)) => (list_of(values)),
            Some(other) => (line(&other.to_string(), VALUE_CHARS)),
        }
    }
}

/// Tags by name; sources by their quotes.
fn list_of(values: &[Value]) -> Markup {
    let texts = values.iter().map(|value| match (value, value.get("quote")) {
        (Value::String(text), _) | (_, Some(Value::String(text))) => text.clone(),
        (other, _) => other.to_string(),
    });
    html! {
        @if values.is_empty() {
            span.none { "none" }
        } @else { (line(&texts.collect::<Vec<_>>().join(" · "), VALUE_CHARS)) }
    }
}
