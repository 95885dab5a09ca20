//! Search results: hits under the session they are in, with their neighbours and the parts of their
//! score. It must not know the form that asked.

use crate::numbers::counted;
use crate::plot::share;
use crate::session::title;
use crate::text::{line, marked, one_line, plain};
use crate::turn::speaker;
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{
    Hit, HitGroup, Neighbour, Passage, PassageMessage, Session, SessionId, Tier, Timestamp, Trace,
    TracePart, group_hits,
};
use std::collections::BTreeMap;

/// Characters of a neighbour; style cuts it to fewer lines.
const NEIGHBOUR_CHARS: usize = 240;

/// Renders hits by session, best first. The best hit of each session is shown with its neighbours,
/// those of the others are folded away.
pub fn results(hits: &[Hit], sessions: &BTreeMap<SessionId, Session>, now: Timestamp) -> Markup {
    html! {
        ol.groups {
            @for group in group_hits(hits) {
                (session_group(&group, sessions.get(group.session_id), now))
            }
        }
    }
}

fn session_group(group: &HitGroup<'_>, session: Option<&Session>, now: Timestamp) -> Markup {
    let title = session.map_or_else(|| one_line(group.session_id.as_str(), 120), title);
    let best = group.passages.first().map(|passage| passage.best);
    let href = best.map_or_else(
        || link::session(group.session_id),
        |best| link::at(group.session_id, best.id),
    );
    html! {
        li.group {
            h2 {
                a href=(href) {
                    bdi { (plain(&title)) }
                }
            }
            p.facts {
                @if let Some(best) = best {
                    span { (when::date(best.at)) }
                    span { (when::ago(best.at, now)) }
                }
                @if let Some(session) = session {
                    span.badge { (plain(&one_line(&session.source, 30))) }
                    @if let Some(project) = &session.project {
                        span { (line(project, 40)) }
                    }
                }
                @if group.hit_count() > 1 {
                    span { (counted(group.hit_count() as i64, "hit")) }
                }
            }
            ol.passages {
                @for (place, one) in group.passages.iter().enumerate() {
                    (passage(one, place == 0))
                }
            }
        }
    }
}

/// Renders a passage. Its neighbours follow the fold in the document and are hidden by style while
/// it is closed, so that every message stands once, in its order.
fn passage(passage: &Passage<'_>, is_open: bool) -> Markup {
    let has_neighbours =
        passage.messages.values().any(|one| matches!(one, PassageMessage::Neighbour(_)));
    html! {
        li.passage id={ "p" (passage.best.id) } {
            @if has_neighbours {
                details.context open[is_open] {
                    summary { "Context" }
                }
            }
            ol.messages {
                @for message in passage.messages.values() {
                    @match message {
                        PassageMessage::Hit(one) => (hit(one, one.id == passage.best.id)),
                        PassageMessage::Neighbour(one) => (neighbour(one)),
                    }
                }
            }
        }
    }
}

fn neighbour(neighbour: &Neighbour) -> Markup {
    html! {
        li.neighbour {
            strong.who {
                bdi { (speaker(&neighbour.role, neighbour.name.as_deref())) }
            }
            " "
            span dir="auto" { (plain(&one_line(&neighbour.text, NEIGHBOUR_CHARS))) }
        }
    }
}

/// Renders a hit; `is_best` for the best one of its passage.
fn hit(hit: &Hit, is_best: bool) -> Markup {
    html! {
        li.hit.best[is_best] {
            p.facts {
                strong.who {
                    bdi { (speaker(&hit.role, hit.name.as_deref())) }
                }
                a href=(link::at(&hit.session_id, hit.id)) data-hit title={ "Message " (hit.id) } {
                    (when::exact(hit.at))
                }
                span.tier data-tier=(hit.tier.as_str()) { (tier(hit.tier)) }
            }
            blockquote.snippet dir="auto" {
                p { (marked(&hit.snippet, &hit.highlights)) }
            }
            @if let Some(trace) = &hit.trace { (score(hit, trace)) }
        }
    }
}

/// How strictly something was found, in words.
pub fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Precise => "all words",
        Tier::Relaxed => "partial match",
        Tier::Semantic => "similar meaning",
    }
}

/// The parts of a hit's score.
fn score(hit: &Hit, trace: &Trace) -> Markup {
    let counts = |part: &&TracePart| part.added.abs() >= 0.000_5;
    let parts: Vec<&TracePart> = trace.parts.iter().filter(counts).collect();
    let most = parts.iter().map(|part| part.added.abs()).fold(0.0, f64::max);
    html! {
        details.trace id={ "score" (hit.id) } {
            summary { "Score" }
            table {
                caption { "Total score " (decimal(hit.score)) }
                tbody {
                    @for part in parts {
                        tr {
                            th scope="row" { (part_name(part.name)) }
                            td.bar { (share(part.added, most)) }
                            td.number { (decimal(part.added)) }
                        }
                    }
                }
            }
            @if !trace.words.is_empty() {
                p.words-met {
                    "Query words: "
                    @for word in &trace.words {
                        span.word.unmet[word.met <= 0.0] {
                            (line(&word.word, 40)) " " (matched(word.met))
                        }
                        " "
                    }
                }
            }
            @if !trace.from.is_empty() {
                p.note { "Found by " (trace.from.join(", ")) "." }
            }
        }
    }
}

/// How far a word of the query is matched.
fn matched(share: f64) -> String {
    match share {
        share if share >= 0.995 => "matched".to_owned(),
        share if share <= 0.0 => "missing".to_owned(),
        share => format!("{:.0} %", share * 100.0),
    }
}

fn decimal(value: f64) -> String {
    format!("{value:.2}")
}

/// A part of a score in words; an unknown one keeps its name.
fn part_name(name: &str) -> &str {
    match name {
        "coverage" => "query words",
        "similarity" => "similar meaning",
        "session" => "best message of its session",
        "answers" => "answers the kind of question",
        "speaker" => "speaker",
        "date" => "date in the query",
        "time" => "names a time",
        "person" => "statement about oneself",
        "asks" => "is a question",
        "feedback" => "similar to the best hits",
        "conversation" => "rest of its session",
        "length" => "length",
        other => other,
    }
}
