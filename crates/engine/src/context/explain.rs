//! Why a window is what it is, item by item: reports what assembly decided.

use super::preamble::{Head, Preamble, ShownSummary};
use oneiro_model::{ItemPlace, MessageId, Result, SummaryKind, WindowItem};
use oneiro_store::Tx;
use oneiro_store::costs::{Cost, RangeTotals};
use oneiro_store::message_rows::{self, Include, Position};
use oneiro_store::summaries::{self, Node};
use serde_json::Value;

/// What assembly decided.
pub(super) struct Explained<'a, 't> {
    pub(super) tx: &'a Tx<'t>,
    /// The key of the session.
    pub(super) key: i64,
    pub(super) preamble: &'a Preamble,
    /// The messages that are shown, oldest first.
    pub(super) shown: &'a [Cost],
    /// How many of them, the oldest, are in their short form.
    pub(super) short: usize,
    pub(super) left_out: RangeTotals,
    pub(super) head: &'a Head,
}

/// Every item, in the order of the window.
pub(super) fn explain(of: &Explained<'_, '_>) -> Result<Vec<WindowItem>> {
    let mut items = Vec::new();
    if of.head.prompt_tokens > 0 {
        items.push(item("system", None, of.head.prompt_tokens, "the system prompt comes first"));
    }
    if of.head.tools_tokens > 0 {
        items.push(item("tools", None, of.head.tools_tokens, "the caller sends its tools"));
    }
    for summary in &of.preamble.summaries {
        let id = Some(Value::from(summary.node.id.as_str()));
        let depth = Some(summary.node.depth);
        let why = why_summary(summary);
        items.push(WindowItem { depth, ..item("summary", id, summary.tokens, why) });
        items.extend(of.summarised(&summary.node)?);
    }
    for pin in &of.preamble.pins {
        let why = if pin.has_text {
            "pinned into every window"
        } else {
            "pinned, but shown as a handle: pinned messages would fill the window"
        };
        items.push(item("message", Some(pin.id.0.into()), pin.tokens, why));
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
    for (index, cost) in of.shown.iter().enumerate() {
        let (tokens, why) = if index < of.short && cost.short_tokens < cost.tokens {
            (cost.short_tokens, format!("short: {} tokens in full", cost.tokens))
        } else {
            (cost.tokens, "among the newest that fit".to_owned())
        };
        items.push(item("message", Some(cost.seq.into()), tokens, why));
    }
    Ok(items)
}

fn why_summary(summary: &ShownSummary) -> String {
    let node = &summary.node;
    match node.kind {
        _ if !summary.has_text => "shown as a handle: its text does not fit".to_owned(),
        SummaryKind::Written => "written by hand".to_owned(),
        SummaryKind::Leaf => format!("covers {} messages", node.message_count),
        SummaryKind::Condensed if node.is_overview() => {
            format!("overview of the oldest {} messages", node.message_count)
        }
        SummaryKind::Condensed => {
            format!("condenses summaries over {} messages", node.message_count)
        }
    }
}

impl Explained<'_, '_> {
    /// The messages that a summary stands in for: those under it that are not shown themselves.
    fn summarised(&self, node: &Node) -> Result<Option<WindowItem>> {
        if node.message_count == 0 {
            return Ok(None);
        }
        let under = |cost: &&Cost| (node.first_seq..=node.last_seq).contains(&cost.seq);
        let shown: Vec<&Cost> = self.shown.iter().filter(under).collect();
        let messages = node.message_count - shown.len() as i64;
        let last = match shown.first() {
            None => node.last_seq,
            Some(first) if node.session_key != self.key => {
                let seqs = summaries::seqs_under(self.tx, node.key)?;
                let before = seqs.into_iter().filter(|seq| *seq < first.seq).max();
                before.unwrap_or(node.first_seq)
            }
            Some(first) => {
                let edge = Position { session_key: self.key, seq: first.seq };
                let before = message_rows::session_ids_before(self.tx, edge, Include::Live, 1)?;
                before.first().copied().unwrap_or(node.first_seq)
            }
        };
        let tokens = node.message_tokens - shown.iter().map(|cost| cost.tokens).sum::<i64>();
        let why = format!("{messages} messages under {}", node.id);
        Ok(Some(WindowItem {
            last: Some(MessageId(last)),
            depth: Some(node.depth),
            place: ItemPlace::Summarised,
            ..item("messages", Some(node.first_seq.into()), tokens.max(0), why)
        }))
    }
}

fn item(kind: &'static str, id: Option<Value>, tokens: i64, why: impl Into<String>) -> WindowItem {
    WindowItem {
        kind,
        id,
        last: None,
        depth: None,
        place: ItemPlace::In,
        tokens: usize::try_from(tokens).unwrap_or(0),
        why: why.into(),
    }
}
