//! Erase: the one irreversible operation. Rows go in one transaction that also leaves a job; then
//! the files are scrubbed and searched for what was erased, and what cannot be reached is named.

use crate::sessions::{delete_in, key_of};
use crate::{Oneiro, jobs};
use oneiro_model::{Erased, ErasureProof, Error, JobId, MessageId, Result, SessionId};
use oneiro_store::{Finder, Tx, backups, lineage, messages, payloads, sessions};
use serde_json::Value;
use std::collections::BTreeSet;

/// What to erase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EraseTarget {
    /// A session with all its messages, and the delegates under it.
    Session(SessionId),
    /// One message.
    Message(MessageId),
}

/// What the transaction of an erasure took out.
struct Removed {
    messages: i64,
    payloads: i64,
    pieces: Vec<Vec<u8>>,
    job: JobId,
}

impl Oneiro {
    /// Tells whether `text` names a session or a message.
    pub fn erase_target(&self, text: &str) -> Result<EraseTarget> {
        let session = SessionId::new(text).ok();
        let message = text.parse().ok().map(MessageId);
        self.store.read(|tx| {
            let session = match session {
                Some(id) => sessions::key(tx, &id)?.map(|_| id),
                None => None,
            };
            let message = match message {
                Some(id) => messages::get(tx, id)?.map(|_| id),
                None => None,
            };
            match (session, message) {
                (Some(_), Some(_)) => {
                    Err(Error::conflict(format!("{text} is both a session and a message"))
                        .remedy("say which: --session or --message"))
                }
                (Some(session), None) => Ok(EraseTarget::Session(session)),
                (None, Some(message)) => Ok(EraseTarget::Message(message)),
                (None, None) => Err(Error::not_found(format!("nothing has the id {text:?}"))
                    .remedy("give the whole id of a session or a message")),
            }
        })
    }

    /// Erases for good: rows, payloads, and every trace in the files, then proves it.
    pub fn erase(&self, target: &EraseTarget) -> Result<Erased> {
        let oneiro = self.clone();
        let what = target.clone();
        let removed = self.store.write_bulk(move |tx| remove(&oneiro, tx, &what))?;
        // From here on a crash leaves the job, and any process finishes the scrubbing.
        let scrubbed = self.store.scrub(&removed.pieces)?;
        let elsewhere = self.said_elsewhere(&removed.pieces, &scrubbed.found)?;
        let (holder, now, job) = (self.holder.clone(), self.now(), removed.job.clone());
        self.store.write(move |tx| jobs::done_by(tx, &job, &holder, now))?;
        let mut out_of_reach = scrubbed.out_of_reach;
        for copy in self.store.read(backups::all)? {
            out_of_reach.push(format!("{} made {} ({})", copy.path, copy.at, copy.reason));
        }
        Ok(Erased {
            id: match target {
                EraseTarget::Session(id) => id.to_string(),
                EraseTarget::Message(id) => id.to_string(),
            },
            messages: removed.messages,
            payloads: removed.payloads,
            proof: ErasureProof {
                searched: scrubbed.searched,
                pieces: removed.pieces.len(),
                said_elsewhere: elsewhere.len(),
                bytes: scrubbed.bytes,
                found: scrubbed.found.len() - elsewhere.len(),
            },
            out_of_reach,
        })
    }

    /// Which of the pieces that were found are also said in what is still stored, and so prove
    /// nothing.
    fn said_elsewhere(&self, pieces: &[Vec<u8>], found: &[usize]) -> Result<BTreeSet<usize>> {
        let left: Vec<Vec<u8>> = found.iter().filter_map(|at| pieces.get(*at).cloned()).collect();
        let mut elsewhere = BTreeSet::new();
        if left.is_empty() {
            return Ok(elsewhere);
        }
        let finder = Finder::new(&left)?;
        self.store.read(|tx| {
            messages::each_stored(tx, |body, external_id| {
                finder.mark(body.as_bytes(), &mut elsewhere);
                finder.mark(external_id.unwrap_or_default().as_bytes(), &mut elsewhere);
                Ok(())
            })?;
            sessions::each_stored(tx, |text| {
                finder.mark(text.as_bytes(), &mut elsewhere);
                Ok(())
            })
        })?;
        Ok(elsewhere)
    }
}

fn remove(oneiro: &Oneiro, tx: &Tx<'_>, target: &EraseTarget) -> Result<Removed> {
    let mut pieces = Pieces::default();
    let (messages, payloads) = match target {
        EraseTarget::Session(id) => remove_session(tx, id, &mut pieces)?,
        EraseTarget::Message(id) => remove_message(tx, *id, &mut pieces)?,
    };
    let now = oneiro.now();
    let job = oneiro.new_job(jobs::SCRUB, Value::Null, now);
    let job = oneiro_store::jobs::add(tx, &job, now)?;
    Ok(Removed { messages, payloads, pieces: pieces.0.into_iter().collect(), job })
}

fn remove_session(tx: &Tx<'_>, id: &SessionId, pieces: &mut Pieces) -> Result<(i64, i64)> {
    let key = key_of(tx, id)?;
    for link in lineage::descendants(tx, key, oneiro_model::Lineage::Delegate)? {
        messages::each_of_session(tx, link.key, |body, external_id| {
            pieces.add(body.as_bytes());
            pieces.add(external_id.unwrap_or_default().as_bytes());
            Ok(())
        })?;
        for payload in payloads::keys_of_session(tx, link.key)? {
            pieces.add(&payloads::stored_bytes(tx, payload)?);
        }
    }
    let before = payloads::count(tx)?;
    let deleted = delete_in(tx, &[key])?;
    Ok((deleted.messages, before - payloads::count(tx)?))
}

fn remove_message(tx: &Tx<'_>, id: MessageId, pieces: &mut Pieces) -> Result<(i64, i64)> {
    let (session, message) = messages::get(tx, id)?
        .ok_or_else(|| Error::not_found(format!("there is no message {id}")))?;
    messages::each_of_message(tx, id, |body, external_id| {
        pieces.add(body.as_bytes());
        pieces.add(external_id.unwrap_or_default().as_bytes());
        Ok(())
    })?;
    let keys = payloads::keys_of_message(tx, message.id.0)?;
    for payload in &keys {
        pieces.add(&payloads::stored_bytes(tx, *payload)?);
    }
    messages::remove(tx, id)?;
    let unused = payloads::remove_unused(tx, &keys)?;
    sessions::recount(tx, session)?;
    Ok((1, unused))
}

/// Pieces of the erased text to look for in the raw bytes. A long text lies in several pages with
/// other bytes between, so it is looked for in short pieces from all over it.
#[derive(Default)]
struct Pieces(BTreeSet<Vec<u8>>);

/// Long enough not to occur by chance, short enough to lie within one page.
const PIECE_BYTES: usize = 24;

/// At most so many, so that the search stays bounded.
const PIECES: usize = 20_000;

impl Pieces {
    fn add(&mut self, bytes: &[u8]) {
        let step = (bytes.len() / 16).max(PIECE_BYTES);
        for start in (0..bytes.len()).step_by(step) {
            if let Some(piece) = bytes.get(start..start + PIECE_BYTES)
                && self.0.len() < PIECES
            {
                self.0.insert(piece.to_vec());
            }
        }
    }
}
