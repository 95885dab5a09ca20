//! Chooses what a compaction does next: the oldest messages worth a leaf, or adjacent summaries
//! worth condensing. Pure rules over tokens; higher pressure relaxes them.

use crate::settings::Settings;
use oneiro_store::costs::{Begins, Cost};
use oneiro_store::summaries::Node;

/// How urgently space is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pressure {
    /// Only what is worthwhile anyway.
    None,
    /// Also small leaves and pairs of summaries; of the tail only the newest turn is kept.
    Some,
    /// Summaries of mixed depth; single summaries are shortened.
    All,
}

impl Pressure {
    /// The next higher pressure.
    pub(super) fn harder(self) -> Option<Pressure> {
        match self {
            Pressure::None => Some(Pressure::Some),
            Pressure::Some => Some(Pressure::All),
            Pressure::All => None,
        }
    }
}

/// Minimum tokens that can be compacted: the markup of a summary alone has about forty.
const COMPACT_TOKENS_MIN: i64 = 160;

/// How many of these messages, oldest first, one leaf should cover; 0 if they are not worth one.
/// Calls stay with their results, and if possible a leaf ends with a turn.
pub(super) fn leaf(items: &[Cost], chunk: i64, pressure: Pressure, rules: &Settings) -> usize {
    let (mut end, mut sum) = (0, 0);
    for (index, cost) in items.iter().enumerate() {
        if index > 0 && cost.begins != Begins::Nothing {
            end = index;
            if sum + group(items, index) > chunk {
                break;
            }
        }
        sum += cost.tokens;
        if index + 1 == items.len() {
            end = items.len();
        }
    }
    let tokens = |end: usize| -> i64 {
        items.get(..end).unwrap_or_default().iter().map(|cost| cost.tokens).sum()
    };
    if end < items.len() {
        let turn = items.iter().take(end + 1).rposition(|cost| cost.begins == Begins::Turn);
        end = turn.filter(|turn| tokens(*turn) * 2 >= chunk).unwrap_or(end);
    }
    let worth = |end: usize| {
        let sum = tokens(end);
        match pressure {
            Pressure::None => {
                sum >= COMPACT_TOKENS_MIN * 4 && (end >= rules.leaf_min_fanout || sum * 2 >= chunk)
            }
            Pressure::Some => sum >= COMPACT_TOKENS_MIN,
            Pressure::All => sum * 5 >= COMPACT_TOKENS_MIN * 2,
        }
    };
    // A short remainder before a group that exceeds the chunk is covered together with the group;
    // otherwise compaction would never get past it.
    while end < items.len() && !worth(end) {
        let next = items.iter().skip(end + 1).position(|cost| cost.begins != Begins::Nothing);
        end = next.map_or(items.len(), |next| end + 1 + next);
    }
    if worth(end) { end } else { 0 }
}

/// The tokens of the group that begins at an index.
fn group(items: &[Cost], start: usize) -> i64 {
    let rest = items.get(start..).unwrap_or_default();
    let members = rest.iter().enumerate();
    let members = members.take_while(|(at, cost)| *at == 0 || cost.begins == Begins::Nothing);
    members.map(|(_, cost)| cost.tokens).sum()
}

/// The adjacent summaries to condense, from runs without a message in between. Lower depths come
/// first, because deep ones were condensed before. Never a single one.
pub(super) fn condense<'a>(
    runs: &[Vec<&'a Node>],
    pressure: Pressure,
    rules: &Settings,
) -> Vec<&'a Node> {
    let input = rules.leaf_chunk_tokens as i64;
    let fanout = match pressure {
        Pressure::None => rules.condensed_min_fanout,
        Pressure::Some | Pressure::All => 2,
    };
    let mut best: Vec<&Node> = Vec::new();
    for run in runs {
        let mut rest = run.as_slice();
        while let Some(first) = rest.first() {
            let same = |node: &&&Node| pressure == Pressure::All || node.depth == first.depth;
            let mut sum = 0;
            let fits = |node: &&&Node| {
                sum += node.tokens;
                sum <= input.max(first.tokens + 1)
            };
            let alike = rest.iter().take_while(same).count();
            let taken = rest.iter().take(alike).take_while(fits).count();
            let shallower = best.first().is_none_or(|best| first.depth < best.depth);
            if taken >= fanout.max(2) && shallower {
                best = rest.get(..taken).unwrap_or_default().to_vec();
            }
            rest = rest.get(alike.max(1)..).unwrap_or_default();
        }
    }
    best
}

#[cfg(test)]
mod tests;
