//! Removes summaries when history changes: exactly those that cover a changed message, and their
//! ancestors. Whatever else these covered reappears in the contexts that showed them.

use super::boundaries::rejoin_calls;
use oneiro_model::{Lineage, Result, SessionId, SummaryKind};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, contexts, digests, lineage};
use std::collections::BTreeSet;

/// Changes which messages of a session are live within a range and updates its context: removes the
/// summaries over the range, and those that would separate a call from its result.
pub(crate) fn change_visibility<T>(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    range: (i64, i64),
    change: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // A condensed node goes even where the range lies between its leaves: what comes back there
    // must have its place.
    let over = summaries::overlapping(tx, session.0, range)?;
    remove_nodes(tx, over.into_iter().collect())?;
    let changed = change()?;
    rejoin_calls(tx, session, range)?;
    digests::remove(tx, session.0)?;
    contexts::record_change(tx, session.0, "history")?;
    Ok(changed)
}

/// Removes all summaries of a session that is being deleted, and those of other sessions that were
/// made from them.
pub(crate) fn remove_summaries_of_session(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    remove_nodes(tx, summaries::keys_of_session(tx, session_key)?.into_iter().collect())
}

/// Removes what may repeat an erased message: its leaf, and later output of models that have read
/// it.
pub(crate) fn remove_summaries_of_message(
    tx: &Tx<'_>,
    session_key: i64,
    seq: i64,
) -> Result<Vec<AffectedLeaf>> {
    let mut dead: BTreeSet<i64> = summaries::leaf_of(tx, seq)?.into_iter().collect();
    dead.extend(summaries::by_models_after(tx, session_key, seq)?);
    dead.extend(model_summaries_in_continuations(tx, session_key)?);
    let affected_leaves = affected_leaves(tx, (&dead, seq))?;
    remove_nodes(tx, dead)?;
    digests::remove(tx, session_key)?;
    contexts::record_change(tx, session_key, "history")?;
    Ok(affected_leaves)
}

/// Removes what may repeat an erased session elsewhere: output of models in sessions that continue
/// it.
pub(crate) fn remove_summaries_after_session(
    tx: &Tx<'_>,
    session_key: i64,
) -> Result<Vec<AffectedLeaf>> {
    let dead = model_summaries_in_continuations(tx, session_key)?;
    let affected_leaves = affected_leaves(tx, (&dead, 0))?;
    remove_nodes(tx, dead)?;
    Ok(affected_leaves)
}

/// Model-written summaries of sessions that continue this one, and so have read it.
fn model_summaries_in_continuations(tx: &Tx<'_>, session_key: i64) -> Result<BTreeSet<i64>> {
    let mut found = BTreeSet::new();
    for link in lineage::descendants(tx, session_key, Lineage::Continuation)? {
        if link.key != session_key {
            found.extend(summaries::by_models_after(tx, link.key, 0)?);
            digests::remove(tx, link.key)?;
        }
    }
    Ok(found)
}

/// The leaves among removed nodes, and what is left of each without a message.
fn affected_leaves(tx: &Tx<'_>, (dead, seq): (&BTreeSet<i64>, i64)) -> Result<Vec<AffectedLeaf>> {
    let mut affected_leaves = Vec::new();
    for key in dead {
        let Some(node) = summaries::get(tx, *key)?.filter(|node| node.kind == SummaryKind::Leaf)
        else {
            continue;
        };
        let mut seqs = summaries::seqs_under(tx, *key)?;
        seqs.retain(|covered| *covered != seq);
        let mut shown = BTreeSet::new();
        for above in with_ancestors(tx, BTreeSet::from([*key]))? {
            shown.extend(summaries::sessions_with_root(tx, above)?);
        }
        affected_leaves.push(AffectedLeaf { node, seqs, contexts: shown.into_iter().collect() });
    }
    Ok(affected_leaves)
}

/// A leaf that loses a message.
pub(crate) struct AffectedLeaf {
    /// The leaf before the change.
    pub(crate) node: Node,
    /// The remaining messages.
    pub(crate) seqs: Vec<i64>,
    /// The sessions whose contexts show it or one of its ancestors.
    pub(crate) contexts: Vec<i64>,
}

/// Nodes with all of their ancestors.
pub(super) fn with_ancestors(tx: &Tx<'_>, mut nodes: BTreeSet<i64>) -> Result<BTreeSet<i64>> {
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

/// Removes nodes and their ancestors; contexts that showed one of them show its remaining
/// descendants instead.
pub(super) fn remove_nodes(tx: &Tx<'_>, dead: BTreeSet<i64>) -> Result<()> {
    let dead = with_ancestors(tx, dead)?;
    for node in &dead {
        for context in summaries::sessions_with_root(tx, *node)? {
            let mut under = vec![*node];
            while let Some(node) = under.pop() {
                for child in summaries::child_keys(tx, node)? {
                    if dead.contains(&child) {
                        under.push(child)
                    } else {
                        summaries::add_root(tx, context, child)?
                    }
                }
            }
            contexts::record_change(tx, context, "history")?;
        }
    }
    dead.into_iter().try_for_each(|node| summaries::remove(tx, node))
}
