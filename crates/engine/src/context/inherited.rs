//! The messages of the sessions that a session continues, which lie under its summaries. A window
//! with room for them shows them like its own.

use oneiro_model::Result;
use oneiro_model::SummaryKind;
use oneiro_store::Tx;
use oneiro_store::costs::{self, Cost};
use oneiro_store::summaries::{self, Node};

/// Messages of another session, from one id to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InheritedRange {
    pub(super) session_key: i64,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Reads inherited messages, newest first, a leaf at a time.
pub(super) struct Inherited<'a, 't> {
    tx: &'a Tx<'t>,
    session_key: i64,
    /// Summaries still to read, oldest first; `None` before the first read.
    nodes: Option<Vec<Node>>,
    /// Messages of the last leaf that was read.
    batch: std::vec::IntoIter<Cost>,
    ranges: Vec<InheritedRange>,
}

impl<'a, 't> Inherited<'a, 't> {
    pub(super) fn new(tx: &'a Tx<'t>, session_key: i64) -> Inherited<'a, 't> {
        let batch = Vec::new().into_iter();
        Inherited { tx, session_key, nodes: None, batch, ranges: Vec::new() }
    }

    /// The next older message; `None` also where the tokens of a message are not stored any more,
    /// so that the summary over it has to do.
    pub(super) fn next(&mut self) -> Result<Option<Cost>> {
        loop {
            if let Some(cost) = self.batch.next() {
                return Ok(Some(cost));
            }
            let Some(leaf) = self.next_leaf()? else { return Ok(None) };
            let limit = usize::try_from(leaf.message_count).unwrap_or(0).saturating_add(1);
            let between = (leaf.first_seq - 1, leaf.last_seq + 1);
            let batch = costs::newest_between(self.tx, leaf.session_key, between, limit)?;
            if batch.len() as i64 != leaf.message_count {
                self.nodes = Some(Vec::new());
                return Ok(None);
            }
            self.ranges.push(InheritedRange {
                session_key: leaf.session_key,
                first: leaf.first_seq,
                last: leaf.last_seq,
            });
            self.batch = batch.into_iter();
        }
    }

    /// The ranges read so far, newest first.
    pub(super) fn into_ranges(self) -> Vec<InheritedRange> {
        self.ranges
    }

    /// The next older leaf of another session.
    fn next_leaf(&mut self) -> Result<Option<Node>> {
        let mut nodes = match self.nodes.take() {
            Some(nodes) => nodes,
            None => self.roots()?,
        };
        let mut found = None;
        while let Some(node) = nodes.pop() {
            match node.kind {
                SummaryKind::Written => {}
                SummaryKind::Condensed => {
                    nodes.extend(summaries::children_without_content(self.tx, node.key)?);
                }
                SummaryKind::Leaf if node.session_key == self.session_key => {}
                SummaryKind::Leaf => {
                    found = Some(node);
                    break;
                }
            }
        }
        self.nodes = Some(nodes);
        Ok(found)
    }

    /// The roots that may stand over messages of other sessions, oldest first.
    fn roots(&self) -> Result<Vec<Node>> {
        let own = costs::oldest_between(self.tx, self.session_key, (0, i64::MAX), 1)?;
        let own_from = own.first().map_or(i64::MAX, |cost| cost.seq);
        let mut roots = summaries::roots_without_content(self.tx, self.session_key)?;
        roots.retain(|node| node.first_seq < own_from);
        Ok(roots)
    }
}
