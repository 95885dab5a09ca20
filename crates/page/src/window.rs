//! The context window of a session within a token budget: a slider, totals, the conversation as a
//! band, the text of the window, and its items with their reasons.

use crate::band::{band, name};
use crate::budget::cost;
use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, metric, number, short};
use crate::problem::inline;
use crate::session::title;
use crate::session_nav::{SessionTab, breadcrumbs, session_nav};
use crate::summaries::shell_quoted;
use crate::text::plain;
use crate::{link, plot};
use maud::{Markup, html};
use oneiro::{Error, ItemPlace, Session, SessionId, SummaryId, Window, WindowItem};
use serde_json::Value;

/// The budgets that the slider stops at.
pub const STEPS: [usize; 10] =
    [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 200_000, 1_000_000];

/// A budget, and what comes of it.
#[derive(Debug, Clone)]
pub struct WindowView {
    /// The frame of the page.
    pub frame: Frame,
    /// The session.
    pub session: Session,
    /// The budget, as it was typed.
    pub typed: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a budget.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A window.
    Assembled {
        /// As text, with its items.
        window: Box<Window>,
        /// How many messages are under the summaries that it shows.
        summarised: i64,
    },
    /// The budget is invalid.
    Refused(Error),
}

/// Rows of the table of items; more are counted.
const ROWS: usize = 80;

/// What is shown of the window's text, of its beginning and of its end.
const TEXT_BYTES: usize = 20_000;

/// The whole page.
pub fn page(view: &WindowView) -> String {
    let name = format!("Window of {}", title(&view.session));
    document(&view.frame, Tab::Sessions, &name, &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &WindowView) -> String {
    main(view).into_string()
}

/// The stop of the slider that is nearest to a budget.
pub fn step(budget: usize) -> usize {
    let far = |step: usize| (step.max(1) as f64 / budget.max(1) as f64).ln().abs();
    let nearest =
        STEPS.iter().enumerate().min_by(|one, other| far(*one.1).total_cmp(&far(*other.1)));
    nearest.map_or(0, |(at, _)| at)
}

fn main(view: &WindowView) -> Markup {
    let session = &view.session;
    html! {
        div #view.reading data-view="window" data-session=(session.id) {
            header.head {
                (breadcrumbs(session, None))
                h1 { "Context window" }
                p.note {
                    "The part of this conversation that an agent receives within a token budget. \
                     This preview changes nothing."
                }
                (session_nav(&session.id, Some(SessionTab::Window)))
            }
            (form(view))
            p #window-count.count role="status" { (count_line(view)) }
            div #window {
                @match &view.outcome {
                    Outcome::Refused(error) => (inline(error)),
                    Outcome::Assembled { window, summarised } => {
                        (metrics(window, *summarised))
                        (assembled(session, window))
                    }
                }
            }
        }
    }
}

fn form(view: &WindowView) -> Markup {
    let budget = match &view.outcome {
        Outcome::Assembled { window, .. } => window.budget,
        Outcome::Refused(_) => view.typed.trim().parse().unwrap_or(oneiro::WINDOW_BUDGET),
    };
    let at = step(budget);
    let here = link::window(&view.session.id);
    // Browsers report an error when a number field is given other text.
    let typed = view.typed.trim().parse::<u64>().ok();
    let steps: Vec<String> = STEPS.iter().map(usize::to_string).collect();
    html! {
        form #budget.slider action=(here) method="get" data-steps=(steps.join(",")) {
            // Without a script both fields arrive: the slider counts if it is not where it was.
            input type="hidden" name="was" value=(at);
            label.stops {
                span { "Budget" }
                input
                    type="range"
                    name="step"
                    min="0"
                    max=(STEPS.len() - 1)
                    value=(at)
                    list="stops"
                    aria-valuetext={ (number(budget as i64)) " tokens" };
            }
            datalist #stops {
                @for (at, step) in STEPS.iter().enumerate() {
                    option value=(at) label=(stop(*step)) {}
                }
            }
            div.marks aria-hidden="true" {
                @for step in STEPS {
                    span { (stop(step)) }
                }
            }
            label.typed {
                span { "Tokens" }
                input
                    type="number"
                    name="budget"
                    min="1"
                    max="100000000"
                    value=[typed]
                    required;
            }
            button type="submit" { "Show" }
        }
    }
}

