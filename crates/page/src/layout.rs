//! The frame around every view: head, navigation, connection state. It must not know what a view
//! shows.

use crate::assets::address;
use crate::text::{bare, plain};
use maud::{DOCTYPE, Markup, html};
use oneiro::Timestamp;

/// What the frame of every page shows.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The current space; empty where there is none.
    pub space: String,
    /// What the reader must know before reading on.
    pub notice: Option<String>,
    /// Whether a token was used to log in, so that logging out is offered.
    pub signed_in: bool,
    /// What forms that change something must carry; `None` for visitors who may only read.
    pub form_token: Option<String>,
    /// The current time.
    pub now: Timestamp,
}

/// The entry of the navigation that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Search,
    Memories,
    Review,
    Notes,
    Dreams,
    Sessions,
    Jobs,
    None,
}

impl Tab {
    /// Whether its pages have forms that change something.
    fn has_forms(self) -> bool {
        matches!(self, Tab::Overview | Tab::Memories | Tab::Review | Tab::Notes | Tab::Dreams)
    }
}

/// The entries of the navigation: path and label.
const TABS: [(Tab, &str, &str); 8] = [
    (Tab::Overview, "/", "Overview"),
    (Tab::Search, "/search", "Search"),
    (Tab::Memories, "/memories", "Memories"),
    (Tab::Review, "/review", "Review"),
    (Tab::Notes, "/notes", "Notes"),
    (Tab::Dreams, "/dreams", "Dreams"),
    (Tab::Sessions, "/sessions", "Sessions"),
    (Tab::Jobs, "/jobs", "Jobs"),
];

/// Renders a whole document around the content of `<main>`.
pub(crate) fn document(frame: &Frame, tab: Tab, title: &str, main: &Markup) -> String {
    let full = match tab {
        Tab::Overview => "Oneiro".to_owned(),
        _ => format!("{title} · Oneiro"),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="same-origin";
                title { (bare(&full)) }
                link rel="icon" type="image/svg+xml" href=(address("icon.svg"));
                link
                    rel="preload"
                    as="font"
                    type="font/woff2"
                    crossorigin
                    href=(address("newsreader.woff2"));
                link rel="stylesheet" href=(address("page.css"));
                @if tab.has_forms() {
                    link rel="stylesheet" href=(address("memories.css"));
                }
                @if matches!(tab, Tab::Notes | Tab::Dreams) {
                    link rel="stylesheet" href=(address("notes.css"));
                }
                // Before anything is painted, so that a chosen theme does not flash.
                script src=(address("theme.js")) {}
                script type="module" src=(address("page.js")) {}
                @if tab.has_forms() {
                    script type="module" src=(address("decide.js")) {}
                }
            }
            body {
                a.skip href="#main" { "Skip to content" }
                (header(frame, tab))
                main #main tabindex="-1" {
                    @if let Some(notice) = &frame.notice {
                        p.notice role="alert" { (plain(notice)) }
                    }
                    (main)
                }
                footer.foot {
                    p {
                        "Everything on this page is also available over HTTP: "
                        a href="/openapi.json" { "openapi.json" }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn header(frame: &Frame, tab: Tab) -> Markup {
    html! {
        header.top {
            a.mark href="/" aria-label="Oneiro overview" {
                (logo())
                span { "Oneiro" }
            }
            nav aria-label="Main" {
                ul {
                    @for (one, href, name) in TABS {
                        li {
                            a href=(href) aria-current=[(one == tab).then_some("page")] { (name) }
                        }
                    }
                }
            }
            div.aside {
                @if !frame.space.is_empty() {
                    a.space href="/spaces" title="Space; choose another" {
                        bdi { (plain(&frame.space)) }
                    }
                }
                span #live.live role="status" data-state="off" {
                    span.dot {}
                    span.word { "" }
                }
                button #theme.scripted type="button" title="Theme" { "Theme" }
                @if frame.signed_in {
                    form action="/logout" method="post" {
                        button type="submit" { "Log out" }
                    }
                }
            }
        }
    }
}

/// The logo: a moon over a closed eye.
fn logo() -> Markup {
    html! {
        svg.emblem viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false" {
            path.moon d="M20.5 4.6a9.6 9.6 0 1 0 7 12.6 7.6 7.6 0 0 1-7-12.6z" {}
            path.lid d="M4 23.5c4.6 5 17.4 5 24 0" {}
        }
    }
}
