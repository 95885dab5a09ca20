//! Why a window is what it is, item by item. Pure: it tells what assembly decided.

use super::cut::Cut;
use super::outline::Outline;
use super::preamble::{Head, Preamble};
use oneiro_model::{ItemPlace, MessageId, SummaryKind, WindowItem};
use oneiro_store::costs::{Cost, RangeTotals};
use serde_json::Value;

/// What assembly decided.
pub(super) struct Explained<'a> {
    pub(super) outline: &'a Outline,
    pub(super) preamble: &'a Preamble,
    pub(super) shown: &'a [Cost],
    pub(super) cut: Cut,
    pub(super) left_out: RangeTotals,
    pub(super) head: &'a Head,
}

/// Every item, in the order of the window.
pub(super) fn explain(of: &Explained<'_>) -> Vec<WindowItem> {
    let mut items = Vec::new();
    if of.head.prompt_tokens > 0 {
        items.push(item("system", None, of.head.prompt_tokens, "the system prompt comes first"));
    }
    if of.head.tools_tokens > 0 {
        items.push(item("tools", None, of.head.tools_tokens, "the caller sends its tools"));
    }
    for (node, piece) in of.outline.shown.iter().zip(&of.preamble.summaries) {
        let id = Some(Value::from(node.id.as_str()));
        let why = match (node.kind, piece.words) {
            (_, false) => "shown as a handle: summaries would fill the window".to_owned(),
            (SummaryKind::Written, true) => "written by hand".to_owned(),
            (SummaryKind::Leaf, true) => format!("covers {} messages", node.message_count),
            (SummaryKind::Condensed, true) => {
                format!("condenses summaries over {} messages", node.message_count)
            }
        };
        items.push(item("summary", id, piece.tokens, why));
        if node.message_count > 0 {
            items.push(WindowItem {
                last: Some(MessageId(node.last_seq)),
                place: ItemPlace::Summarised,
                ..item(
                    "messages",
                    Some(node.first_seq.into()),
                    node.message_tokens,
                    format!("{} messages under {}", node.message_count, node.id),
                )
            });
        }
    }
    for (id, piece) in &of.preamble.pins {
        let why = if piece.words {
            "pinned into every window"
        } else {
            "pinned, but shown as a handle: pinned messages would fill the window"
        };
        items.push(item("message", Some(id.0.into()), piece.tokens, why));
    }
    if of.left_out.messages > 0 {
        items.push(WindowItem {
            last: Some(MessageId(of.left_out.last)),
            place: ItemPlace::Out,
            ..item(
                "messages",
                Some(of.left_out.first.into()),
                of.left_out.tokens,
                format!(
                    "{} messages do not fit the budget, and no summary covers them yet",
                    of.left_out.messages
                ),
            )
        });
    }
    let short = of.cut.full - of.cut.first;
    for (index, cost) in of.shown.iter().enumerate() {
        let (tokens, why) = if index < short && cost.short_tokens < cost.tokens {
            (cost.short_tokens, format!("short: {} tokens in full", cost.tokens))
        } else {
            (cost.tokens, "among the newest that fit".to_owned())
        };
        items.push(item("message", Some(cost.seq.into()), tokens, why));
    }
    items
}

fn item(kind: &'static str, id: Option<Value>, tokens: i64, why: impl Into<String>) -> WindowItem {
    WindowItem {
        kind,
        id,
        last: None,
        place: ItemPlace::In,
        tokens: usize::try_from(tokens).unwrap_or(0),
        why: why.into(),
    }
}
