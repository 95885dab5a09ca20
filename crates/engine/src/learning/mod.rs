//! Learning: reads messages once, in the order they were stored, and turns what the person states in
//! their own words into memories; records which memories the answers rest on. No model is needed.
//!
//! A cursor in the space says how far it has read, and with which version of the rules. Any process may
//! go on from there; two of them never learn the same message twice.

mod apply_claim;
mod endings;
mod interactions;
mod read;
mod told_changes;
mod turns;
mod undated;
mod uses;

use crate::Oneiro;
use crate::jobs;
use crate::sessions::resolve_in;
use crate::views::Learning;
pub(crate) use apply_claim::last_said;
use apply_claim::{apply_claim, record_uses};
use oneiro_model::{Actor, ActorKind, ActorSurface, ExtractRequest, Extracted, Result};
use oneiro_store::message_rows;
use oneiro_store::{Tx, learning};
use read::{MessageClaims, Reader};
use std::time::{Duration, Instant};
use told_changes::apply_told_changes;
pub(crate) use uses::UsageMatcher;

/// Messages that are read at once.
const BATCH_MESSAGES: usize = 256;

/// Messages of a session that are read on demand.
const SESSION_MESSAGES: usize = 100_000;

/// The version of the rules, as the cursor stores it.
const RULES_VERSION: i64 = oneiro_claims::VERSION as i64;

impl Learning<'_> {
    /// Learns from every message that was not read yet, or from all messages of one session.
    pub fn extract(&self, request: &ExtractRequest) -> Result<Extracted> {
        let Some(session) = &request.session else {
            return self.oneiro.learn_until(&|| false);
        };
        let worker = self.oneiro.learner();
        let read = worker.store.read(|tx| {
            let (key, _) = resolve_in(tx, session.as_str())?;
            let rows = message_rows::session_after(tx, key, 0, SESSION_MESSAGES)?;
            Reader::new(&worker, tx)?.read_all(rows)
        })?;
        let mut done = Extracted { messages: read.count, ..Extracted::default() };
        for message in &read.found {
            worker.learn(message, None, &mut done)?;
        }
        Ok(done)
    }

    /// Counts every stored message as read, without learning from it.
    pub fn skip(&self) -> Result<()> {
        self.oneiro
            .store
            .write(|tx| learning::put_cursor(tx, message_rows::last_id(tx)?, RULES_VERSION))
    }
}

impl Oneiro {
    /// Learns from new messages for at most `limit`.
    pub(crate) fn learn_for(&self, limit: Duration) -> Result<Extracted> {
        let started = Instant::now();
        self.learn_until(&|| started.elapsed() >= limit || self.cancel.is_cancelled())
    }

    /// Learns from new messages until there are none, or `stopped` returns true.
    fn learn_until(&self, stopped: &dyn Fn() -> bool) -> Result<Extracted> {
        let worker = self.learner();
        let mut done = Extracted::default();
        while !stopped() {
            let (cursor, batch) = worker.store.read(|tx| {
                let cursor = learning::cursor(tx, RULES_VERSION)?;
                if !worker.settings_in(tx)?.learn_from_conversations {
                    return Ok((cursor, None));
                }
                let rows = message_rows::after(tx, cursor, BATCH_MESSAGES)?;
                let last = rows.last().map(|row| row.seq);
                let batch = last.map(|last| Ok((last, Reader::new(&worker, tx)?.read_all(rows)?)));
                Ok((cursor, batch.transpose()?))
            })?;
            let Some((last, read)) = batch else { break };
            let mut at = cursor;
            for message in &read.found {
                if stopped() {
                    return Ok(done);
                }
                match worker.learn(message, Some(at), &mut done) {
                    Ok(Learnt::Done) => at = message.seq,
                    Ok(Learnt::ByOther) => return Ok(done),
                    Err(error) if error.kind() == oneiro_model::ErrorKind::Busy => {
                        return Err(error);
                    }
                    // One message that cannot be learnt from must not keep the others from it.
                    Err(error) => {
                        tracing::warn!(%error, message = message.seq, "nothing was learnt from a message");
                    }
                }
            }
            done.messages += read.count;
            let is_first = worker.store.write(move |tx| move_cursor(tx, at, last))?;
            if !is_first {
                break;
            }
        }
        Ok(done)
    }

    /// This handle, acting as the job that learns.
    fn learner(&self) -> Oneiro {
        self.acting_as(Actor::new(ActorKind::Job, ActorSurface::Background))
    }

    /// Learns from one message, in one group of operations. With a cursor, only if no other process
    /// has moved it.
    fn learn(
        &self,
        message: &MessageClaims,
        cursor: Option<i64>,
        done: &mut Extracted,
    ) -> Result<Learnt> {
        let message = message.clone();
        let (learnt, counted) =
            self.edit(None, crate::operations::Grouping::Group, move |edit| {
                let mut counted = Extracted::default();
                if let Some(cursor) = cursor
                    && !move_cursor(edit.tx, cursor, message.seq)?
                {
                    return Ok((Learnt::ByOther, counted));
                }
                for found in &message.claims {
                    apply_claim(edit, &message, found, &mut counted)?;
                }
                apply_told_changes(edit, &message, &mut counted)?;
                record_uses(edit, &message, &mut counted)?;
                Ok((Learnt::Done, counted))
            })?;
        done.add(&counted);
        Ok(learnt)
    }

    /// Reads what is about to leave a window before it does.
    pub(crate) fn learn_before_leaving(&self) {
        if let Err(error) = self.learn_for(jobs::LEARN_SLICE) {
            tracing::info!(%error, "nothing was learnt before messages left a window");
        }
    }
}

/// Whether a message was learnt from, or another process did that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learnt {
    Done,
    ByOther,
}

/// Moves the cursor from one message to another; false if it is no longer there.
fn move_cursor(tx: &Tx<'_>, from: i64, to: i64) -> Result<bool> {
    if learning::cursor(tx, RULES_VERSION)? != from {
        return Ok(false);
    }
    learning::put_cursor(tx, to, RULES_VERSION)?;
    Ok(true)
}
