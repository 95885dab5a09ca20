//! Expands a summary, a range or an id into the exact messages, as many per page as fit.

use super::form::{Form, cost};
use super::scope::Reach;
use crate::sessions::{key_of, message_in, resolve_in};
use crate::views::Context;
use oneiro_model::{
    ContextScope, Cursor, Error, ExpandRequest, ExpandWhat, Expanded, LookedUp, Message, MessageId,
    MessageRef, Remedy, Result, SessionId, Summary,
};
use oneiro_store::message_rows::{self, Position};
use oneiro_store::{SessionRef, Tx, messages, summaries};

/// Messages listed at a time; a page has a few dozen.
const BATCH: usize = 64;

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
                ExpandWhat::Message(named) => {
                    let message = message(tx, (&reach, &request.scope), named)?;
                    if after < message.id.0 {
                        take(&mut answer, message, request.tokens);
                    }
                }
                ExpandWhat::Summary(prefix) => {
                    let node = reach.summary(tx, prefix)?;
                    page(tx, &mut answer, (request.tokens, after), |after| {
                        summaries::next_seqs_under(tx, node.key, after, BATCH)
                    })?;
                }
                ExpandWhat::Range(first, last) => {
                    let first = resolve(tx, (&reach, &request.scope), first)?;
                    let last = resolve(tx, (&reach, &request.scope), last)?;
                    let (key, _) = messages::get(tx, first)?
                        .filter(|(key, _)| reach.holds(*key))
                        .ok_or_else(|| no_message(&first.into()))?;
                    page(tx, &mut answer, (request.tokens, after.max(first.0 - 1)), |after| {
                        let at = Position { session_key: key, seq: after };
                        let mut seqs = message_rows::session_ids_after(tx, at, BATCH)?;
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
                    Ok(LookedUp::Summary(Box::new(node.into_summary(tx)?)))
                }
                ExpandWhat::Message(named) | ExpandWhat::Range(named, _) => {
                    Ok(LookedUp::Message(Box::new(message(tx, (&reach, scope), &named)?)))
                }
            }
        })
    }

    /// One message, if it is in scope.
    pub fn message(&self, named: &MessageRef, scope: &ContextScope) -> Result<Message> {
        self.oneiro.store.read(|tx| {
            let reach = Reach::of(self.oneiro, tx, scope)?;
            message(tx, (&reach, scope), named)
        })
    }

    /// A summary: what it covers, when that was said, and what is above and below it.
    pub fn summary(&self, id: &str, scope: &ContextScope) -> Result<Summary> {
        let ExpandWhat::Summary(id) = ExpandWhat::parse(id)? else {
            return Err(Error::field("id", format!("{id:?} is not the id of a summary (sum_...)")));
        };
        self.oneiro
            .store
            .read(|tx| Reach::of(self.oneiro, tx, scope)?.summary(tx, &id)?.into_summary(tx))
    }

    /// All summaries of a session, including those inherited from the session it continues, ordered
    /// by the messages they cover.
    pub fn summaries(&self, id: &SessionId) -> Result<Vec<Summary>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            let mut nodes = summaries::of_session(tx, key)?;
            let shown = summaries::roots(tx, key)?;
            let there: Vec<i64> = nodes.iter().map(|node| node.key).collect();
            nodes.extend(shown.into_iter().filter(|node| !there.contains(&node.key)));
            nodes.sort_by_key(|node| (node.first_seq, -node.depth, node.key));
            let shown = summaries::root_keys(tx, key)?;
            nodes
                .into_iter()
                .map(|node| {
                    let in_context = shown.contains(&node.key);
                    Ok(Summary { in_context, ..node.into_summary(tx)? })
                })
                .collect()
        })
    }

    /// The summaries of the space with the newest messages.
    pub fn newest_summaries(&self, limit: usize) -> Result<Vec<Summary>> {
        self.oneiro.store.read(|tx| {
            let nodes = summaries::newest(tx, limit)?;
            nodes.into_iter().map(|node| node.into_summary(tx)).collect()
        })
    }
}

fn no_message(named: &MessageRef) -> Error {
    Error::not_found(format!("there is no message {named} here")).remedy(Remedy::OutOfReach)
}

/// The id of a message that is looked up; a place without a session is one in the scope's session.
fn resolve(
    tx: &Tx<'_>,
    (reach, scope): (&Reach, &ContextScope),
    named: &MessageRef,
) -> Result<MessageId> {
    let ContextScope::Lineage(own) = scope else { return message_in(tx, named, None) };
    if let MessageRef::Place { session: Some(session), .. } = named {
        // A session out of reach is as if it were not there: the answer does not mention it.
        let found = resolve_in(tx, session.as_str()).ok().filter(|(key, _)| reach.holds(*key));
        found.ok_or_else(|| no_message(named))?;
    }
    message_in(tx, named, Some(SessionRef { key: key_of(tx, own)?, id: own }))
}

fn message(
    tx: &Tx<'_>,
    (reach, scope): (&Reach, &ContextScope),
    named: &MessageRef,
) -> Result<Message> {
    let id = resolve(tx, (reach, scope), named)?;
    let found = messages::get(tx, id)?.filter(|(key, _)| reach.holds(*key));
    found.map(|(_, message)| message).ok_or_else(|| no_message(named))
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
