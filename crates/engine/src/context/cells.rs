//! Which summaries a session should have. Its messages lie along an axis of tokens, which is divided
//! into cells; cells of the next level are several times as wide. A leaf covers the messages of a
//! cell, a condensed summary what lies in a wider cell. So the summaries follow from the messages
//! alone, whatever asks for them and when.

use crate::settings::Settings;
use oneiro_store::costs::{Begins, Cost};
use std::ops::Range;

/// Minimum tokens of messages that a leaf covers: the markup of a summary alone has about fifty.
const LEAF_TOKENS_MIN: i64 = 160;

/// The same for messages that nothing can be added to, because summaries lie on both sides.
const CLOSED_LEAF_TOKENS_MIN: i64 = 64;

/// Minimum target of a summary, in tokens.
const TARGET_TOKENS_MIN: i64 = 96;

/// Longest leaf and longest condensed summary, in percent of what they cover.
const LEAF_PERCENT_MAX: i64 = 35;
const CONDENSED_PERCENT_MAX: i64 = 75;

/// Collects the messages of the next leaf, oldest first.
pub(super) struct LeafBuilder<'a> {
    rules: &'a Settings,
    items: Vec<Cost>,
    tokens: i64,
    /// The cell that the last step of the items is in.
    cell: i64,
}

impl<'a> LeafBuilder<'a> {
    pub(super) fn new(rules: &'a Settings) -> LeafBuilder<'a> {
        LeafBuilder { rules, items: Vec::new(), tokens: 0, cell: 0 }
    }

    /// Whether the leaf ends before a message: a step begins in another cell, and what was
    /// collected is worth a leaf.
    pub(super) fn ends_before(&self, next: &Cost) -> bool {
        next.begins != Begins::Nothing && self.cell(next) != self.cell && self.is_worth_a_leaf()
    }

    pub(super) fn push(&mut self, cost: Cost) {
        if self.items.is_empty() || cost.begins != Begins::Nothing {
            self.cell = self.cell(&cost);
        }
        self.tokens += cost.tokens;
        self.items.push(cost);
    }

    /// The messages, if they are enough for a leaf that cannot grow.
    pub(super) fn into_closed(self) -> Option<Vec<Cost>> {
        (self.tokens >= CLOSED_LEAF_TOKENS_MIN).then_some(self.items)
    }

    pub(super) fn into_items(self) -> Vec<Cost> {
        self.items
    }

    fn cell(&self, cost: &Cost) -> i64 {
        position(cost) / self.rules.leaf_chunk_tokens as i64
    }

    fn is_worth_a_leaf(&self) -> bool {
        let is_large = self.tokens * 2 >= self.rules.leaf_chunk_tokens as i64;
        self.tokens >= LEAF_TOKENS_MIN
            && (is_large || self.items.len() >= self.rules.leaf_min_fanout)
    }
}

/// Where a message begins on the axis.
pub(super) fn position(cost: &Cost) -> i64 {
    cost.total - cost.tokens
}

/// A summary on the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    /// Where its first and its last step begin.
    pub(super) ends: (i64, i64),
    /// What comes right after it.
    pub(super) next: Next,
    /// Whether it was found that no smaller summary can stand in for it and its neighbours.
    pub(super) is_final: bool,
}

/// What follows a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another summary.
    Summary,
    /// A message that no summary covers, and where its step begins.
    Message(i64),
    /// Nothing yet.
    Nothing,
}

/// The next summaries to condense: those of the narrowest cell with at least two that no message
/// can be added to.
pub(super) fn next_to_condense(placed: &[Placed], rules: &Settings) -> Option<Range<usize>> {
    let last = placed.iter().map(|one| one.ends.1).max()?;
    let mut width = rules.leaf_chunk_tokens as i64;
    loop {
        width = width.saturating_mul(rules.condensed_min_fanout.max(2) as i64);
        if let Some(found) = in_one_cell(placed, width) {
            return Some(found);
        }
        if width > last {
            return None;
        }
    }
}

/// The first run of summaries within one closed cell of this width.
fn in_one_cell(placed: &[Placed], width: i64) -> Option<Range<usize>> {
    let cell_of = |one: &Placed| {
        let cell = one.ends.0 / width;
        (one.ends.1 / width == cell && !one.is_final).then_some(cell)
    };
    let mut from = 0;
    while let Some(first) = placed.get(from) {
        let Some(cell) = cell_of(first) else {
            from += 1;
            continue;
        };
        let mut to = from + 1;
        let continues =
            |before: Option<&Placed>| before.is_some_and(|before| before.next == Next::Summary);
        while placed.get(to).is_some_and(|next| cell_of(next) == Some(cell))
            && continues(placed.get(to - 1))
        {
            to += 1;
        }
        let is_closed = match placed.get(to - 1).map(|last| last.next) {
            Some(Next::Summary) => true,
            Some(Next::Message(at)) => at / width != cell,
            Some(Next::Nothing) | None => false,
        };
        if is_closed && to - from > 1 {
            return Some(from..to);
        }
        from = to;
    }
    None
}

/// The target of a leaf, in tokens.
pub(super) fn leaf_target(source: i64, rules: &Settings) -> i64 {
    let target = rules.leaf_target_tokens as i64;
    target.min(source * LEAF_PERCENT_MAX / 100).max(TARGET_TOKENS_MIN)
}

/// The target of a condensed summary, in tokens: it grows with the square root of what is under it.
pub(super) fn condensed_target(source: i64, message_tokens: i64, rules: &Settings) -> i64 {
    let leaves = (message_tokens / rules.leaf_chunk_tokens as i64).max(1);
    let target = rules.leaf_target_tokens as i64 * (leaves * 100).isqrt() / 10;
    target
        .min(rules.condensed_target_tokens as i64)
        .min(source * CONDENSED_PERCENT_MAX / 100)
        .max(TARGET_TOKENS_MIN)
}

#[cfg(test)]
mod tests;
