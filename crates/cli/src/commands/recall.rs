//! `oneiro recall`: memories, notes and messages that answer a question.

use super::search::show::{self, NeighboursOf, Results};
use super::search::{Order, query};
use crate::context::Context;
use crate::places::Places;
use crate::request::request;
use clap::Args;
use oneiro::{HitKind, SEARCH_LIMIT, SearchRequest, Sort};
use serde_json::json;

/// Recall what is known about something
///
/// Searches memories, notes and messages together, the best first. Memories that are believed come before
/// those that nobody reviewed, which are marked. Superseded and suspended memories, and those whose
/// validity has ended, are shown with --history only.
///
/// The query language is that of `oneiro search`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro recall where does Ann live
  oneiro recall 'release day' --history
  oneiro recall 'release day' --known-at 2026-03-01
  oneiro recall deploys --memories --project atlas
  oneiro recall deploys --notes")]
pub struct RecallArgs {
    /// What to recall; several arguments are one query
    #[arg(required = true)]
    query: Vec<String>,
    /// Only memories, no notes and messages
    #[arg(long)]
    memories: bool,
    /// Only notes, also generated ones
    #[arg(long, conflicts_with_all = ["memories", "history", "at", "known_at"])]
    notes: bool,
    /// Only this project, by name or alias, and memories of no project
    #[arg(long)]
    project: Option<String>,
    /// Include memories that do not hold now: superseded, suspended, ended
    #[arg(long)]
    history: bool,
    /// Only memories that held at this time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Memories as they were recorded at this time
    #[arg(long, value_name = "TIME")]
    known_at: Option<String>,
    /// The session this is for: its user's last message counts as the question
    #[arg(long, value_name = "SESSION")]
    for_session: Option<String>,
    /// The order of hits
    #[arg(long, value_enum, default_value_t = Order::Relevance)]
    sort: Order,
    /// Maximum number of hits
    #[arg(long, value_name = "N", default_value_t = SEARCH_LIMIT)]
    limit: usize,
    /// The `next` of the page before
    #[arg(long)]
    cursor: Option<String>,
    /// Explain the rank of each hit
    #[arg(long)]
    explain: bool,
}

impl RecallArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let kinds = match (self.memories, self.notes) {
            (true, _) => vec![HitKind::Memory],
            (false, true) => vec![HitKind::Note],
            (false, false) => vec![HitKind::Memory, HitKind::Note, HitKind::Message],
        };
        let asked: SearchRequest = request(
            &oneiro,
            json!({
                "query": query(&self.query)?,
                "kinds": kinds,
                "project": self.project,
                "history": self.history,
                "at": self.at,
                "known_at": self.known_at,
                "for_session": self.for_session,
                "sort": Sort::from(self.sort),
                "limit": self.limit,
                "cursor": self.cursor,
                "explain": self.explain,
            }),
        )?;
        let found = oneiro.search().run(&asked)?;
        if found.is_empty() && !context.output.json {
            context.output.note("Nothing found.");
        } else {
            let sessions = oneiro.search().sessions_of(&found)?;
            let messages = found.hits.iter().map(|hit| (&hit.session_id, hit.id));
            let places = Places::new(&oneiro, messages)?;
            let (neighbours_of, style) = (NeighboursOf::BestHit, context.style);
            context.output.show(&found, |found| {
                let results =
                    Results { found, sessions: &sessions, places: &places, neighbours_of, style };
                results.render_in_order()
            })?;
        }
        if !context.output.json
            && let Some(remark) = show::confidence(&found)
        {
            context.output.note(remark);
        }
        if let Some(note) = &found.note {
            context.output.note(&format!("note: {note}"));
        } else if found.is_empty() {
            context.output.note("hint: try other words; `oneiro memory list` lists all memories");
        }
        context.after(&oneiro);
        Ok(())
    }
}
