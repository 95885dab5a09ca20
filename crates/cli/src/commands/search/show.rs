//! Prints what a search found: hits under the session they are in, with their neighbours.

use crate::output::{count, one_line, plain, table};
use crate::places::Places;
use crate::style::Style;
use oneiro::{
    AnyHit, Confidence, Found, Hit, HitGroup, MemoryHit, MemoryStatus, Neighbour, NoteHit, Passage,
    PassageMessage, Role, Session, SessionId, SummaryHit, Tier, Timestamp, Trace, group_hits,
};
use std::collections::BTreeMap;

/// Columns of a neighbour.
const NEIGHBOUR_WIDTH: usize = 96;

/// Columns of the name of a note and the handle of its entry.
const NOTE_ID_WIDTH: usize = 80;

/// Which hits are shown with their neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighboursOf {
    /// The best hit of each session, and hits beside it.
    BestHit,
    /// Every hit.
    EveryHit,
}

/// A page of hits, as text.
#[derive(Debug)]
pub struct Results<'a> {
    /// The answer.
    pub found: &'a Found,
    /// The sessions of its hits.
    pub sessions: &'a BTreeMap<SessionId, Session>,
    /// The places of its hits in their sessions.
    pub places: &'a Places,
    /// Which hits are shown with their neighbours.
    pub neighbours_of: NeighboursOf,
    /// Colours.
    pub style: Style,
}

impl Results<'_> {
    /// Renders summaries first, then messages by session.
    pub fn render(&self) -> String {
        let summaries = self.found.summaries.iter().map(|hit| self.summary(hit));
        let groups = group_hits(&self.found.hits);
        let groups = groups.iter().map(|group| self.group(group));
        let mut text = summaries.chain(groups).collect::<Vec<_>>().join("\n\n");
        if let Some(next) = &self.found.next {
            text.push_str(&format!("\n\nmore: --cursor {next}"));
        }
        text
    }

    /// Renders memories, notes and messages in the order of their rank; messages that follow each other
    /// are grouped by session.
    pub fn render_in_order(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let (mut from, mut until) = (0, 0);
        let mut add_messages = |parts: &mut Vec<String>, until: usize| {
            let hits = self.found.hits.get(from..until).unwrap_or_default();
            parts.extend(group_hits(hits).iter().map(|group| self.group(group)));
            from = until;
        };
        for hit in self.found.in_order() {
            let part = match hit {
                AnyHit::Message(_) => {
                    until += 1;
                    continue;
                }
                AnyHit::Memory(hit) => self.memory(hit),
                AnyHit::Note(hit) => self.note(hit),
                AnyHit::Summary(hit) => self.summary(hit),
            };
            add_messages(&mut parts, until);
            parts.push(part);
        }
        add_messages(&mut parts, until);
        let mut text = parts.join("\n\n");
        if let Some(next) = &self.found.next {
            text.push_str(&format!("\n\nmore: --cursor {next}"));
        }
        text
    }

    fn note(&self, hit: &NoteHit) -> String {
        let generated = if hit.generated { ", generated" } else { "" };
        let mut text = format!(
            "{}\n> {}  note{generated}  {}",
            self.style.marked(&hit.snippet, &hit.highlights),
            when(hit.at),
            self.style.dim(&one_line(&hit.id, NOTE_ID_WIDTH)),
        );
        if let Some(trace) = &hit.trace {
            text.push_str(&format!("\n{}", explained(hit.score, trace)));
        }
        text
    }

    fn memory(&self, hit: &MemoryHit) -> String {
        let about =
            hit.subject.as_deref().map(|subject| format!(" about {}", one_line(subject, 40)));
        let mut text = format!(
            "{}\n> {}  {}{}, {}  {}",
            self.style.marked(&hit.snippet, &hit.highlights),
            when(hit.valid_from.unwrap_or(hit.at)),
            hit.memory_kind.as_str(),
            about.unwrap_or_default(),
            status(hit),
            self.style.dim(hit.id.as_str()),
        );
        if let Some(trace) = &hit.trace {
            text.push_str(&format!("\n{}", explained(hit.score, trace)));
        }
        text
    }

    fn group(&self, group: &HitGroup<'_>) -> String {
        let hits = group.hit_count();
        let best = group.passages.first().map(|passage| passage.best.at);
        let mut head = self.session_head(group.session_id, best);
        if hits > 1 {
            head.push_str(&format!("  {}", self.style.dim(&count(hits, "hit"))));
        }
        let passage = |(place, passage): (usize, &Passage<'_>)| {
            let is_open = self.neighbours_of == NeighboursOf::EveryHit || place == 0;
            self.passage(passage, is_open)
        };
        let passages: Vec<String> = group.passages.iter().enumerate().map(passage).collect();
        format!("{head}\n{}", passages.join("\n"))
    }

    /// The name of a session, a time, and the id.
    fn session_head(&self, id: &SessionId, at: Option<Timestamp>) -> String {
        let session = self.sessions.get(id);
        let name = session.map_or(id.as_str(), Session::display_name);
        session_head(name, at, id, self.style)
    }

    fn passage(&self, passage: &Passage<'_>, is_open: bool) -> String {
        let message = |message: &PassageMessage<'_>| match message {
            PassageMessage::Hit(hit) => Some(self.hit(hit)),
            PassageMessage::Neighbour(near) => is_open.then(|| self.neighbour(near)),
        };
        passage.messages.values().filter_map(message).collect::<Vec<_>>().join("\n")
    }

    fn hit(&self, hit: &Hit) -> String {
        let who = who(&hit.role, hit.name.as_deref());
        let mut text = format!(
            "> {}  {}\n    {}",
            head(&self.label(hit), who, hit.at, self.style),
            self.style.dim(tier(hit.tier)),
            self.style.marked(&hit.snippet, &hit.highlights)
        );
        if let Some(trace) = &hit.trace {
            text.push_str(&format!("\n{}", explained(hit.score, trace)));
        }
        text
    }

    /// A hit as other commands take it: `monday#3`.
    fn label(&self, hit: &Hit) -> String {
        let place = self.places.label(hit.id);
        if place.starts_with('#') {
            format!("{}{place}", plain(hit.session_id.as_str()))
        } else {
            place
        }
    }

    fn neighbour(&self, near: &Neighbour) -> String {
        let who = who(&near.role, near.name.as_deref());
        let text = format!("{who}: {}", near.text);
        format!("  {}", self.style.dim(&one_line(&text, NEIGHBOUR_WIDTH)))
    }

    fn summary(&self, hit: &SummaryHit) -> String {
        format!(
            "{}\n> {} to {}  {}, depth {}  {}\n    {}",
            self.session_head(&hit.session_id, None),
            when(hit.earliest_at),
            when(hit.at),
            hit.summary_kind.as_str(),
            hit.depth,
            hit.id.as_str(),
            self.style.marked(&hit.snippet, &[]),
        )
    }
}

