//! Learning: reads messages once, in the order they were stored, and turns what the person states in
//! their own words into memories; records which memories the answers rest on. No model is needed.
//!
//! A cursor in the space says how far it has read, and with which version of the rules. Any process may
//! go on from there; two of them never learn the same message twice.

mod believe;
mod interactions;
mod read;
mod turns;
mod undated;
mod uses;

use crate::Oneiro;
use crate::jobs;
use crate::sessions::resolve_in;
use crate::views::Learning;
pub(crate) use believe::last_said;
use believe::{believe, record_uses};
use oneiro_model::{Actor, ActorKind, ActorSurface, ExtractRequest, Extracted, Result};
use oneiro_store::message_rows;
use oneiro_store::{Tx, learning};
use read::{Lesson, Reader};
use std::time::{Duration, Instant};
pub(crate) use uses::UsePool;

/// Messages that are read at once.
const BATCH_MESSAGES: usize = 256;

/// Messages of a session that are read on demand.
const SESSION_MESSAGES: usize = 100_000;

/// The version of the rules, as the cursor stores it.
const RULES: i64 = oneiro_claims::VERSION as i64;

impl Learning<'_> {
    /// Learns from every message that was not read yet, or from all messages of one session.
    pub fn extract(&self, request: &ExtractRequest) -> Result<Extracted> {
        let Some(session) = &request.session else {
            return self.oneiro.learn_until(&|| false);
        };
        let worker = self.oneiro.learner();
        let lessons = worker.store.read(|tx| {
            let (key, _) = resolve_in(tx, session.as_str())?;
            let rows = message_rows::session_after(tx, key, 0, SESSION_MESSAGES)?;
            Reader::new(&worker, tx)?.lessons(rows)
        })?;
        let mut done = Extracted { messages: lessons.read, ..Extracted::default() };
        for lesson in &lessons.found {
            worker.learn(lesson, None, &mut done)?;
        }
        Ok(done)
    }
}

impl Learning<'_> {
    /// Counts every stored message as read, without learning from it.
    pub fn skip(&self) -> Result<()> {
        self.oneiro.store.write(|tx| learning::put_cursor(tx, message_rows::last_id(tx)?, RULES))
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
                let cursor = learning::cursor(tx, RULES)?;
                if !worker.settings_in(tx)?.learn_from_conversations {
                    return Ok((cursor, None));
                }
                let rows = message_rows::after(tx, cursor, BATCH_MESSAGES)?;
                let last = rows.last().map(|row| row.seq);
                let batch = last.map(|last| Ok((last, Reader::new(&worker, tx)?.lessons(rows)?)));
                Ok((cursor, batch.transpose()?))
            })?;
            let Some((last, lessons)) = batch else { break };
            let mut at = cursor;
            for lesson in &lessons.found {
                if stopped() {
                    return Ok(done);
                }
                match worker.learn(lesson, Some(at), &mut done) {
                    Ok(Learnt::Done) => at = lesson.seq,
                    Ok(Learnt::ByOther) => return Ok(done),
                    Err(error) if error.kind() == oneiro_model::ErrorKind::Busy => {
                        return Err(error);
                    }
                    // One message that cannot be learnt from must not keep the others from it.
                    Err(error) => {
                        tracing::warn!(%error, message = lesson.seq, "nothing was learnt from a message");
                    }
                }
            }
            done.messages += lessons.read;
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
    fn learn(&self, lesson: &Lesson, cursor: Option<i64>, done: &mut Extracted) -> Result<Learnt> {
        let lesson = lesson.clone();
        let (learnt, counted) =
            self.edit(None, crate::operations::Grouping::Group, move |edit| {
                let mut counted = Extracted::default();
                if let Some(cursor) = cursor
                    && !move_cursor(edit.tx, cursor, lesson.seq)?
                {
                    return Ok((Learnt::ByOther, counted));
                }
                for found in &lesson.claims {
                    believe(edit, &lesson, found, &mut counted)?;
                }
                record_uses(edit, &lesson, &mut counted)?;
                Ok((Learnt::Done, counted))
            })?;
        done.active += counted.active;
        done.candidates += counted.candidates;
        done.known += counted.known;
        done.superseded += counted.superseded;
        done.refused += counted.refused;
        done.used += counted.used;
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
    if learning::cursor(tx, RULES)? != from {
        return Ok(false);
    }
    learning::put_cursor(tx, to, RULES)?;
    Ok(true)
}
