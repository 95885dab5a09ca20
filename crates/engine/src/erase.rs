//! Erase: the one irreversible operation. One transaction removes the rows and queues a job; then
//! the files are scrubbed and searched for the erased text, and copies that cannot be reached are
//! listed.

mod pieces;

use crate::context::{
    rebuild_leaves, rejoin_calls, remove_summaries_after_session, remove_summaries_of_message,
};
use crate::index::{erase_missing_texts, erase_texts};
use crate::memories::{
    check_erasure, erase_memories_of_messages, erase_memory, remove_signals_of_messages,
};
use crate::notes::{erase_mounted_files, erase_note, index_due_notes, stored_note};
use crate::operations::{is_person, needs_person};
use crate::sessions::{delete_in, key_of, message_at, message_in};
use crate::transcripts::remove_title_of_message;
use crate::{Oneiro, jobs};
use oneiro_model::contract::Request;
use oneiro_model::{
    ChangeKind, EraseRequest, EraseTarget, Erased, ErasureProof, Error, JobId, MemoryId, MessageId,
    MessageRef, NewJob, Remedy, Result, SessionId, Span,
};
use oneiro_store::{
    Finder, SessionRef, Tx, backups, changes, costs, each_text, erased_messages, interactions,
    is_missing_table, lineage, messages, notes, packs, payloads, served_lines, sessions, slots,
    summaries,
};
use pieces::Pieces;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{MutexGuard, TryLockError};
use std::time::Duration;

/// How often a waiting erasure checks whether it may start.
const ERASE_POLL: Duration = Duration::from_millis(20);

/// What the transaction of an erasure removed.
struct Removed {
    messages: i64,
    memories: i64,
    payloads: i64,
    pieces: Vec<Vec<u8>>,
    not_searched: usize,
    job: JobId,
}

impl Oneiro {
    /// What a request asks to erase.
    pub fn erase_requested(&self, request: &EraseRequest) -> Result<EraseTarget> {
        request.check()?;
        if let Some(note) = &request.note {
            return Ok(EraseTarget::Note(note.clone()));
        }
        match (&request.session, &request.message, &request.memory) {
            (Some(session), ..) => Ok(EraseTarget::Session(session.clone())),
            (None, Some(message), _) => {
                self.store.read(|tx| Ok(EraseTarget::Message(message_to_erase(tx, message)?)))
            }
            (None, None, Some(memory)) => Ok(EraseTarget::Memory(memory.clone())),
            (None, None, None) => Err(Error::internal("an erasure of nothing passed the check")),
        }
    }

    /// Whether `text` names a session, a message, a memory or a note.
    pub fn erase_target(&self, text: &str) -> Result<EraseTarget> {
        let session = SessionId::new(text).ok();
        let message = MessageRef::parse(text).ok();
        let memory = MemoryId::parse(text).ok();
        self.store.read(|tx| {
            let session = match session {
                Some(id) => sessions::key(tx, &id)?.map(|_| id),
                None => None,
            };
            let message = match message {
                Some(MessageRef::Id(id)) => messages::get(tx, id)?.map(|_| id),
                // What is wrong with a place matters only if no session has that name.
                Some(place) if session.is_some() => message_to_erase(tx, &place).ok(),
                Some(place) => Some(message_to_erase(tx, &place)?),
                None => None,
            };
            match (session, message) {
                (Some(_), Some(_)) => {
                    Err(Error::conflict(format!("{text} is both a session and a message"))
                        .remedy(Remedy::SayWhich))
                }
                (Some(session), None) => Ok(EraseTarget::Session(session)),
                (None, Some(message)) => Ok(EraseTarget::Message(message)),
                (None, None) => match memory {
                    Some(memory) if is_stored(tx, &memory)? => Ok(EraseTarget::Memory(memory)),
                    _ => match stored_note(tx, text)? {
                        Some(note) => Ok(EraseTarget::Note(note)),
                        None => Err(Error::not_found(format!("nothing has the id {text:?}")).remedy(
                            "give the whole id of a session, a message or a memory, or the name of a note",
                        )),
                    },
                },
            }
        })
    }

    /// Erases permanently: rows, payloads, and every trace in the files. Then verifies it.
    pub fn erase(&self, target: &EraseTarget) -> Result<Erased> {
        self.erase_all(std::slice::from_ref(target))
    }