/// The head line of a session: its name, a time, and its id.
pub fn session_head(name: &str, at: Option<Timestamp>, id: &SessionId, style: Style) -> String {
    let mut head = style.bold(&one_line(name, 60));
    if let Some(at) = at {
        head.push_str(&format!("  {}", when(at)));
    }
    if name != id.as_str() {
        head.push_str(&format!("  {}", style.dim(&one_line(id.as_str(), 48))));
    }
    head
}

/// The beginning of a message's head line: when, who, and its place.
pub fn head(label: &str, who: String, at: Timestamp, style: Style) -> String {
    format!("{}  {who}  {}", when(at), style.bold(label))
}

/// Who spoke, by role and name.
pub fn who(role: &Role, name: Option<&str>) -> String {
    let role = role.as_str();
    one_line(&name.map_or(role.to_owned(), |name| format!("{role} {name}")), 40)
}

/// A moment to the minute, in UTC.
pub fn when(at: Timestamp) -> String {
    at.minute_text()
}

/// A remark on an answer that may not answer.
pub fn confidence(found: &Found) -> Option<&'static str> {
    if found.is_empty() {
        return None;
    }
    match found.found {
        Confidence::Strong => None,
        Confidence::Weak => Some("found: weak; the hits are about it and may not answer it"),
        Confidence::None => Some("found: none; nothing seems to answer it"),
    }
}

/// How far a memory is to be believed.
fn status(hit: &MemoryHit) -> String {
    match (hit.status, &hit.suspended_by) {
        (MemoryStatus::Candidate, _) => "not reviewed".to_owned(),
        (MemoryStatus::Active, Some(by)) => format!("contradicted by {by}, not settled"),
        (MemoryStatus::Active, None) => format!("active, trust {}", hit.trust.as_str()),
        (MemoryStatus::Superseded, _) => match &hit.superseded_by {
            Some(by) => format!("superseded by {by}"),
            None => "superseded".to_owned(),
        },
        (MemoryStatus::Invalid, _) => "invalid".to_owned(),
    }
}

/// How strictly a hit was found.
pub fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Precise => "all words",
        Tier::Relaxed => "partial match",
        Tier::Semantic => "similar meaning",
    }
}

fn explained(score: f64, trace: &Trace) -> String {
    let number = |value: f64| format!("{value:.3}");
    let mut parts: Vec<Vec<String>> = trace
        .parts
        .iter()
        .map(|part| vec![part.name.to_owned(), number(part.value), number(part.added)])
        .collect();
    parts.push(vec!["score".to_owned(), String::new(), number(score)]);
    let words: Vec<Vec<String>> = trace
        .words
        .iter()
        .map(|word| vec![one_line(&word.word, 32), number(word.weight), number(word.met)])
        .collect();
    let mut text = table(&["part", "value", "added"], &parts);
    if !words.is_empty() {
        text.push_str(&format!("\n\n{}", table(&["word", "weight", "matched"], &words)));
    }
    if !trace.from.is_empty() {
        text.push_str(&format!("\n\nfound by {}", trace.from.join(", ")));
    }
    text.lines()
        .map(|line| format!("      {line}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}