/// A budget in few letters: 1k, 1M.
fn stop(budget: usize) -> String {
    short(budget as i64).replace(".0", "")
}

/// The totals in one line.
fn count_line(view: &WindowView) -> String {
    match &view.outcome {
        Outcome::Refused(_) => String::new(),
        Outcome::Assembled { window, summarised } => format!(
            "{} of {} tokens: {} included, {} summarised, {} left out.",
            number(window.tokens as i64),
            number(window.budget as i64),
            counted(visible_messages(window) as i64, "message"),
            number(*summarised),
            number(window.omitted.messages as i64),
        ),
    }
}

fn items(window: &Window) -> &[WindowItem] {
    window.items.as_deref().unwrap_or_default()
}

/// A pinned message that stands before the others costs nothing of its own.
fn is_pin(item: &WindowItem) -> bool {
    item.kind == "message" && item.tokens == 0
}

/// How many messages a window shows in their place.
fn visible_messages(window: &Window) -> usize {
    let is_in =
        |item: &&WindowItem| item.kind == "message" && item.place == ItemPlace::In && !is_pin(item);
    items(window).iter().filter(is_in).count()
}

fn metrics(window: &Window, summarised: i64) -> Markup {
    let used = 100.0 * window.tokens as f64 / window.budget.max(1) as f64;
    let of = format!("of {}, {used:.0} %", number(window.budget as i64));
    let pins = items(window).iter().filter(|item| is_pin(item)).count();
    let forms = [(window.omitted.shortened.len(), "shortened"), (pins, "pinned")];
    let forms: Vec<String> = forms
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    let over = format!("covering {}", counted(summarised, "message"));
    let out = counted(window.omitted.tokens as i64, "token");
    html! {
        @if let Some(over) = window.over_budget {
            div.notice {
                p {
                    "The newest turn alone exceeds the budget: this window is "
                    (counted(over as i64, "token"))
                    " over it."
                }
            }
        }
        dl.metrics {
            (metric(&number(window.tokens as i64), "Tokens used", &of))
            (metric(&number(visible_messages(window) as i64), "Messages included", &forms.join(", ")))
            (metric(&number(window.summaries.len() as i64), "Summaries", &over))
            (metric(&number(window.omitted.messages as i64), "Messages left out", &out))
        }
        (plot::share(window.tokens as f64, window.budget as f64))
    }
}

fn assembled(session: &Session, window: &Window) -> Markup {
    let budget = window.budget;
    html! {
        (band(&session.id, items(window)))
        @if let Some(reason) = &window.omitted.reason {
            p.note {
                (counted(window.omitted.messages as i64, "message")) " left out: " (plain(reason))
                ". The window lists them, and an agent can expand them."
            }
        }
        @if let Some(broke) = &window.broke {
            p.note {
                "Prompt cache invalidated (" (broke.reason.as_str()) "): "
                (counted(broke.tokens as i64, "token")) " to read again."
            }
        }
        section aria-labelledby="text" {
            h2 #text { "Window text" }
            (scroller(window.text.as_deref().unwrap_or_default()))
            p.note {
                code {
                    "oneiro context "
                    (plain(&shell_quoted(session)))
                    " --budget "
                    (budget)
                    " --format text --peek"
                }
                " prints the whole window."
            }
        }
        (explained(&session.id, window))
    }
}

/// The text of the window; of a long one its beginning and its end.
fn scroller(text: &str) -> Markup {
    let parts = ends(text, TEXT_BYTES);
    let long = |text: &str| text.chars().count() as i64;
    html! {
        div.scroller tabindex="0" role="region" aria-label="Window text" {
            @if let Some((head, tail)) = parts {
                pre { (plain(head)) }
                p.none {
                    (counted(long(text) - long(head) - long(tail), "character"))
                    " not shown"
                }
                pre { (plain(tail)) }
            } @else {
                pre { (plain(text)) }
            }
        }
    }
}

