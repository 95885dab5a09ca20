//! Fills a space with a month of conversations. Existing sessions are kept, missing ones are added.

use crate::calendar::Calendar;
use crate::existing::{existing_sessions, generated_for};
use crate::scene::Scene;
use crate::stage::{Staged, stage};
use crate::summaries::summarise;
use crate::{memories, routine, script};
use oneiro::{Error, ImportLimits, NewMessage, NewSession, Oneiro, Result, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The month to generate.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The end of the month. A space with a part of a month keeps its end.
    pub now: Timestamp,
    /// The seed of the random generator.
    pub seed: u64,
}

impl Request {
    /// The month that ends at `now`.
    pub fn new(now: Timestamp) -> Request {
        Request { now, seed: 4_747 }
    }
}

/// The progress of a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Sessions written.
    pub sessions: usize,
    /// Sessions to write.
    pub of: usize,
}

/// What was added, and what the whole month has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Filled {
    /// New sessions.
    pub sessions: usize,
    /// New messages.
    pub messages: usize,
    /// Sessions of the month.
    pub all_sessions: usize,
    /// Messages of the month.
    pub all_messages: usize,
    /// New memories.
    pub memories: usize,
    /// Nights that were dreamt now.
    pub dreams: usize,
}

/// Fills a space. A repeated fill changes nothing; missing parts are added.
pub fn fill(
    oneiro: &Oneiro,
    request: Request,
    progress: &mut dyn FnMut(Progress),
) -> Result<Filled> {
    let existing = existing_sessions(oneiro)?;
    let (now, seed) =
        existing.iter().find_map(generated_for).unwrap_or((request.now, request.seed));
    let staged = month(now, seed)?;
    let existing_ids: HashSet<_> = existing.iter().map(|session| &session.id).collect();
    let (old, new): (Vec<_>, Vec<_>) =
        staged.iter().partition(|session| existing_ids.contains(&session.id));
    let mut filled = Filled {
        sessions: 0,
        messages: 0,
        all_sessions: staged.len(),
        all_messages: staged.iter().map(|session| session.messages.len()).sum(),
        memories: 0,
        dreams: 0,
    };
    if !new.is_empty() {
        write(oneiro, &new, &mut filled, progress)?;
    }
    let orphans: HashMap<_, _> =
        existing.iter().map(|session| (&session.id, session.parent_id.is_none())).collect();
    for session in old {
        let is_orphan = orphans.get(&session.id).copied().unwrap_or(false);
        filled.messages += complete(oneiro, session, is_orphan)?;
    }
    summarise(oneiro, &staged)?;
    (filled.memories, filled.dreams) = memories::remember(oneiro, &staged, now, seed)?;
    Ok(filled)
}

/// The whole month, in the order of import.
fn month(now: Timestamp, seed: u64) -> Result<Vec<Staged>> {
    let calendar = Calendar::until(now)?;
    stage(&scenes(&calendar, seed)?, &calendar, seed)
}

fn scenes(calendar: &Calendar, seed: u64) -> Result<Vec<Scene>> {
    let mut scenes = script::scenes()?;
    scenes.extend(routine::scenes(calendar, seed));
    Ok(scenes)
}

/// The ids of all sessions of the month.
pub(crate) fn every_id() -> Result<Vec<String>> {
    let calendar = Calendar::until(Timestamp::from_micros(0))?;
    Ok(scenes(&calendar, 0)?.into_iter().map(|scene| scene.id).collect())
}

/// Imports missing sessions, all of them or none.
fn write(
    oneiro: &Oneiro,
    new: &[&Staged],
    filled: &mut Filled,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let mut lines = Vec::new();
    for session in new {
        let mut line = session.fields.clone();
        line.insert("id".to_owned(), Value::String(session.id.as_str().to_owned()));
        if let Some((parent, lineage)) = &session.parent {
            line.insert("parent_id".to_owned(), Value::String(parent.as_str().to_owned()));
            line.insert("lineage".to_owned(), Value::String(lineage.as_str().to_owned()));
        }
        line.insert("messages".to_owned(), Value::Array(session.messages.clone()));
        serde_json::to_writer(&mut lines, &line)
            .map_err(|error| Error::internal("cannot encode a session as JSON").because(error))?;
        lines.push(b'\n');
    }
    let mut input = lines.as_slice();
    let imported = oneiro.transfer().import(&mut input, ImportLimits::default(), &mut |at| {
        let sessions = usize::try_from(at.sessions).unwrap_or(usize::MAX);
        progress(Progress { sessions, of: new.len() });
    })?;
    filled.sessions += imported.sessions;
    filled.messages += imported.messages;
    Ok(())
}

/// Adds missing messages and a lost parent to an existing session.
fn complete(oneiro: &Oneiro, session: &Staged, is_orphan: bool) -> Result<usize> {
    if let Some((parent, lineage)) = session.parent.as_ref().filter(|_| is_orphan) {
        oneiro.sessions().create(NewSession {
            parent_id: Some(parent.clone()),
            lineage: Some(*lineage),
            ..NewSession::with_id(session.id.clone())
        })?;
    }
    let view = oneiro.sessions().show(&session.id, true)?;
    let there: HashSet<_> = view.messages.iter().filter_map(|m| m.external_id.as_deref()).collect();
    let mut missing = Vec::new();
    for message in &session.messages {
        let id = message.get("external_id").and_then(Value::as_str).unwrap_or_default();
        // Rewound messages are useful only in their original position.
        if !there.contains(id) && message.get("visibility").is_none() {
            missing.push(NewMessage::from_json(message.clone())?);
        }
    }
    match missing.len() {
        0 => Ok(0),
        count => oneiro.messages().append(&session.id, missing).map(|done| count - done.duplicates),
    }
}
