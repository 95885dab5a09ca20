//! The context of a session as it stands in one snapshot: the summaries it shows, and between and
//! after them the messages that no summary covers. Order is by the messages themselves, so nothing
//! can stand in a wrong place.

use super::counting::{Uncounted, uncounted};
use super::markup;
use oneiro_count::tokens;
use oneiro_model::{Result, SessionId, SummaryKind, Visibility};
use oneiro_store::contexts::{self, Epoch};
use oneiro_store::costs::{self, Begins, Cost, Together};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, messages};

/// Messages read at a time when going through a context.
const BATCH: usize = 256;

/// The context of a session.
pub(super) struct Outline {
    /// The key of the session.
    pub(super) key: i64,
    /// What it costs to say what summaries are, once there are any.
    pub(super) guidance_tokens: i64,
    /// What has become of the context.
    pub(super) epoch: Epoch,
    /// The summaries it shows, oldest first.
    pub(super) shown: Vec<Node>,
    /// The messages that are pinned.
    pub(super) pinned: Vec<i64>,
    /// Live messages that are not written down as counted, oldest first.
    pub(super) tail: Vec<Uncounted>,
}

impl Outline {
    pub(super) fn read(tx: &Tx<'_>, session: (i64, &SessionId)) -> Result<Outline> {
        let mut tail = uncounted(tx, session, usize::MAX)?;
        tail.retain(|one| one.message.visibility == Visibility::Live);
        let shown = summaries::shown(tx, session.0)?;
        let depth = shown.iter().map(|node| node.depth).max().unwrap_or(0);
        Ok(Outline {
            key: session.0,
            guidance_tokens: tokens(&markup::guidance(session.1, depth)) as i64 + 12,
            epoch: contexts::epoch(tx, session.0)?,
            shown,
            pinned: contexts::pinned(tx, session.0)?,
            tail,
        })
    }

    /// The stretches of this session's own messages that no summary covers, oldest first: each
    /// strictly between two ids.
    pub(super) fn gaps(&self) -> Vec<(i64, i64)> {
        let mut gaps = Vec::new();
        let mut after = 0;
        for node in self.own() {
            gaps.push((after, node.first_seq));
            after = node.last_seq;
        }
        gaps.push((after, i64::MAX));
        gaps
    }

    /// The summaries over this session's own messages.
    fn own(&self) -> impl Iterator<Item = &Node> {
        let is_own = |node: &&Node| node.session_key == self.key && node.last_seq > 0;
        self.shown.iter().filter(is_own)
    }

