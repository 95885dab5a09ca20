//! The search page.

use super::look::Look;
use oneiro::contract::{Form, Reading, decode};
use oneiro::{Result, SearchRequest, Sort};
use oneiro_page::search::{Outcome, SearchForm, SearchView};
use serde_json::{Value, json};
use std::time::Instant;

/// Hits to a page.
const HITS: usize = 20;

/// Messages to each side of a hit.
const NEIGHBOURS: usize = 2;

pub(super) fn search(look: &Look) -> Result<String> {
    let form = SearchForm {
        q: look.text("q").to_owned(),
        role: look.text("role").to_owned(),
        source: look.text("source").to_owned(),
        project: look.text("project").to_owned(),
        since: look.text("since").to_owned(),
        until: look.text("until").to_owned(),
        sort: match look.text("sort") {
            "newest" => Sort::Newest,
            "oldest" => Sort::Oldest,
            _ => Sort::Relevance,
        },
        explain: look.is_on("explain"),
    };
    let (sources, projects) = look.groups()?;
    let outcome = outcome(look, &form);
    let view = SearchView { frame: look.frame.clone(), form, sources, projects, outcome };
    Ok(look.draw(&view, oneiro_page::search::page, oneiro_page::search::fragment))
}

fn outcome(look: &Look, form: &SearchForm) -> Outcome {
    match asked(look, form) {
        Ok(Some(outcome)) => outcome,
        Ok(None) => Outcome::Unasked,
        Err(error) => Outcome::Refused(error),
    }
}

fn asked(look: &Look, form: &SearchForm) -> Result<Option<Outcome>> {
    let one = |name: &str| look.given(name).into_iter().collect::<Vec<_>>();
    let fields = json!({
        "query": form.q,
        "roles": one("role"),
        "sources": one("source"),
        "project": look.given("project"),
        "since": look.given("since"),
        "until": look.given("until"),
        "sort": form.sort,
        "limit": HITS,
        "cursor": look.given("cursor"),
        "neighbours": NEIGHBOURS,
        "explain": form.explain,
    });
    let reading = Reading { form: Form::CommandLine, now: look.oneiro()?.now() };
    let Value::Object(fields) = fields else { return Ok(None) };
    let request = decode::<SearchRequest>(fields, reading)?.request;
    let request = SearchRequest { typing: true, ..request };
    let is_asked = !request.query.trim().is_empty()
        || request.since.is_some()
        || request.until.is_some()
        || !request.roles.is_empty()
        || !request.sources.is_empty()
        || request.project.is_some();
    if !is_asked {
        return Ok(None);
    }
    let oneiro = look.oneiro()?;
    let started = Instant::now();
    let found = oneiro.search().run(&request)?;
    let millis = started.elapsed().as_secs_f64() * 1_000.0;
    let sessions = oneiro.search().sessions_of(&found)?;
    Ok(Some(Outcome::Found { found, sessions, millis }))
}
