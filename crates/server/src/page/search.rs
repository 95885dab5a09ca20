//! The search page.

use super::view_request::ViewRequest;
use oneiro::contract::{Form, Reading, decode};
use oneiro::{Result, SearchRequest, Sort};
use oneiro_page::search::{Outcome, SearchForm, SearchView};
use serde_json::{Value, json};
use std::time::Instant;

/// Hits per page.
const HITS: usize = 20;

/// Messages before and after a hit.
const NEIGHBOURS: usize = 2;

pub(super) fn search(request: &ViewRequest) -> Result<String> {
    let form = SearchForm {
        q: request.text("q").to_owned(),
        role: request.text("role").to_owned(),
        source: request.text("source").to_owned(),
        project: request.text("project").to_owned(),
        since: request.text("since").to_owned(),
        until: request.text("until").to_owned(),
        sort: match request.text("sort") {
            "newest" => Sort::Newest,
            "oldest" => Sort::Oldest,
            _ => Sort::Relevance,
        },
        explain: request.is_on("explain"),
    };
    let (sources, projects) = request.groups()?;
    let outcome = run(request, &form).unwrap_or_else(Outcome::Refused);
    let view = SearchView { frame: request.frame.clone(), form, sources, projects, outcome };
    Ok(request.render(&view, oneiro_page::search::page, oneiro_page::search::fragment))
}

fn run(request: &ViewRequest, form: &SearchForm) -> Result<Outcome> {
    let one = |name: &str| request.param(name).into_iter().collect::<Vec<_>>();
    let fields = json!({
        "query": form.q,
        "roles": one("role"),
        "sources": one("source"),
        "project": request.param("project"),
        "since": request.param("since"),
        "until": request.param("until"),
        "sort": form.sort,
        "limit": HITS,
        "cursor": request.param("cursor"),
        "neighbours": NEIGHBOURS,
        "explain": form.explain,
    });
    let reading = Reading { form: Form::CommandLine, now: request.oneiro()?.now() };
    let Value::Object(fields) = fields else { return Ok(Outcome::Empty) };
    let search = decode::<SearchRequest>(fields, reading)?.request;
    let search = SearchRequest { typing: true, ..search };
    let is_empty = search.query.trim().is_empty()
        && search.since.is_none()
        && search.until.is_none()
        && search.roles.is_empty()
        && search.sources.is_empty()
        && search.project.is_none();
    if is_empty {
        return Ok(Outcome::Empty);
    }
    let oneiro = request.oneiro()?;
    let started = Instant::now();
    let found = oneiro.search().run(&search)?;
    let millis = started.elapsed().as_secs_f64() * 1_000.0;
    let sessions = oneiro.search().sessions_of(&found)?;
    Ok(Outcome::Found { found: Box::new(found), sessions, millis })
}
