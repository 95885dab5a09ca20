//! The part of a window before its messages: the system prompt, summaries, pinned messages, and the
//! notice of what is left out.

use super::form::short;
use super::markup;
use oneiro_count::tokens;
use oneiro_model::{Message, MessageId, Result, Session, SessionId, SummaryKind};
use oneiro_store::costs::{Cost, RangeTotals};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, contexts, messages};

/// Shares of the room after the system prompt, in quarters, for summaries written by hand and for
/// pinned messages. Those beyond them are shown as handles without text.
const WRITTEN_QUARTERS: i64 = 2;
const PIN_QUARTERS: i64 = 1;

/// Tokens around the ids of pinned messages that are shown as handles.
const HANDLES_TOKENS: i64 = 12;

/// Tokens that the guidance costs beside its text.
const GUIDANCE_MARKUP_TOKENS: i64 = 12;

/// The depth from which on the guidance warns of condensed summaries.
const DEEP: i64 = 2;

/// The system message of a window.
pub(super) struct Head {
    pub(super) text: String,
    pub(super) tokens: i64,
    /// The part of `tokens` that is the system prompt.
    pub(super) prompt_tokens: i64,
    /// Tokens of the tools, which the caller sends.
    pub(super) tools_tokens: i64,
}

/// A summary in a window.
pub(super) struct ShownSummary {
    pub(super) node: Node,
    text: String,
    /// Its tokens as shown.
    pub(super) tokens: i64,
    /// Whether its text is shown, or only its handle.
    pub(super) has_text: bool,
}

/// A pinned message in a window.
pub(super) struct Pin {
    pub(super) id: MessageId,
    text: String,
    /// Its tokens as shown.
    pub(super) tokens: i64,
    /// Whether its text is shown, or only its handle.
    pub(super) has_text: bool,
}

/// What stands before the messages of every window of a session.
pub(super) struct Preamble {
    /// The summaries: those written by hand, then those of the frontier.
    pub(super) summaries: Vec<ShownSummary>,
    /// The pinned messages, in order.
    pub(super) pins: Vec<Pin>,
}

/// The system prompt and the tools of a session; `count` caches.
pub(super) fn system_head(session: &Session, count: impl Fn(&str) -> i64) -> Head {
    let text = session.system_prompt.clone().unwrap_or_default();
    let prompt_tokens = if text.is_empty() { 0 } else { count(&text) };
    let tools = session.model_config.as_ref().and_then(|config| config.get("tools"));
    let tools = tools.filter(|tools| !tools.is_null());
    let tools_tokens = tools.map_or(0, |tools| count(&tools.to_string()));
    Head { text, tokens: prompt_tokens, prompt_tokens, tools_tokens }
}

/// Tokens of the text around summaries, at most.
pub(super) fn guidance_tokens(id: &SessionId) -> i64 {
    tokens(&markup::guidance(id, DEEP)) as i64 + GUIDANCE_MARKUP_TOKENS
}

impl ShownSummary {
    pub(super) fn with_text(node: Node) -> ShownSummary {
        let text = markup::summary(&node, true);
        ShownSummary { text, tokens: node.tokens, has_text: true, node }
    }

    /// Its key as the mark of a window stores it; negative for a handle.
    pub(super) fn in_mark(&self) -> i64 {
        if self.has_text { self.node.key } else { -self.node.key }
    }

    /// The summary that a mark stores; `None` if it was removed.
    pub(super) fn from_mark(tx: &Tx<'_>, in_mark: i64) -> Result<Option<ShownSummary>> {
        let node = summaries::get(tx, in_mark.abs())?;
        Ok(node.map(if in_mark > 0 { ShownSummary::with_text } else { ShownSummary::handle }))
    }

    pub(super) fn handle(node: Node) -> ShownSummary {
        let text = markup::summary(&node, false);
        let tokens = tokens(&text) as i64 + 1;
        ShownSummary { text, tokens, has_text: false, node }
    }
}

