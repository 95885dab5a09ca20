//! Search over HTTP.

use crate::call::{Answer, Call};
use oneiro::{
    BROWSED, CONVERSATIONS, Discover, Error, Result, SEARCH_LIMIT, SEARCH_LIMIT_MAX, SearchRequest,
    SessionSearch, WINDOW,
};

/// Messages to each side of a hit, at most.
const NEIGHBOURS: usize = 20;

pub(super) fn search(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let kinds = fields.texts("kinds")?;
    if let Some(other) = kinds.iter().find(|kind| *kind != "message") {
        return Err(Error::field("kinds", format!("{other:?} cannot be searched"))
            .remedy("leave it out, or give [\"message\"]"));
    }
    let request = SearchRequest {
        roles: fields.roles("roles")?,
        sources: fields.texts("sources")?,
        exclude_sources: fields.texts("exclude_sources")?,
        session: fields.session("session")?,
        project: fields.text("project")?,
        since: fields.time("since")?,
        until: fields.time("until")?,
        exclude_lineage: fields.session("exclude_lineage")?,
        one_per_lineage: fields.bool("one_per_lineage")?.unwrap_or(false),
        sort: fields.sort()?,
        limit: fields.count("limit", (1, SEARCH_LIMIT_MAX), SEARCH_LIMIT)?,
        cursor: fields.cursor()?,
        neighbours: fields.count("neighbours", (0, NEIGHBOURS), 0)?,
        explain: fields.bool("explain")?.unwrap_or(false),
        ..SearchRequest::new(fields.needed_text("query")?)
    };
    fields.end()?;
    Answer::ok(&call.oneiro()?.search(&request)?)
}

pub(super) fn sessions(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let query = fields.text("query")?;
    let session = fields.session("session")?;
    let around = fields.message("around")?;
    let window = fields.count("window", (1, WINDOW.1), WINDOW.0)?;
    let exclude_lineage = fields.session("current")?;
    let most = if query.is_some() { CONVERSATIONS } else { BROWSED };
    let limit = fields.count("limit", (1, most.1), most.0)?;
    let discover = Discover {
        limit,
        sort: fields.sort()?,
        roles: fields.roles("roles")?,
        sources: fields.texts("sources")?,
        exclude_sources: fields.texts("exclude_sources")?,
        exclude_lineage: exclude_lineage.clone(),
        window,
        ..Discover::new(query.clone().unwrap_or_default())
    };
    fields.end()?;
    let request = match (query, session, around) {
        (Some(_), None, None) => SessionSearch::Discover(discover),
        (None, Some(session), Some(around)) => SessionSearch::Scroll { session, around, window },
        (None, Some(session), None) => SessionSearch::Read(session),
        (None, None, None) => SessionSearch::Browse { limit, exclude_lineage },
        _ => {
            return Err(Error::field("query", "goes with neither `session` nor `around`").remedy(
                "give a query, or a session with or without a message around which to look, or \
                 nothing at all",
            ));
        }
    };
    Answer::ok(&call.oneiro()?.search_sessions(request)?)
}