    /// Live messages that no summary covers, newest first, for as long as `wanted` wants more.
    pub(super) fn each_back(
        &self,
        tx: &Tx<'_>,
        mut wanted: impl FnMut(Cost) -> bool,
    ) -> Result<()> {
        for gap in self.gaps().into_iter().rev() {
            let (after, mut before) = gap;
            for one in self.tail_within(gap).rev() {
                if !wanted(one) {
                    return Ok(());
                }
            }
            loop {
                let batch = costs::back(tx, self.key, (after, before), BATCH)?;
                let last = batch.last().map(|one| one.seq);
                for one in &batch {
                    if !wanted(*one) {
                        return Ok(());
                    }
                }
                match last {
                    Some(last) if batch.len() == BATCH => before = last,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Live messages of one gap, oldest first, for as long as `wanted` wants more.
    pub(super) fn each_on(
        &self,
        tx: &Tx<'_>,
        gap: (i64, i64),
        mut wanted: impl FnMut(Cost) -> bool,
    ) -> Result<()> {
        let (mut after, before) = gap;
        loop {
            let batch = costs::on(tx, self.key, (after, before), BATCH)?;
            for one in &batch {
                if !wanted(*one) {
                    return Ok(());
                }
            }
            match batch.last() {
                Some(last) if batch.len() == BATCH => after = last.seq,
                _ => break,
            }
        }
        for one in self.tail_within(gap) {
            if !wanted(one) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn tail_within(&self, (after, before): (i64, i64)) -> impl DoubleEndedIterator<Item = Cost> {
        let costs = self.tail.iter().map(|one| one.cost);
        costs.filter(move |cost| cost.seq > after && cost.seq < before)
    }

    /// The live messages of a gap, together.
    pub(super) fn together(&self, tx: &Tx<'_>, gap: (i64, i64)) -> Result<Together> {
        let mut all = costs::together(tx, self.key, gap)?;
        for cost in self.tail_within(gap) {
            all.messages += 1;
            all.tokens += cost.tokens;
            all.first = if all.first == 0 { cost.seq } else { all.first };
            all.last = cost.seq;
        }
        Ok(all)
    }

    /// What the summaries cost.
    pub(super) fn summary_tokens(&self) -> i64 {
        self.shown.iter().map(|node| node.tokens).sum()
    }

    /// What everything in the context costs in full, but for the system prompt.
    pub(super) fn tokens(&self, tx: &Tx<'_>) -> Result<i64> {
        let mut tokens = self.summary_tokens();
        if !self.shown.is_empty() {
            tokens += self.guidance_tokens;
        }
        for gap in self.gaps() {
            tokens += self.together(tx, gap)?.tokens;
        }
        Ok(tokens)
    }

    /// Where the fresh tail begins: the newest turns, at most so many and of at most so many
    /// tokens, but one at least. Compaction leaves it alone.
    pub(super) fn fresh_from(&self, tx: &Tx<'_>, turns: usize, tokens: i64) -> Result<i64> {
        let (mut from, mut seen, mut sum) = (i64::MAX, 0, 0);
        let mut newest_step = None;
        self.each_back(tx, |cost| {
            sum += cost.tokens;
            if cost.begins == Begins::Step && newest_step.is_none() {
                newest_step = Some(cost.seq);
            }
            if seen > 0 && sum > tokens {
                return false;
            }
            if cost.begins == Begins::Turn {
                from = cost.seq;
                seen += 1;
            }
            // A session in which nobody speaks but the agent has no turns: its newest step is
            // what is left alone, and what is far behind is not gone through.
            seen < turns && (seen > 0 || sum <= tokens.saturating_mul(8).max(1_000_000))
        })?;
        Ok(if seen > 0 { from } else { newest_step.unwrap_or(i64::MAX) })
    }

    /// Runs of neighbouring summaries, no message between them, oldest first; those written by
    /// hand stand alone.
    pub(super) fn runs(&self, tx: &Tx<'_>) -> Result<Vec<Vec<&Node>>> {
        let mut runs: Vec<Vec<&Node>> = Vec::new();
        let mut before: Option<&Node> = None;
        for node in self.shown.iter().filter(|node| node.kind != SummaryKind::Written) {
            let joined = match before {
                Some(before) if before.session_key == self.key || node.session_key == self.key => {
                    let after = if before.session_key == self.key { before.last_seq } else { 0 };
                    let until = if node.session_key == self.key { node.first_seq } else { 1 };
                    self.together(tx, (after, until))?.messages == 0
                }
                Some(_) => true,
                None => false,
            };
            match runs.last_mut().filter(|_| joined) {
                Some(run) => run.push(node),
                None => runs.push(vec![node]),
            }
            before = Some(node);
        }
        Ok(runs)
    }
}

/// The live messages of a session that no summary of its context covers, in the order they came.
pub(crate) fn uncovered(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    let live = messages::live_seqs_between(tx, session_key, (0, i64::MAX))?;
    let shown = summaries::shown(tx, session_key)?;
    let own: Vec<&Node> = shown.iter().filter(|node| node.session_key == session_key).collect();
    let covers = |seq: i64| own.iter().any(|node| node.first_seq <= seq && seq <= node.last_seq);
    Ok(live.into_iter().filter(|seq| !covers(*seq)).collect())
}