    /// The same for several targets at once: either all are erased or none, and the files are
    /// rewritten and searched once.
    pub fn erase_all(&self, targets: &[EraseTarget]) -> Result<Erased> {
        // Text that a concurrent erasure removes between the search of the raw bytes and the check
        // against the stored rows would count as found here.
        let _alone = self.wait_to_erase()?;
        let holder = self.job_holder();
        let removing = || self.store.write_bulk(|tx| remove((self, &holder), tx, targets));
        let removed = match removing() {
            // An index table is missing: clear the rest of the index as well.
            Err(error) if is_missing_table(&error) => {
                self.store.create_missing_index_tables()?;
                removing()?
            }
            removed => removed?,
        };
        self.index.cache.clear();
        // If this process dies from here on, the job remains and another process finishes the
        // scrub. Until then the job is leased to this process, because two scrubs would block each
        // other.
        let scrub = || {
            // Files of notes that lost lines, and then the texts that only these files still had.
            self.sync_mounts();
            self.store.write(notes::remove_unused_texts)?;
            self.store.scrub(&removed.pieces, &|| false)
        };
        let scrubbed = self.while_held(&removed.job, &holder, scrub).map_err(|error| {
            if let Err(error) =
                self.release_job(removed.job.clone(), holder.clone(), Span::seconds(0))
            {
                // The lease expires by itself.
                tracing::info!(%error, "the job of an erasure was not given back");
            }
            Error::new(
                error.kind(),
                format!("the rows are erased, but the files may still hold traces: {error}"),
            )
            .remedy(Remedy::RunJobs)
            .because(error)
        })?;
        let elsewhere = self.said_elsewhere(&removed.pieces, &scrubbed.found)?;
        let (now, job) = (self.now(), removed.job.clone());
        self.store
            .write(move |tx| oneiro_store::jobs::finish(tx, &job, &holder, now).map(|_| ()))?;
        let mut out_of_reach = scrubbed.out_of_reach;
        out_of_reach.extend(erase_mounted_files(self, targets)?);
        // What cannot be removed now is listed below.
        let _ = self.transfer().remove_abandoned_backups();
        for copy in self.store.read(backups::all)? {
            out_of_reach.push(format!("{} made {} ({})", copy.path, copy.at, copy.reason));
        }
        Ok(Erased {
            id: targets.iter().map(id_of).collect::<Vec<_>>().join(", "),
            messages: removed.messages,
            memories: removed.memories,
            payloads: removed.payloads,
            proof: ErasureProof {
                searched: scrubbed.searched,
                pieces: removed.pieces.len(),
                said_elsewhere: elsewhere.len(),
                bytes: scrubbed.bytes,
                found: scrubbed.found.len() - elsewhere.len(),
                not_searched: removed.not_searched,
            },
            out_of_reach,
        })
    }

    /// Waits until no other erasure runs in this process, unless cancelled.
    fn wait_to_erase(&self) -> Result<MutexGuard<'_, ()>> {
        loop {
            match self.erasing.try_lock() {
                Ok(alone) => return Ok(alone),
                // The lock protects no data.
                Err(TryLockError::Poisoned(alone)) => return Ok(alone.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    self.cancel.check()?;
                    self.cancel.sleep(ERASE_POLL);
                }
            }
        }
    }

    /// Which of the found pieces also occur in stored text, and therefore prove nothing.
    fn said_elsewhere(&self, pieces: &[Vec<u8>], found: &[usize]) -> Result<BTreeSet<usize>> {
        let left: Vec<Vec<u8>> = found.iter().filter_map(|at| pieces.get(*at).cloned()).collect();
        let mut elsewhere = BTreeSet::new();
        if left.is_empty() {
            return Ok(elsewhere);
        }
        let finder = Finder::new(&left)?;
        let search = &mut |bytes: &[u8]| finder.find(bytes, &mut elsewhere);
        self.store.read(|tx| each_text(tx, search))?;
        Ok(elsewhere)
    }
}

fn id_of(target: &EraseTarget) -> String {
    match target {
        EraseTarget::Session(id) => id.to_string(),
        EraseTarget::Message(id) => id.to_string(),
        EraseTarget::Memory(id) => id.to_string(),
        EraseTarget::Note(name) => name.to_string(),
    }
}

