//! Pin a message into every window of its session, and unpin it.

use crate::sessions::key_of;
use crate::views::Messages;
use oneiro_model::{Error, Message, MessageId, Result, SessionId, Visibility};
use oneiro_store::{Tx, contexts, messages};

/// Maximum pins per session: more would leave no room for the conversation.
const PINS_MAX: usize = 64;

impl Messages<'_> {
    /// Pins a message into every window of its session; returns false if it was already pinned.
    pub fn pin(&self, id: &SessionId, message: MessageId) -> Result<bool> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = own(tx, &id, message)?;
            if contexts::pinned(tx, key)?.len() >= PINS_MAX {
                return Err(Error::conflict(format!("{PINS_MAX} messages are pinned already"))
                    .remedy("unpin one first"));
            }
            let pinned = contexts::pin(tx, key, message, now)?;
            if pinned {
                contexts::changed(tx, key, "pin")?;
            }
            Ok(pinned)
        })
    }

    /// Unpins a message; returns false if it was not pinned.
    pub fn unpin(&self, id: &SessionId, message: MessageId) -> Result<bool> {
        let id = id.clone();
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let unpinned = contexts::unpin(tx, key, message)?;
            if unpinned {
                contexts::changed(tx, key, "pin")?;
            }
            Ok(unpinned)
        })
    }

    /// The pinned messages of a session, in order.
    pub fn pinned(&self, id: &SessionId) -> Result<Vec<Message>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let pinned = contexts::pinned(tx, key)?.into_iter();
            let found = pinned.map(|seq| messages::get(tx, MessageId(seq)));
            let found = found.collect::<Result<Vec<_>>>()?;
            Ok(found.into_iter().flatten().map(|(_, message)| message).collect())
        })
    }
}

fn own(tx: &Tx<'_>, id: &SessionId, message: MessageId) -> Result<i64> {
    let key = key_of(tx, id)?;
    let found = messages::get(tx, message)?.filter(|(session, _)| *session == key);
    let (_, found) = found.ok_or_else(|| {
        Error::not_found(format!("session {:?} has no message {message}", id.as_str()))
    })?;
    match found.visibility {
        Visibility::Rewound => {
            Err(Error::conflict(format!("message {message} is rewound")).remedy("restore it first"))
        }
        _ => Ok(key),
    }
}
