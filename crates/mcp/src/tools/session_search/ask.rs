//! What a call of `session_search` asks for: a session search of the contract, and the size of the
//! answer. It must not know how it is answered.

use super::{TOKENS, TOKENS_MAX};
use crate::arguments::Given;
use oneiro::contract::Request;
use oneiro::{CONVERSATIONS, Result, SessionSearch, SessionSearchRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    #[serde(flatten)]
    search: SessionSearchRequest,
    /// Tokens that each part of the answer may cost.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    max_tokens: usize,
}

/// The least tokens of an answer.
const TOKENS_MIN: usize = 200;

fn default_tokens() -> usize {
    TOKENS
}

// What contradicts itself is refused with the mode, once the limit fits it.
impl Request for Arguments {}

/// What narrows a query and nothing else.
const OF_A_QUERY: &[&str] = &["sort", "roles", "sources", "exclude_sources", "summarise"];

/// What was asked for.
#[derive(Debug)]
pub(super) struct Asked {
    /// The request.
    pub search: SessionSearchRequest,
    /// Tokens that each part of the answer may cost.
    pub tokens: usize,
    /// What of the arguments was not taken as given.
    pub notes: Vec<String>,
}

/// Reads the arguments of a call.
pub(super) fn read(given: &Map<String, Value>) -> Result<Asked> {
    let mut given = Given::<Arguments>::read(&with_known_order(given))?;
    let search = &mut given.request.search;
    // Browsing shows more sessions than a query does, so that the bounds of the argument are wider.
    let most = CONVERSATIONS.1;
    if let (Some(_), Some(limit)) = (&search.query, search.limit.filter(|limit| *limit > most)) {
        search.limit = Some(most);
        given.notes.push(format!("limit is 1 to {most}: {limit} was taken as {most}"));
    }
    let unused = match given.request.search.mode()? {
        SessionSearch::Discover(_) => Vec::new(),
        SessionSearch::Scroll { .. } => [&["limit"], OF_A_QUERY].concat(),
        SessionSearch::Read(_) => [&["limit"], OF_A_QUERY, &["window"]].concat(),
        SessionSearch::Browse { .. } => [OF_A_QUERY, &["window"]].concat(),
    };
    given.note_unused(&unused);
    let Given { request, notes, .. } = given;
    Ok(Asked { search: request.search, tokens: request.max_tokens, notes })
}

/// The arguments, with the words that agents use for an order in place of ours.
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

/// Whether sessions are to be condensed, by a model if there is one. What cannot be read is refused
/// before anything is done.
pub(super) fn wants_summaries(given: &Map<String, Value>) -> bool {
    Given::<Arguments>::read(given).is_ok_and(|given| given.request.search.summarise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::{MessageId, MessageRef, Role};
    use serde_json::json;

    fn asked(given: Value) -> Result<Asked> {
        read(given.as_object().unwrap())
    }

    #[test]
    fn the_mode_follows_from_what_is_given() {
        let mode = |given| asked(given).unwrap().search.mode().unwrap();
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
        let scroll = asked(json!({"session_id": "a", "around_message_id": 3})).unwrap().search;
        assert_eq!(scroll.session.unwrap().as_str(), "a");
        assert_eq!(scroll.around, Some(MessageId(3).into()));
        let query = json!({"query": "tea", "role_filter": "user", "current_session_id": "mine"});
        let query = asked(query).unwrap().search;
        assert_eq!(query.roles, [Role::User]);
        assert_eq!(query.exclude_lineage.unwrap().as_str(), "mine");
        let error = asked(json!({"session": "a", "session_id": "a"})).unwrap_err();
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
            let error = asked(given.clone()).unwrap_err();
            assert!(error.remedy_text().is_some(), "{given}");
        }
        let error = asked(json!({"query": "tea", "sort": "best first"})).unwrap_err();
        assert!(error.message().contains("relevance, newest, oldest"), "{error:?}");
    }

    #[test]
    fn what_is_out_of_bounds_or_of_no_use_is_said() {
        let asked = |given| asked(given).unwrap();
        let bounded = asked(json!({"query": "tea", "limit": 99, "max_tokens": 1}));
        assert_eq!((bounded.tokens, bounded.search.limit), (200, Some(10)));
        assert_eq!(bounded.notes.len(), 2, "{:?}", bounded.notes);
        let read = asked(json!({"session": "a", "limit": 3, "sort": "newest"}));
        assert_eq!(read.notes, ["not used here: limit, sort"]);
        assert!(asked(json!({"query": "tea", "limit": 3})).notes.is_empty());
        assert!(wants_summaries(json!({"query": "tea", "summarise": "yes"}).as_object().unwrap()));
    }
}
