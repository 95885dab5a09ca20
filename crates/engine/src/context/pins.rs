//! Pin a message into every window of its session, and unpin it.

use crate::sessions::{key_of, message_in};
use crate::views::Messages;
use oneiro_model::{Error, Message, MessageId, MessageRef, Remedy, Result, SessionId, Visibility};
use oneiro_store::{SessionRef, Tx, contexts, messages};

/// Maximum pins per session: more would leave no room for the conversation.
const PINS_MAX: usize = 64;

impl Messages<'_> {
    /// Pins a message of a session into every window of it; false when it was pinned.
    pub fn pin(&self, id: &SessionId, message: impl Into<MessageRef>) -> Result<bool> {
        let (id, message, now) = (id.clone(), message.into(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let message = message_in(tx, &message, Some(SessionRef { key, id: &id }))?;
            check_can_pin(tx, (key, &id), message)?;
            if contexts::pinned(tx, key)?.len() >= PINS_MAX {
                return Err(Error::conflict(format!("{PINS_MAX} messages are pinned already"))
                    .remedy("unpin one first"));
            }
            let pinned = contexts::pin(tx, key, message, now)?;
            if pinned {
                contexts::record_change(tx, key, "pin")?;
            }
            Ok(pinned)
        })
    }

    /// Unpins a message; false when it was not pinned.
    pub fn unpin(&self, id: &SessionId, message: impl Into<MessageRef>) -> Result<bool> {
        let (id, message) = (id.clone(), message.into());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let message = message_in(tx, &message, Some(SessionRef { key, id: &id }))?;
            let unpinned = contexts::unpin(tx, key, message)?;
            if unpinned {
                contexts::record_change(tx, key, "pin")?;
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

fn check_can_pin(tx: &Tx<'_>, (key, id): (i64, &SessionId), message: MessageId) -> Result<()> {
    let found = messages::get(tx, message)?.filter(|(session, _)| *session == key);
    let (_, found) = found.ok_or_else(|| {
        Error::not_found(format!("session {:?} has no message {message}", id.as_str()))
            .remedy(Remedy::ListMessages)
    })?;
    match found.visibility {
        Visibility::Rewound => {
            Err(Error::conflict(format!("message {message} is rewound")).remedy("restore it first"))
        }
        _ => Ok(()),
    }
}
