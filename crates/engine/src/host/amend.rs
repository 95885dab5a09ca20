//! Corrects the times of sessions and the times and visibility of messages, for hosts that know them
//! better. The content of messages is never changed.

use crate::context::change_visibility;
use crate::sessions::{fetch_session, key_of, no_message, refuse_continued};
use crate::views::Host;
use oneiro_model::host::{MessageAmend, SessionTimes};
use oneiro_model::{ChangeKind, Result, Session, SessionId, Visibility};
use oneiro_store::{SessionRef, changes, lineage, messages, session_updates, sessions, visibility};

impl Host<'_> {
    /// Corrects the time and visibility of messages of a session, all of them or none.
    pub fn amend_messages(&self, id: &SessionId, amends: Vec<MessageAmend>) -> Result<()> {
        let (id, now) = (id.clone(), self.oneiro.now());
        let is_timed = amends.iter().any(|amend| amend.at.is_some());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            refuse_continued(tx, SessionRef { key, id: &id })?;
            let hides = amends.iter().any(|one| one.visibility == Some(Visibility::Rewound));
            let rewind = if hides { sessions::count_rewind(tx, key)? } else { 0 };
            for amend in &amends {
                let there = messages::get(tx, amend.id)?.filter(|(session, _)| *session == key);
                there.ok_or_else(|| no_message(amend.id))?;
                if let Some(at) = amend.at {
                    session_updates::set_message_time(tx, amend.id, at)?;
                }
                if let Some(visibility) = amend.visibility {
                    let range = (amend.id.0, amend.id.0);
                    change_visibility(tx, (key, &id), range, || {
                        visibility::set(tx, amend.id.0, visibility, rewind)
                    })?;
                }
            }
            sessions::recount(tx, key)?;
            session_updates::set_started_at(tx, key, fetch_session(tx, key)?.started_at)?;
            changes::record(tx, ChangeKind::Changed, Some(&id), now)
        })?;
        if is_timed {
            // The index contains the minute of each message.
            self.oneiro.rebuild_index_soon();
        }
        Ok(())
    }

    /// Corrects the times of a session.
    pub fn amend_session(&self, id: &SessionId, times: SessionTimes) -> Result<Session> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            match times.ended_at {
                Some(Some(at)) => session_updates::end(tx, key, &times.end_reason, at)?,
                Some(None) => session_updates::reopen(tx, key)?,
                None => {}
            }
            match &times.parent_id {
                Some(Some(parent)) => {
                    lineage::attach(tx, key, key_of(tx, parent)?, times.lineage)?;
                }
                Some(None) => lineage::detach(tx, key)?,
                None => {}
            }
            if let Some(started_at) = times.started_at {
                session_updates::set_started_at(tx, key, started_at)?;
            }
            changes::record(tx, ChangeKind::Changed, Some(&id), now)?;
            fetch_session(tx, key)
        })
    }
}
