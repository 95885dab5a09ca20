//! When history changes, exactly the summaries that covered what changed go, and those above them;
//! what else these covered comes back into the contexts that showed them.

use super::boundaries::rejoin_calls;
use oneiro_model::{Lineage, Result, SessionId, SummaryKind};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, contexts, digests, lineage};
use std::collections::BTreeSet;

/// Changes which messages of a session are live, within a range, and keeps its context true: the
/// summaries over the range go, and so do those that would part a call from its result afterwards.
pub(crate) fn change_visibility<T>(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    range: (i64, i64),
    change: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // A condensed node goes even where the range lies between its leaves: what comes back there
    // must have its place.
    let over = summaries::overlapping(tx, session.0, range)?;
    take_out(tx, over.into_iter().collect())?;
    let changed = change()?;
    rejoin_calls(tx, session, range)?;
    digests::remove(tx, session.0)?;
    contexts::record_change(tx, session.0, "history")?;
    Ok(changed)
}

/// Takes out every summary of a session that is being deleted, and what other sessions made of
/// them.
pub(crate) fn session_going(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    take_out(tx, summaries::keys_of_session(tx, session_key)?.into_iter().collect())
}

/// Takes out what an erased message may be told in: its leaf, and what models wrote after they had
/// read of it.
pub(crate) fn message_going(tx: &Tx<'_>, session_key: i64, seq: i64) -> Result<Vec<Bereft>> {
    let mut dead: BTreeSet<i64> = summaries::leaf_of(tx, seq)?.into_iter().collect();
    dead.extend(summaries::by_models_after(tx, session_key, seq)?);
    dead.extend(told_by_continuations(tx, session_key)?);
    let bereft = bereft(tx, (&dead, seq))?;
    take_out(tx, dead)?;
    digests::remove(tx, session_key)?;
    contexts::record_change(tx, session_key, "history")?;
    Ok(bereft)
}

/// Takes out what an erased session may be told in elsewhere: what models wrote in sessions that
/// continue it.
pub(crate) fn session_erased(tx: &Tx<'_>, session_key: i64) -> Result<Vec<Bereft>> {
    let dead = told_by_continuations(tx, session_key)?;
    let bereft = bereft(tx, (&dead, 0))?;
    take_out(tx, dead)?;
    Ok(bereft)
}

/// What models wrote in sessions that continue this one, and so have read of it.
fn told_by_continuations(tx: &Tx<'_>, session_key: i64) -> Result<BTreeSet<i64>> {
    let mut found = BTreeSet::new();
    for link in lineage::descendants(tx, session_key, Lineage::Continuation)? {
        if link.key != session_key {
            found.extend(summaries::by_models_after(tx, link.key, 0)?);
            digests::remove(tx, link.key)?;
        }
    }
    Ok(found)
}

/// The leaves among nodes that go, and what is left of each without a message.
fn bereft(tx: &Tx<'_>, (dead, seq): (&BTreeSet<i64>, i64)) -> Result<Vec<Bereft>> {
    let mut bereft = Vec::new();
    for key in dead {
        let Some(node) = summaries::get(tx, *key)?.filter(|node| node.kind == SummaryKind::Leaf)
        else {
            continue;
        };
        let mut seqs = summaries::seqs_under(tx, *key, 0, usize::MAX)?;
        seqs.retain(|covered| *covered != seq);
        let mut shown = BTreeSet::new();
        for above in with_above(tx, BTreeSet::from([*key]))? {
            shown.extend(summaries::contexts_with(tx, above)?);
        }
        bereft.push(Bereft { node, seqs, contexts: shown.into_iter().collect() });
    }
    Ok(bereft)
}

/// A leaf that loses a message, and what is left of it.
pub(crate) struct Bereft {
    /// The leaf as it was.
    pub(crate) node: Node,
    /// The messages that are left.
    pub(crate) seqs: Vec<i64>,
    /// The sessions whose contexts showed it, or something above it.
    pub(crate) contexts: Vec<i64>,
}

/// Nodes and everything above them.
pub(super) fn with_above(tx: &Tx<'_>, mut nodes: BTreeSet<i64>) -> Result<BTreeSet<i64>> {
    let mut next: Vec<i64> = nodes.iter().copied().collect();
    while let Some(node) = next.pop() {
        for parent in summaries::parent_keys(tx, node)? {
            if nodes.insert(parent) {
                next.push(parent);
            }
        }
    }
    Ok(nodes)
}

/// Removes nodes and everything above them; contexts that showed one of these show what is left
/// under it.
pub(super) fn take_out(tx: &Tx<'_>, dead: BTreeSet<i64>) -> Result<()> {
    let dead = with_above(tx, dead)?;
    for node in &dead {
        for context in summaries::contexts_with(tx, *node)? {
            let mut under = vec![*node];
            while let Some(node) = under.pop() {
                for child in summaries::child_keys(tx, node)? {
                    match dead.contains(&child) {
                        true => under.push(child),
                        false => summaries::add_to_context(tx, context, child)?,
                    }
                }
            }
            contexts::record_change(tx, context, "history")?;
        }
    }
    dead.into_iter().try_for_each(|node| summaries::remove(tx, node))
}
