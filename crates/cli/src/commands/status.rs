//! `oneiro status`: what the space knows, what waits for a decision, and what the last dream would change.

use super::dream::{detail_text, status_text};
use super::pause::describe_pause;
use super::review::prompt;
use crate::context::Context;
use crate::output::{ago, count};
use clap::Args;
use oneiro::{
    CapturePause, DreamDetail, DreamRequest, DreamStatus, MemoryStatus, Oneiro, Timestamp,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::IsTerminal;

/// Show what the space knows and what waits for you
///
/// Conversations, memories, notes, candidates that wait for review, and dreams. If the last dream was a
/// dry run that would change something, its digest is shown, and at a terminal one key applies it.
#[derive(Debug, Args)]
pub struct StatusArgs {}

/// The state of a space.
#[derive(Serialize)]
struct Status {
    space: String,
    sessions: i64,
    messages: i64,
    notes: i64,
    last_active_at: Option<Timestamp>,
    /// Memories by status.
    memories: BTreeMap<&'static str, i64>,
    /// How many active memories a contradiction suspends.
    contradicted: i64,
    /// The pause of capture that holds now.
    pause: Option<CapturePause>,
    dreams: DreamStatus,
    /// The last dream, if it was a dry run that would change something.
    digest: Option<DreamDetail>,
}

impl StatusArgs {
    /// Prints the state, and applies a dream on request.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let status = Status::of(&oneiro)?;
        context.output.show(&status, |status| describe(status, oneiro.now()))?;
        let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let Some(digest) = status.digest.filter(|_| at_terminal && !context.output.json) else {
            return Ok(());
        };
        if prompt("[a]pply this dream, or Enter to leave it")? != "a" {
            return Ok(());
        }
        let preset = Some(digest.dream.preset);
        let request = DreamRequest { preset, apply: Some(true), ..DreamRequest::default() };
        let run = oneiro.dreams().run(&request)?;
        let id = run.dream.map(|detail| detail.dream.id.to_string()).unwrap_or_default();
        context.output.note(&format!("Applied as {id}. `oneiro dream undo {id}` undoes it."));
        Ok(())
    }
}

impl Status {
    fn of(oneiro: &Oneiro) -> anyhow::Result<Status> {
        let (stats, dreams) = (oneiro.stats()?, oneiro.dreams().status()?);
        let counts = oneiro.memories().counts()?;
        let digest = oneiro.dreams().digest()?;
        Ok(Status {
            space: stats.space,
            sessions: stats.sessions,
            messages: stats.messages,
            notes: stats.notes,
            last_active_at: stats.last_active_at,
            memories: counts.into_iter().map(|(status, count)| (status.as_str(), count)).collect(),
            contradicted: oneiro.memories().count_suspended()?,
            pause: oneiro.capture().status()?.pause,
            dreams,
            digest,
        })
    }

    fn memories(&self, status: MemoryStatus) -> usize {
        let count = self.memories.get(status.as_str()).copied().unwrap_or(0);
        usize::try_from(count).unwrap_or(0)
    }
}

fn describe(status: &Status, now: Timestamp) -> String {
    let number = |value: i64| usize::try_from(value).unwrap_or(0);
    let active = status.last_active_at.map_or("never".to_owned(), |at| ago(at, now));
    let waiting = status.memories(MemoryStatus::Candidate);
    let suspended = number(status.contradicted);
    // A contradiction suspends an active memory until it is settled.
    let believed = status.memories(MemoryStatus::Active).saturating_sub(suspended);
    let contradicted =
        if suspended > 0 { format!("contradicted: {suspended}; ") } else { String::new() };
    let review = if waiting > 0 { "; `oneiro review` decides" } else { "" };
    let mut lines = vec![
        format!(
            "Space {}: {}, {}, last active {active}",
            status.space,
            count(number(status.sessions), "session"),
            count(number(status.messages), "message"),
        ),
        format!(
            "Believed: {}; {contradicted}waiting for review: {waiting}{review}; notes: {}",
            count(believed, "memory"),
            status.notes
        ),
        format!("Dreams: {}", status_text(&status.dreams, now)),
    ];
    if let Some(pause) = &status.pause {
        lines.push(describe_pause(pause));
    }
    if let Some(digest) = &status.digest {
        lines.push(format!("\n{}", detail_text(digest)));
    }
    lines.join("\n")
}
