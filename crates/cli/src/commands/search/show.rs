//! Hits as people read them: a head line, the snippet with what met the query marked, and what was
//! said around it.

use crate::ink::Ink;
use crate::output::{one_line, table};
use crate::places::Places;
use oneiro::{Found, Hit, Neighbour, Role, SummaryHit, Tier, Timestamp, Trace};

/// Columns of a neighbour.
const NEIGHBOUR_WIDTH: usize = 96;

/// A page of hits.
pub fn hits(found: &Found, places: &Places, ink: Ink) -> String {
    let summaries = found.summaries.iter().map(|hit| summary(hit, ink));
    let messages = found.hits.iter().map(|hit| one(hit, places, ink));
    let mut text = summaries.chain(messages).collect::<Vec<_>>().join("\n\n");
    if let Some(next) = &found.next {
        text.push_str(&format!("\n\nmore: --cursor {next}"));
    }
    text
}

fn one(found: &Hit, places: &Places, ink: Ink) -> String {
    let head = format!(
        "{}  {}",
        head(
            &format!("{}{}", one_line(found.session_id.as_str(), 48), places.label(found.id)),
            who(&found.role, found.name.as_deref()),
            found.at,
            ink
        ),
        ink.dim(tier(found.tier)),
    );
    let near = |neighbour: &Neighbour| {
        let who = who(&neighbour.role, neighbour.name.as_deref());
        let text = format!("  {who}: {}", neighbour.text);
        format!("  {}", ink.dim(&one_line(&text, NEIGHBOUR_WIDTH)))
    };
    let (before, after): (Vec<&Neighbour>, Vec<&Neighbour>) =
        found.neighbours.iter().partition(|neighbour| neighbour.id < found.id);
    let mut lines = vec![head];
    lines.extend(before.into_iter().map(near));
    lines.push(format!("  {}", ink.marked(&found.snippet, &found.highlights)));
    lines.extend(after.into_iter().map(near));
    if let Some(trace) = &found.trace {
        lines.push(explained(found.score, trace));
    }
    lines.join("\n")
}

fn summary(hit: &SummaryHit, ink: Ink) -> String {
    format!(
        "{}  {}, depth {}  {} to {}  {}\n  {}",
        ink.bold(hit.id.as_str()),
        hit.summary_kind.as_str(),
        hit.depth,
        when(hit.earliest_at),
        when(hit.at),
        one_line(hit.session_id.as_str(), 48),
        ink.marked(&hit.snippet, &[]),
    )
}

/// The beginning of a message's head line: its place, who spoke and when.
pub fn head(label: &str, who: String, at: Timestamp, ink: Ink) -> String {
    format!("{}  {who}  {}", ink.bold(label), when(at))
}

/// Who spoke, by role and name.
pub fn who(role: &Role, name: Option<&str>) -> String {
    let role = role.as_str();
    one_line(&name.map_or(role.to_owned(), |name| format!("{role} {name}")), 40)
}

/// A moment to the minute, in UTC.
pub fn when(at: Timestamp) -> String {
    at.to_string().replace('T', " ").chars().take(16).collect()
}

/// How strictly something was found.
pub fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Precise => "precise",
        Tier::Relaxed => "relaxed",
        Tier::Semantic => "semantic",
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
    let mut text = table(&["part", "measured", "added"], &parts);
    if !words.is_empty() {
        text.push_str(&format!("\n\n{}", table(&["word", "weight", "met"], &words)));
    }
    if !trace.from.is_empty() {
        text.push_str(&format!("\n\nbrought up by {}", trace.from.join(", ")));
    }
    text.lines()
        .map(|line| format!("    {line}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}
