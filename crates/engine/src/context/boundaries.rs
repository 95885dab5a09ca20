//! Keep tool calls together with their results when history changes. Whatever becomes live, hidden
//! or erased, and in whatever order, this recomputes where steps begin among the live messages
//! around the change, and removes the leaves whose edge would part a call from its result.

use super::invalidate::{remove_nodes, with_ancestors};
use super::pairs::{Steps, Ties, pair};
use oneiro_model::{Result, SessionId};
use oneiro_store::costs::{self, Begins};
use oneiro_store::message_rows::{self, Include, Position};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{Tx, summaries};
use std::collections::BTreeSet;

/// Messages read at a time.
const BATCH: usize = 32;

/// Messages read at first in search of the beginning of a step, which has a handful.
const FIRST_BATCH: usize = 4;

/// Brings calls and results together again after the messages of a range changed: updates where
/// steps begin, and removes leaves that part a call from its result, or that cover a call which is
/// the newest and still waits for a result. Called in the transaction of the change, after it.
pub(crate) fn rejoin_calls(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    range: (i64, i64),
) -> Result<()> {
    let leaves = leaves_that_part_calls(tx, session, range)?;
    remove_nodes(tx, without_inherited(tx, session.0, leaves)?)
}

/// What is wrong with calls and results in a whole session. It changes nothing.
pub(super) fn inspect_calls(tx: &Tx<'_>, session: (i64, &SessionId)) -> Result<Boundaries> {
    let found = walk(tx, session, (0, i64::MAX))?;
    let parting = without_inherited(tx, session.0, found.parting)?;
    Ok(Boundaries { parting, ..found })
}

/// Without the leaves through which alone a continuation reaches their messages, of which it shows
/// none itself.
fn without_inherited(
    tx: &Tx<'_>,
    session_key: i64,
    leaves: BTreeSet<i64>,
) -> Result<BTreeSet<i64>> {
    let mut here = BTreeSet::new();
    for leaf in leaves {
        if !is_shown_in_other_session(tx, session_key, leaf)? {
            here.insert(leaf);
        }
    }
    Ok(here)
}

/// What a walk over messages found.
#[derive(Debug, Default)]
pub(super) struct Boundaries {
    /// Leaves that part a call from its result.
    pub(super) parting: BTreeSet<i64>,
    /// Messages that are counted to begin something else than they do, and what that is.
    pub(super) miscounted: Vec<(i64, Begins)>,
}

impl Boundaries {
    /// Corrects what messages are counted to begin.
    pub(super) fn recount(&self, tx: &Tx<'_>, session_key: i64) -> Result<()> {
        let mut miscounted = self.miscounted.iter();
        miscounted.try_for_each(|(seq, begins)| costs::set_begins(tx, session_key, *seq, *begins))
    }
}

/// The leaves that part a call from its result near a range of messages. Updates where steps begin
/// on the way.
///
/// What a message begins depends on the live messages since the last that began something, and on
/// nothing before it. So the walk starts at such a message before the range, and ends after the
/// range at the first that begins something now and did before.
pub(super) fn leaves_that_part_calls(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    range: (i64, i64),
) -> Result<BTreeSet<i64>> {
    let from = start_before(tx, session, range.0)?;
    let found = walk(tx, session, (from, range.1))?;
    found.recount(tx, session.0)?;
    Ok(found.parting)
}

/// Walks over the live messages from one that begins something on.
fn walk(tx: &Tx<'_>, session: (i64, &SessionId), (from, last): (i64, i64)) -> Result<Boundaries> {
    let (key, mut steps, mut step) = (session.0, Steps::default(), Vec::new());
    let mut after = from.saturating_sub(1);
    let mut found = Boundaries::default();
    loop {
        let live = PageRequest { after, hidden: false, limit: BATCH };
        let page = messages::page(tx, session.into(), live)?;
        for message in &page {
            let (seq, ties) = (message.id.0, Ties::of(message));
            let begins = steps.next(&ties);
            let counted = costs::get(tx, key, seq)?.map(|cost| cost.begins);
            if begins != Begins::Nothing {
                found.parting.extend(parted(tx, &step)?);
                step.clear();
                if seq > last && counted != Some(Begins::Nothing) {
                    return Ok(found);
                }
            }
            if counted.is_some_and(|counted| counted != begins) {
                found.miscounted.push((seq, begins));
            }
            step.push((seq, ties));
        }
        match page.last() {
            Some(end) if page.len() == BATCH => after = end.id.0,
            _ => break,
        }
    }
    found.parting.extend(parted(tx, &step)?);
    found.parting.extend(over_open_call(tx, &step)?);
    Ok(found)
}

/// The nearest live message before `before` that begins a step or a turn; 0 when there is none.
fn start_before(tx: &Tx<'_>, session: (i64, &SessionId), mut before: i64) -> Result<i64> {
    let mut limit = FIRST_BATCH;
    loop {
        let seqs = message_rows::session_ids_before(
            tx,
            Position { session_key: session.0, seq: before },
            Include::Live,
            limit,
        )?;
        limit = BATCH;
        let Some(first) = seqs.last().copied() else { return Ok(0) };
        for message in messages::between(tx, session.into(), first - 1, before)?.iter().rev() {
            let counted = costs::get(tx, session.0, message.id.0)?;
            let begins = counted.is_some_and(|cost| cost.begins != Begins::Nothing);
            if begins || Ties::of(message).always_begins() {
                return Ok(message.id.0);
            }
        }
        before = first;
    }
}

/// The leaves that part a call from its result within one step.
fn parted(tx: &Tx<'_>, step: &[(i64, Ties)]) -> Result<BTreeSet<i64>> {
    let mut found = BTreeSet::new();
    if step.len() < 2 {
        return Ok(found);
    }
    let ties: Vec<Ties> = step.iter().map(|(_, ties)| ties.clone()).collect();
    let leaf_at = |at: usize| match step.get(at) {
        Some((seq, _)) => summaries::leaf_of(tx, *seq),
        None => Ok(None),
    };
    for (at, answers) in pair(&ties).answers.iter().enumerate() {
        for (result, _) in answers.iter().flatten() {
            let (call, result) = (leaf_at(at)?, leaf_at(*result)?);
            if call != result {
                found.extend(call.into_iter().chain(result));
            }
        }
    }
    Ok(found)
}

/// The leaves over the newest step from the first call on that still waits for a result: the result
/// would be parted from it when it comes.
fn over_open_call(tx: &Tx<'_>, step: &[(i64, Ties)]) -> Result<BTreeSet<i64>> {
    let ties: Vec<Ties> = step.iter().map(|(_, ties)| ties.clone()).collect();
    let mut found = BTreeSet::new();
    if let Some(waiting) = pair(&ties).pending {
        for (seq, _) in step.iter().skip(waiting) {
            found.extend(summaries::leaf_of(tx, *seq)?);
        }
    }
    Ok(found)
}

/// Whether the context of another session shows a leaf, or something above it.
fn is_shown_in_other_session(tx: &Tx<'_>, session_key: i64, leaf: i64) -> Result<bool> {
    for node in with_ancestors(tx, BTreeSet::from([leaf]))? {
        if summaries::sessions_with_root(tx, node)?.iter().any(|context| *context != session_key) {
            return Ok(true);
        }
    }
    Ok(false)
}
