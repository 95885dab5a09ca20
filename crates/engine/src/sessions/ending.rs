//! End and reopen a session.

use super::{fetch_session, key_of};
use crate::views::Sessions;
use oneiro_model::{ChangeKind, Ending, Result, Session, SessionId};
use oneiro_store::{changes, session_updates};

impl Sessions<'_> {
    /// Ends a session. An existing end reason is kept, unless the request may replace it.
    pub fn end(&self, id: &SessionId, ending: Ending) -> Result<Session> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let at = ending.at.unwrap_or(now);
            let before = fetch_session(tx, key)?;
            match before.ended_at {
                Some(_) if ending.over.takes(before.end_reason.as_deref().unwrap_or_default()) => {
                    session_updates::end(tx, key, &ending.reason, at)?;
                }
                _ => session_updates::end_if_open(tx, key, &ending.reason, at)?,
            }
            changes::record(tx, ChangeKind::Ended, Some(&id), now)?;
            fetch_session(tx, key)
        })
    }

    /// Reopens an ended session.
    pub fn reopen(&self, id: &SessionId) -> Result<Session> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            session_updates::reopen(tx, key)?;
            changes::record(tx, ChangeKind::Reopened, Some(&id), now)?;
            fetch_session(tx, key)
        })
    }
}
