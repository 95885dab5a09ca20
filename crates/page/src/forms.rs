//! Forms that change something: every one carries the token of the page, so that no other site can
//! send it, and the page to return to.

use crate::belief::KINDS;
use crate::layout::Frame;
use maud::{Markup, html};
use oneiro::{GroupId, Memory, OperationId};

/// A form that posts to `action`; nothing for a visitor who may only read.
pub(crate) fn post(frame: &Frame, action: &str, back: &str, fields: &Markup) -> Markup {
    html! {
        @if let Some(token) = &frame.form_token {
            form.act action=(action) method="post" {
                input type="hidden" name="form_token" value=(token);
                input type="hidden" name="next" value=(back);
                (fields)
            }
        }
    }
}

/// The state of a memory that a form was made for: it is refused when somebody else changed it.
pub(crate) fn seen(memory: &Memory) -> Markup {
    html! {
        input type="hidden" name="seen" value=(memory.updated_at);
    }
}

/// A change of a memory.
pub(crate) struct Change<'a> {
    pub(crate) memory: &'a Memory,
    /// The last part of the path, such as `promote`.
    pub(crate) verb: &'static str,
    pub(crate) label: &'static str,
    /// The key that presses the button.
    pub(crate) key: Option<char>,
    /// The page to return to.
    pub(crate) back: &'a str,
}

/// A form with one button that changes a memory; `fields` go with it.
pub(crate) fn change(frame: &Frame, change: &Change<'_>, fields: &Markup) -> Markup {
    let action = format!("/memories/{}/{}", change.memory.id, change.verb);
    let fields = html! {
        (seen(change.memory))
        (fields)
        button type="submit" data-key=[change.key] {
            (change.label)
            @if let Some(key) = change.key { (key_cap(key)) }
        }
    };
    post(frame, &action, change.back, &fields)
}

/// The key of a button, for those who can press it.
pub(crate) fn key_cap(key: char) -> Markup {
    html! {
        " "
        kbd.scripted { (key) }
    }
}

/// Undoes one operation.
pub(crate) fn undo(frame: &Frame, id: &OperationId, label: &str, back: &str) -> Markup {
    undo_button(frame, id.as_str(), label, back)
}

/// Undoes every operation of a group.
pub(crate) fn undo_group(frame: &Frame, id: &GroupId, label: &str, back: &str) -> Markup {
    undo_button(frame, id.as_str(), label, back)
}

fn undo_button(frame: &Frame, id: &str, label: &str, back: &str) -> Markup {
    let button = html! {
        button type="submit" { (label) }
    };
    post(frame, &format!("/operations/{id}/undo"), back, &button)
}

/// The fields of a memory to edit.
pub(crate) fn edit(frame: &Frame, memory: &Memory, back: &str) -> Markup {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let fields = html! {
        (seen(memory))
        label.whole {
            span { "Statement" }
            textarea name="content" rows="3" required { (memory.content) }
        }
        label {
            span { "Kind" }
            select name="kind" {
                @for kind in KINDS {
                    option value=(kind.as_str()) selected[kind == memory.kind] { (kind.as_str()) }
                }
            }
        }
        label {
            span { "Subject" }
            input type="text" name="subject" value=(text(&memory.subject)) autocomplete="off";
        }
        label {
            span { "Project" }
            input type="text" name="project" value=(text(&memory.project)) autocomplete="off";
        }
        label {
            span { "Tags, separated by commas" }
            input type="text" name="tags" value=(memory.tags.join(", ")) autocomplete="off";
        }
        label.whole {
            span { "Reason (optional)" }
            input type="text" name="reason" autocomplete="off";
        }
        button type="submit" { "Save" }
    };
    let form = post(frame, &format!("/memories/{}/edit", memory.id), back, &fields);
    html! {
        div.editor { (form) }
    }
}
