//! Plans a compaction: which summary to make next. Reads a context once, and again only when it has
//! changed; what the compaction makes itself is entered here.

use super::cells::{LeafBuilder, Next, Placed, next_to_condense, position};
use super::outline::{Outline, newest_turn};
use crate::settings::Settings;
use oneiro_model::{Result, SessionId};
use oneiro_store::costs::{self, Cost};
use oneiro_store::summaries::Node;
use oneiro_store::{Tx, segments};
use std::collections::HashSet;

/// How far a compaction goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Up to the fresh tail: what windows of the usual size show anyway is left alone.
    FreshTail,
    /// Up to the newest turn.
    NewestTurn,
    /// Up to the newest turn, and what is not enough for a leaf yet is covered too.
    Everything,
}

/// The next summary to make.
pub(super) enum Task {
    /// A leaf over these messages.
    Leaf(Vec<Cost>),
    /// A condensed summary over these.
    Condense(Vec<Node>),
}

/// The summaries and the uncovered messages of a session, along the axis of tokens.
pub(super) struct Plan {
    outline: Outline,
    /// The roots over the session's own messages, oldest first.
    roots: Vec<Root>,
    /// Messages from this one on are left alone.
    before: i64,
    reach: Reach,
    /// First messages of leaves, and first children of condensed summaries, that would not be
    /// smaller than what they cover.
    not_smaller: HashSet<i64>,
    /// The erasure count of the snapshot.
    pub(super) generation: i64,
}

struct Root {
    node: Node,
    ends: (i64, i64),
}

impl Plan {
    pub(super) fn read(
        tx: &Tx<'_>,
        session: (i64, &SessionId),
        (reach, rules): (Reach, &Settings),
    ) -> Result<Plan> {
        let outline = Outline::read(tx, session)?;
        let newest = newest_turn(tx, session.0, &outline.tail)?;
        let before = match reach {
            Reach::FreshTail => {
                outline.fresh_from(tx, rules.fresh_tail_turns, rules.fresh_tail_tokens as i64)?
            }
            Reach::NewestTurn | Reach::Everything => match newest {
                Some(newest) => newest,
                None => outline.fresh_from(tx, 1, 0)?,
            },
        };
        let mut roots = Vec::new();
        for node in outline.own() {
            roots.push(Root { ends: ends(tx, &outline, node)?, node: node.clone() });
        }
        let generation = segments::state(tx)?.generation;
        Ok(Plan { outline, roots, before, reach, not_smaller: HashSet::new(), generation })
    }

    /// The count of history changes in the snapshot.
    pub(super) fn history(&self) -> i64 {
        self.outline.epoch.history
    }

    /// What is to be done next. Condensing comes first, so that roots stay few.
    pub(super) fn next(&self, tx: &Tx<'_>, rules: &Settings) -> Result<Option<Task>> {
        let placed = self.placed(tx)?;
        if let Some(range) = next_to_condense(&placed, rules) {
            let nodes = self.roots.get(range).unwrap_or_default();
            return Ok(Some(Task::Condense(nodes.iter().map(|root| root.node.clone()).collect())));
        }
        for gap in &self.outline.gaps {
            if gap.between.0 >= self.before {
                break;
            }
            if let Some(items) = self.next_leaf(tx, gap.between, rules)? {
                return Ok(Some(Task::Leaf(items)));
            }
        }
        Ok(None)
    }

