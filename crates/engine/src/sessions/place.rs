//! Converts between message ids and places in a session. A place counts all stored messages of the
//! session, so rewinding and compacting do not change it.

use super::{key_of, resolve_in};
use crate::views::Messages;
use oneiro_model::{Error, MessageId, MessageRef, Result, SessionId};
use oneiro_store::{SessionRef, Tx, messages};

impl Messages<'_> {
    /// The id of a message; a place without a session is one in `session`.
    pub fn resolve(&self, message: &MessageRef, session: Option<&SessionId>) -> Result<MessageId> {
        self.oneiro.store.read(|tx| {
            let session =
                session.map(|id| Ok(SessionRef { key: key_of(tx, id)?, id })).transpose()?;
            message_in(tx, message, session)
        })
    }

    /// The places of messages in a session; `None` for a message of another session.
    pub fn places(&self, id: &SessionId, of: &[MessageId]) -> Result<Vec<Option<usize>>> {
        let mut seqs =
            self.oneiro.store.read(|tx| messages::seqs_of_session(tx, key_of(tx, id)?))?;
        seqs.sort_unstable();
        let place = |id: &MessageId| seqs.binary_search(&id.0).ok().map(|index| index + 1);
        Ok(of.iter().map(place).collect())
    }
}

/// The id of a message; a place without a session is one in `session`.
pub(crate) fn message_in(
    tx: &Tx<'_>,
    message: &MessageRef,
    session: Option<SessionRef<'_>>,
) -> Result<MessageId> {
    match message {
        MessageRef::Id(id) => Ok(*id),
        MessageRef::Place { session: Some(named), place } => {
            let (key, id) = resolve_in(tx, named.as_str())?;
            message_at(tx, SessionRef { key, id: &id }, *place)
        }
        MessageRef::Place { session: None, place } => {
            let session = session.ok_or_else(|| {
                Error::invalid(format!("{message} does not say in which session"))
                    .remedy(format!("write the session before it: SESSION{message}"))
            })?;
            message_at(tx, session, *place)
        }
    }
}

/// The id of the message at a place of a session.
pub(crate) fn message_at(tx: &Tx<'_>, session: SessionRef<'_>, place: i64) -> Result<MessageId> {
    let SessionRef { key, id } = session;
    if let Some(seq) = messages::seq_at(tx, key, place)? {
        return Ok(MessageId(seq));
    }
    let name = id.as_str();
    Err(match messages::count_of_session(tx, key)? {
        0 => Error::not_found(format!("session {name:?} has no messages"))
            .remedy("give a message of another session"),
        1 => Error::not_found(format!("session {name:?} has 1 message, and none at place {place}"))
            .remedy("give place 1"),
        count => {
            let problem =
                format!("session {name:?} has {count} messages, and none at place {place}");
            Error::not_found(problem).remedy(format!("give a place from 1, the oldest, to {count}"))
        }
    })
}
