//! Amend when a session began and ended, for hosts that know better than the clock did.

use super::{key_of, whole};
use crate::Oneiro;
use oneiro_model::{ChangeKind, Result, Session, SessionId, Timestamp};
use oneiro_store::{amends, changes};

/// What is known better; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct SessionTimes {
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When and why it ended, or that it has not.
    pub ended: Option<Option<(Timestamp, String)>>,
}

impl Oneiro {
    /// Amends the times of a session. It was last active when something was last said in it.
    pub fn amend_session(&self, id: &SessionId, times: SessionTimes) -> Result<Session> {
        let (id, now) = (id.clone(), self.now());
        self.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            match &times.ended {
                Some(Some((at, reason))) => amends::end_anew(tx, key, reason, *at)?,
                Some(None) => amends::reopen(tx, key)?,
                None => {}
            }
            if let Some(started_at) = times.started_at {
                amends::set_started(tx, key, started_at)?;
            }
            changes::record(tx, ChangeKind::Changed, Some(&id), now)?;
            whole(tx, key)
        })
    }
}
