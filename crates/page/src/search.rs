//! The search page: the form, the results, and help with the query language. It must not know how
//! a hit looks.

use crate::layout::{Frame, Tab, document};
use crate::numbers::{counted, millis};
use crate::results::{results, tier};
use crate::sessions::{choice, filter_fold};
use crate::text::{one_line, plain};
use crate::{link, problem};
use maud::{Markup, html};
use oneiro::{Confidence, Error, Found, Hit, Session, SessionId, Sort};
use std::collections::BTreeMap;

/// The search form, as typed.
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
    /// Only messages from this time on.
    pub since: String,
    /// Only messages before this time.
    pub until: String,
    /// The order.
    pub sort: Sort,
    /// Explain the rank of each hit.
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

/// The outcome of a search.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The form is empty.
    Empty,
    /// An answer.
    Found {
        /// What was found.
        found: Box<Found>,
        /// The sessions of the hits, for their titles.
        sessions: BTreeMap<SessionId, Session>,
        /// How long the search took.
        millis: f64,
    },
    /// The query or a filter is invalid.
    Refused(Error),
}

/// The search page.
#[derive(Debug, Clone)]
pub struct SearchView {
    /// The frame of the page.
    pub frame: Frame,
    /// The form.
    pub form: SearchForm,
    /// Sources to choose from.
    pub sources: Vec<String>,
    /// Projects to choose from.
    pub projects: Vec<String>,
    /// The outcome.
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

/// The content of `<main>`.
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
                aria-label="Search messages"
                placeholder="Search messages"
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
            h1.visually-hidden { "Search" }
            form #search action="/search" method="get" role="search" {
                (field(&view.form.q, view.form.is_empty()))
                (filters(view))
            }
            p #count.count role="status" { (count_line(view)) }
            (query_syntax(view.form.is_empty()))
            div #results { (outcome(view)) }
        }
    }
}

fn filters(view: &SearchView) -> Markup {
    let form = &view.form;
    let roles = ["user", "assistant", "tool", "system"].map(str::to_owned);
    let fields = html! {
        (choice("Role", "role", &roles, &form.role))
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
            span { "Sort by" }
            select name="sort" {
                option value="" selected[form.sort == Sort::Relevance] { "Relevance" }
                option value="newest" selected[form.sort == Sort::Newest] { "Newest first" }
                option value="oldest" selected[form.sort == Sort::Oldest] { "Oldest first" }
            }
        }
        label.check {
            input type="checkbox" name="explain" value="1" checked[form.explain];
            span { "Explain ranking" }
        }
    };
    filter_fold(form.is_filtered(), &fields)
}

fn count_line(view: &SearchView) -> String {
    match &view.outcome {
        Outcome::Empty => String::new(),
        Outcome::Refused(_) => "Invalid query.".to_owned(),
        Outcome::Found { found, .. } if found.hits.is_empty() => "Nothing found.".to_owned(),
        Outcome::Found { found, millis: took, .. } => {
            let more = if found.next.is_some() { "First " } else { "" };
            let count = counted(found.hits.len() as i64, "hit");
            let sure = match found.found {
                Confidence::Strong => "",
                Confidence::Weak => ", may not answer",
                Confidence::None => ", probably no answer",
            };
            format!("{more}{count} in {}{}{sure}", millis(*took), common_tier(&found.hits))
        }
    }
}

/// How strictly the hits were found, if all alike.
fn common_tier(hits: &[Hit]) -> String {
    let mut tiers = hits.iter().map(|hit| hit.tier);
    match tiers.next() {
        Some(first) if tiers.all(|other| other == first) => format!(", {}", tier(first)),
        _ => String::new(),
    }
}

fn outcome(view: &SearchView) -> Markup {
    let form = &view.form;
    match &view.outcome {
        Outcome::Empty => html! {},
        Outcome::Refused(error) => problem::inline(error),
        Outcome::Found { found, sessions, .. } => html! {
            @if let Some(note) = &found.note {
                p.notice.mild { (plain(note)) }
            }
            @if found.hits.is_empty() { (no_results(form)) }
            (results(&found.hits, sessions, view.frame.now))
            @if !form.explain && !found.hits.is_empty() {
                p.pager {
                    a href=(form.address(true, "")) { "Explain the ranking" }
                }
            }
            @if let Some(next) = &found.next {
                p.pager {
                    a href=(form.address(form.explain, &next.to_string())) { "More hits" }
                }
            }
        },
    }
}

fn no_results(form: &SearchForm) -> Markup {
    html! {
        div.empty {
            p {
                "No message matches this query"
                @if form.is_filtered() { " with these filters" }
                "."
            }
            ul {
                li { "Try fewer or other words; other forms of a word are found too." }
                @if form.is_filtered() {
                    li {
                        a href=(link::query("/search", &[("q", &form.q)])) {
                            "Search without filters"
                        }
                    }
                }
                li {
                    "Rewound messages are never found. "
                    a href="/sessions" { "Browse the sessions" }
                    " instead."
                }
            }
        }
    }
}

const EXAMPLES: [(&str, &str); 8] = [
    ("red apple", "messages with all words first, then with some of them"),
    ("\"red apple\"", "exact phrase"),
    ("red OR green -sour", "operators in upper case; a dash excludes a word"),
    ("app*", "words that begin with app; *ppl* finds text anywhere"),
    ("/ap+le/i", "regular expression"),
    ("role:user apple", "by role; also name:, source:, project:, session:"),
    ("since:3d apple", "by time in UTC; also until:2026-01"),
    ("what did we say about apples?", "a question in plain words"),
];

fn query_syntax(open: bool) -> Markup {
    html! {
        details.language.beside[!open] open[open] {
            summary { "Query syntax" }
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
                " focuses the field, "
                kbd { "↓" }
                " "
                kbd { "↑" }
                " or "
                kbd { "j" }
                " "
                kbd { "k" }
                " move through the hits, "
                kbd { "Enter" }
                " opens, "
                kbd { "Esc" }
                " clears."
            }
        }
    }
}
