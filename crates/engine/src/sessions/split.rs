//! Split a session: it ends, and a continuation starts with its compacted window, in one transaction.

use super::create::{child_of, refuse_ignored};
use super::{Draft, create_in, fetch_session, key_of, no_session};
use crate::context::uncovered;
use crate::views::Sessions;
use oneiro_model::{
    ChangeKind, CompactRequest, Error, Lineage, MessageId, NewSession, Result, Session, SessionId,
    SplitRequest, Timestamp,
};
use oneiro_store::{
    SessionRef, Tx, changes, contexts, lineage, messages, sequence, session_updates, sessions,
    summaries,
};

/// The end reason of a session that was split.
pub(crate) const COMPRESSION: &str = "compression";

impl Sessions<'_> {
    /// Ends a session with the reason `compression` and creates its continuation, which gets its model,
    /// user, prompt and project, its title with the next number, and its compacted window.
    pub fn split(&self, id: &SessionId, request: SplitRequest) -> Result<Session> {
        let parent = self.find(id)?.ok_or_else(|| no_session(id.as_str()))?;
        let draft = Draft::new(
            self.oneiro,
            // A continuation gets its parent's title with the next number.
            NewSession { id: request.id, ..child_of(parent, Lineage::Continuation) },
        )?;
        // Checked before compacting, and again in the transaction.
        self.oneiro.store.read(|tx| refuse_split(tx, SessionRef { key: key_of(tx, id)?, id }))?;
        self.oneiro.context().compact(id, &CompactRequest { until: request.until, redo: false })?;
        let (oneiro, from) = (self.oneiro.clone(), id.clone());
        let child = self.oneiro.store.write(move |tx| {
            let parent = key_of(tx, &from)?;
            refuse_split(tx, SessionRef { key: parent, id: &from })?;
            refuse_ignored(&oneiro, tx, &draft.id)?;
            if sessions::key(tx, &draft.id)?.is_some() {
                return Err(Error::conflict(format!("session {:?} exists", draft.id.as_str()))
                    .remedy("give the continuation another id, or none"));
            }
            let now = oneiro.now();
            let key = create_in(tx, &draft)?;
            copy_window(tx, parent, key, now)?;
            sessions::recount(tx, key)?;
            session_updates::end_if_open(tx, parent, COMPRESSION, now)?;
            changes::record(tx, ChangeKind::Ended, Some(&from), now)?;
            changes::record(tx, ChangeKind::Created, Some(&draft.id), now)?;
            fetch_session(tx, key)
        })?;
        self.oneiro.schedule_indexing()?;
        Ok(child)
    }
}

/// Copies the window of a session to another: the summaries are shared, and messages that are not
/// summarised are copied.
fn copy_window(tx: &Tx<'_>, from: i64, to: i64, now: Timestamp) -> Result<()> {
    for node in summaries::root_keys(tx, from)? {
        summaries::add_root(tx, to, node)?;
    }
    let pinned = contexts::pinned(tx, from)?;
    let rest = uncovered(tx, from)?;
    let taken = sequence::next_messages(tx)?;
    for (old, new) in rest.iter().zip(taken.first..) {
        messages::copy(tx, *old, new, to)?;
        if pinned.contains(old) {
            contexts::pin(tx, to, MessageId(new), now)?;
        }
    }
    for covered in pinned.into_iter().filter(|seq| !rest.contains(seq)) {
        contexts::pin(tx, to, MessageId(covered), now)?;
    }
    Ok(())
}

/// Fails for a session that was split before or has ended.
fn refuse_split(tx: &Tx<'_>, session: SessionRef<'_>) -> Result<()> {
    let SessionRef { key, id } = session;
    let tip = lineage::tip(tx, key)?.filter(|tip| tip.key != key);
    if let Some(tip) = tip {
        return Err(Error::conflict(format!("session {:?} was split already", id.as_str()))
            .remedy(format!("it goes on as {:?}", tip.id.as_str())));
    }
    let session = fetch_session(tx, key)?;
    match session.end_reason {
        Some(reason) if session.ended_at.is_some() => {
            Err(Error::conflict(format!("session {:?} has ended: {reason}", id.as_str()))
                .remedy("reopen the session first"))
        }
        _ => Ok(()),
    }
}
