//! The arguments of `session_search`: a session search of the contract, and the size of the answer.
//! It does not know how a call is answered.

use super::{NEIGHBOURS, TOKENS, TOKENS_MAX};
use crate::arguments::Given;
use oneiro::contract::Request;
use oneiro::{CONVERSATION_LIMIT, Result, SessionSearch, SessionSearchRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    #[serde(flatten)]
    search: SessionSearchRequest,
    /// Maximum tokens of the answer.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    max_tokens: usize,
}

/// Minimum tokens of an answer.
const TOKENS_MIN: usize = 200;

fn default_tokens() -> usize {
    TOKENS
}

// Contradictions are refused by `SessionSearchRequest::mode`, after the limit was corrected.
impl Request for Arguments {}

/// Arguments that only a query uses.
const QUERY_ONLY: &[&str] = &["sort", "roles", "sources", "exclude_sources", "summarise"];

/// A call of the tool.
#[derive(Debug)]
pub(super) struct SearchCall {
    pub search: SessionSearchRequest,
    /// Whether the caller set the number of messages beside a hit.
    pub has_window: bool,
    /// Maximum tokens of the answer.
    pub tokens: usize,
    /// Arguments that were corrected or ignored.
    pub notes: Vec<String>,
}

/// Reads the arguments of a call.
pub(super) fn read(given: &Map<String, Value>) -> Result<SearchCall> {
    let mut given = Given::<Arguments>::read(&with_known_order(given))?;
    let search = &mut given.request.search;
    // A list of recent sessions may be longer than a list of hits, so the schema allows more.
    let max = CONVERSATION_LIMIT.max;
    if let (Some(_), Some(limit)) = (&search.query, search.limit.filter(|limit| *limit > max)) {
        search.limit = Some(max);
        given.notes.push(format!("limit is 1 to {max}: {limit} was taken as {max}"));
    }
    let has_window = search.window.is_some();
    if search.query.is_some() {
        search.window.get_or_insert(NEIGHBOURS);
    }
    let unused = match given.request.search.mode()? {
        SessionSearch::Discover(_) => Vec::new(),
        SessionSearch::Scroll { .. } => [&["limit", "project"], QUERY_ONLY].concat(),
        SessionSearch::Read(_) => [&["limit", "project"], QUERY_ONLY, &["window"]].concat(),
        SessionSearch::Browse { .. } => [QUERY_ONLY, &["window"]].concat(),
    };
    given.note_unused(&unused);
    let Given { request, notes, .. } = given;
    Ok(SearchCall { search: request.search, has_window, tokens: request.max_tokens, notes })
}

/// The arguments, with the names that agents use for an order replaced by ours.
fn with_known_order(given: &Map<String, Value>) -> Map<String, Value> {
    let mut given = given.clone();
    if let Some(Value::String(order)) = given.get_mut("sort") {
        match order.trim().to_lowercase().as_str() {
            "best" => *order = "relevance".to_owned(),
            "recent" => *order = "newest".to_owned(),
            _ => {}
        }
    }
    given
}

/// Whether a call may have a model condense sessions. Arguments that cannot be read never reach one.
pub(super) fn wants_summaries(given: &Map<String, Value>) -> bool {
    Given::<Arguments>::read(given).is_ok_and(|given| given.request.search.summarise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::{MessageId, MessageRef, Role};
    use serde_json::json;

    fn search_call(given: Value) -> Result<SearchCall> {
        super::read(given.as_object().unwrap())
    }

    #[test]
    fn the_mode_follows_from_what_is_given() {
        let mode = |given| search_call(given).unwrap().search.mode().unwrap();
        assert!(matches!(mode(json!({"query": "tea"})), SessionSearch::Discover(_)));
        assert!(matches!(
            mode(json!({"session": "a", "around": "3"})),
            SessionSearch::Scroll { around: MessageRef::Id(MessageId(3)), window: 5, .. }
        ));
        for place in [json!({"session": "a", "around": "#3"}), json!({"around": "a#3"})] {
            let SessionSearch::Scroll { session, around, .. } = mode(place) else {
                panic!("a place is not scrolled to");
            };
            assert_eq!((session.as_str(), around.to_string().as_str()), ("a", "#3"));
        }
        assert!(matches!(mode(json!({"session": "a", "query": ""})), SessionSearch::Read(_)));
        assert!(matches!(
            mode(json!({"limit": "4", "query": null})),
            SessionSearch::Browse { limit: 4, .. }
        ));
    }

    #[test]
    fn older_names_are_accepted() {
        let scroll =
            search_call(json!({"session_id": "a", "around_message_id": 3})).unwrap().search;
        assert_eq!(scroll.session.unwrap().as_str(), "a");
        assert_eq!(scroll.around, Some(MessageId(3).into()));
        let query = json!({"query": "tea", "role_filter": "user", "current_session_id": "mine"});
        let query = search_call(query).unwrap().search;
        assert_eq!(query.roles, [Role::User]);
        assert_eq!(query.exclude_lineage.unwrap().as_str(), "mine");
        let error = search_call(json!({"session": "a", "session_id": "a"})).unwrap_err();
        assert!(error.message().contains("is given twice"), "{error:?}");
    }

    #[test]
    fn contradictions_are_refused_with_what_to_do() {
        for given in [
            json!({"query": "tea", "session": "a"}),
            json!({"query": "tea", "session": "a", "around": 3}),
            json!({"around": 3}),
            json!({"query": "tea", "around": 3}),
        ] {
            let error = search_call(given.clone()).unwrap_err();
            assert!(error.remedy_text().is_some(), "{given}");
        }
        let error = search_call(json!({"query": "tea", "sort": "best first"})).unwrap_err();
        assert!(error.message().contains("relevance, newest, oldest"), "{error:?}");
    }

    #[test]
    fn arguments_out_of_bounds_or_unused_are_noted() {
        let read = |given| search_call(given).unwrap();
        let bounded = read(json!({"query": "tea", "limit": 99, "max_tokens": 1}));
        assert_eq!((bounded.tokens, bounded.search.limit), (200, Some(10)));
        assert_eq!(bounded.notes.len(), 2, "{:?}", bounded.notes);
        let unused = read(json!({"session": "a", "limit": 3, "sort": "newest"}));
        assert_eq!(unused.notes, ["not used here: limit, sort"]);
        assert!(read(json!({"query": "tea", "limit": 3})).notes.is_empty());
        assert!(wants_summaries(json!({"query": "tea", "summarise": "yes"}).as_object().unwrap()));
    }
}
