//! How imported sessions descend, settled when all of them are there. A parent that is missing, or
//! that descends from its child, is let go.

use super::note::{Note, mark};
use super::pass::{Pass, Seen, Standing};
use oneiro_model::{Lineage, Result, SessionId, Timestamp};
use oneiro_store::{Tx, lineage, sessions};

/// Links to a transaction.
const BATCH: usize = 256;

/// A session and the parent it gets.
struct Link {
    raw_id: Vec<u8>,
    id: SessionId,
    parent: Option<SessionId>,
    kind: Lineage,
    mark: i64,
}

impl Pass<'_> {
    pub(super) fn link_parents(&mut self) -> Result<()> {
        let links: Vec<Link> = self.seen.iter().filter_map(|seen| self.link(seen)).collect();
        for batch in links.chunks(BATCH) {
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

    /// The link of a session, unless it has it already.
    fn link(&self, seen: &Seen) -> Option<Link> {
        let parent = seen.parent.as_ref().filter(|_| seen.standing != Standing::LeftOut)?;
        let there = self.by_id.get(parent).and_then(|place| self.seen.get(*place));
        let is_continued = there.is_some_and(|there| there.is_compressed) && !seen.is_of_tool;
        let kind = match (seen.descends, is_continued) {
            (Some(kind), _) => kind,
            (None, true) => Lineage::Continuation,
            (None, false) => Lineage::Branch,
        };
        let text = String::from_utf8_lossy(parent);
        let parent = match there {
            Some(there) => Some(there.id.clone()),
            // It may have been imported from another file.
            None => SessionId::new(text.as_ref()).ok(),
        };
        let mark = mark(&format!("{} {text}", kind.as_str()));
        (mark != seen.link).then(|| Link {
            raw_id: seen.raw_id.clone(),
            id: seen.id.clone(),
            parent,
            kind,
            mark,
        })
    }
}

/// Gives a session its parent; false when it cannot have it.
fn attach(tx: &Tx<'_>, link: &Link, now: Timestamp) -> Result<bool> {
    let Some(key) = sessions::key(tx, &link.id)? else { return Ok(true) };
    let parent = link.parent.as_ref().map(|parent| sessions::key(tx, parent)).transpose()?;
    let Some(parent) = parent.flatten() else { return Ok(false) };
    let above = lineage::ancestors(tx, parent, |_| true)?;
    if above.iter().any(|above| above.key == key) {
        return Ok(false);
    }
    let held = lineage::link(tx, key)?.and_then(|held| held.parent_key);
    // One that descends from another session here was given that here.
    if held.is_none_or(|held| held == parent) {
        lineage::attach(tx, key, parent, link.kind)?;
    }
    let mut note = Note::read(tx, &link.raw_id)?.unwrap_or_default();
    note.link = link.mark;
    note.write(tx, &link.raw_id, now)?;
    Ok(true)
}
