//! Plans the next step of a compaction: a leaf over the oldest eligible messages, a condensed node
//! over adjacent summaries, or a shorter version of a single summary. Reads a context and changes
//! nothing.

use super::compact::{Compaction, LEAF_TOKENS_MIN};
use super::outline::Outline;
use super::select::{self, Pressure};
use oneiro_model::Result;
use oneiro_store::Tx;
use oneiro_store::costs::{Begins, Cost};
use oneiro_store::summaries::Node;

/// The next step.
pub(super) enum Plan {
    Enough,
    Leaf { items: Vec<Cost>, target: i64 },
    Condense { nodes: Vec<Node>, target: i64 },
    Shrink { node: Box<Node>, target: i64 },
    Nothing,
}

impl Compaction<'_> {
    /// The next step at a given pressure.
    pub(super) fn plan(&self, tx: &Tx<'_>, outline: &Outline, pressure: Pressure) -> Result<Plan> {
        let total = outline.tokens() + self.prompt_tokens;
        let until = self.goal.until.unwrap_or(0);
        if self.goal.until.is_some_and(|until| total <= until) {
            return Ok(Plan::Enough);
        }
        let (turns, tail_tokens) = match (pressure, self.goal.until) {
            (Pressure::None, None) => {
                (self.rules.fresh_tail_turns, self.rules.fresh_tail_tokens as i64)
            }
            (Pressure::None, Some(until)) => {
                let most = (self.rules.fresh_tail_tokens as i64).min(until / 3);
                (self.rules.fresh_tail_turns, most)
            }
            _ => (1, 0),
        };
        let fresh = outline.fresh_from(tx, turns, tail_tokens)?;
        let chunk = match self.goal.until {
            None => self.rules.leaf_chunk_tokens as i64,
            Some(_) => (total / 8)
                .clamp(LEAF_TOKENS_MIN, LEAF_TOKENS_MIN.max(self.rules.leaf_chunk_tokens as i64)),
        };
        let chunk = chunk.min(self.rules.leaf_chunk_tokens as i64);
        let mut aged = 0;
        for gap in &outline.gaps {
            let (after, before) = gap.between;
            aged += if before <= fresh {
                gap.all.tokens
            } else {
                outline.together(tx, (after, fresh))?.tokens
            };
        }
        // A small leaf loses less detail than condensing summaries again.
        let choosy = match (pressure, self.goal.until) {
            (Pressure::None, Some(_)) => vec![Pressure::None, Pressure::Some],
            (pressure, _) => vec![pressure],
        };
        let gaps: Vec<(i64, i64)> = outline.gaps.iter().map(|gap| gap.between).collect();
        for (pressure, (after, before)) in
            choosy.iter().flat_map(|pressure| gaps.iter().map(move |gap| (*pressure, *gap)))
        {
            let gap = (after, before.min(fresh));
            if gap.0 >= gap.1 {
                continue;
            }
            let (mut items, mut sum) = (Vec::new(), 0);
            outline.each_on(tx, gap, |cost| {
                // Calls and their results are covered together or not at all.
                if sum > chunk * 2 && cost.begins != Begins::Nothing {
                    return false;
                }
                items.push(cost);
                sum += cost.tokens;
                true
            })?;
            while items.first().is_some_and(|first| self.not_smaller.contains(&first.seq)) {
                let next = items.iter().skip(1).position(|cost| cost.begins != Begins::Nothing);
                items.drain(..next.map_or(items.len(), |next| next + 1));
            }
            let taken = select::leaf(&items, chunk, pressure, &self.rules);
            if taken > 0 {
                items.truncate(taken);
                let source: i64 = items.iter().map(|cost| cost.tokens).sum();
                let most = (self.rules.leaf_target_tokens as i64).min(source * 35 / 100);
                let target = match self.goal.until {
                    None => most,
                    Some(_) => {
                        // What remains of the goal beside the tail and the existing summaries,
                        // divided among the messages still to be summarised. A reserve is kept for
                        // the last leaf, which cannot be as small as its share.
                        let guidance =
                            if outline.shown.is_empty() { outline.guidance_tokens } else { 0 };
                        let stands = total - aged + guidance + 160.min(until / 12);
                        let share = (until - stands).max(0) * source / aged.max(1);
                        most.min(share)
                    }
                };
                return Ok(Plan::Leaf { items, target: target.max(96) });
            }
        }
        Ok(self.plan_summaries(outline, (pressure, total)))
    }

    fn plan_summaries(&self, outline: &Outline, (pressure, total): (Pressure, i64)) -> Plan {
        let runs = outline.runs();
        let open: Vec<Vec<&Node>> = runs
            .iter()
            .map(|run| {
                let open = run.iter().filter(|node| !self.not_smaller.contains(&-node.key));
                open.copied().collect()
            })
            .collect();
        let mut chosen = select::condense(&open, pressure, &self.rules);
        let over = self.goal.until.map_or(0, |until| total - until);
        // No more than needed: each summary keeps more of its text alone.
        let mut sum = 0;
        let enough = chosen.iter().position(|node| {
            sum += node.tokens;
            over > 0 && sum * 2 / 5 > over
        });
        let fewest = if pressure == Pressure::None { self.rules.condensed_min_fanout } else { 2 };
        chosen.truncate(enough.map_or(usize::MAX, |last| (last + 1).max(fewest)));
        if chosen.len() > 1 {
            let source: i64 = chosen.iter().map(|node| node.tokens).sum();
            let most = (self.rules.condensed_target_tokens as i64).min(source * 60 / 100);
            let target = if over > 0 { most.min((source - over).max(96)) } else { most };
            let nodes = chosen.into_iter().cloned().collect();
            return Plan::Condense { nodes, target: target.max(96) };
        }
        if pressure == Pressure::All && over > 0 {
            let alone = open.iter().flatten().max_by_key(|node| node.tokens);
            if let Some(node) = alone.filter(|node| node.tokens > 96) {
                let target = (node.tokens - over).max(80);
                return Plan::Shrink { node: Box::new((*node).clone()), target };
            }
        }
        Plan::Nothing
    }
}
