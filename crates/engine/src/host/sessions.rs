//! Sessions of a host: created only if they are new, found by title, deleted in bulk.

use crate::sessions::{delete_and_record, fetch_session, key_of_title};
use crate::views::Host;
use oneiro_model::host::DeleteRequest;
use oneiro_model::{Deleted, NewSession, Result, Session, SessionId};
use oneiro_store::{Tx, lineage, messages, sessions, titles};

impl Host<'_> {
    /// Creates a session; an existing one with its id is a conflict.
    pub fn begin_session(&self, session: NewSession) -> Result<Session> {
        self.oneiro.create_checked(session, true)
    }

    /// Deletes the sessions that exist and match the request, in one transaction.
    pub fn delete_sessions(&self, request: DeleteRequest) -> Result<Deleted> {
        let oneiro = self.oneiro.clone();
        self.oneiro.store.write(move |tx| {
            let mut keys = Vec::new();
            for id in &request.ids {
                if let Some(key) = sessions::key(tx, id)?
                    && matches(tx, &request, key)?
                {
                    keys.push(key);
                }
            }
            if request.keep_delegates {
                for key in &keys {
                    lineage::detach_children(tx, *key)?;
                }
            }
            delete_and_record(&oneiro, tx, &keys)
        })
    }

    /// The session that has exactly this title.
    pub fn find_title(&self, title: &str) -> Result<Option<SessionId>> {
        self.oneiro.store.read(|tx| match titles::session_with(tx, title)? {
            Some(key) => Ok(Some(fetch_session(tx, key)?.id)),
            None => Ok(None),
        })
    }

    /// The most recently started session with this title, with or without a number.
    pub fn resolve_title(&self, title: &str) -> Result<Option<SessionId>> {
        self.oneiro.store.read(|tx| match key_of_title(tx, title)? {
            Some(key) => Ok(Some(fetch_session(tx, key)?.id)),
            None => Ok(None),
        })
    }
}

/// Whether a session matches the request.
fn matches(tx: &Tx<'_>, request: &DeleteRequest, key: i64) -> Result<bool> {
    let session = fetch_session(tx, key)?;
    if request.only_ended && session.ended_at.is_none() {
        return Ok(false);
    }
    Ok(!request.only_empty
        || session.title.is_none()
            && messages::count_of_session(tx, key)? == 0
            && lineage::children(tx, key)?.is_empty())
}