    /// Enters a leaf that was made.
    pub(super) fn add_leaf(&mut self, node: Node, items: &[Cost]) {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return };
        let step = items.iter().rev().find(|cost| {
            cost.begins != oneiro_store::costs::Begins::Nothing || cost.seq == first.seq
        });
        let ends = (position(first), position(step.unwrap_or(first)));
        let at = self.roots.partition_point(|root| root.node.first_seq < node.first_seq);
        self.roots.insert(at, Root { node, ends });
        for gap in &mut self.outline.gaps {
            let (after, before) = gap.between;
            if after < first.seq && last.seq < before {
                // What is before the leaf in its gap was found not to be worth one.
                gap.between.0 = last.seq;
            }
        }
    }

    /// Enters a condensed summary that was made.
    pub(super) fn add_condensed(&mut self, node: Node, children: &[Node]) {
        let is_child = |root: &Root| children.iter().any(|child| child.key == root.node.key);
        let ends: Vec<(i64, i64)> =
            self.roots.iter().filter(|root| is_child(root)).map(|root| root.ends).collect();
        self.roots.retain(|root| !is_child(root));
        let at = self.roots.partition_point(|root| root.node.first_seq < node.first_seq);
        let from = ends.first().map_or(0, |ends| ends.0);
        let to = ends.last().map_or(0, |ends| ends.1);
        self.roots.insert(at, Root { node, ends: (from, to) });
    }

    /// Enters that a summary would not be smaller than what it covers.
    pub(super) fn skip(&mut self, task: &Task) {
        self.not_smaller.extend(match task {
            Task::Leaf(items) => items.first().map(|cost| cost.seq),
            Task::Condense(nodes) => nodes.first().map(|node| -node.key),
        });
    }

    /// What was found not to be smaller stays so when the context is read again.
    pub(super) fn keep_skipped(&mut self, before: Plan) {
        self.not_smaller = before.not_smaller;
    }

    fn placed(&self, tx: &Tx<'_>) -> Result<Vec<Placed>> {
        let mut placed = Vec::with_capacity(self.roots.len());
        for (at, root) in self.roots.iter().enumerate() {
            let next_root = self.roots.get(at + 1);
            let until = next_root.map_or(i64::MAX, |next| next.node.first_seq);
            let next = match self.first_in_gap(tx, (root.node.last_seq, until))? {
                Some(at) => Next::Message(at),
                None if next_root.is_some() => Next::Summary,
                None => Next::Nothing,
            };
            let is_final = self.not_smaller.contains(&-root.node.key);
            placed.push(Placed { ends: root.ends, next, is_final });
        }
        Ok(placed)
    }

    /// Where the first uncovered message between two summaries begins.
    fn first_in_gap(&self, tx: &Tx<'_>, between: (i64, i64)) -> Result<Option<i64>> {
        let overlaps = |gap: &(i64, i64)| gap.0 < between.1 && between.0 < gap.1;
        if !self.outline.gaps.iter().map(|gap| gap.between).any(|gap| overlaps(&gap)) {
            return Ok(None);
        }
        let mut first = None;
        self.outline.each_on(tx, between, |cost| {
            first = Some(position(&cost));
            false
        })?;
        Ok(first)
    }

    /// The messages of the next leaf in a gap.
    fn next_leaf(
        &self,
        tx: &Tx<'_>,
        gap: (i64, i64),
        rules: &Settings,
    ) -> Result<Option<Vec<Cost>>> {
        let mut after = gap.0;
        loop {
            let mut leaf = LeafBuilder::new(rules);
            let (mut ended, mut first) = (false, 0);
            self.outline.each_on(tx, (after, gap.1), |cost| {
                ended = leaf.ends_before(&cost);
                if ended || cost.seq >= self.before {
                    return false;
                }
                first = if first == 0 { cost.seq } else { first };
                leaf.push(cost);
                true
            })?;
            let is_closed = gap.1 <= self.before && gap.1 != i64::MAX;
            let items = if ended {
                Some(leaf.into_items())
            } else if is_closed || self.reach == Reach::Everything {
                leaf.into_closed()
            } else {
                None
            };
            let Some(items) = items else { return Ok(None) };
            let Some(last) = items.last() else { return Ok(None) };
            if !self.not_smaller.contains(&first) {
                return Ok(Some(items));
            }
            after = last.seq;
        }
    }
}

/// Where the first and the last step of a summary begin.
fn ends(tx: &Tx<'_>, outline: &Outline, node: &Node) -> Result<(i64, i64)> {
    let first = outline.position(tx, node.first_seq)?.unwrap_or(0);
    let step = costs::step_before(tx, outline.key, node.last_seq)?.unwrap_or(node.last_seq);
    let last = outline.position(tx, step.max(node.first_seq))?.unwrap_or(first);
    Ok((first, last.max(first)))
}
