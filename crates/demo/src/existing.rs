//! Finds and removes the demonstration in a space.

use crate::fill::every_id;
use crate::stage::DEMO_KEY;
use crate::{memories, nights, notes};
use oneiro::{EraseTarget, ErrorKind, Oneiro, Result, Session, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;

/// The sessions of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SessionCounts {
    /// Sessions of the demonstration.
    pub demo: usize,
    /// Every other session.
    pub others: usize,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Sessions.
    pub sessions: usize,
    /// Messages in them.
    pub messages: i64,
    /// Memories of them.
    pub memories: usize,
    /// Notes that nobody else changed.
    pub notes: usize,
    /// Dreams.
    pub dreams: usize,
}

/// Counts the sessions of a space.
pub fn count_sessions(oneiro: &Oneiro) -> Result<SessionCounts> {
    let demo = existing_sessions(oneiro)?.len();
    let all = usize::try_from(oneiro.stats()?.sessions).unwrap_or_default();
    Ok(SessionCounts { demo, others: all.saturating_sub(demo) })
}

/// Deletes the sessions of the demonstration and erases its memories, notes and dreams, and no others. Branches
/// that somebody made of them, and notes that somebody changed, are kept.
pub fn remove(oneiro: &Oneiro) -> Result<Removed> {
    let mut removed = Removed::default();
    let sessions = existing_sessions(oneiro)?;
    let dreams = match sessions.iter().find_map(generated_for) {
        Some((now, _)) => nights::existing(oneiro, now)?,
        None => Vec::new(),
    };
    let memories = memories::existing(oneiro)?.into_iter().map(|one| EraseTarget::Memory(one.id));
    let memories: Vec<_> = memories.collect();
    if !memories.is_empty() {
        oneiro.acting_as(memories::person()).erase_all(&memories)?;
        removed.memories = memories.len();
    }
    let notes = notes::existing(oneiro, &dreams)?;
    if !notes.is_empty() {
        oneiro.acting_as(memories::person()).erase_all(&notes)?;
        removed.notes = notes.len();
    }
    removed.dreams = oneiro.dreams().remove_rows(&dreams)?;
    for session in sessions {
        match oneiro.sessions().delete(&session.id) {
            Ok(deleted) => {
                removed.sessions += deleted.sessions.len();
                removed.messages += deleted.messages;
            }
            // It was deleted with the session that it is a delegate of.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

/// The existing sessions of the demonstration.
pub(crate) fn existing_sessions(oneiro: &Oneiro) -> Result<Vec<Session>> {
    let mut found = Vec::new();
    for id in every_id()? {
        let session = oneiro.sessions().find(&SessionId::new(id)?)?;
        found.extend(session.filter(|session| session.metadata.contains_key(DEMO_KEY)));
    }
    Ok(found)
}

/// The end and the seed of the month that a session was generated for.
pub(crate) fn generated_for(session: &Session) -> Option<(Timestamp, u64)> {
    let mark = session.metadata.get(DEMO_KEY)?;
    let until = mark.get("until").and_then(Value::as_str)?;
    let seed = mark.get("seed").and_then(Value::as_u64)?;
    Some((Timestamp::parse(until).ok()?, seed))
}
