//! Commits one step of a compaction in one transaction and verifies it: the order is kept, every
//! message is covered once, the node is smaller than what it covers, and the lease is still held.

use super::boundaries::leaves_that_part_calls;
use super::compact::Covered;
use oneiro_model::{ChangeKind, Error, Result, SessionId, Timestamp};
use oneiro_store::summaries::Node;
use oneiro_store::{Tx, changes, contexts, messages, segments, summaries};

/// A node to insert into a context.
pub(super) struct NewNode<'a> {
    pub(super) node: &'a Node,
    pub(super) covered: &'a Covered,
    /// The session of the context.
    pub(super) context: (i64, &'a SessionId),
    pub(super) holder: &'a str,
    /// The erasure count when its source was read.
    pub(super) generation: i64,
}

/// Whether a node was inserted.
pub(super) enum Committed {
    /// It was, under this key.
    Yes(i64),
    /// It was not, because it would separate a tool call from its result.
    PartsCall,
}

/// Inserts a node over what it covers.
pub(super) fn commit(tx: &Tx<'_>, new: &NewNode<'_>, now: Timestamp) -> Result<Committed> {
    let (node, (key, id)) = (new.node, new.context);
    if !contexts::holds_lease(tx, key, new.holder)? {
        return Err(Error::conflict("another process took over the compaction of this session"));
    }
    if segments::state(tx)?.generation != new.generation {
        return Err(Error::conflict("something was erased meanwhile"));
    }
    if node.tokens >= node.source_tokens {
        return Err(Error::internal("a summary is not smaller than what it covers"));
    }
    let inserted = match new.covered {
        Covered::Messages(seqs) => {
            check_messages(tx, (key, id), (node, seqs))?;
            let leaf = summaries::insert(tx, node)?;
            summaries::cover_messages(tx, leaf, seqs)?;
            summaries::add_root(tx, key, leaf)?;
            // History may have changed next to these messages since they were read. Where steps
            // begin is updated by this look, so the next plan has other edges.
            for edge in [node.first_seq, node.last_seq] {
                if leaves_that_part_calls(tx, (key, id), (edge, edge))?.contains(&leaf) {
                    summaries::remove(tx, leaf)?;
                    return Ok(Committed::PartsCall);
                }
            }
            leaf
        }
        Covered::Summaries(children) => {
            if children.len() < 2 {
                return Err(Error::internal("a summary would condense one alone"));
            }
            for child in children {
                if !summaries::remove_root(tx, key, *child)? {
                    return Err(Error::conflict("a summary is no longer a root of the session"));
                }
            }
            let parent = summaries::insert(tx, node)?;
            summaries::cover_children(tx, parent, children)?;
            summaries::add_root(tx, key, parent)?;
            parent
        }
    };
    contexts::record_change(tx, key, "compaction")?;
    changes::record(tx, ChangeKind::Compacted, Some(id), now)?;
    Ok(Committed::Yes(inserted))
}

/// Fails if the messages are no longer a contiguous uncovered run.
fn check_messages(
    tx: &Tx<'_>,
    (key, id): (i64, &SessionId),
    (node, seqs): (&Node, &[i64]),
) -> Result<()> {
    let there = messages::live_seqs_between(tx, key, node.first_seq, node.last_seq)?;
    if there != seqs || seqs.is_empty() {
        return Err(Error::conflict(format!(
            "the messages of {:?} are not what was summarised",
            id.as_str()
        )));
    }
    for shown in
        summaries::roots_without_content(tx, key)?.iter().filter(|shown| shown.session_key == key)
    {
        if shown.first_seq <= node.last_seq && shown.last_seq >= node.first_seq {
            return Err(Error::conflict("another summary covers these messages"));
        }
    }
    Ok(())
}
