//! The search page.

use super::look::Look;
use oneiro::{Error, Found, Result, Role, SearchRequest, Session, Sort, Tier};
use oneiro_page::search::{Outcome, SearchForm, SearchView};
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
    let mut query = form.q.clone();
    for (name, typed) in [("since", &form.since), ("until", &form.until)] {
        if !typed.is_empty() {
            query.push_str(&filter(name, typed)?);
        }
    }
    let request = SearchRequest {
        roles: look.given("role").as_deref().map(Role::parse).transpose()?.into_iter().collect(),
        sources: look.given("source").into_iter().collect(),
        project: look.given("project"),
        sort: form.sort,
        limit: HITS,
        cursor: look.cursor()?,
        neighbours: NEIGHBOURS,
        explain: form.explain,
        ..SearchRequest::new(query)
    };
    let is_asked = !request.query.trim().is_empty()
        || !request.roles.is_empty()
        || !request.sources.is_empty()
        || request.project.is_some();
    if !is_asked {
        return Ok(None);
    }
    let oneiro = look.oneiro()?;
    let started = Instant::now();
    let mut found = oneiro.search(&request)?;
    // Whoever is still typing has begun the last word: it may be the beginning of one.
    if found.tier.is_none_or(|tier| tier == Tier::Semantic)
        && request.cursor.is_none()
        && let Some(begun) = begun(&form.q)
    {
        let query = request.query.replacen(&form.q, &begun, 1);
        let longer = oneiro.search(&SearchRequest { query, ..request })?;
        if !longer.hits.is_empty() {
            found = longer;
        }
    }
    let millis = started.elapsed().as_secs_f64() * 1_000.0;
    let sessions = sessions_of(look, &found)?;
    Ok(Some(Outcome::Found { found, sessions, millis }))
}

/// The query with its last word as the beginning of one, if it is a plain word.
fn begun(query: &str) -> Option<String> {
    let last = query.split_whitespace().next_back()?;
    let is_word = last.chars().count() >= 2 && last.chars().all(char::is_alphanumeric);
    (is_word && query.ends_with(last)).then(|| format!("{query}*"))
}

/// A time as the query language writes it.
fn filter(name: &'static str, typed: &str) -> Result<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-:.+".contains(letter);
    match typed.chars().all(is_plain) {
        true => Ok(format!(" {name}:{typed}")),
        false => Err(Error::field(name, format!("{typed:?} is not a time"))
            .remedy("write 3d, 2026-01 or 2026-01-31")),
    }
}

/// The sessions of the hits, each once.
fn sessions_of(look: &Look, found: &Found) -> Result<Vec<Session>> {
    let mut sessions: Vec<Session> = Vec::new();
    for hit in &found.hits {
        if sessions.iter().all(|session| session.id != hit.session_id) {
            sessions.extend(look.oneiro()?.find_session(&hit.session_id)?);
        }
    }
    Ok(sessions)
}
