//! Extends the search of messages: summaries before them, the last word as a prefix while the user
//! types, and reading on until a page is full.

use crate::Oneiro;
use crate::views::Search;
use oneiro_model::{
    Confidence, ContextScope, Found, GrepRequest, MemoryHit, NoteHit, Result, SEARCH_LIMIT_MAX,
    SearchRequest, Sort, SummaryHit, Tier,
};
use std::time::{Duration, Instant};

impl Search<'_> {
    /// Searches, and continues incomplete pages until the page is full, everything was read, or the
    /// timeout passes. `on_page` is called after each part.
    pub fn run_all(
        &self,
        request: &SearchRequest,
        timeout: Duration,
        on_page: &mut dyn FnMut(),
    ) -> Result<Found> {
        let began = Instant::now();
        let mut request = request.clone();
        let wanted = request.limit;
        let mut found = self.run(&request)?;
        let hits = |found: &Found| found.hits.len() + found.memories.len() + found.notes.len();
        while let Some(next) = found.next.filter(|_| hits(&found) < wanted)
            && began.elapsed() < timeout
        {
            on_page();
            if request.cursor.replace(next) == Some(next) {
                break;
            }
            request.limit = wanted - hits(&found);
            let more = self.run(&request)?;
            let before = found.hits.len();
            let others = before + found.memories.len();
            let placed_note =
                |hit: NoteHit| NoteHit { others_before: others + hit.others_before, ..hit };
            found.notes.extend(more.notes.into_iter().map(placed_note));
            let placed =
                |hit: MemoryHit| MemoryHit { messages_before: before + hit.messages_before, ..hit };
            found.memories.extend(more.memories.into_iter().map(placed));
            found.tier = found.tier.or(more.tier);
            found.found = found.found.min(more.found);
            found.hits.extend(more.hits);
            found.next = more.next;
            found.note = more.note;
        }
        Ok(found)
    }
}

impl Oneiro {
    /// Searches messages; while the user types, the last word may be incomplete.
    pub(super) fn search_as_typed(&self, request: &SearchRequest) -> Result<Found> {
        let found = self.search_messages(request)?;
        let is_vague = found.tier.is_none_or(|tier| tier == Tier::Semantic);
        if !request.typing || !is_vague || request.cursor.is_some() {
            return Ok(found);
        }
        let Some(query) = as_prefix_query(&request.query) else { return Ok(found) };
        let longer = self.search_messages(&SearchRequest { query, ..request.clone() })?;
        Ok(if longer.is_empty() { found } else { longer })
    }

    /// Summaries that match, then messages. Summaries take at most half of the first page, so that
    /// `limit` holds and `next` continues among the messages.
    pub(super) fn search_with_summaries(&self, request: &SearchRequest) -> Result<Found> {
        let mut request = request.clone();
        let wants_others =
            request.wants_messages() || request.wants_memories() || request.wants_notes();
        let room = if wants_others { request.limit / 2 } else { request.limit };
        let (mut summaries, mut note) = match request.cursor {
            Some(_) => (Vec::new(), None),
            None => self.summaries_for(&request)?,
        };
        if summaries.len() > room {
            let more = summaries.len() - room;
            note = Some(format!("{more} more summaries have the words; a larger limit shows more"));
            summaries.truncate(room);
        }
        let mut found = if wants_others {
            request.limit -= summaries.len();
            self.search_as_typed(&request)?
        } else {
            Found::default()
        };
        if !summaries.is_empty() {
            found.tier = Some(Tier::Precise);
            // A summary has the words; whether it answers is open.
            found.found = found.found.min(Confidence::Weak);
        }
        found.summaries = summaries;
        found.note = super::join_notes(found.note, note);
        Ok(found)
    }

    /// The summaries that match. Filters on messages do not apply to summaries; with such a filter
    /// no summary is returned, and the note says so.
    fn summaries_for(&self, request: &SearchRequest) -> Result<(Vec<SummaryHit>, Option<String>)> {
        let of_messages = [
            ("roles", !request.roles.is_empty()),
            ("sources", !request.sources.is_empty()),
            ("exclude_sources", !request.exclude_sources.is_empty()),
            ("exclude_lineage", request.exclude_lineage.is_some()),
            ("one_per_lineage", request.one_per_lineage),
        ];
        if let Some((name, _)) = of_messages.iter().find(|(_, given)| *given) {
            let note = format!("summaries are not searched together with {name}");
            return Ok((Vec::new(), Some(note)));
        }
        let within = request.lineage.as_ref().or(request.session.as_ref());
        let found = self.search().grep(&GrepRequest {
            pattern: request.query.clone(),
            scope: within.cloned().map_or(ContextScope::Space, ContextScope::Lineage),
            messages: false,
            summaries: true,
            roles: Vec::new(),
            project: request.project.clone(),
            since: request.since,
            until: request.until,
            limit: SEARCH_LIMIT_MAX,
        })?;
        let mut hits = found.summaries;
        if let Some(session) = &request.session {
            hits.retain(|hit| hit.session_id == *session);
        }
        match request.sort {
            Sort::Relevance => {}
            Sort::Newest => hits.sort_by_key(|hit| std::cmp::Reverse(hit.at)),
            Sort::Oldest => hits.sort_by_key(|hit| hit.at),
        }
        Ok((hits, None))
    }
}

/// The query with its last word as a prefix, if that is a plain word.
fn as_prefix_query(query: &str) -> Option<String> {
    /// A single letter matches too much.
    const LETTERS_MIN: usize = 2;
    let last = query.split_whitespace().next_back()?;
    let is_word = last.chars().count() >= LETTERS_MIN && last.chars().all(char::is_alphanumeric);
    (is_word && query.ends_with(last)).then(|| format!("{query}*"))
}
