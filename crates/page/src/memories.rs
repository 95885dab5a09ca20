//! The list of memories with its filters.

use crate::belief::{KINDS, STATUSES, rows, status_name};
use crate::layout::{Frame, Tab, document};
use crate::link;
use crate::problem;
use crate::sessions::{choice, filter_fold};
use maud::{Markup, html};
use oneiro::{Error, Memory, Page};

/// The value of the status filter for memories that a contradiction suspends.
pub const CONTRADICTED: &str = "contradicted";

/// The filters of the list, as typed.
#[derive(Debug, Clone, Default)]
pub struct MemoriesForm {
    /// Only statements with all these words.
    pub text: String,
    /// Only this status, or [`CONTRADICTED`].
    pub status: String,
    /// Only this kind.
    pub kind: String,
    /// Only this project.
    pub project: String,
    /// Only this subject.
    pub subject: String,
    /// Only with this tag.
    pub tag: String,
}

impl MemoriesForm {
    fn pairs(&self) -> [(&'static str, &str); 6] {
        [
            ("text", &self.text),
            ("status", &self.status),
            ("kind", &self.kind),
            ("project", &self.project),
            ("subject", &self.subject),
            ("tag", &self.tag),
        ]
    }

    /// Whether a filter is set.
    pub(crate) fn is_filtered(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }

    /// The address of a page with these filters.
    pub(crate) fn address(&self, path: &str, cursor: &str) -> String {
        let mut pairs = self.pairs().to_vec();
        pairs.push(("cursor", cursor));
        link::query(path, &pairs)
    }

    /// The same filters without the status, for the review.
    pub(crate) fn without_status(&self) -> MemoriesForm {
        MemoriesForm { status: String::new(), ..self.clone() }
    }
}

/// The found memories, or why the filters cannot be used.
#[derive(Debug, Clone)]
pub enum Listed {
    /// A page of memories, newest first.
    Found(Page<Memory>),
    /// A filter is invalid.
    Refused(Error),
}

/// A page of the list.
#[derive(Debug, Clone)]
pub struct MemoriesView {
    /// The frame of the page.
    pub frame: Frame,
    /// The filters.
    pub form: MemoriesForm,
    /// Projects to choose from.
    pub projects: Vec<String>,
    /// The memories.
    pub listed: Listed,
}

/// The whole page.
pub fn page(view: &MemoriesView) -> String {
    document(&view.frame, Tab::Memories, "Memories", &main(view))
}

/// The content of `<main>`.
pub fn fragment(view: &MemoriesView) -> String {
    main(view).into_string()
}

fn main(view: &MemoriesView) -> Markup {
    html! {
        div #view data-view="memories" {
            h1 { "Memories" }
            (filters(view))
            div #list data-refresh {
                @match &view.listed {
                    Listed::Refused(error) => (problem::inline(error)),
                    Listed::Found(found) => (found_list(view, found)),
                }
            }
        }
    }
}

fn found_list(view: &MemoriesView, found: &Page<Memory>) -> Markup {
    let form = &view.form;
    let is_queue = form.status == oneiro::MemoryStatus::Candidate.as_str();
    html! {
        @if found.items.is_empty() {
            div.empty {
                @if form.is_filtered() {
                    p { "No memories match these filters." }
                    p {
                        a href="/memories" { "Show all memories" }
                    }
                } @else { (nothing_yet()) }
            }
        } @else {
            @if is_queue {
                p.pager {
                    a href=(form.without_status().address("/review", "")) { "Review these" }
                }
            }
            (rows(&found.items, &view.frame))
        }
        @if let Some(next) = &found.next {
            p.pager {
                a href=(form.address("/memories", &next.to_string())) { "Older memories" }
            }
        }
    }
}

/// What to do in a space without memories.
fn nothing_yet() -> Markup {
    html! {
        p { "Nothing is remembered yet." }
        ul {
            li {
                code { "oneiro remember \"I run in the evening\"" }
                " stores a statement of your own."
            }
            li { "What agents propose waits for you under " a href="/review" { "Review" } "." }
        }
    }
}

fn filters(view: &MemoriesView) -> Markup {
    let form = &view.form;
    let contradicted = form.status == CONTRADICTED;
    let kinds = KINDS.map(|kind| kind.as_str().to_owned());
    let fields = html! {
        label.grow {
            span { "Words" }
            input type="search" name="text" value=(form.text) autocomplete="off";
        }
        label {
            span { "Status" }
            select name="status" {
                option value="" { "any" }
                @for status in STATUSES {
                    option value=(status.as_str()) selected[form.status == status.as_str()] {
                        (status_name(status))
                    }
                }
                option value=(CONTRADICTED) selected[contradicted] { "contradicted" }
            }
        }
        (choice("Kind", "kind", &kinds, &form.kind))
        (choice("Project", "project", &view.projects, &form.project))
        label {
            span { "Subject" }
            input type="text" name="subject" value=(form.subject) size="12" autocomplete="off";
        }
        label {
            span { "Tag" }
            input type="text" name="tag" value=(form.tag) size="10" autocomplete="off";
        }
        button type="submit" { "Filter" }
    };
    html! {
        form
            action="/memories"
            method="get"
            role="search"
            aria-label="Filter memories"
            data-submit
        { (filter_fold(form.is_filtered(), &fields)) }
    }
}
