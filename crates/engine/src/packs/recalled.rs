//! Records the lines of a recall as served, so that they prove nothing when they come back.

use super::line::{Line, MessageParts};
use crate::echo::{self, NewServedLine};
use crate::operations::identity_of;
use crate::views::Packs;
use oneiro_model::{Found, Result, SessionId};
use oneiro_store::served_lines::ServedTo;

impl Packs<'_> {
    /// Records what a search found as served to a session, or to a client outside of sessions.
    pub fn record_recalled(
        &self,
        session: Option<&SessionId>,
        client: Option<&str>,
        found: &Found,
    ) -> Result<()> {
        let memories = found.memories.iter().map(|hit| Line::of_memory(&hit.into()));
        let lines: Vec<Line> = memories
            .chain(found.notes.iter().map(Line::of_note))
            .chain(found.hits.iter().map(|hit| {
                let who = hit.name.as_deref().unwrap_or(hit.role.as_str());
                Line::of_message(&MessageParts::of_hit(hit, who), &hit.snippet)
            }))
            .collect();
        if lines.is_empty() {
            return Ok(());
        }
        let served: Vec<NewServedLine<'_>> = lines.iter().map(Line::served).collect();
        let oneiro = self.oneiro;
        // Nothing is lost if a power cut undoes this.
        oneiro.store.write_derived(|tx| {
            identity_of(tx, &*oneiro.ids)?;
            echo::record_served(tx, ServedTo { session, client }, &served, oneiro.now())
        })
    }
}