/// Removes the rows and queues a job leased to `holder`.
fn remove(
    (oneiro, holder): (&Oneiro, &str),
    tx: &Tx<'_>,
    targets: &[EraseTarget],
) -> Result<Removed> {
    let mut pieces = Pieces::default();
    let now = oneiro.now();
    let (mut messages, mut memories, mut payloads) = (0, 0, 0);
    for target in targets {
        let seqs = seqs_of(tx, target)?;
        remove_interactions(tx, target, &mut pieces)?;
        check_erasure(tx, &seqs)?;
        erase_texts(tx, &seqs, now)?;
        remove_served(tx, target, &seqs)?;
        remove_signals_of_messages(tx, &seqs)?;
        memories += erase_memories_of_messages(oneiro, tx, &seqs, &mut |text| pieces.add(text))?;
        let removed = match target {
            EraseTarget::Memory(id) => {
                remove_memory(tx, id, &mut pieces)?;
                memories += 1;
                (0, 0)
            }
            EraseTarget::Note(name) => {
                erase_note(tx, name, &mut |text| pieces.add(text))?;
                (0, 0)
            }
            EraseTarget::Session(id) => remove_session(oneiro, tx, id, &mut pieces)?,
            EraseTarget::Message(id) => remove_message(oneiro, tx, *id, &mut pieces)?,
        };
        messages += removed.0;
        payloads += removed.1;
    }
    index_due_notes(tx)?;
    erase_missing_texts(tx, now)?;
    changes::record(tx, ChangeKind::Erased, None, now)?;
    // A separate job: a running scrub may have passed these rows already.
    let job = NewJob { unique_key: None, ..oneiro.new_job(jobs::SCRUB, Value::Null, now) };
    let job = jobs::add_held(tx, &job, holder, now)?;
    Ok(Removed {
        messages,
        memories,
        payloads,
        not_searched: pieces.left_out,
        pieces: pieces.found.into_iter().collect(),
        job,
    })
}

fn seqs_of(tx: &Tx<'_>, target: &EraseTarget) -> Result<BTreeSet<i64>> {
    let id = match target {
        EraseTarget::Message(id) => return Ok(BTreeSet::from([id.0])),
        EraseTarget::Memory(_) | EraseTarget::Note(_) => return Ok(BTreeSet::new()),
        EraseTarget::Session(id) => id,
    };
    let mut seqs = BTreeSet::new();
    let key = key_of(tx, id)?;
    for link in lineage::descendants(tx, key, oneiro_model::Lineage::Delegate)? {
        seqs.extend(messages::seqs_of_session(tx, link.key)?);
    }
    Ok(seqs)
}

fn remove_session(
    oneiro: &Oneiro,
    tx: &Tx<'_>,
    id: &SessionId,
    pieces: &mut Pieces,
) -> Result<(i64, i64)> {
    let key = key_of(tx, id)?;
    let (mut apart, mut external_ids) = (Vec::new(), Vec::new());
    for link in lineage::descendants(tx, key, oneiro_model::Lineage::Delegate)? {
        sessions::each_text_of_session(tx, link.key, |text| {
            pieces.add(text.as_bytes());
            Ok(())
        })?;
        messages::each_text_of_session(tx, link.key, |body, external_id| {
            pieces.add(body.as_bytes());
            pieces.add(external_id.unwrap_or_default().as_bytes());
            external_ids.extend(external_id.map(|external| (link.id.clone(), external.to_owned())));
            Ok(())
        })?;
        for node in summaries::of_session(tx, link.key)? {
            pieces.add(node.content.as_bytes());
        }
        apart.extend(payloads::keys_of_session(tx, link.key)?);
        apart.extend(sessions::prompt_key(tx, link.key)?);
    }
    for (session, external_id) in external_ids {
        erased_messages::add(tx, &session, &external_id)?;
    }
    let apart = Apart::of(tx, apart)?;
    let affected_leaves = remove_summaries_after_session(tx, key)?;
    let deleted = delete_in(tx, &[key])?;
    rebuild_leaves(oneiro, tx, affected_leaves)?;
    deleted.sessions.iter().try_for_each(|id| changes::remove_of_session(tx, id))?;
    Ok((deleted.messages, apart.add_removed(tx, pieces)?))
}

/// Removes the interactions of an erased session, and those that repeat an erased message.
fn remove_interactions(tx: &Tx<'_>, target: &EraseTarget, pieces: &mut Pieces) -> Result<()> {
    let (session, text) = match target {
        EraseTarget::Memory(_) | EraseTarget::Note(_) => return Ok(()),
        EraseTarget::Session(id) => (id.clone(), None),
        EraseTarget::Message(id) => {
            let Some((_, message)) = messages::get(tx, *id)? else { return Ok(()) };
            let row = oneiro_store::message_rows::by_ids(tx, &[id.0])?.pop();
            let text = row.map(|row| oneiro_model::searchable(&row.role, &row.body));
            (message.session_id, Some(text.unwrap_or_default().trim().to_owned()))
        }
    };
    for one in interactions::of_session(tx, session.as_str())? {
        let texts = [Some(&one.prompt), one.response.as_ref(), one.response_summary.as_ref()];
        let repeats = |text: &String| {
            !text.is_empty() && texts.iter().flatten().any(|other| other.contains(text.as_str()))
        };
        if text.as_ref().is_none_or(repeats) {
            texts.iter().flatten().for_each(|text| pieces.add(text.as_bytes()));
            interactions::remove(tx, &one.id)?;
        }
    }
    Ok(())
}