impl Preamble {
    /// What every window shows whatever its frontier: summaries written by hand and pinned
    /// messages, within their shares of `left` tokens.
    pub(super) fn fixed(tx: &Tx<'_>, session_key: i64, left: i64) -> Result<Preamble> {
        let mut summaries = Vec::new();
        for key in summaries::written_roots(tx, session_key)? {
            let Some(node) = summaries::get(tx, key)? else { continue };
            let fits = node.tokens <= left / 4 * WRITTEN_QUARTERS;
            summaries.push(if fits {
                ShownSummary::with_text(node)
            } else {
                ShownSummary::handle(node)
            });
        }
        let (mut pins, mut sum) = (Vec::new(), 0);
        for seq in contexts::pinned(tx, session_key)? {
            let Some((_, message)) = messages::get(tx, MessageId(seq))? else { continue };
            pins.push(pin(&message, &mut sum, left / 4 * PIN_QUARTERS));
        }
        Ok(Preamble { summaries, pins })
    }

    /// How many of the summaries were written by hand.
    pub(super) fn written(&self) -> usize {
        let written = |one: &&ShownSummary| one.node.kind == SummaryKind::Written;
        self.summaries.iter().filter(written).count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.summaries.is_empty() && self.pins.is_empty()
    }

    /// Total tokens, without the guidance.
    pub(super) fn tokens(&self) -> i64 {
        let handles = if self.handles().next().is_some() { HANDLES_TOKENS } else { 0 };
        let summaries: i64 = self.summaries.iter().map(|summary| summary.tokens).sum();
        handles + summaries + self.pins.iter().map(|pin| pin.tokens).sum::<i64>()
    }

    /// The pinned messages that are shown by id only.
    fn handles(&self) -> impl Iterator<Item = &Pin> {
        self.pins.iter().filter(|pin| !pin.has_text)
    }

    /// Removes the pinned messages that the window shows anyway.
    pub(super) fn without(&mut self, shown: &[Cost]) {
        self.pins.retain(|pin| shown.binary_search_by_key(&pin.id.0, |cost| cost.seq).is_err());
    }

    /// The whole system message.
    pub(super) fn head(&self, bare: Head, id: &SessionId, left_out: RangeTotals) -> Head {
        if self.is_empty() && left_out.messages == 0 {
            return bare;
        }
        let shown = self.summaries.iter().filter(|one| one.node.kind != SummaryKind::Written);
        let guidance = markup::guidance(id, shown.map(|one| one.node.depth).max().unwrap_or(0));
        let mut cost = bare.tokens + tokens(&guidance) as i64 + GUIDANCE_MARKUP_TOKENS;
        cost += self.tokens();
        let mut parts = Vec::new();
        if !bare.text.is_empty() {
            parts.push(bare.text.as_str());
        }
        parts.push(&guidance);
        parts.extend(self.summaries.iter().map(|summary| summary.text.as_str()));
        parts.extend(self.pins.iter().filter(|pin| pin.has_text).map(|pin| pin.text.as_str()));
        let handles: Vec<String> = self.handles().map(|pin| pin.id.to_string()).collect();
        let has_handles = !handles.is_empty();
        let handles = markup::pinned_handles(&handles);
        if has_handles {
            parts.push(&handles);
        }
        let count = usize::try_from(left_out.messages).unwrap_or(0);
        let omitted = markup::omitted(left_out.first, left_out.last, count);
        if left_out.messages > 0 {
            cost += tokens(&omitted) as i64 + 1;
            parts.push(&omitted);
        }
        parts.push(markup::END);
        Head { text: parts.join("\n\n"), tokens: cost, ..bare }
    }
}

fn pin(message: &Message, sum: &mut i64, limit: i64) -> Pin {
    let id = message.id;
    let text = markup::pinned(&short(message));
    let cost = tokens(&text) as i64 + 1;
    if *sum + cost <= limit {
        *sum += cost;
        return Pin { id, text, tokens: cost, has_text: true };
    }
    let tokens = tokens(&format!("{id},")) as i64;
    Pin { id, text: String::new(), tokens, has_text: false }
}
