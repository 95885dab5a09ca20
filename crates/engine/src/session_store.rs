//! What hosts that keep a session's history themselves set of it, over immutable rows: setting or
//! truncating a history hides and never deletes, a summary that is set is pinned to the beginning of
//! every window, and every failure is told.

use crate::Oneiro;
use crate::append::append_prepared;
use crate::context::{change_visibility, written};
use crate::sessions::{key_of, refuse_continued};
use oneiro_model::{
    Appended, ChangeKind, Error, Message, MessageId, NewMessage, Result, SessionId, Summary,
    SummaryKind, Visibility,
};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{Tx, changes, contexts, said, sequence, sessions, shown, summaries};
use std::collections::HashSet;

fn nothing_stored(id: &SessionId) -> Error {
    Error::conflict(format!("nothing said in session {:?} is stored", id.as_str()))
        .remedy("the space's ignore or stateless patterns match its id")
}

/// A summary longer than this is not one.
const SUMMARY_BYTES: usize = 1 << 20;

impl Oneiro {
    /// Makes what a session shows be exactly these messages: what it begins with already stays,
    /// everything else is hidden and can be restored, and what is new is appended. Answers what it
    /// shows now.
    pub fn set_history(&self, id: &SessionId, history: Vec<NewMessage>) -> Result<Vec<Message>> {
        self.change_history(id, history, false)
    }

    /// The same, but nothing stays: what was set aside is hidden as well, and every message is
    /// appended anew.
    pub fn replace_history(
        &self,
        id: &SessionId,
        history: Vec<NewMessage>,
    ) -> Result<Vec<Message>> {
        self.change_history(id, history, true)
    }

    fn change_history(
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
            if self.settings_in(tx)?.keeps_nothing_of(&id) {
                return Err(nothing_stored(&id));
            }
            let live = PageRequest { after: 0, hidden: false, limit: usize::MAX };
            let there = messages::page(tx, (key, &id), PageRequest { hidden: all, ..live })?;
            let stays = there.iter().zip(&history).take_while(|(old, new)| is_same(old, new));
            let same = if all { 0 } else { stays.count() };
            if let Some(first) = there.get(same) {
                refuse_continued(tx, (key, &id))?;
                change_visibility(tx, (key, &id), (first.id.0, i64::MAX), || {
                    let number = sessions::count_rewind(tx, key)?;
                    shown::rewind(tx, key, first.id, number)
                })?;
                changes::record(tx, ChangeKind::Rewound, Some(&id), now)?;
            }
            let mut prepared = Vec::new();
            let mut given = HashSet::new();
            for message in history.iter().skip(same) {
                // An id that a hidden message has stays with it, and one that is given twice with
                // the first: rows are not changed, and none is left out.
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
            messages::page(tx, (key, &id), live)
        })?;
        if let Some(last) = shown.last() {
            self.index.fold_soon(last.id.0);
        }
        Ok(shown)
    }

    /// Sets aside all that a session shows, still stored and searchable, and appends what stands
    /// for it, in one transaction: a compaction that the host has written itself.
    pub fn compact_into(&self, id: &SessionId, history: Vec<NewMessage>) -> Result<Appended> {
        let now = self.now();
        let mut prepared = Vec::with_capacity(history.len());
        for (index, message) in history.into_iter().enumerate() {
            let place = |error: Error| error.at(format!("message {}", index + 1));
            // Its caller's id may be that of a message it stands for.
            let message = NewMessage { external_id: None, visibility: Visibility::Live, ..message };
            prepared.push(messages::prepare(message, now).map_err(place)?);
        }
        let id = id.clone();
        let appended = self.store.write_bulk(|tx| {
            let key = key_of(tx, &id)?;
            if self.settings_in(tx)?.keeps_nothing_of(&id) {
                return Err(nothing_stored(&id));
            }
            refuse_continued(tx, (key, &id))?;
            change_visibility(tx, (key, &id), (0, i64::MAX), || {
                shown::compact(tx, key, MessageId(i64::MAX))
            })?;
            let taken = sequence::next_messages(tx)?;
            let appended = append_prepared(tx, key, taken.first, &prepared)?;
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Compacted, Some(&id), now)?;
            Ok(appended)
        })?;
        if let Some(last) = appended.ids.last() {
            self.index.fold_soon(last.0);
        }
        Ok(appended)
    }

    /// Sets aside all but the newest `keep` messages of a session: they stay stored and searchable,
    /// but are no longer loaded. Answers how many were set aside.
    pub fn truncate_history(&self, id: &SessionId, keep: usize) -> Result<usize> {
        let (id, now) = (id.clone(), self.now());
        self.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let newest = said::seqs_earlier(tx, (key, i64::MAX), false, keep.saturating_add(1))?;
            let Some(last) = newest.get(keep).copied() else { return Ok(0) };
            refuse_continued(tx, (key, &id))?;
            let aside = change_visibility(tx, (key, &id), (0, last), || {
                shown::compact(tx, key, MessageId(last))
            })?;
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Compacted, Some(&id), now)?;
            Ok(aside)
        })
    }

    /// The summary of a session as one text: the one written by hand, then those of its context.
    pub fn session_summary(&self, id: &SessionId) -> Result<String> {
        self.store.read(|tx| {
            let shown = summaries::shown(tx, key_of(tx, id)?)?;
            let texts: Vec<String> = shown.into_iter().map(|node| node.content).collect();
            Ok(texts.join("\n\n"))
        })
    }

    /// Pins a summary written by hand to the beginning of a session's windows, in place of the one
    /// before; an empty text takes it away.
    pub fn set_summary(&self, id: &SessionId, text: &str) -> Result<Option<Summary>> {
        let text = text.trim();
        if text.len() > SUMMARY_BYTES {
            return Err(Error::field("content", format!("is longer than {SUMMARY_BYTES} bytes")));
        }
        if text.contains('\0') {
            return Err(Error::field("content", "has a NUL character"));
        }
        let (oneiro, id, text) = (self.clone(), id.clone(), text.to_owned());
        self.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            for node in summaries::written(tx, key)? {
                summaries::remove(tx, node)?;
            }
            // One that came from the session before this one stays there.
            for node in summaries::shown(tx, key)? {
                if node.kind == SummaryKind::Written {
                    summaries::hide(tx, key, node.key)?;
                }
            }
            contexts::changed(tx, key, "compaction")?;
            changes::record(tx, ChangeKind::Compacted, Some(&id), oneiro.now())?;
            if text.is_empty() {
                return Ok(None);
            }
            let node = put(tx, key, written(&oneiro, (key, &id), &text))?;
            Ok(Some(node))
        })
    }
}

fn put(tx: &Tx<'_>, session_key: i64, node: summaries::Node) -> Result<Summary> {
    let key = summaries::insert(tx, &node)?;
    summaries::show(tx, session_key, key)?;
    summaries::Node { key, ..node }.whole(tx)
}

/// Whether a message of a new history is one that is there.
fn is_same(old: &Message, new: &NewMessage) -> bool {
    old.role == new.role
        && old.body == new.body
        && (new.external_id.is_none() || old.external_id == new.external_id)
        && new.at.is_none_or(|at| at == old.at)
}
