//! Replaces or truncates the history of a session. Messages are hidden, never deleted.

use crate::Oneiro;
use crate::append::append_prepared;
use crate::context::change_visibility;
use crate::sessions::{key_of, refuse_continued};
use crate::views::Messages;
use oneiro_model::{ChangeKind, Error, Message, MessageId, NewMessage, Result, SessionId};
use oneiro_store::message_rows::{self, Include, Position};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{SessionRef, changes, sequence, sessions, visibility};
use std::collections::HashSet;

/// The error for a session whose messages are not stored.
pub(crate) fn not_stored_error(id: &SessionId) -> Error {
    Error::conflict(format!("nothing said in session {:?} is stored", id.as_str()))
        .remedy("the space's ignore or stateless patterns match its id")
}

impl Messages<'_> {
    /// Makes a session show exactly these messages. A common prefix stays, all other messages are
    /// hidden and can be restored, and new ones are appended. Returns the shown messages.
    pub fn set_history(&self, id: &SessionId, history: Vec<NewMessage>) -> Result<Vec<Message>> {
        self.oneiro.change_history(id, history, false)
    }

    /// Compacts all but the newest `keep` messages of a session: they stay stored and searchable,
    /// but are not loaded. Returns how many were compacted.
    pub fn truncate_history(&self, id: &SessionId, keep: usize) -> Result<usize> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let newest = message_rows::session_ids_before(
                tx,
                Position::end(key),
                Include::Live,
                keep.saturating_add(1),
            )?;
            let Some(last) = newest.get(keep).copied() else { return Ok(0) };
            refuse_continued(tx, SessionRef { key, id: &id })?;
            let aside = change_visibility(tx, (key, &id), (0, last), || {
                visibility::compact(tx, key, MessageId(last))
            })?;
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Compacted, Some(&id), now)?;
            Ok(aside)
        })
    }
}

impl Oneiro {
    /// Makes a session show these messages; with `all`, no common prefix is kept.
    pub(crate) fn change_history(
        &self,
        id: &SessionId,
        history: Vec<NewMessage>,
        all: bool,
    ) -> Result<Vec<Message>> {
        for (index, message) in history.iter().enumerate() {
            message.check().map_err(|error| error.at(format!("message {}", index + 1)))?;
        }
        let (id, now) = (id.clone(), self.now());
        let shown = self.store.write_bulk(|tx| {
            let key = key_of(tx, &id)?;
            if self.settings_in(tx)?.is_stateless(&id) {
                return Err(not_stored_error(&id));
            }
            let live = PageRequest { after: 0, hidden: false, limit: usize::MAX };
            let there = messages::page(
                tx,
                SessionRef { key, id: &id },
                PageRequest { hidden: all, ..live },
            )?;
            let stays = there.iter().zip(&history).take_while(|(old, new)| is_same(old, new));
            let same = if all { 0 } else { stays.count() };
            if let Some(first) = there.get(same) {
                refuse_continued(tx, SessionRef { key, id: &id })?;
                change_visibility(tx, (key, &id), (first.id.0, i64::MAX), || {
                    let number = sessions::count_rewind(tx, key)?;
                    visibility::rewind(tx, key, first.id, number)
                })?;
                changes::record(tx, ChangeKind::Rewound, Some(&id), now)?;
            }
            let mut prepared = Vec::new();
            let mut given = HashSet::new();
            for message in history.iter().skip(same) {
                // Rows are immutable and none is dropped: an external id that a hidden message has
                // stays with that message, and of two equal ids the first message keeps it.
                let taken = match &message.external_id {
                    Some(id) => {
                        !given.insert(id.as_str())
                            || messages::by_external_id(tx, key, id)?.is_some()
                    }
                    None => false,
                };
                let external_id = message.external_id.clone().filter(|_| !taken);
                let message = NewMessage { external_id, ..message.clone() };
                prepared.push(messages::prepare(message, now)?);
            }
            let taken = sequence::next_messages(tx)?;
            append_prepared(tx, key, taken.first, &prepared)?;
            sessions::recount(tx, key)?;
            messages::page(tx, SessionRef { key, id: &id }, live)
        })?;
        if let Some(last) = shown.last() {
            self.index.schedule_indexing(last.id.0);
        }
        Ok(shown)
    }
}

/// Whether a message of the new history equals a stored one.
fn is_same(old: &Message, new: &NewMessage) -> bool {
    old.role == new.role
        && old.body == new.body
        && (new.external_id.is_none() || old.external_id == new.external_id)
        && new.at.is_none_or(|at| at == old.at)
}