/// Removes the packs and the hashes of lines that show erased messages, or were given to an erased
/// session. Those of memories go with the memory.
fn remove_served(tx: &Tx<'_>, target: &EraseTarget, seqs: &BTreeSet<i64>) -> Result<()> {
    for seq in seqs {
        packs::remove_showing_message(tx, *seq)?;
        served_lines::remove_of_message(tx, *seq)?;
    }
    if let EraseTarget::Session(id) = target {
        let key = key_of(tx, id)?;
        for link in lineage::descendants(tx, key, oneiro_model::Lineage::Delegate)? {
            packs::remove_of_session(tx, &link.id)?;
            served_lines::remove_of_session(tx, &link.id)?;
        }
    }
    Ok(())
}

/// Whether there is a memory, be it one whose creation was undone.
fn is_stored(tx: &Tx<'_>, id: &MemoryId) -> Result<bool> {
    Ok(oneiro_store::memories::by_id_prefix(tx, id.as_str())?.iter().any(|(_, one)| one.id == *id))
}

/// Erases a memory, for a person.
fn remove_memory(tx: &Tx<'_>, id: &MemoryId, pieces: &mut Pieces) -> Result<()> {
    if !is_person(tx) {
        return Err(needs_person("erase a memory"));
    }
    if erase_memory(tx, id, &mut |text| pieces.add(text))? {
        Ok(())
    } else {
        Err(Error::not_found(format!("there is no memory {:?}", id.as_str()))
            .remedy(Remedy::ListMemories))
    }
}

/// The message that is to be erased. Its session is named by its whole id: what cannot be undone is
/// not left to a prefix.
fn message_to_erase(tx: &Tx<'_>, message: &MessageRef) -> Result<MessageId> {
    match message {
        MessageRef::Place { session: Some(session), place } => {
            message_at(tx, SessionRef { key: key_of(tx, session)?, id: session }, *place)
        }
        message => message_in(tx, message, None),
    }
}

fn remove_message(
    oneiro: &Oneiro,
    tx: &Tx<'_>,
    id: MessageId,
    pieces: &mut Pieces,
) -> Result<(i64, i64)> {
    let (session, message) = messages::get(tx, id)?
        .ok_or_else(|| Error::not_found(format!("there is no message {id}")))?;
    messages::each_text_of_message(tx, id, |body, external_id| {
        pieces.add(body.as_bytes());
        pieces.add(external_id.unwrap_or_default().as_bytes());
        Ok(())
    })?;
    if let Some(external_id) = &message.external_id {
        erased_messages::add(tx, &message.session_id, external_id)?;
    }
    let keys = payloads::keys_of_message(tx, message.id.0)?;
    let apart = Apart::of(tx, keys.clone())?;
    let affected_leaves = remove_summaries_of_message(tx, session, id.0)?;
    remove_title_of_message(tx, session, &message)?;
    messages::remove(tx, id)?;
    slots::remove_of_message(tx, session, id)?;
    rebuild_leaves(oneiro, tx, affected_leaves)?;
    rejoin_calls(tx, (session, &message.session_id), (id.0, id.0))?;
    costs::remove_all(tx, session)?;
    payloads::remove_unused(tx, &keys)?;
    sessions::recount(tx, session)?;
    Ok((1, apart.add_removed(tx, pieces)?))
}

/// Payloads of the erased rows. Shared ones stay, and prove nothing.
struct Apart(BTreeMap<i64, Vec<u8>>);

impl Apart {
    fn of(tx: &Tx<'_>, keys: Vec<i64>) -> Result<Apart> {
        let mut found = BTreeMap::new();
        for key in keys {
            if let Some(data) = payloads::stored_bytes(tx, key)? {
                found.insert(key, data);
            }
        }
        Ok(Apart(found))
    }

    /// Adds pieces of the removed payloads; returns how many were removed.
    fn add_removed(self, tx: &Tx<'_>, pieces: &mut Pieces) -> Result<i64> {
        let mut removed = 0;
        for (key, data) in self.0 {
            if payloads::stored_bytes(tx, key)?.is_none() {
                pieces.add(&data);
                removed += 1;
            }
        }
        Ok(removed)
    }
}
