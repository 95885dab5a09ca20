//! The part of a window before its messages: the system prompt, summaries, pinned messages, and the
//! notice of what is left out. It decides how much of a window these may fill.

use super::markup;
use super::outline::Outline;
use oneiro_count::tokens;
use oneiro_model::{Message, MessageId, Result, Session, SessionId};
use oneiro_store::costs::{Cost, RangeTotals};
use oneiro_store::{Tx, messages};

/// Shares of the budget after the system prompt, in quarters. Summaries and pinned messages beyond
/// them are shown as handles without text.
const SUMMARY_QUARTERS: i64 = 3;
const PIN_QUARTERS: i64 = 1;

/// Tokens around the ids of pinned messages that are shown as handles.
const HANDLES_TOKENS: i64 = 12;

/// The system message of a window.
pub(super) struct Head {
    pub(super) text: String,
    pub(super) tokens: i64,
    /// The part of `tokens` that is the system prompt.
    pub(super) prompt_tokens: i64,
    /// Tokens of the tools, which the caller sends.
    pub(super) tools_tokens: i64,
}

/// A summary or a pinned message in a window.
pub(super) struct Piece {
    text: String,
    /// Its tokens as shown.
    pub(super) tokens: i64,
    /// Whether its text is shown, or only its handle.
    pub(super) words: bool,
}

/// The part of a window before its messages.
pub(super) struct Preamble {
    guidance: String,
    guidance_tokens: i64,
    /// The summaries, in the order of the outline.
    pub(super) summaries: Vec<Piece>,
    /// The pinned messages, in order.
    pub(super) pins: Vec<(MessageId, Piece)>,
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

impl Preamble {
    /// Summaries and pinned messages, within the rest of the budget.
    pub(super) fn of(
        tx: &Tx<'_>,
        outline: &Outline,
        id: &SessionId,
        left: i64,
    ) -> Result<Preamble> {
        let depth = outline.shown.iter().map(|node| node.depth).max().unwrap_or(0);
        let mut summaries = Vec::new();
        let mut sum = 0;
        // The newest keep their text longest.
        for node in outline.shown.iter().rev() {
            sum += node.tokens;
            let words = sum <= left / 4 * SUMMARY_QUARTERS;
            let text = markup::summary(node, words);
            let tokens = if words { node.tokens } else { tokens(&text) as i64 + 1 };
            summaries.push(Piece { text, tokens, words });
        }
        summaries.reverse();
        let mut pins = Vec::new();
        let mut sum = 0;
        for seq in &outline.pinned {
            let Some((_, message)) = messages::get(tx, MessageId(*seq))? else { continue };
            pins.push((message.id, pin(&message, &mut sum, left / 4 * PIN_QUARTERS)));
        }
        let guidance = markup::guidance(id, depth);
        Ok(Preamble { guidance, guidance_tokens: outline.guidance_tokens, summaries, pins })
    }

    /// Total tokens.
    pub(super) fn tokens(&self) -> i64 {
        if self.summaries.is_empty() && self.pins.is_empty() {
            return 0;
        }
        let pieces = self.summaries.iter().chain(self.pins.iter().map(|(_, piece)| piece));
        let handles = if self.handles().next().is_some() { HANDLES_TOKENS } else { 0 };
        self.guidance_tokens + handles + pieces.map(|piece| piece.tokens).sum::<i64>()
    }

    /// The pinned messages that are shown by id only.
    fn handles(&self) -> impl Iterator<Item = &(MessageId, Piece)> {
        self.pins.iter().filter(|(_, piece)| !piece.words)
    }

    /// Removes the pinned messages that the window shows anyway.
    pub(super) fn without(&mut self, shown: &[Cost]) {
        self.pins.retain(|(id, _)| !shown.iter().any(|cost| cost.seq == id.0));
    }

    /// The system message whole.
    pub(super) fn head(&self, bare: Head, left_out: RangeTotals) -> Head {
        if self.summaries.is_empty() && self.pins.is_empty() && left_out.messages == 0 {
            return bare;
        }
        let mut cost = bare.tokens + self.guidance_tokens;
        let mut parts = Vec::new();
        if !bare.text.is_empty() {
            parts.push(bare.text.as_str());
        }
        parts.push(&self.guidance);
        let pins = self.pins.iter().map(|(_, piece)| piece);
        for piece in self.summaries.iter().chain(pins.filter(|piece| piece.words)) {
            cost += piece.tokens;
            parts.push(&piece.text);
        }
        let handles: Vec<String> = self.handles().map(|(id, _)| id.to_string()).collect();
        let handles = markup::pinned_handles(&handles);
        if self.handles().next().is_some() {
            cost += HANDLES_TOKENS + self.handles().map(|(_, piece)| piece.tokens).sum::<i64>();
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

fn pin(message: &Message, sum: &mut i64, limit: i64) -> Piece {
    let short = super::form::short(message);
    let text = markup::pinned(&short);
    let cost = tokens(&text) as i64 + 1;
    if *sum + cost <= limit {
        *sum += cost;
        return Piece { text, tokens: cost, words: true };
    }
    let tokens = tokens(&format!("{},", message.id)) as i64;
    Piece { text: String::new(), tokens, words: false }
}
