//! Histories that a host manages by its own rules: replace, compact, rewind and restore. Rows never
//! change.

use crate::append::append_prepared;
use crate::context::change_visibility;
use crate::history::not_stored_error;
use crate::sessions::{PAGE_BYTES, hide, key_of, refuse_continued, rewind_target};
use crate::views::Host;
use oneiro_model::{
    Appended, ChangeKind, Error, Message, MessageId, NewMessage, Result, Rewound, SessionId,
    Visibility,
};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{SessionRef, changes, sequence, sessions, visibility};
use serde_json::Value;

/// Messages read at a time by a search for a field.
const SCAN_BATCH_MESSAGES: usize = 1_024;

impl Host<'_> {
    /// Replaces the live and compacted messages of a session by new ones. The old ones are rewound and
    /// can be restored. Returns the live messages.
    pub fn replace_history(
        &self,
        id: &SessionId,
        history: Vec<NewMessage>,
    ) -> Result<Vec<Message>> {
        self.oneiro.change_history(id, history, true)
    }

    /// Compacts all live messages of a session, which stay stored and searchable, and appends the
    /// host's own summary of them, in one transaction.
    pub fn compact_into(&self, id: &SessionId, history: Vec<NewMessage>) -> Result<Appended> {
        let now = self.oneiro.now();
        let mut prepared = Vec::with_capacity(history.len());
        for (index, message) in history.into_iter().enumerate() {
            let place = |error: Error| error.at(format!("message {}", index + 1));
            // The external id may be that of a compacted message.
            let message = NewMessage { external_id: None, visibility: Visibility::Live, ..message };
            prepared.push(messages::prepare(message, now).map_err(place)?);
        }
        let id = id.clone();
        let appended = self.oneiro.store.write_bulk(|tx| {
            let key = key_of(tx, &id)?;
            if self.oneiro.settings_in(tx)?.is_stateless(&id) {
                return Err(not_stored_error(&id));
            }
            refuse_continued(tx, SessionRef { key, id: &id })?;
            change_visibility(tx, (key, &id), (0, i64::MAX), || {
                visibility::compact(tx, key, MessageId(i64::MAX))
            })?;
            let taken = sequence::next_messages(tx)?;
            let appended = append_prepared(tx, key, taken.first, &prepared)?;
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Compacted, Some(&id), now)?;
            Ok(appended)
        })?;
        if let Some(last) = appended.ids.last() {
            self.oneiro.index.schedule_indexing(last.0);
        }
        Ok(appended)
    }

    /// Rewinds to a user message, even if the message itself is rewound already.
    pub fn rewind_again(&self, id: &SessionId, to: MessageId) -> Result<Rewound> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let session = SessionRef { key: key_of(tx, &id)?, id: &id };
            let target = rewind_target(tx, session, to)?;
            let rewound = hide(tx, session, target)?;
            changes::record(tx, ChangeKind::Rewound, Some(&id), now)?;
            Ok(rewound)
        })
    }

    /// Restores all rewound messages from `since` on, and returns how many.
    pub fn restore_since(&self, id: &SessionId, since: MessageId) -> Result<usize> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            refuse_continued(tx, SessionRef { key, id: &id })?;
            let restored = change_visibility(tx, (key, &id), (since.0, i64::MAX), || {
                visibility::restore_since(tx, key, since)
            })?;
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Restored, Some(&id), now)?;
            Ok(restored)
        })
    }

    /// Compacts all live messages up to `until`: they stay stored and searchable, but are no longer
    /// loaded.
    pub fn compact_messages(&self, id: &SessionId, until: MessageId) -> Result<usize> {
        let id = id.clone();
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            refuse_continued(tx, SessionRef { key, id: &id })?;
            change_visibility(tx, (key, &id), (0, until.0), || visibility::compact(tx, key, until))
        })
    }

    /// A session's messages, oldest first, without a limit on their size.
    pub fn all_messages(&self, id: &SessionId, request: PageRequest) -> Result<Vec<Message>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            messages::page(tx, SessionRef { key, id }, request)
        })
    }

    /// The newest message of a session whose field has this value, except rewound ones.
    pub fn find_message(
        &self,
        id: &SessionId,
        field: &str,
        value: &Value,
    ) -> Result<Option<MessageId>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let (mut after, mut found) = (0, None);
            loop {
                let request = PageRequest { after, hidden: true, limit: SCAN_BATCH_MESSAGES };
                let (page, more) =
                    messages::page_within(tx, SessionRef { key, id }, request, PAGE_BYTES)?;
                let mut shown =
                    page.iter().filter(|message| message.visibility != Visibility::Rewound);
                let met = shown.rfind(|message| message.body.get(field) == Some(value));
                found = met.map(|message| message.id).or(found);
                match page.last() {
                    Some(last) if more => after = last.id.0,
                    _ => return Ok(found),
                }
            }
        })
    }
}
