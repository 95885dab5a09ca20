//! The search page: the form, the results, and help with the query language. It must not know how
//! a hit looks.

use crate::figures::{counted, millis};
use crate::layout::{Frame, Tab, document};
use crate::results::{results, tier};
use crate::sessions::{choice, folded};
use crate::text::{one_line, plain};
use crate::{link, problem};
use maud::{Markup, html};
use oneiro::{Error, Found, Hit, Session, SessionId, Sort};
use std::collections::BTreeMap;

/// What was asked, as it was typed.
#[derive(Debug, Clone, Default)]
pub struct SearchForm {
    /// The query.
    pub q: String,
    /// Only messages of this role.
    pub role: String,
    /// Only in sessions of this source.
    pub source: String,
    /// Only in sessions of this project.
    pub project: String,
    /// Only what was said then or later.
    pub since: String,
    /// Only what was said before.
    pub until: String,
    /// The order.
    pub sort: Sort,
    /// Tell why each hit ranked where it did.
    pub explain: bool,
}

impl SearchForm {
    fn is_empty(&self) -> bool {
        self.q.trim().is_empty() && !self.is_filtered()
    }

    fn is_filtered(&self) -> bool {
        [&self.role, &self.source, &self.project, &self.since, &self.until]
            .iter()
            .any(|text| !text.trim().is_empty())
    }

    fn sort_name(&self) -> &'static str {
        match self.sort {
            Sort::Relevance => "",
            Sort::Newest => "newest",
            Sort::Oldest => "oldest",
        }
    }

    fn address(&self, explain: bool, cursor: &str) -> String {
        let pairs = [
            ("q", self.q.as_str()),
            ("role", &self.role),
            ("source", &self.source),
            ("project", &self.project),
            ("since", &self.since),
            ("until", &self.until),
            ("sort", self.sort_name()),
            ("explain", if explain { "1" } else { "" }),
            ("cursor", cursor),
        ];
        link::query("/search", &pairs)
    }
}

/// What came of a search.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Nothing was asked yet.
    Unasked,
    /// An answer.
    Found {
        /// What was found.
        found: Found,
        /// The sessions of the hits, for their titles.
        sessions: BTreeMap<SessionId, Session>,
        /// How long the search took.
        millis: f64,
    },
    /// The query, or a filter, cannot be taken.
    Refused(Error),
}

/// The search page.
#[derive(Debug, Clone)]
pub struct SearchView {
    /// What every page knows.
    pub frame: Frame,
    /// What was asked.
    pub form: SearchForm,
    /// Sources to choose from.
    pub sources: Vec<String>,
    /// Projects to choose from.
    pub projects: Vec<String>,
    /// What came of it.
    pub outcome: Outcome,
}

/// The whole page.
pub fn page(view: &SearchView) -> String {
    let title = match view.form.q.trim() {
        "" => "Search".to_owned(),
        q => one_line(q, 60),
    };
    document(&view.frame, Tab::Search, &title, &main(view))
}

/// The content alone.
pub fn fragment(view: &SearchView) -> String {
    main(view).into_string()
}

/// The field, on the pages that have one.
pub(crate) fn field(q: &str, autofocus: bool) -> Markup {
    html! {
        div.field {
            input
                #q
                type="search"
                name="q"
                value=(q)
                aria-label="Search what was said"
                placeholder="Search what was said"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                enterkeyhint="search"
                autofocus[autofocus];
            kbd.scripted aria-hidden="true" { "/" }
            button type="submit" { "Search" }
        }
    }
}

fn main(view: &SearchView) -> Markup {
    html! {
        div #view data-view="search" {
            h1.heard { "Search" }
            form #search action="/search" method="get" role="search" {
                (field(&view.form.q, view.form.is_empty()))
                (filters(view))
            }
            p #count.count role="status" { (count(view)) }
            (language(view.form.is_empty()))
            div #results { (outcome(view)) }
        }
    }
}

