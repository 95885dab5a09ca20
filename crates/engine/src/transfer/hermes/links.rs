//! Sets the parents of imported sessions, after all sessions are stored. A parent that is missing or a
//! descendant of its child is not set.

use super::checkpoint::{Checkpoint, fingerprint};
use super::pass::{Pass, SessionStatus, SourceSession};
use oneiro_model::{Lineage, Result, SessionId, Timestamp};
use oneiro_store::{Tx, lineage, sessions};

/// Links per transaction.
const BATCH_LINKS: usize = 256;

/// A session and the parent it gets.
struct Link {
    raw_id: Vec<u8>,
    id: SessionId,
    parent: Option<SessionId>,
    kind: Lineage,
    fingerprint: i64,
}

impl Pass<'_> {
    pub(super) fn link_parents(&mut self) -> Result<()> {
        let links: Vec<Link> = self.seen.iter().filter_map(|seen| self.link(seen)).collect();
        for batch in links.chunks(BATCH_LINKS) {
            let now = self.oneiro.now();
            let detached = self.oneiro.store.write_bulk(|tx| {
                let mut detached = 0;
                for link in batch {
                    detached += usize::from(!attach(tx, link, now)?);
                }
                Ok(detached)
            })?;
            self.done.detached += detached;
        }
        Ok(())
    }

    /// The parent of a session, unless it was set before.
    fn link(&self, seen: &SourceSession) -> Option<Link> {
        let parent = seen.parent.as_ref().filter(|_| seen.status != SessionStatus::Skipped)?;
        let stored_parent = self.by_id.get(parent).and_then(|place| self.seen.get(*place));
        let is_continued = stored_parent.is_some_and(|stored_parent| stored_parent.is_compressed)
            && !seen.is_of_tool;
        let kind = match (seen.descends, is_continued) {
            (Some(kind), _) => kind,
            (None, true) => Lineage::Continuation,
            (None, false) => Lineage::Branch,
        };
        let text = String::from_utf8_lossy(parent);
        let parent = match stored_parent {
            Some(stored_parent) => Some(stored_parent.id.clone()),
            // It may be from another file.
            None => SessionId::new(text.as_ref()).ok(),
        };
        let fingerprint = fingerprint(&format!("{} {text}", kind.as_str()));
        (fingerprint != seen.link).then(|| Link {
            raw_id: seen.raw_id.clone(),
            id: seen.id.clone(),
            parent,
            kind,
            fingerprint,
        })
    }
}

/// Sets the parent of a session. Returns false if that is not possible.
fn attach(tx: &Tx<'_>, link: &Link, now: Timestamp) -> Result<bool> {
    let Some(key) = sessions::key(tx, &link.id)? else { return Ok(true) };
    let parent = link.parent.as_ref().map(|parent| sessions::key(tx, parent)).transpose()?;
    let Some(parent) = parent.flatten() else { return Ok(false) };
    if lineage::is_descendant(tx, parent, key)? {
        return Ok(false);
    }
    let held = lineage::link(tx, key)?.and_then(|held| held.parent_key);
    // Another parent was set here.
    if held.is_none_or(|held| held == parent) {
        lineage::attach(tx, key, parent, link.kind)?;
    }
    let mut checkpoint = Checkpoint::read(tx, &link.raw_id)?.unwrap_or_default();
    checkpoint.link = link.fingerprint;
    checkpoint.write(tx, &link.raw_id, now)?;
    Ok(true)
}
