//! One hit: where it was said, by whom, what of it met the query, what stood around it, and why it
//! ranked there. It must not know the form that asked.

use crate::plot::share;
use crate::text::{line, marked, one_line, plain};
use crate::turn::speaker;
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{Hit, Neighbour, Tier, Timestamp, Trace, TracePart};

/// Renders a hit of the session called `title`.
pub fn hit(hit: &Hit, title: &str, now: Timestamp) -> Markup {
    let href = link::at(&hit.session_id, hit.id);
    html! {
        li.hit {
            h2 {
                a href=(href) data-hit {
                    bdi { (plain(title)) }
                }
            }
            p.facts {
                strong.who {
                    bdi { (speaker(&hit.role, hit.name.as_deref())) }
                }
                (when::ago(hit.at, now))
                span.tier data-tier=(name(hit.tier)) { (tier(hit.tier)) }
            }
            blockquote.snippet dir="auto" {
                p { (marked(&hit.snippet, &hit.highlights)) }
            }
            @if !hit.neighbours.is_empty() { (context(hit)) }
            @if let Some(trace) = &hit.trace { (why(hit, trace)) }
        }
    }
}

/// How strictly something was found, in words.
pub fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Precise => "every word met",
        Tier::Relaxed => "some of the words, or beside them",
        Tier::Semantic => "near in meaning",
    }
}

fn name(tier: Tier) -> &'static str {
    match tier {
        Tier::Precise => "precise",
        Tier::Relaxed => "relaxed",
        Tier::Semantic => "semantic",
    }
}

fn context(hit: &Hit) -> Markup {
    let (before, after): (Vec<&Neighbour>, Vec<&Neighbour>) =
        hit.neighbours.iter().partition(|neighbour| neighbour.id < hit.id);
    let near = |neighbour: &Neighbour| {
        html! {
            li {
                strong {
                    bdi { (speaker(&neighbour.role, neighbour.name.as_deref())) }
                }
                " "
                span dir="auto" { (plain(&one_line(&neighbour.text, 240))) }
            }
        }
    };
    html! {
        details.context {
            summary { "In context" }
            ol {
                @for neighbour in before { (near(neighbour)) }
                li.here {
                    strong {
                        bdi { (speaker(&hit.role, hit.name.as_deref())) }
                    }
                    " "
                    span dir="auto" { (marked(&hit.snippet, &hit.highlights)) }
                }
                @for neighbour in after { (near(neighbour)) }
            }
        }
    }
}

fn why(hit: &Hit, trace: &Trace) -> Markup {
    let counts = |part: &&TracePart| part.added.abs() >= 0.000_5;
    let parts: Vec<&TracePart> = trace.parts.iter().filter(counts).collect();
    let most = parts.iter().map(|part| part.added.abs()).fold(0.0, f64::max);
    html! {
        details.trace {
            summary { "Why this ranked" }
            table {
                caption { "Parts of its score, " (figure(hit.score)) " in all" }
                tbody {
                    @for part in parts {
                        tr {
                            th scope="row" { (reason(part.name)) }
                            td.bar { (share(part.added, most)) }
                            td.figure { (figure(part.added)) }
                        }
                    }
                }
            }
            @if !trace.words.is_empty() {
                p.words-met {
                    "Words: "
                    @for word in &trace.words {
                        span.word.unmet[word.met <= 0.0] {
                            (line(&word.word, 40)) " " (met(word.met))
                        }
                        " "
                    }
                }
            }
            @if !trace.from.is_empty() {
                p.note { "Brought up by " (trace.from.join(", ")) "." }
            }
        }
    }
}

/// How far a word was met.
fn met(share: f64) -> String {
    match share {
        share if share >= 0.995 => "met".to_owned(),
        share if share <= 0.0 => "not met".to_owned(),
        share => format!("{:.0} %", share * 100.0),
    }
}

fn figure(value: f64) -> String {
    format!("{value:.2}")
}

/// A part of a score in words; one that is not known here keeps its name.
fn reason(name: &str) -> &str {
    match name {
        "coverage" => "words of the query",
        "similarity" => "near in meaning",
        "session" => "best turn of its session",
        "answers" => "answers such a question",
        "speaker" => "who spoke",
        "date" => "day that is named",
        "time" => "tells a time",
        "person" => "tells of oneself",
        "asks" => "asks, does not tell",
        "feedback" => "near to the best hits",
        "conversation" => "its whole session",
        "length" => "how much it tells",
        other => other,
    }
}
