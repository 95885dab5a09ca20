//! What a compaction takes next: the oldest messages worth a leaf, or neighbouring summaries worth
//! condensing. Pure rules over what things cost; pressure makes them less choosy.

use crate::settings::Settings;
use oneiro_store::costs::{Begins, Cost};
use oneiro_store::summaries::Node;

/// How badly room is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pressure {
    /// What is worth it anyway.
    None,
    /// Small leaves and pairs of summaries too; of the tail only the newest turn is left alone.
    Some,
    /// Summaries of any depths; those that stand alone are put into fewer words.
    All,
}

impl Pressure {
    /// The next harder one.
    pub(super) fn harder(self) -> Option<Pressure> {
        match self {
            Pressure::None => Some(Pressure::Some),
            Pressure::Some => Some(Pressure::All),
            Pressure::All => None,
        }
    }
}

/// Fewer tokens than this cannot become fewer: the markup of a summary alone has some forty.
const LEAST_TOKENS: i64 = 160;

/// How many of these messages, oldest first, one leaf should cover; none when they are not worth
/// one. Calls stay with their results; where it can, a leaf ends with a turn.
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
                sum >= LEAST_TOKENS * 4 && (end >= rules.leaf_min_fanout || sum * 2 >= chunk)
            }
            Pressure::Some => sum >= LEAST_TOKENS,
            Pressure::All => sum * 5 >= LEAST_TOKENS * 2,
        }
    };
    // What ends before a group that is too large for the chunk takes it along, if it is not worth a
    // leaf alone: nothing would ever get past it.
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

/// The neighbours that should be condensed into one, of runs without a message between. The
/// shallowest come first: what is deep has been through it already. One alone never is.
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
