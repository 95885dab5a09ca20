//! Counting what messages cost: once each, in order, off the append path. Whoever needs a context
//! counts what nobody has counted yet, and keeps it when there is much of it.

use super::form::costs as costs_of;
use super::pairs::{Steps, Ties};
use crate::Oneiro;
use oneiro_model::{Message, Result, SessionId};
use oneiro_store::costs::{self, Cost};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{Tx, said};

/// Messages that are counted again by everybody rather than written down.
const TAIL: usize = 16;

/// Messages counted at a time.
const BATCH: usize = 2_000;

/// A message after the last that is written down, and what it costs.
pub(super) struct Uncounted {
    pub(super) cost: Cost,
    pub(super) message: Message,
}

/// Messages before the first that is counted which are read again to know what its calls wait for.
const BEFORE: usize = 16;

/// The messages that are not written down as counted; at most so many.
pub(super) fn uncounted(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    limit: usize,
) -> Result<Vec<Uncounted>> {
    let mut last = costs::last(tx, session.0)?.unwrap_or_default();
    let rest = PageRequest { after: last.seq, hidden: true, limit };
    let rest = messages::page(tx, session, rest)?;
    let Some(first) = rest.first().map(Ties::of) else { return Ok(Vec::new()) };
    let mut steps = Steps::default();
    // A turn begins anew whatever was before it.
    if last.seq > 0 && !(first.is_user && first.results.is_empty()) {
        let before = said::seqs_earlier(tx, (session.0, last.seq), true, BEFORE)?;
        let before = before.last().copied().unwrap_or(last.seq);
        let again = PageRequest { after: before - 1, hidden: true, limit: BEFORE + 1 };
        for message in messages::page(tx, session, again)? {
            if message.id.0 <= last.seq {
                steps.next(&Ties::of(&message));
            }
        }
    }
    let count = |message: Message| {
        let (tokens, short_tokens) = costs_of(&message);
        last = Cost {
            seq: message.id.0,
            ordinal: last.ordinal + 1,
            total: last.total.saturating_add(tokens as i64),
            tokens: tokens as i64,
            short_tokens: short_tokens as i64,
            begins: steps.next(&Ties::of(&message)),
        };
        Uncounted { cost: last, message }
    };
    Ok(rest.into_iter().map(count).collect())
}

impl Oneiro {
    /// Writes down what the messages of a session cost, but for a short tail.
    pub(super) fn count_session(&self, session: (i64, &SessionId)) -> Result<()> {
        loop {
            let batch = self.store.read(|tx| uncounted(tx, session, BATCH))?;
            if batch.len() <= TAIL {
                return Ok(());
            }
            let costs: Vec<Cost> = batch.iter().map(|one| one.cost).collect();
            self.store.write_derived(|tx| costs::insert(tx, session.0, &costs))?;
        }
    }
}
