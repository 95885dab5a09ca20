//! The context of a session in one snapshot: the summaries it shows, and the messages between and
//! after them that no summary covers, ordered by message.

use super::counting::{Uncounted, uncounted};
use super::markup;
use oneiro_count::tokens;
use oneiro_model::{Result, SessionId, SummaryKind, Visibility};
use oneiro_store::contexts::{self, Epoch};
use oneiro_store::costs::{self, Begins, Cost, RangeTotals};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, messages};

/// Messages read at a time.
const BATCH: usize = 256;

/// The context of a session.
pub(super) struct Outline {
    pub(super) key: i64,
    /// Tokens of the explanation of summaries, if there are any.
    pub(super) guidance_tokens: i64,
    /// The stored state of the context.
    pub(super) epoch: Epoch,
    /// The summaries it shows, oldest first.
    pub(super) shown: Vec<Node>,
    /// The pinned messages.
    pub(super) pinned: Vec<i64>,
    /// Live messages whose tokens are not stored yet, oldest first.
    pub(super) tail: Vec<Uncounted>,
    /// Whether any message of the session is hidden.
    hides: bool,
    /// The runs of the session's own messages that no summary covers, oldest first.
    pub(super) gaps: Vec<Gap>,
}

/// A run of messages that no summary covers.
pub(super) struct Gap {
    /// The ids around it, exclusive.
    pub(super) between: (i64, i64),
    /// They, together.
    pub(super) all: RangeTotals,
}

impl Outline {
    /// Reads a context; without `words` the summaries have no text, which may be megabytes.
    pub(super) fn read(tx: &Tx<'_>, session: (i64, &SessionId), words: bool) -> Result<Outline> {
        let mut tail = uncounted(tx, session, (usize::MAX, usize::MAX))?;
        tail.retain(|one| one.message.visibility == Visibility::Live);
        let shown = if words {
            summaries::in_context(tx, session.0)?
        } else {
            summaries::in_context_without_content(tx, session.0)?
        };
        let depth = shown.iter().map(|node| node.depth).max().unwrap_or(0);
        let mut outline = Outline {
            key: session.0,
            guidance_tokens: tokens(&markup::guidance(session.1, depth)) as i64 + 12,
            epoch: contexts::epoch(tx, session.0)?,
            shown,
            pinned: contexts::pinned(tx, session.0)?,
            tail,
            hides: costs::has_hidden(tx, session.0)?,
            gaps: Vec::new(),
        };
        outline.gaps = outline.find_gaps(tx)?;
        Ok(outline)
    }

    fn find_gaps(&self, tx: &Tx<'_>) -> Result<Vec<Gap>> {
        let mut gaps = Vec::new();
        let mut after = 0;
        let ends = self.own().map(|node| (node.first_seq, node.last_seq));
        for (before, next) in ends.chain([(i64::MAX, 0)]) {
            let all = self.together(tx, (after, before))?;
            if all.messages > 0 {
                gaps.push(Gap { between: (after, before), all });
            }
            after = next;
        }
        Ok(gaps)
    }

    /// The summaries over the session's own messages.
    fn own(&self) -> impl Iterator<Item = &Node> {
        let is_own = |node: &&Node| node.session_key == self.key && node.last_seq > 0;
        self.shown.iter().filter(is_own)
    }

    /// Live uncovered messages, newest first, until `wanted` returns false.
    pub(super) fn each_back(
        &self,
        tx: &Tx<'_>,
        mut wanted: impl FnMut(Cost) -> bool,
    ) -> Result<()> {
        for gap in self.gaps.iter().rev().map(|gap| gap.between) {
            let (after, mut before) = gap;
            for one in self.tail_within(gap).rev() {
                if !wanted(one) {
                    return Ok(());
                }
            }
            loop {
                let batch = costs::newest_between(tx, self.key, (after, before), BATCH)?;
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

    /// Live messages of one gap, oldest first, until `wanted` returns false.
    pub(super) fn each_on(
        &self,
        tx: &Tx<'_>,
        gap: (i64, i64),
        mut wanted: impl FnMut(Cost) -> bool,
    ) -> Result<()> {
        let (mut after, before) = gap;
        loop {
            let batch = costs::oldest_between(tx, self.key, (after, before), BATCH)?;
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
    pub(super) fn together(&self, tx: &Tx<'_>, gap: (i64, i64)) -> Result<RangeTotals> {
        let mut all = costs::totals_between(tx, self.key, gap, self.hides)?;
        for cost in self.tail_within(gap) {
            all.messages += 1;
            all.tokens += cost.tokens;
            all.first = if all.first == 0 { cost.seq } else { all.first };
            all.last = cost.seq;
        }
        Ok(all)
    }

    /// Tokens of the summaries.
    pub(super) fn summary_tokens(&self) -> i64 {
        self.shown.iter().map(|node| node.tokens).sum()
    }

    /// Tokens of the whole context, without the system prompt.
    pub(super) fn tokens(&self) -> i64 {
        let guidance = if self.shown.is_empty() { 0 } else { self.guidance_tokens };
        let uncovered: i64 = self.gaps.iter().map(|gap| gap.all.tokens).sum();
        self.summary_tokens() + guidance + uncovered
    }

    /// The beginning of the fresh tail, which compaction leaves unchanged: the newest turns within
    /// the limits on turns and tokens, but at least one.
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
            // A session without user messages has no turns: its tail is the newest step.
            seen < turns && (seen > 0 || sum <= tokens.saturating_mul(8).max(1_000_000))
        })?;
        Ok(if seen > 0 { from } else { newest_step.unwrap_or(i64::MAX) })
    }

    /// Runs of adjacent summaries without a message between them, oldest first. Manual summaries
    /// are never part of a run.
    pub(super) fn runs(&self) -> Vec<Vec<&Node>> {
        let mut runs: Vec<Vec<&Node>> = Vec::new();
        for node in self.shown.iter().filter(|node| node.kind != SummaryKind::Written) {
            let joined = runs.last().and_then(|run| run.last()).is_some_and(|before| {
                let between =
                    |gap: &Gap| gap.all.first > before.last_seq && gap.all.last < node.first_seq;
                !self.gaps.iter().any(between)
            });
            match runs.last_mut().filter(|_| joined) {
                Some(run) => run.push(node),
                None => runs.push(vec![node]),
            }
        }
        runs
    }
}

/// The live messages of a session that no summary of its context covers, in order.
pub(crate) fn uncovered(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    let live = messages::live_seqs_between(tx, session_key, 0, i64::MAX)?;
    let shown = summaries::in_context(tx, session_key)?;
    let own: Vec<&Node> = shown.iter().filter(|node| node.session_key == session_key).collect();
    let covers = |seq: i64| own.iter().any(|node| node.first_seq <= seq && seq <= node.last_seq);
    Ok(live.into_iter().filter(|seq| !covers(*seq)).collect())
}
