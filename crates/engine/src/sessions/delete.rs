//! Delete a session with its delegates, in one transaction. Its other children become roots.

use super::key_of;
use crate::context::remove_summaries_of_session;
use crate::views::Sessions;
use crate::{Oneiro, jobs};
use oneiro_model::{ChangeKind, Deleted, Lineage, Result, SessionId, Span, Timestamp};
use oneiro_store::{Tx, changes, lineage, messages, segments, sessions};
use std::collections::HashSet;

impl Sessions<'_> {
    /// What [`Sessions::delete`] would delete.
    pub fn preview_delete(&self, id: &SessionId) -> Result<Deleted> {
        self.oneiro.store.read(|tx| Ok(plan(tx, &[key_of(tx, id)?])?.1))
    }

    /// Deletes a session and the delegates under it.
    pub fn delete(&self, id: &SessionId) -> Result<Deleted> {
        let (id, oneiro) = (id.clone(), self.oneiro.clone());
        self.oneiro.store.write(move |tx| delete_and_record(&oneiro, tx, &[key_of(tx, &id)?]))
    }
}

/// Deletes sessions, records the deletion and schedules the purge of the index.
pub(crate) fn delete_and_record(oneiro: &Oneiro, tx: &Tx<'_>, keys: &[i64]) -> Result<Deleted> {
    schedule_purge(oneiro, tx, keys)?;
    let deleted = delete_in(tx, keys)?;
    record_deleted(tx, &deleted, oneiro.now())?;
    Ok(deleted)
}

/// Records which sessions were deleted.
pub(crate) fn record_deleted(tx: &Tx<'_>, deleted: &Deleted, now: Timestamp) -> Result<()> {
    let mut ids = deleted.sessions.iter();
    ids.try_for_each(|id| changes::record(tx, ChangeKind::Deleted, Some(id), now))
}

/// How long deleted words may stay in the index. They are never found, and purging many sessions at once
/// costs as much as purging one.
const PURGE_DELAY: Span = Span::seconds(30);

/// Schedules a job that removes the words of sessions from the index, if they are in it.
pub(crate) fn schedule_purge(oneiro: &Oneiro, tx: &Tx<'_>, keys: &[i64]) -> Result<()> {
    let reach = segments::last_covered(tx, segments::state(tx)?.build)?;
    let mut is_indexed = false;
    for link in plan(tx, keys)?.0 {
        is_indexed |= messages::first_of_session(tx, link)?.is_some_and(|first| first <= reach);
    }
    if !is_indexed {
        return Ok(());
    }
    let now = oneiro.now();
    let job = oneiro.new_job(jobs::PURGE_INDEX, serde_json::Value::Null, now.plus(PURGE_DELAY));
    oneiro_store::jobs::add(tx, &job, now).map(|_| ())
}

/// Deletes sessions and the delegates under them.
pub(crate) fn delete_in(tx: &Tx<'_>, keys: &[i64]) -> Result<Deleted> {
    let (doomed, deleted) = plan(tx, keys)?;
    for key in &doomed {
        remove_summaries_of_session(tx, *key)?;
        lineage::detach_children(tx, *key)?;
    }
    for key in doomed {
        segments::remove_embeddings_of_session(tx, key)?;
        sessions::remove(tx, key)?;
    }
    Ok(deleted)
}

/// The keys of all sessions that would be deleted with these, and the result.
pub(crate) fn plan(tx: &Tx<'_>, keys: &[i64]) -> Result<(Vec<i64>, Deleted)> {
    let mut doomed = Vec::new();
    let mut seen = HashSet::new();
    for key in keys {
        for link in lineage::descendants(tx, *key, Lineage::Delegate)? {
            if seen.insert(link.key) {
                doomed.push(link);
            }
        }
    }
    let mut deleted = Deleted::default();
    for link in &doomed {
        let left = lineage::children(tx, link.key)?.into_iter().filter(|c| !seen.contains(&c.key));
        deleted.orphaned.extend(left.map(|child| child.id));
        deleted.messages += messages::count_of_session(tx, link.key)?;
        deleted.sessions.push(link.id.clone());
    }
    Ok((doomed.into_iter().map(|link| link.key).collect(), deleted))
}
