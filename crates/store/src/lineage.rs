//! Lineage: parents, chains of continuations, delegates. Every traversal is bounded and tolerates
//! cycles, which a damaged or imported store may contain.

use crate::Tx;
use oneiro_model::{Lineage, Result, SessionId, Timestamp};
use std::collections::HashSet;

statements! {
    LINK = "SELECT key, id, parent_key, lineage, started_at, ended_at, last_active_at \
            FROM sessions WHERE key = ?1";
    CHILDREN = "SELECT key, id, parent_key, lineage, started_at, ended_at, last_active_at \
                FROM sessions WHERE parent_key = ?1 ORDER BY key";
    DETACH_CHILDREN = "UPDATE sessions SET parent_key = NULL, lineage = NULL WHERE parent_key = ?1";
    DETACH = "UPDATE sessions SET parent_key = NULL, lineage = NULL WHERE key = ?1";
    SET_KIND = "UPDATE sessions SET lineage = ?2 WHERE key = ?1 AND parent_key IS NOT NULL";
    ATTACH = "UPDATE sessions SET parent_key = ?2, lineage = ?3 WHERE key = ?1";
}

/// The fields of a session that lineage uses.
#[derive(Debug, Clone)]
pub struct Link {
    /// Its internal key.
    pub key: i64,
    /// Its id.
    pub id: SessionId,
    /// Its parent's key.
    pub parent_key: Option<i64>,
    /// How it descends.
    pub lineage: Option<Lineage>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// When something was last said.
    pub last_active_at: Timestamp,
}

/// The longest traversal, far beyond any real chain.
const MAX_HOPS: usize = 10_000;

/// One session.
pub fn link(tx: &Tx<'_>, key: i64) -> Result<Option<Link>> {
    tx.first(LINK, &[key.into()], read)
}

/// The sessions that descend from one directly.
pub fn children(tx: &Tx<'_>, key: i64) -> Result<Vec<Link>> {
    tx.all(CHILDREN, &[key.into()], read)
}

/// Removes the parent of a session.
pub fn detach(tx: &Tx<'_>, key: i64) -> Result<()> {
    tx.execute(DETACH, &[key.into()]).map(|_| ())
}

/// Sets how a session descends from its parent; false if it has none.
pub fn set_kind(tx: &Tx<'_>, key: i64, kind: Lineage) -> Result<bool> {
    Ok(tx.execute(SET_KIND, &[key.into(), kind.as_str().into()])? > 0)
}

/// The session and its ancestors, nearest first; continues from a child to its parent while `follow`
/// returns true.
pub fn ancestors(tx: &Tx<'_>, key: i64, follow: impl Fn(&Link) -> bool) -> Result<Vec<Link>> {
    let mut found: Vec<Link> = Vec::new();
    let mut seen = HashSet::new();
    let mut next = Some(key);
    while let Some(key) = next.filter(|key| seen.insert(*key) && found.len() < MAX_HOPS) {
        let Some(link) = link(tx, key)? else { break };
        next = link.parent_key.filter(|_| follow(&link));
        found.push(link);
    }
    Ok(found)
}

/// Whether a session is another one or descends from it.
pub fn is_descendant(tx: &Tx<'_>, key: i64, ancestor: i64) -> Result<bool> {
    Ok(ancestors(tx, key, |_| true)?.iter().any(|link| link.key == ancestor))
}

/// The first session of the chain of continuations that contains this one.
pub fn chain_root(tx: &Tx<'_>, key: i64) -> Result<Option<Link>> {
    let chain = ancestors(tx, key, |link| link.lineage == Some(Lineage::Continuation))?;
    Ok(chain.into_iter().next_back())
}

/// The last session of the chain of continuations that contains this one. Of several continuations,
/// one that was itself continued comes first, then one that has not ended, then the latest active.
pub fn tip(tx: &Tx<'_>, key: i64) -> Result<Option<Link>> {
    let Some(mut at) = link(tx, key)? else { return Ok(None) };
    let mut seen = HashSet::from([at.key]);
    while seen.len() < MAX_HOPS {
        let mut best: Option<((bool, bool, Timestamp), Link)> = None;
        for child in continuations(tx, at.key)? {
            let continued = !continuations(tx, child.key)?.is_empty();
            let rank = (continued, child.ended_at.is_none(), child.last_active_at);
            if best.as_ref().is_none_or(|(found, _)| rank > *found) {
                best = Some((rank, child));
            }
        }
        match best {
            Some((_, child)) if seen.insert(child.key) => at = child,
            _ => break,
        }
    }
    Ok(Some(at))
}

fn continuations(tx: &Tx<'_>, key: i64) -> Result<Vec<Link>> {
    let mut children = children(tx, key)?;
    children.retain(|child| child.lineage == Some(Lineage::Continuation));
    Ok(children)
}

/// This session and its descendants through links of one kind.
pub fn descendants(tx: &Tx<'_>, key: i64, kind: Lineage) -> Result<Vec<Link>> {
    let mut found: Vec<Link> = link(tx, key)?.into_iter().collect();
    let mut seen = HashSet::from([key]);
    let mut at = 0;
    while let Some(parent) = found.get(at).map(|link| link.key) {
        for child in children(tx, parent)? {
            if child.lineage == Some(kind) && seen.insert(child.key) {
                found.push(child);
            }
        }
        at += 1;
    }
    Ok(found)
}

/// The keys of every session that shares a root with this one, itself included.
pub fn family(tx: &Tx<'_>, key: i64) -> Result<Vec<i64>> {
    let root = ancestors(tx, key, |_| true)?.last().map_or(key, |link| link.key);
    let mut found = vec![root];
    let mut seen = HashSet::from([root]);
    let mut at = 0;
    while let Some(parent) = found.get(at).copied().filter(|_| at < MAX_HOPS) {
        found.extend(
            children(tx, parent)?
                .into_iter()
                .map(|child| child.key)
                .filter(|key| seen.insert(*key)),
        );
        at += 1;
    }
    Ok(found)
}

/// The key of the topmost ancestor of a session, through links of any kind.
pub fn root_key(tx: &Tx<'_>, key: i64) -> Result<i64> {
    Ok(ancestors(tx, key, |_| true)?.last().map_or(key, |link| link.key))
}

/// Makes the children of a session roots.
pub fn detach_children(tx: &Tx<'_>, key: i64) -> Result<()> {
    tx.execute(DETACH_CHILDREN, &[key.into()]).map(|_| ())
}

/// Gives a session a parent.
pub fn attach(tx: &Tx<'_>, key: i64, parent_key: i64, lineage: Lineage) -> Result<()> {
    tx.execute(ATTACH, &[key.into(), parent_key.into(), lineage.as_str().into()]).map(|_| ())
}

fn read(row: &dyn crate::backend::Row) -> Result<Link> {
    Ok(Link {
        key: row.int(0)?,
        id: SessionId::new(row.text(1)?)?,
        parent_key: row.opt_int(2)?,
        lineage: row.opt_text(3)?.map(Lineage::parse).transpose()?,
        started_at: Timestamp::from_micros(row.int(4)?),
        ended_at: row.opt_int(5)?.map(Timestamp::from_micros),
        last_active_at: Timestamp::from_micros(row.int(6)?),
    })
}