fn filters(view: &SearchView) -> Markup {
    let form = &view.form;
    let roles = ["user", "assistant", "tool", "system"].map(str::to_owned);
    let fields = html! {
        (choice("Speaker", "role", &roles, &form.role))
        (choice("Source", "source", &view.sources, &form.source))
        (choice("Project", "project", &view.projects, &form.project))
        label {
            span { "Since" }
            input
                name="since"
                value=(form.since)
                placeholder="3d, 2026-01"
                size="9"
                autocomplete="off";
        }
        label {
            span { "Until" }
            input
                name="until"
                value=(form.until)
                placeholder="2026-01-31"
                size="9"
                autocomplete="off";
        }
        label {
            span { "Order" }
            select name="sort" {
                option value="" selected[form.sort == Sort::Relevance] { "Best first" }
                option value="newest" selected[form.sort == Sort::Newest] { "Newest first" }
                option value="oldest" selected[form.sort == Sort::Oldest] { "Oldest first" }
            }
        }
        label.check {
            input type="checkbox" name="explain" value="1" checked[form.explain];
            span { "Explain" }
        }
    };
    folded(form.is_filtered(), &fields)
}

fn count(view: &SearchView) -> String {
    match &view.outcome {
        Outcome::Unasked => String::new(),
        Outcome::Refused(_) => "The query cannot be taken.".to_owned(),
        Outcome::Found { found, .. } if found.hits.is_empty() => "Nothing found.".to_owned(),
        Outcome::Found { found, millis: took, .. } => {
            let more = if found.next.is_some() { "First " } else { "" };
            let count = counted(found.hits.len() as i64, "hit");
            format!("{more}{count} in {}{}", millis(*took), how(&found.hits))
        }
    }
}

/// How strictly all of them were found, if they were found alike.
fn how(hits: &[Hit]) -> String {
    let mut tiers = hits.iter().map(|hit| hit.tier);
    match tiers.next() {
        Some(first) if tiers.all(|other| other == first) => format!(", {}", tier(first)),
        _ => String::new(),
    }
}

fn outcome(view: &SearchView) -> Markup {
    let form = &view.form;
    match &view.outcome {
        Outcome::Unasked => html! {},
        Outcome::Refused(error) => problem::inline(error),
        Outcome::Found { found, sessions, .. } => html! {
            @if let Some(note) = &found.note {
                p.notice.mild { (plain(note)) }
            }
            @if found.hits.is_empty() { (nothing(form)) }
            (results(&found.hits, sessions, view.frame.now))
            @if !form.explain && !found.hits.is_empty() {
                p.turner {
                    a href=(form.address(true, "")) { "Tell why each ranked where it did" }
                }
            }
            @if let Some(next) = &found.next {
                p.turner {
                    a href=(form.address(form.explain, &next.to_string())) { "More hits" }
                }
            }
        },
    }
}

fn nothing(form: &SearchForm) -> Markup {
    html! {
        div.empty {
            p {
                "Nothing was said that meets this"
                @if form.is_filtered() { ", with these filters" }
                "."
            }
            ul {
                li { "Fewer or other words find more: they are found in their other forms, too." }
                @if form.is_filtered() {
                    li {
                        a href=(link::query("/search", &[("q", &form.q)])) {
                            "Search without filters"
                        }
                    }
                }
                li {
                    "What was rewound is never found. "
                    a href="/sessions" { "Look through the sessions" }
                    " instead."
                }
            }
        }
    }
}

const EXAMPLES: [(&str, &str); 8] = [
    ("red apple", "both words first, then some of them"),
    ("\"red apple\"", "the phrase"),
    ("red OR green -sour", "operators, in upper case; a dash excludes"),
    ("app*", "words that begin so; *ppl* is this text anywhere"),
    ("/ap+le/i", "a regular expression"),
    ("role:user apple", "by speaker; also name:, source:, project:, session:"),
    ("since:3d apple", "by time, in UTC; also until:2026-01"),
    ("what did we say about apples?", "a question, as it is"),
];

fn language(open: bool) -> Markup {
    html! {
        details.language.beside[!open] open[open] {
            summary { "How to ask" }
            dl {
                @for (written, means) in EXAMPLES {
                    div {
                        dt {
                            a href=(link::query("/search", &[("q", written)])) {
                                code { (written) }
                            }
                        }
                        dd { (means) }
                    }
                }
            }
            p.note.scripted {
                kbd { "/" }
                " to the field, "
                kbd { "↓" }
                " "
                kbd { "↑" }
                " or "
                kbd { "j" }
                " "
                kbd { "k" }
                " through the hits, "
                kbd { "Enter" }
                " opens, "
                kbd { "Esc" }
                " clears."
            }
        }
    }
}