/// The beginning and the end of a text that takes more than twice `room`, at ends of lines where
/// there are any near.
fn ends(text: &str, room: usize) -> Option<(&str, &str)> {
    if cost(text) <= room * 2 {
        return None;
    }
    let head = crate::budget::cut(text, room)?;
    let mut left = room;
    let mut start = text.len();
    for (at, letter) in text.char_indices().rev() {
        let takes = cost(letter.encode_utf8(&mut [0; 4]));
        if takes > left || at < head.len() {
            break;
        }
        (left, start) = (left - takes, at);
    }
    let tail = text.get(start..)?;
    let line = tail.find('\n').filter(|at| *at < tail.len() / 5);
    Some((head, line.map_or(tail, |at| tail.get(at + 1..).unwrap_or(tail))))
}

/// Items one after the other that are treated alike.
struct Run<'a> {
    item: &'a WindowItem,
    last: Option<i64>,
    count: usize,
    tokens: usize,
}

fn runs(items: &[WindowItem]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for item in items {
        let last = item.last.map(|id| id.0).or_else(|| item.id.as_ref().and_then(Value::as_i64));
        match runs.last_mut() {
            Some(run)
                if item.kind == "message"
                    && (run.item.kind, run.item.place, &run.item.why)
                        == (item.kind, item.place, &item.why) =>
            {
                (run.last, run.count, run.tokens) = (last, run.count + 1, run.tokens + item.tokens);
            }
            _ => runs.push(Run { item, last, count: 1, tokens: item.tokens }),
        }
    }
    runs
}

fn explained(session: &SessionId, window: &Window) -> Markup {
    let runs = runs(items(window));
    html! {
        section aria-labelledby="why" {
            h2 #why { "Items" }
            div.wide tabindex="0" role="region" aria-label="Items of the window" {
                table.items {
                    thead {
                        tr {
                            th scope="col" { "Item" }
                            th scope="col" { "Status" }
                            th.number scope="col" { "Tokens" }
                            th scope="col" { "Reason" }
                        }
                    }
                    tbody {
                        @for run in runs.iter().take(ROWS) {
                            tr {
                                th scope="row" { (what(session, run)) }
                                td { (name(run.item.place)) }
                                td.number { (number(run.tokens as i64)) }
                                td { (plain(&run.item.why)) }
                            }
                        }
                    }
                }
            }
            @if runs.len() > ROWS {
                p.note { (counted((runs.len() - ROWS) as i64, "more item")) " not shown" }
            }
        }
    }
}

/// The item of a row, as a link to it.
fn what(session: &SessionId, run: &Run<'_>) -> Markup {
    let id = run.item.id.as_ref();
    let first = id.and_then(Value::as_i64);
    let summary = id.and_then(Value::as_str).and_then(|id| SummaryId::parse(id).ok());
    let name = match (run.item.kind, run.count) {
        ("messages", _) | ("message", 2..) => "messages",
        (kind, _) => kind,
    };
    html! {
        @match (first, summary) {
            (Some(first), _) => a href=(link::at(session, oneiro::MessageId(first))) {
                (name) " " (first)
                @if let Some(last) = run.last.filter(|last| *last != first) { " to " (last) }
            },
            (None, Some(id)) => a href=(link::summary(session, &id)) {
                (name) " " (id.as_str().chars().take(10).collect::<String>())
            },
            (None, None) => (name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_has_its_nearest_stop() {
        assert_eq!([0, 1, 1_000, 1_500, 100_000, 9_000_000].map(step), [0, 0, 0, 1, 7, 9]);
        assert_eq!(STEPS.map(stop).join(" "), "1k 2k 4k 8k 16k 32k 64k 128k 200k 1M");
    }

    #[test]
    fn a_long_text_is_its_beginning_and_its_end() {
        assert_eq!(ends("short", 3), None);
        assert_eq!(ends("0123456789", 3), Some(("012", "789")));
        let lines: String = (0..1_000).map(|n| format!("line {n}\n")).collect();
        let (head, tail) = ends(&lines, 200).unwrap();
        assert!(head.starts_with("line 0\n") && head.len() <= 200);
        assert!(tail.starts_with("line ") && tail.ends_with("line 999\n") && tail.len() <= 200);
        assert_eq!(ends("日本語日本語", 4), Some(("日", "語")));
    }
}
