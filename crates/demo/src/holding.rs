//! What a space holds of the demonstration, and taking it out again.

use crate::fill::every_id;
use crate::stage::MARK;
use oneiro::{ErrorKind, Oneiro, Result, Session, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;

/// Sessions of a space, told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Holding {
    /// Sessions of the demonstration.
    pub demo: usize,
    /// Every other session.
    pub others: usize,
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Sessions.
    pub sessions: usize,
    /// Messages in them.
    pub messages: i64,
}

/// What a space holds.
pub fn holding(oneiro: &Oneiro) -> Result<Holding> {
    let demo = held(oneiro)?.len();
    let all = usize::try_from(oneiro.stats()?.sessions).unwrap_or_default();
    Ok(Holding { demo, others: all.saturating_sub(demo) })
}

/// Deletes the sessions of the demonstration, and no other. What somebody branched off them stays.
pub fn remove(oneiro: &Oneiro) -> Result<Removed> {
    let mut removed = Removed::default();
    for session in held(oneiro)? {
        match oneiro.sessions().delete(&session.id) {
            Ok(deleted) => {
                removed.sessions += deleted.sessions.len();
                removed.messages += deleted.messages;
            }
            // It went with the session that it was a delegate of.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

/// The sessions of the demonstration that are there.
pub(crate) fn held(oneiro: &Oneiro) -> Result<Vec<Session>> {
    let mut found = Vec::new();
    for id in every_id()? {
        let session = oneiro.sessions().find(&SessionId::new(id)?)?;
        found.extend(session.filter(|session| session.metadata.contains_key(MARK)));
    }
    Ok(found)
}

/// The month that a session was written for: when it ends, and its seed.
pub(crate) fn written_for(session: &Session) -> Option<(Timestamp, u64)> {
    let mark = session.metadata.get(MARK)?;
    let until = mark.get("until").and_then(Value::as_str)?;
    let seed = mark.get("seed").and_then(Value::as_u64)?;
    Some((Timestamp::parse(until).ok()?, seed))
}
