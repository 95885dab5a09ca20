//! Errors as a page: what happened, and what to do. It must not know HTTP; the status comes from
//! the table of kinds.

use crate::LocalPath;
use crate::layout::{Frame, Tab, document};
use crate::markdown;
use crate::text::plain;
use maud::{Markup, html};
use oneiro::{Error, ErrorKind, Surface};

/// An error to show.
#[derive(Debug, Clone)]
pub struct ProblemView {
    /// The frame of the page.
    pub frame: Frame,
    /// The error.
    pub error: Error,
    /// The page that it happened on, to return to.
    pub back: Option<LocalPath>,
}

/// The whole page.
pub fn page(view: &ProblemView) -> String {
    document(&view.frame, Tab::None, heading(view.error.kind()), &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &ProblemView) -> String {
    main(view).into_string()
}

fn main(view: &ProblemView) -> Markup {
    let kind = view.error.kind();
    html! {
        div #view.problem data-view="problem" {
            h1 { (heading(kind)) }
            (inline(&view.error))
            @if let Some(back) = &view.back {
                p {
                    a href=(back.as_str()) { "Back" }
                }
            }
            p {
                @match kind {
                    ErrorKind::Unauthorized | ErrorKind::Forbidden => a href="/login" {
                        "Log in with another token"
                    },
                    _ => {
                        a href="/search" { "Search" }
                        " or "
                        a href="/sessions" { "browse the sessions" }
                    }
                }
            }
            p.note {
                "Error kind "
                code { (kind.name()) }
                ", HTTP status "
                (kind.row().http)
            }
        }
    }
}

/// The error inside another view.
pub(crate) fn inline(error: &Error) -> Markup {
    html! {
        div.notice {
            p { (plain(error.message())) }
            @if let Some(remedy) = error.remedy_for(Surface::Http) {
                div.remedy { (markdown::set(&remedy)) }
            }
        }
    }
}

fn heading(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "Not found",
        ErrorKind::Unauthorized => "Login required",
        ErrorKind::Forbidden => "Not allowed",
        ErrorKind::Invalid => "Invalid request",
        ErrorKind::Conflict => "Not possible any more",
        ErrorKind::TooLarge => "Too large",
        ErrorKind::Busy | ErrorKind::RateLimited => "Busy: try again in a moment",
        ErrorKind::Unavailable => "The store is unavailable",
        ErrorKind::NewerSchema => "The store is newer than this program",
        ErrorKind::Corrupt => "The store is damaged",
        _ => "Something went wrong",
    }
}
