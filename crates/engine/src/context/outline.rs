//! The context of a session in one snapshot: its root summaries, and the messages between and after
//! them that no summary covers, ordered by message.

use super::counting::{Uncounted, uncounted};
use oneiro_model::{Result, SessionId, Visibility};
use oneiro_store::contexts::{self, Epoch};
use oneiro_store::costs::{self, Begins, Cost, RangeTotals};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, messages};

/// Messages read at first, and at most at a time: often the first few are enough.
const FIRST_BATCH: usize = 32;
const MAX_BATCH: usize = 512;

/// The context of a session.
pub(super) struct Outline {
    pub(super) key: i64,
    /// The stored state of the context.
    pub(super) epoch: Epoch,
    /// The summaries that no other covers, oldest first, without their text.
    pub(super) roots: Vec<Node>,
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
    pub(super) fn read(tx: &Tx<'_>, session: (i64, &SessionId)) -> Result<Outline> {
        let mut outline = Outline {
            key: session.0,
            epoch: contexts::epoch(tx, session.0)?,
            roots: summaries::roots_without_content(tx, session.0)?,
            tail: live_uncounted(tx, session)?,
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
    pub(super) fn own(&self) -> impl Iterator<Item = &Node> {
        let is_own = |node: &&Node| node.session_key == self.key && node.last_seq > 0;
        self.roots.iter().filter(is_own)
    }

    /// Live messages of one gap, oldest first, until `wanted` returns false.
    pub(super) fn each_on(
        &self,
        tx: &Tx<'_>,
        gap: (i64, i64),
        mut wanted: impl FnMut(Cost) -> bool,
    ) -> Result<()> {
        let ((mut after, before), mut limit) = (gap, FIRST_BATCH);
        loop {
            let batch = costs::oldest_between(tx, self.key, (after, before), limit)?;
            for one in &batch {
                if !wanted(*one) {
                    return Ok(());
                }
            }
            match batch.last() {
                Some(last) if batch.len() == limit => after = last.seq,
                _ => break,
            }
            limit = MAX_BATCH.min(limit * 2);
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

    /// The position of a message on the axis of tokens: where it begins.
    pub(super) fn position(&self, tx: &Tx<'_>, seq: i64) -> Result<Option<i64>> {
        let in_tail = self.tail.iter().map(|one| one.cost).find(|cost| cost.seq == seq);
        let cost = match in_tail {
            Some(cost) => Some(cost),
            None => costs::get(tx, self.key, seq)?,
        };
        Ok(cost.map(|cost| cost.total - cost.tokens))
    }

    /// Tokens of the coarsest form of the context, without the system prompt: the roots, and what
    /// none of them covers.
    pub(super) fn tokens(&self) -> i64 {
        let roots: i64 = self.roots.iter().map(|node| node.tokens).sum();
        let uncovered: i64 = self.gaps.iter().map(|gap| gap.all.tokens).sum();
        roots + uncovered
    }

    /// The first message of the fresh tail, which compaction leaves unchanged: the newest turns
    /// within the limits on turns and tokens, but at least one.
    pub(super) fn fresh_from(&self, tx: &Tx<'_>, turns: usize, tokens: i64) -> Result<i64> {
        let (mut from, mut seen, mut sum) = (i64::MAX, 0, 0);
        let mut newest_step = None;
        let mut newest_first = NewestFirst::new(tx, self.key, &self.tail);
        while let Some(cost) = newest_first.next()? {
            sum += cost.tokens;
            if cost.begins == Begins::Step && newest_step.is_none() {
                newest_step = Some(cost.seq);
            }
            if seen > 0 && sum > tokens {
                break;
            }
            if cost.begins == Begins::Turn {
                from = cost.seq;
                seen += 1;
            }
            // A session without user messages has no turns: its tail is the newest step.
            if seen >= turns || (seen == 0 && sum > tokens.saturating_mul(8).max(1_000_000)) {
                break;
            }
        }
        Ok(if seen > 0 { from } else { newest_step.unwrap_or(i64::MAX) })
    }
}

/// Reads the live messages of a session, newest first, in batches.
pub(super) struct NewestFirst<'a, 't> {
    tx: &'a Tx<'t>,
    key: i64,
    tail: std::iter::Rev<std::slice::Iter<'a, Uncounted>>,
    batch: std::vec::IntoIter<Cost>,
    before: i64,
    limit: usize,
    is_complete: bool,
}

impl<'a, 't> NewestFirst<'a, 't> {
    /// `tail` are the messages whose tokens are not stored.
    pub(super) fn new(tx: &'a Tx<'t>, key: i64, tail: &'a [Uncounted]) -> NewestFirst<'a, 't> {
        let batch = Vec::new().into_iter();
        NewestFirst {
            tx,
            key,
            tail: tail.iter().rev(),
            batch,
            before: i64::MAX,
            limit: FIRST_BATCH,
            is_complete: false,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Cost>> {
        if let Some(one) = self.tail.next() {
            return Ok(Some(one.cost));
        }
        if self.batch.len() == 0 && !self.is_complete {
            let batch = costs::newest_between(self.tx, self.key, (0, self.before), self.limit)?;
            self.is_complete = batch.len() < self.limit;
            self.limit = MAX_BATCH.min(self.limit * 2);
            self.before = batch.last().map_or(0, |cost| cost.seq);
            self.batch = batch.into_iter();
        }
        Ok(self.batch.next())
    }
}

/// The live messages whose tokens are not stored.
pub(super) fn live_uncounted(tx: &Tx<'_>, session: (i64, &SessionId)) -> Result<Vec<Uncounted>> {
    let mut tail = uncounted(tx, session, (usize::MAX, usize::MAX))?;
    tail.retain(|one| one.message.visibility == Visibility::Live);
    Ok(tail)
}

/// The first message of the newest turn.
pub(super) fn newest_turn(tx: &Tx<'_>, key: i64, tail: &[Uncounted]) -> Result<Option<i64>> {
    let in_tail = tail.iter().rev().find(|one| one.cost.begins == Begins::Turn);
    match in_tail {
        Some(one) => Ok(Some(one.cost.seq)),
        None => costs::last_turn(tx, key),
    }
}

/// The live messages of a session that no summary covers, in order.
pub(crate) fn uncovered(tx: &Tx<'_>, session_key: i64) -> Result<Vec<i64>> {
    let live = messages::live_seqs_between(tx, session_key, 0, i64::MAX)?;
    let roots = summaries::roots_without_content(tx, session_key)?;
    let own: Vec<&Node> = roots.iter().filter(|node| node.session_key == session_key).collect();
    let covers = |seq: i64| own.iter().any(|node| node.first_seq <= seq && seq <= node.last_seq);
    Ok(live.into_iter().filter(|seq| !covers(*seq)).collect())
}
