//! Counts the tokens of messages, once each, in order, off the append path. Readers of a context
//! count what is missing and store it if there is much of it.

use super::form::costs as costs_of;
use super::pairs::{Steps, Ties};
use crate::Oneiro;
use oneiro_model::{Error, ErrorKind, Message, Result, SessionId, Visibility};
use oneiro_store::costs::{self, Begins, Cost};
use oneiro_store::message_rows::{self, Include, Position};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{Tx, contexts};
use serde_json::Value;

/// Messages that every reader counts again instead of storing the counts.
const TAIL_MESSAGES: usize = 16;

/// Maximum text of those messages: counting it takes about a millisecond, ten if it has no breaks,
/// and a window counts its tail several times.
const TAIL_BYTES: usize = 32 << 10;

/// Messages and payload bytes counted at a time, which bounds the memory.
const BATCH_MESSAGES: usize = 2_000;
const BATCH_BYTES: usize = 1 << 20;

/// A message without a stored count.
pub(super) struct Uncounted {
    pub(super) cost: Cost,
    pub(super) message: Message,
}

/// Maximum messages of an unfinished step that are read again to know its open calls.
const OPEN_STEP_MESSAGES_MAX: usize = 256;

/// Retries after history changed during the count.
const RETRIES_MAX: usize = 8;

/// The messages without a stored count, limited by number and by bytes of payloads, but at
/// least one.
pub(super) fn uncounted(
    tx: &Tx<'_>,
    session: (i64, &SessionId),
    (limit, bytes): (usize, usize),
) -> Result<Vec<Uncounted>> {
    let mut last = costs::last(tx, session.0)?.unwrap_or_default();
    let rest = PageRequest { after: last.seq, hidden: true, limit };
    let (rest, _) = messages::page_within(tx, session.into(), rest, bytes)?;
    let Some(first) = rest.first().map(Ties::of) else { return Ok(Vec::new()) };
    let mut steps = Steps::default();
    if last.seq > 0 && !first.always_begins() {
        let step = costs::step_before(tx, session.0, last.seq)?.unwrap_or(0);
        let nearest = message_rows::session_ids_before(
            tx,
            Position { session_key: session.0, seq: last.seq + 1 },
            Include::Live,
            OPEN_STEP_MESSAGES_MAX,
        )?;
        let start = step.max(nearest.last().copied().unwrap_or(0));
        for message in messages::between(tx, session.into(), start - 1, last.seq + 1)? {
            steps.next(&Ties::of(&message));
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
            // Hidden messages do not separate a call from its result.
            begins: match message.visibility {
                Visibility::Live => steps.next(&Ties::of(&message)),
                Visibility::Compacted | Visibility::Rewound => Begins::Nothing,
            },
        };
        Uncounted { cost: last, message }
    };
    Ok(rest.into_iter().map(count).collect())
}

/// The bytes of all texts in a value.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Whether a write was refused for a reason that leaves the store readable.
fn is_refused_write(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Busy | ErrorKind::Unavailable | ErrorKind::Forbidden)
}

impl Oneiro {
    /// Stores the token counts of a session's messages, except for a short tail. What cannot be
    /// stored, in a store that is busy, full or read-only, is counted when it is needed.
    pub(super) fn count_session(&self, session: (i64, &SessionId)) -> Result<()> {
        let mut changed = 0;
        while changed < RETRIES_MAX {
            self.cancel.check()?;
            let (batch, history) = self.store.read(|tx| {
                let batch = uncounted(tx, session, (BATCH_MESSAGES, BATCH_BYTES))?;
                Ok((batch, contexts::epoch(tx, session.0)?.history))
            })?;
            let bodies = batch.iter().flat_map(|one| one.message.body.values());
            if batch.len() <= TAIL_MESSAGES && bodies.map(text_bytes).sum::<usize>() <= TAIL_BYTES {
                return Ok(());
            }
            let costs: Vec<Cost> = batch.iter().map(|one| one.cost).collect();
            // Where steps begin depends on which messages are live.
            let kept = self.store.write_derived(|tx| {
                let is_same = contexts::epoch(tx, session.0)?.history == history;
                if is_same {
                    costs::insert(tx, session.0, &costs)?;
                }
                Ok(is_same)
            });
            match kept {
                Ok(is_kept) => changed += usize::from(!is_kept),
                Err(error) if is_refused_write(&error) => {
                    tracing::info!(%error, "token counts were not stored");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
