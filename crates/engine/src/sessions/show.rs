//! Read a session's messages.

use super::{key_of, whole};
use crate::Oneiro;
use oneiro_model::{Cursor, Error, Message, MessageId, Page, Result, SessionId, SessionView};
use oneiro_store::messages::{self, PageRequest};

/// Bytes of large values after which a page ends, however few messages it has.
const PAGE_BYTES: usize = 16 << 20;

impl Oneiro {
    /// A session with its messages; with `hidden`, compacted and rewound ones too.
    pub fn show_session(&self, id: &SessionId, hidden: bool) -> Result<SessionView> {
        self.store.read(|tx| {
            let key = key_of(tx, id)?;
            let all = PageRequest { after: 0, hidden, limit: usize::MAX };
            let messages = messages::page(tx, (key, id), all)?;
            Ok(SessionView { session: whole(tx, key)?, messages })
        })
    }

    /// A page of a session's messages, in the order they came: as many as were asked for, or fewer
    /// if they are large.
    pub fn messages(&self, id: &SessionId, request: PageRequest) -> Result<Page<Message>> {
        if request.limit == 0 {
            return Err(Error::field("limit", "is zero"));
        }
        self.store.read(|tx| {
            let key = key_of(tx, id)?;
            let (items, more) = messages::page_within(tx, (key, id), request, PAGE_BYTES)?;
            let last = items.last().filter(|_| more);
            let next = last.map(|message| Cursor { order: message.id.0, key: message.id.0 });
            Ok(Page { items, next })
        })
    }

    /// One message, wherever it stands.
    pub fn message(&self, id: MessageId) -> Result<Message> {
        let found = self.store.read(|tx| messages::get(tx, id))?;
        found.map(|(_, message)| message).ok_or_else(|| no_message(id))
    }
}

/// The error of a message that is not there.
pub(crate) fn no_message(id: MessageId) -> Error {
    Error::not_found(format!("there is no message {id}"))
        .remedy("`oneiro session show SESSION` shows the ids there are")
}
