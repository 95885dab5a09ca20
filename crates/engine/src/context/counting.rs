//! Counting what messages cost: once each, in order, off the append path. Whoever needs a context
//! counts what nobody has counted yet, and keeps it when there is much of it.

use super::form::{Form, cost};
use super::pairs::Ties;
use crate::Oneiro;
use oneiro_model::{Message, Result, SessionId};
use oneiro_store::Tx;
use oneiro_store::costs::{self, Begins, Cost};
use oneiro_store::messages::{self, PageRequest};

/// Messages that are counted again by everybody rather than written down.
const TAIL: usize = 64;

/// Messages counted at a time.
const BATCH: usize = 2_000;

/// A message after the last that is written down, and what it costs.
pub(super) struct Uncounted {
    pub(super) cost: Cost,
    pub(super) message: Message,
}

/// What a message costs, after one that ended at `last`.
fn counted(message: &Message, last: Cost) -> Cost {
    let tokens = cost(message, Form::Full) as i64;
    let ties = Ties::of(message);
    Cost {
        seq: message.id.0,
        ordinal: last.ordinal + 1,
        total: last.total.saturating_add(tokens),
        tokens,
        short_tokens: cost(message, Form::Short) as i64,
        begins: match (ties.is_user, ties.results.is_empty()) {
            (true, _) => Begins::Turn,
            (false, true) => Begins::Step,
            (false, false) => Begins::Nothing,
        },
    }
}

fn count_on(mut last: Cost, messages: Vec<Message>) -> Vec<Uncounted> {
    let count = |message: Message| {
        last = counted(&message, last);
        Uncounted { cost: last, message }
    };
    messages.into_iter().map(count).collect()
}

/// The messages that are not written down as counted; at most so many.
pub(super) fn uncounted(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    limit: usize,
) -> Result<Vec<Uncounted>> {
    let last = costs::last(tx, session.0)?.unwrap_or_default();
    let after = PageRequest { after: last.seq, hidden: true, limit };
    Ok(count_on(last, messages::page(tx, session, after)?))
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
