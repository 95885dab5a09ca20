//! Search: messages, and sessions as conversations.

use crate::decode::Fields;
use crate::encode;
use crate::handle::{Handle, decoded};
use oneiro::{
    BROWSED, CONVERSATIONS, Cursor, Discover, Error, Result, Role, SEARCH_LIMIT, SearchRequest,
    SessionSearch, Sort, WINDOW,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn sort(fields: &mut Fields) -> Result<Sort> {
    match fields.text("sort")?.as_deref() {
        None | Some("relevance") => Ok(Sort::Relevance),
        Some("newest") => Ok(Sort::Newest),
        Some("oldest") => Ok(Sort::Oldest),
        Some(other) => {
            Err(Error::field("sort", format!("{other:?} is not relevance, newest or oldest")))
        }
    }
}

fn roles(fields: &mut Fields) -> Result<Vec<Role>> {
    fields.texts("roles")?.iter().map(|role| Role::parse(role)).collect()
}

fn request(fields: &mut Fields) -> Result<SearchRequest> {
    Ok(SearchRequest {
        roles: roles(fields)?,
        sources: fields.texts("sources")?,
        exclude_sources: fields.texts("exclude_sources")?,
        session: fields.session("session")?,
        lineage: fields.session("lineage")?,
        project: fields.text("project")?,
        since: fields.time("since")?,
        until: fields.time("until")?,
        exclude_lineage: fields.session("exclude_lineage")?,
        one_per_lineage: fields.truth("one_per_lineage")?.unwrap_or(false),
        demote_sources: fields.texts("demote_sources")?,
        sort: sort(fields)?,
        limit: fields.count("limit")?.unwrap_or(SEARCH_LIMIT),
        cursor: fields.text("cursor")?.as_deref().map(Cursor::parse).transpose()?,
        neighbours: fields.count("neighbours")?.unwrap_or(0),
        explain: fields.truth("explain")?.unwrap_or(false),
        exact: fields.truth("exact")?.unwrap_or(false),
        ..SearchRequest::new(fields.text("query")?.unwrap_or_default())
    })
}

fn conversations(fields: &mut Fields) -> Result<SessionSearch> {
    let (query, session) = (fields.text("query")?, fields.session("session")?);
    let (around, window) = (fields.message_id("around")?, fields.count("window")?);
    let (limit, exclude_lineage) = (fields.count("limit")?, fields.session("exclude_lineage")?);
    let discover = Discover {
        limit: limit.unwrap_or(CONVERSATIONS.0),
        sort: sort(fields)?,
        roles: roles(fields)?,
        sources: fields.texts("sources")?,
        exclude_sources: fields.texts("exclude_sources")?,
        exclude_lineage: exclude_lineage.clone(),
        window: window.unwrap_or(WINDOW.0),
        summarise: fields.truth("summarise")?.unwrap_or(false),
        ..Discover::new(query.clone().unwrap_or_default())
    };
    Ok(match (query, session, around) {
        (None, Some(session), Some(around)) => {
            SessionSearch::Scroll { session, around, window: window.unwrap_or(WINDOW.0) }
        }
        (None, Some(session), None) => SessionSearch::Read(session),
        (Some(_), None, None) => SessionSearch::Discover(discover),
        (None, None, None) => {
            SessionSearch::Browse { limit: limit.unwrap_or(BROWSED.0), exclude_lineage }
        }
        _ => {
            return Err(Error::field("query", "goes with neither session nor around")
                .remedy("give a query, a session, a session and a message, or nothing"));
        }
    })
}

#[pymethods]
impl Handle {
    fn search<'py>(
        &self,
        py: Python<'py>,
        fields: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decoded(fields, request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.search(&request))?)
    }

    fn search_sessions<'py>(
        &self,
        py: Python<'py>,
        fields: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decoded(fields, conversations)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.search_sessions(request))?)
    }
}
