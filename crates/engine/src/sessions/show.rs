//! Read a session's messages.

use super::{fetch_session, key_of, message_in};
use crate::views::{Messages, Sessions};
use oneiro_model::{
    Cursor, Error, Message, MessageId, MessageRef, Page, Remedy, Result, SessionId, SessionView,
};
use oneiro_store::SessionRef;
use oneiro_store::message_rows::{self, Include, Position};
use oneiro_store::messages::{self, PageRequest};

/// Which stretch of a session to read.
#[derive(Debug, Clone, Copy)]
pub struct StretchRequest {
    /// Where it begins.
    pub from: StretchFrom,
    /// Compacted and rewound messages too.
    pub hidden: bool,
    /// The maximum number of messages.
    pub limit: usize,
}

/// Where a stretch of a session begins.
#[derive(Debug, Clone, Copy)]
pub enum StretchFrom {
    /// At a place that another stretch told, or at the beginning.
    After(Option<Cursor>),
    /// A little before a message.
    Around(MessageId),
}

/// A stretch of a session's messages.
#[derive(Debug, Clone)]
pub struct Stretch {
    /// The messages, in the order they came.
    pub messages: Vec<Message>,
    /// Where the stretch before begins.
    pub earlier: Option<Cursor>,
    /// Where the stretch after begins.
    pub later: Option<Cursor>,
}

/// The id after which `limit` of these messages are read; they are sorted newest first.
fn start(before: &[i64], limit: usize) -> i64 {
    before.get(limit).copied().unwrap_or(0)
}

/// A page ends after this many bytes of large values.
pub(crate) const PAGE_BYTES: usize = 16 << 20;

impl Sessions<'_> {
    /// A session with its messages; with `hidden`, compacted and rewound ones too.
    pub fn show(&self, id: &SessionId, hidden: bool) -> Result<SessionView> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let all = PageRequest { after: 0, hidden, limit: usize::MAX };
            let messages = messages::page(tx, SessionRef { key, id }, all)?;
            Ok(SessionView { session: fetch_session(tx, key)?, messages })
        })
    }
}

impl Messages<'_> {
    /// A page of a session's messages, oldest first, with fewer messages if they are large.
    pub fn list(&self, id: &SessionId, request: PageRequest) -> Result<Page<Message>> {
        if request.limit == 0 {
            return Err(Error::field("limit", "is zero"));
        }
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let (items, more) =
                messages::page_within(tx, SessionRef { key, id }, request, PAGE_BYTES)?;
            let last = items.last().filter(|_| more);
            let next = last.map(|message| Cursor { order: message.id.0, key: message.id.0 });
            Ok(Page { items, next })
        })
    }

    /// A range of a session's messages, with the cursors of the ranges before and after it.
    pub fn stretch(&self, id: &SessionId, request: StretchRequest) -> Result<Stretch> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let StretchRequest { from, hidden, limit } = request;
            let include = if hidden { Include::All } else { Include::Live };
            let ids_before = |seq, limit| {
                let at = Position { session_key: key, seq };
                message_rows::session_ids_before(tx, at, include, limit)
            };
            let after = match from {
                StretchFrom::After(cursor) => cursor.map_or(0, |cursor| cursor.key),
                StretchFrom::Around(message) => {
                    start(&ids_before(message.0, limit / 4 + 1)?, limit / 4)
                }
            };
            let wanted = PageRequest { after, hidden, limit: limit.saturating_add(1) };
            let mut messages = messages::page(tx, SessionRef { key, id }, wanted)?;
            let more = messages.len() > limit;
            messages.truncate(limit);
            let later = messages.last().filter(|_| more).map(|last| last.id.0);
            let first = messages.first().map_or(after.saturating_add(1), |first| first.id.0);
            let before = ids_before(first, limit.saturating_add(1))?;
            let earlier = (!before.is_empty()).then(|| start(&before, limit));
            let cursor = |key| Cursor { order: key, key };
            Ok(Stretch { messages, earlier: earlier.map(cursor), later: later.map(cursor) })
        })
    }

    /// Finds several messages in one snapshot; `None` for one that does not exist.
    pub fn find_many(&self, ids: &[MessageId]) -> Result<Vec<Option<Message>>> {
        self.oneiro.store.read(|tx| {
            let find = |id: &MessageId| Ok(messages::get(tx, *id)?.map(|(_, message)| message));
            ids.iter().map(find).collect()
        })
    }

    /// One message, of any visibility.
    pub fn get(&self, message: impl Into<MessageRef>) -> Result<Message> {
        let message = message.into();
        self.oneiro.store.read(|tx| {
            let id = message_in(tx, &message, None)?;
            let found = messages::get(tx, id)?;
            found.map(|(_, message)| message).ok_or_else(|| no_message(id))
        })
    }
}

/// The error for a message that does not exist.
pub(crate) fn no_message(id: MessageId) -> Error {
    Error::not_found(format!("there is no message {id}")).remedy(Remedy::ListMessages)
}
