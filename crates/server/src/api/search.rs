//! Search over HTTP.

use crate::body::SMALL;
use crate::call::{Answer, Call};
use crate::decode::Fields;
use oneiro::{
    BROWSED, CONVERSATIONS, ContextScope, Discover, Error, Found, GrepRequest, Oneiro, Result,
    SEARCH_LIMIT, SEARCH_LIMIT_MAX, SearchRequest, SessionSearch, Sort, SummaryHit, Tier, WINDOW,
};
use serde_json::{Value, json};

/// Messages to each side of a hit, at most.
const NEIGHBOURS: usize = 20;

/// What kinds of things are looked for.
#[derive(Clone, Copy)]
struct Kinds {
    messages: bool,
    summaries: bool,
}

pub(super) fn search(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let kinds = kinds(&fields.texts("kinds")?)?;
    let request = SearchRequest {
        roles: fields.roles("roles")?,
        sources: fields.texts("sources")?,
        exclude_sources: fields.texts("exclude_sources")?,
        session: fields.session("session")?,
        lineage: fields.session("lineage")?,
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
    match kinds.summaries {
        false => Answer::ok(&call.oneiro()?.search(&request)?),
        true => in_summaries(call.oneiro()?, request, kinds),
    }
}

fn kinds(names: &[String]) -> Result<Kinds> {
    let mut kinds = Kinds { messages: names.is_empty(), summaries: false };
    for name in names {
        match name.as_str() {
            "message" => kinds.messages = true,
            "summary" => kinds.summaries = true,
            other => {
                return Err(Error::field("kinds", format!("{other:?} cannot be searched"))
                    .remedy("leave it out, or give \"message\", \"summary\" or both"));
            }
        }
    }
    Ok(kinds)
}

/// Summaries that have the words, then messages. Beside messages, summaries take up half of the
/// first page at most, so that `limit` holds and `next` goes on among the messages.
fn in_summaries(oneiro: &Oneiro, mut request: SearchRequest, kinds: Kinds) -> Result<Answer> {
    let room = if kinds.messages { request.limit / 2 } else { request.limit };
    let (mut summaries, mut note) = match request.cursor {
        Some(_) => (Vec::new(), None),
        None => summary_hits(oneiro, &request)?,
    };
    if summaries.len() > room {
        let more = summaries.len() - room;
        note = Some(format!("{more} more summaries have the words; a larger limit shows more"));
        summaries.truncate(room);
    }
    let mut found = match kinds.messages {
        true => {
            request.limit -= summaries.len();
            oneiro.search(&request)?
        }
        false => Found { tier: None, hits: Vec::new(), next: None, note: None },
    };
    if !summaries.is_empty() {
        found.tier = Some(Tier::Precise);
    }
    let notes: Vec<String> = found.note.take().into_iter().chain(note).collect();
    let mut answer = json!({
        "tier": found.tier,
        "hits": summaries.iter().map(|hit| json!(hit)).chain(found.hits.iter().map(|hit| json!(hit)))
            .collect::<Vec<_>>(),
        "next": found.next,
    });
    if let (false, Value::Object(fields)) = (notes.is_empty(), &mut answer) {
        fields.insert("note".to_owned(), json!(notes.join("; ")));
    }
    Answer::ok(&answer)
}

/// The summaries that have the words, as many as are answered at most. What is said of messages
/// alone cannot be asked of a summary; then none is found, and that is said.
fn summary_hits(
    oneiro: &Oneiro,
    request: &SearchRequest,
) -> Result<(Vec<SummaryHit>, Option<String>)> {
    let of_messages = [
        ("roles", !request.roles.is_empty()),
        ("sources", !request.sources.is_empty()),
        ("exclude_sources", !request.exclude_sources.is_empty()),
        ("project", request.project.is_some()),
        ("exclude_lineage", request.exclude_lineage.is_some()),
        ("one_per_lineage", request.one_per_lineage),
    ];
    if let Some((name, _)) = of_messages.iter().find(|(_, given)| *given) {
        return Ok((Vec::new(), Some(format!("summaries are not looked through by {name}"))));
    }
    let within = request.lineage.as_ref().or(request.session.as_ref());
    let found = oneiro.grep(&GrepRequest {
        pattern: request.query.clone(),
        scope: within.cloned().map_or(ContextScope::Space, ContextScope::Lineage),
        messages: false,
        summaries: true,
        roles: Vec::new(),
        since: request.since,
        until: request.until,
        limit: SEARCH_LIMIT_MAX,
    })?;
    let mut hits = found.summaries;
    if let Some(session) = &request.session {
        hits.retain(|hit| hit.session_id == *session);
    }
    match request.sort {
        Sort::Relevance => {}
        Sort::Newest => hits.sort_by_key(|hit| std::cmp::Reverse(hit.at)),
        Sort::Oldest => hits.sort_by_key(|hit| hit.at),
    }
    Ok((hits, None))
}

/// Whether the body of a session search asks for summaries, which a model writes if there is one.
/// What is refused later anyway may be taken for one that does.
pub(super) fn wants_summaries(body: &[u8]) -> bool {
    // A large body is not worth reading twice.
    body.len() > SMALL
        || Fields::read(body)
            .and_then(|mut fields| fields.bool("summarise"))
            .is_ok_and(|flag| flag == Some(true))
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
        summarise: fields.bool("summarise")?.unwrap_or(false),
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
