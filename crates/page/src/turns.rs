//! The messages of a page in order, with a heading per day and rewound messages in their place. It
//! must not know how a message looks.

use crate::budget::share;
use crate::numbers::counted;
use crate::session::ConversationView;
use crate::text::{line, one_line};
use crate::turn::{Reading, article, costs, name_of};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{Message, Part, Role, Visibility, parts};

/// Renders the messages of a page.
pub fn turns(view: &ConversationView) -> Markup {
    let shown = view.messages.iter().filter(|message| view.hidden || !is_rewound(message));
    let room = share(shown.clone().flat_map(costs).collect(), shown.count());
    let runs: Vec<&[Message]> =
        view.messages.chunk_by(|one, next| is_rewound(one) == is_rewound(next)).collect();
    let replaced = |at: usize| runs.get(at + 1).and_then(|run| run.first());
    let mut day = None;
    let mut out = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        if run.first().is_some_and(is_rewound) {
            out.push(rewound(view, run, (room, replaced(at))));
            continue;
        }
        let reading = Reading::of(run, room, view.at).pinned(&view.pinned).learnt(&view.learnt);
        for (before, message) in with_before(run, &reading) {
            let new_day = day.replace(when::day(message.at)) != Some(when::day(message.at));
            if new_day {
                let name = when::day_name(when::day(message.at), view.frame.now);
                out.push(html! {
                    h2.day id={ "d" (message.id) } { (name) }
                });
            }
            let again = !new_day && before.is_some_and(|before| has_same_speaker(before, message));
            out.push(article(message, &reading, again));
        }
    }
    html! {
        @for one in out { (one) }
    }
}

/// The messages that stand for themselves, each with the one before it.
fn with_before<'a>(
    run: &'a [Message],
    reading: &Reading<'_>,
) -> Vec<(Option<&'a Message>, &'a Message)> {
    let shown: Vec<&Message> =
        run.iter().filter(|message| !reading.is_shown_with_calls(message)).collect();
    let before = std::iter::once(None).chain(shown.iter().copied().map(Some));
    before.zip(shown.iter().copied()).collect()
}

fn has_same_speaker(before: &Message, message: &Message) -> bool {
    before.role == message.role && name_of(before) == name_of(message)
}

fn is_rewound(message: &Message) -> bool {
    message.visibility == Visibility::Rewound
}

/// A run of rewound messages: a line, or the messages where they are shown.
fn rewound(
    view: &ConversationView,
    run: &[Message],
    (room, next): (usize, Option<&Message>),
) -> Markup {
    let first = run.first().map_or(0, |message| message.id.0);
    let turns = run.iter().filter(|message| message.role == Role::User).count().max(1);
    let words = counted(turns as i64, "turn");
    let were = if turns == 1 { "was" } else { "were" };
    let show =
        format!("{}#r{first}", link::query(&link::session(&view.session.id), &[("hidden", "1")]));
    html! {
        div.rewound id={ "r" (first) } {
            @if view.hidden {
                @let reading = Reading::of(run, room, view.at);
                details open[run.iter().any(|message| view.at == Some(message.id))] {
                    summary {
                        (words)
                        " "
                        (were)
                        " rewound here"
                        @if let Some(next) = next {
                            ", replaced by "
                            q { (line(&excerpt(next), 60)) }
                        }
                    }
                    @for (_, message) in with_before(run, &reading) {
                        (article(message, &reading, false))
                    }
                }
            } @else {
                p {
                    (words)
                    " "
                    (were)
                    " rewound here. "
                    a href=(show) { "Show" }
                }
            }
        }
    }
}

fn excerpt(message: &Message) -> String {
    let text = parts(&message.role, &message.body).into_iter().find_map(|part| match part {
        Part::Text(text) => Some(one_line(text, 60)),
        _ => None,
    });
    text.unwrap_or_else(|| format!("message {}", message.id))
}
