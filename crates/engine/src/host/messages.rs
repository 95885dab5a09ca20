//! Histories that a host keeps itself: replaced, compacted, taken back and brought back by its own
//! rules, over rows that never change.

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
use oneiro_store::{changes, sequence, sessions, visibility};
use serde_json::Value;

/// Messages read at a time when one is looked for.
const SCANNED: usize = 1_024;

impl Host<'_> {
    /// Makes what a session shows be exactly these messages, every one of them appended anew; what
    /// it showed and what was set aside is hidden and can be restored. Answers what it shows now.
    pub fn replace_history(
        &self,
        id: &SessionId,
        history: Vec<NewMessage>,
    ) -> Result<Vec<Message>> {
        self.oneiro.change_history(id, history, true)
    }

    /// Sets aside all that a session shows, still stored and searchable, and appends what stands
    /// for it, in one transaction: a compaction that the host has written itself.
    pub fn compact_into(&self, id: &SessionId, history: Vec<NewMessage>) -> Result<Appended> {
        let now = self.oneiro.now();
        let mut prepared = Vec::with_capacity(history.len());
        for (index, message) in history.into_iter().enumerate() {
            let place = |error: Error| error.at(format!("message {}", index + 1));
            // Its caller's id may be that of a message it stands for.
            let message = NewMessage { external_id: None, visibility: Visibility::Live, ..message };
            prepared.push(messages::prepare(message, now).map_err(place)?);
        }
        let id = id.clone();
        let appended = self.oneiro.store.write_bulk(|tx| {
            let key = key_of(tx, &id)?;
            if self.oneiro.settings_in(tx)?.is_stateless(&id) {
                return Err(not_stored_error(&id));
            }
            refuse_continued(tx, (key, &id))?;
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

    /// Takes back whatever is still shown of a user message and everything after it, even if the
    /// message itself is taken back already.
    pub fn rewind_again(&self, id: &SessionId, to: MessageId) -> Result<Rewound> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let session = (key_of(tx, &id)?, &id);
            let target = rewind_target(tx, session, to)?;
            let rewound = hide(tx, session, target)?;
            changes::record(tx, ChangeKind::Rewound, Some(&id), now)?;
            Ok(rewound)
        })
    }

    /// Shows again whatever was rewound from message `since` on; answers how many messages came
    /// back.
    pub fn restore_since(&self, id: &SessionId, since: MessageId) -> Result<usize> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            refuse_continued(tx, (key, &id))?;
            let restored = change_visibility(tx, (key, &id), (since.0, i64::MAX), || {
                visibility::restore_since(tx, key, since)
            })?;
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Restored, Some(&id), now)?;
            Ok(restored)
        })
    }

    /// Covers all live messages up to `until`: they stay stored and searchable, but are no longer
    /// loaded.
    pub fn compact_messages(&self, id: &SessionId, until: MessageId) -> Result<usize> {
        let id = id.clone();
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            refuse_continued(tx, (key, &id))?;
            change_visibility(tx, (key, &id), (0, until.0), || visibility::compact(tx, key, until))
        })
    }

    /// A session's messages, in the order they came, however large they are.
    pub fn all_messages(&self, id: &SessionId, request: PageRequest) -> Result<Vec<Message>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            messages::page(tx, (key, id), request)
        })
    }

    /// The newest message of a session whose field has this value, rewound ones left out.
    pub fn find_message(
        &self,
        id: &SessionId,
        (field, value): (&str, &Value),
    ) -> Result<Option<MessageId>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let (mut after, mut found) = (0, None);
            loop {
                let request = PageRequest { after, hidden: true, limit: SCANNED };
                let (page, more) = messages::page_within(tx, (key, id), request, PAGE_BYTES)?;
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
