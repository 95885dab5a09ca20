//! Expands a summary, a range or an id into the exact messages, as many per page as fit.

use super::form::{Form, cost};
use super::scope::Reach;
use crate::views::Context;
use oneiro_model::{
    ContextScope, Cursor, Error, ExpandRequest, ExpandWhat, Expanded, LookedUp, Message, MessageId,
    Remedy, Result, SessionId, Summary,
};
use oneiro_store::{Tx, messages, said, summaries};

/// Message ids read at a time.
const BATCH: usize = 512;

impl Context<'_> {
    /// The exact messages under a summary, in a range, or a single one: in order, never split,
    /// continued from a cursor.
    pub fn expand(&self, request: &ExpandRequest) -> Result<Expanded> {
        if request.tokens == 0 {
            return Err(Error::field("tokens", "is zero").remedy("give a number of tokens"));
        }
        self.oneiro.store.read(|tx| {
            let reach = Reach::of(self.oneiro, tx, &request.scope)?;
            let after = request.cursor.map_or(0, |cursor| cursor.key);
            let mut answer = Expanded { messages: Vec::new(), tokens: 0, next: None };
            match &request.what {
                ExpandWhat::Message(id) => {
                    if after < id.0 {
                        take(&mut answer, message(tx, &reach, *id)?, request.tokens);
                    }
                }
                ExpandWhat::Summary(prefix) => {
                    let node = reach.summary(tx, prefix)?;
                    page(tx, &mut answer, (request.tokens, after), |after| {
                        summaries::seqs_under(tx, node.key, after, BATCH)
                    })?;
                }
                ExpandWhat::Range(first, last) => {
                    let (key, _) = messages::get(tx, *first)?
                        .filter(|(key, _)| reach.holds(*key))
                        .ok_or_else(|| no_message(*first))?;
                    page(tx, &mut answer, (request.tokens, after.max(first.0 - 1)), |after| {
                        let mut seqs = said::seqs_later(tx, (key, after), BATCH)?;
                        seqs.retain(|seq| *seq <= last.0);
                        Ok(seqs)
                    })?;
                }
            }
            Ok(answer)
        })
    }

    /// Looks up a summary by id prefix, or a message by id.
    pub fn look_up(&self, id: &str, scope: &ContextScope) -> Result<LookedUp> {
        self.oneiro.store.read(|tx| {
            let reach = Reach::of(self.oneiro, tx, scope)?;
            match ExpandWhat::parse(id)? {
                ExpandWhat::Summary(prefix) => {
                    let node = reach.summary(tx, &prefix)?;
                    Ok(LookedUp::Summary(Box::new(node.whole(tx)?)))
                }
                ExpandWhat::Message(id) | ExpandWhat::Range(id, _) => {
                    Ok(LookedUp::Message(Box::new(message(tx, &reach, id)?)))
                }
            }
        })
    }

    /// A summary with its coverage, its time range, its parents and its children.
    pub fn summary(&self, id: &str, scope: &ContextScope) -> Result<Summary> {
        let ExpandWhat::Summary(id) = ExpandWhat::parse(id)? else {
            return Err(Error::field("id", format!("{id:?} is not the id of a summary (sum_...)")));
        };
        self.oneiro.store.read(|tx| Reach::of(self.oneiro, tx, scope)?.summary(tx, &id)?.whole(tx))
    }

    /// All summaries of a session, including those inherited from the session it continues, ordered
    /// by the messages they cover.
    pub fn summaries(&self, id: &SessionId) -> Result<Vec<Summary>> {
        self.oneiro.store.read(|tx| {
            let key = crate::sessions::key_of(tx, id)?;
            let mut nodes = summaries::of_session(tx, key)?;
            let shown = summaries::shown(tx, key)?;
            let there: Vec<i64> = nodes.iter().map(|node| node.key).collect();
            nodes.extend(shown.into_iter().filter(|node| !there.contains(&node.key)));
            nodes.sort_by_key(|node| (node.first_seq, -node.depth, node.key));
            let shown = summaries::shown_keys(tx, key)?;
            nodes
                .into_iter()
                .map(|node| {
                    let in_context = shown.contains(&node.key);
                    Ok(Summary { in_context, ..node.whole(tx)? })
                })
                .collect()
        })
    }

    /// The summaries of the space with the newest messages.
    pub fn newest_summaries(&self, limit: usize) -> Result<Vec<Summary>> {
        self.oneiro.store.read(|tx| {
            let nodes = summaries::newest(tx, limit)?;
            nodes.into_iter().map(|node| node.whole(tx)).collect()
        })
    }
}

fn no_message(id: MessageId) -> Error {
    Error::not_found(format!("there is no message {id} here")).remedy(Remedy::OutOfReach)
}

fn message(tx: &Tx<'_>, reach: &Reach, id: MessageId) -> Result<Message> {
    let found = messages::get(tx, id)?.filter(|(key, _)| reach.holds(*key));
    found.map(|(_, message)| message).ok_or_else(|| no_message(id))
}

/// Adds messages while they fit; the first one always fits.
fn page(
    tx: &Tx<'_>,
    answer: &mut Expanded,
    (tokens, mut after): (usize, i64),
    next: impl Fn(i64) -> Result<Vec<i64>>,
) -> Result<()> {
    loop {
        let seqs = next(after)?;
        let Some(last) = seqs.last().copied() else { return Ok(()) };
        for seq in seqs {
            let (_, message) = messages::get(tx, MessageId(seq))?
                .ok_or_else(|| Error::internal("a message that was listed is gone"))?;
            if !take(answer, message, tokens) {
                let last = answer.messages.last().map_or(after, |message| message.id.0);
                answer.next = Some(Cursor { order: last, key: last });
                return Ok(());
            }
        }
        after = last;
    }
}

fn take(answer: &mut Expanded, message: Message, tokens: usize) -> bool {
    let cost = cost(&message, Form::Full);
    if !answer.messages.is_empty() && answer.tokens + cost > tokens {
        return false;
    }
    answer.tokens += cost;
    answer.messages.push(message);
    true
}
