//! The list of sessions, by day, with its filters.

use crate::layout::{Frame, Tab, document};
use crate::numbers::counted;
use crate::session::title;
use crate::text::{line, one_line, plain};
use crate::{link, welcome, when};
use maud::{Markup, html};
use oneiro::{Lineage, ListOrder, Page, Session};

/// The filters of the list, as typed.
#[derive(Debug, Clone, Default)]
pub struct SessionsForm {
    /// Words of a title or an id.
    pub q: String,
    /// Only this source.
    pub source: String,
    /// Only this project.
    pub project: String,
    /// Archived sessions instead of the others.
    pub archived: bool,
    /// Every session, not only conversations.
    pub all: bool,
    /// The order.
    pub order: ListOrder,
}

/// A page of the list.
#[derive(Debug, Clone)]
pub struct SessionsView {
    /// The frame of the page.
    pub frame: Frame,
    /// The filters.
    pub form: SessionsForm,
    /// Sources to choose from.
    pub sources: Vec<String>,
    /// Projects to choose from.
    pub projects: Vec<String>,
    /// The sessions.
    pub sessions: Page<Session>,
}

/// The whole page.
pub fn page(view: &SessionsView) -> String {
    document(&view.frame, Tab::Sessions, "Sessions", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &SessionsView) -> String {
    main(view).into_string()
}

fn main(view: &SessionsView) -> Markup {
    let form = &view.form;
    let is_filtered = !(form.q.is_empty() && form.source.is_empty() && form.project.is_empty())
        || form.archived
        || form.all;
    html! {
        div #view data-view="sessions" {
            h1 { "Sessions" }
            (filters(view, is_filtered))
            div #list data-refresh {
                @if view.sessions.items.is_empty() {
                    @if is_filtered {
                        div.empty {
                            p { "No sessions match these filters." }
                            p {
                                a href="/sessions" { "Show all sessions" }
                            }
                        }
                    } @else { (welcome::first_steps()) }
                } @else { (days(view)) }
                @if let Some(next) = &view.sessions.next {
                    p.pager {
                        a href=(address(form, &next.to_string())) { "Older sessions" }
                    }
                }
            }
        }
    }
}

fn address(form: &SessionsForm, cursor: &str) -> String {
    let flag = |is: bool| if is { "1" } else { "" };
    let order = if form.order == ListOrder::Started { "started" } else { "" };
    let pairs = [
        ("q", form.q.as_str()),
        ("source", &form.source),
        ("project", &form.project),
        ("archived", flag(form.archived)),
        ("all", flag(form.all)),
        ("order", order),
        ("cursor", cursor),
    ];
    link::query("/sessions", &pairs)
}

/// Filters in a row. On a phone the script closes them unless one is set.
pub(crate) fn filter_fold(is_set: bool, fields: &Markup) -> Markup {
    html! {
        details.fold open data-set[is_set] {
            summary { "Filters" }
            div.filters { (fields) }
        }
    }
}

fn filters(view: &SessionsView, is_filtered: bool) -> Markup {
    let form = &view.form;
    let fields = html! {
        label.grow {
            span { "Title or id" }
            input type="search" name="q" value=(form.q) autocomplete="off";
        }
        (choice("Source", "source", &view.sources, &form.source))
        (choice("Project", "project", &view.projects, &form.project))
        label {
            span { "Sort by" }
            select name="order" {
                option value="" selected[form.order == ListOrder::Active] { "Last active" }
                option value="started" selected[form.order == ListOrder::Started] { "Started" }
            }
        }
        label.check {
            input type="checkbox" name="archived" value="1" checked[form.archived];
            span { "Archived only" }
        }
        label.check {
            input type="checkbox" name="all" value="1" checked[form.all];
            span { "Include subagents and continued sessions" }
        }
        button type="submit" { "Filter" }
    };
    html! {
        form
            action="/sessions"
            method="get"
            role="search"
            aria-label="Filter sessions"
            data-submit
        { (filter_fold(is_filtered, &fields)) }
    }
}

/// A field with values to choose from; nothing when there are none.
pub(crate) fn choice(label: &str, name: &str, values: &[String], chosen: &str) -> Markup {
    html! {
        @if !values.is_empty() || !chosen.is_empty() {
            label {
                span { (label) }
                select name=(name) {
                    option value="" { "any" }
                    @if !chosen.is_empty() && !values.iter().any(|value| value == chosen) {
                        option value=(chosen) selected { (plain(&one_line(chosen, 40))) }
                    }
                    @for value in values {
                        option value=(value) selected[value == chosen] {
                            (plain(&one_line(value, 40)))
                        }
                    }
                }
            }
        }
    }
}

fn days(view: &SessionsView) -> Markup {
    let now = view.frame.now;
    let time = |session: &Session| match view.form.order {
        ListOrder::Active => session.last_active_at,
        ListOrder::Started => session.started_at,
    };
    let same_day = |one: &Session, next: &Session| when::day(time(one)) == when::day(time(next));
    html! {
        @for sessions in view.sessions.items.chunk_by(same_day) {
            section.byday {
                @let first = sessions
                    .first()
                    .map(|session| when::day_name(when::day(time(session)), now));
                h2 { (first.unwrap_or_default()) }
                (rows(sessions, &view.frame))
            }
        }
    }
}

/// Sessions, a row to each.
pub(crate) fn rows(sessions: &[Session], frame: &Frame) -> Markup {
    html! {
        ul.rows {
            @for session in sessions { (row(session, frame)) }
        }
    }
}

fn row(session: &Session, frame: &Frame) -> Markup {
    let named = session.title.as_deref().is_some_and(|title| !title.trim().is_empty());
    let preview = session.preview.as_deref().filter(|text| named && !text.trim().is_empty());
    html! {
        li {
            a.name href=(link::session(&session.id)) {
                bdi { (plain(&title(session))) }
            }
            @if let Some(preview) = preview {
                p.preview { (line(preview, 120)) }
            }
            p.facts {
                span.badge { (plain(&one_line(&session.source, 30))) }
                @if session.archived {
                    span.badge { "archived" }
                }
                @if session.ended_at.is_none() {
                    span.open { "open" }
                }
                @if let Some(project) = &session.project {
                    span { (line(project, 40)) }
                }
                @if let Some(lineage) = session.lineage.filter(|_| session.parent_id.is_some()) {
                    span { (lineage_name(lineage)) }
                }
                span { (counted(session.message_count, "message")) }
                @if session.tool_call_count > 0 {
                    span { (counted(session.tool_call_count, "tool call")) }
                }
                span.when { (when::ago(session.last_active_at, frame.now)) }
            }
        }
    }
}

fn lineage_name(lineage: Lineage) -> &'static str {
    match lineage {
        Lineage::Continuation => "continued",
        Lineage::Branch => "branch",
        Lineage::Delegate => "subagent",
        Lineage::Reset => "reset",
    }
}
