//! What a call of `session_search` asks for: the mode follows from what is given. It must not know
//! how it is answered.

use super::TOKENS;
use crate::arguments::Arguments;
use oneiro::{
    BROWSED, CONVERSATIONS, Discover, Error, MessageId, Result, Role, SessionId, SessionSearch,
    Sort, WINDOW,
};
use serde_json::{Map, Value};

/// What narrows a query and nothing else; `limit` also bounds browsing.
const OF_A_QUERY: [&str; 6] =
    ["limit", "sort", "role_filter", "sources", "exclude_sources", "summarise"];

/// What was asked for.
pub(super) struct Asked {
    /// The request.
    pub search: SessionSearch,
    /// Tokens that each part of the answer may cost.
    pub tokens: usize,
    /// What of the arguments was not taken as given.
    pub notes: Vec<String>,
}

/// Reads the arguments of a call.
pub(super) fn read(given: &Map<String, Value>, schema: &Value) -> Result<Asked> {
    let given = Arguments::read(given, schema)?;
    let mut notes = Vec::new();
    let query = given.text("query")?;
    let session = given.text("session_id")?.map(SessionId::new).transpose()?;
    let around = given.number("around_message_id")?.map(MessageId);
    let current = given.text("current_session_id")?.map(SessionId::new).transpose()?;
    let (least, most) = (TOKENS.1, TOKENS.2);
    let tokens = given.bounded("max_tokens", (TOKENS.0, least, most), &mut notes)?;
    let search = match (query, session, around) {
        (Some(_), Some(_), _) => {
            return Err(Error::invalid("query and session_id ask for different things").remedy(
                "to search inside that session, leave session_id out and add session:ID to the \
                 query; to read it, leave query out",
            ));
        }
        (_, None, Some(around)) => {
            return Err(Error::field("around_message_id", "needs the session it is in").remedy(
                format!("give session_id as the hit #{around} named it, and leave query out"),
            ));
        }
        (Some(query), None, None) => {
            let limit = (CONVERSATIONS.0, 1, CONVERSATIONS.1);
            let roles = given.list("role_filter")?;
            SessionSearch::Discover(Discover {
                limit: given.bounded("limit", limit, &mut notes)?,
                sort: sort(&given)?,
                roles: roles.iter().map(|role| Role::parse(role)).collect::<Result<_>>()?,
                sources: given.list("sources")?,
                exclude_sources: given.list("exclude_sources")?,
                exclude_lineage: current,
                summarise: given.flag("summarise")?,
                window: given.bounded("window", (WINDOW.0, 1, WINDOW.1), &mut notes)?,
                ..Discover::new(query)
            })
        }
        (None, Some(session), Some(around)) => {
            given.unused(&OF_A_QUERY, &mut notes);
            let window = given.bounded("window", (WINDOW.0, 1, WINDOW.1), &mut notes)?;
            SessionSearch::Scroll { session, around, window }
        }
        (None, Some(session), None) => {
            given.unused(&OF_A_QUERY, &mut notes);
            given.unused(&["window"], &mut notes);
            SessionSearch::Read(session)
        }
        (None, None, None) => {
            given.unused(OF_A_QUERY.get(1..).unwrap_or_default(), &mut notes);
            given.unused(&["window"], &mut notes);
            let limit = given.bounded("limit", (BROWSED.0, 1, BROWSED.1), &mut notes)?;
            SessionSearch::Browse { limit, exclude_lineage: current }
        }
    };
    Ok(Asked { search, tokens, notes })
}

/// Whether sessions are to be condensed, by a model if there is one. What cannot be read as a flag is
/// refused before anything is done.
pub(super) fn wants_summaries(given: &Map<String, Value>) -> bool {
    Arguments::of(given).flag("summarise").unwrap_or(false)
}

fn sort(given: &Arguments<'_>) -> Result<Sort> {
    let Some(sort) = given.text("sort")? else { return Ok(Sort::Relevance) };
    Ok(match sort.to_lowercase().as_str() {
        "relevance" | "best" => Sort::Relevance,
        "newest" | "recent" => Sort::Newest,
        "oldest" => Sort::Oldest,
        _ => {
            return Err(Error::field("sort", format!("{sort:?} is not an order"))
                .remedy("give relevance, newest or oldest"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(given: Value) -> Result<Asked> {
        read(given.as_object().unwrap(), &super::super::input())
    }

    #[test]
    fn the_mode_follows_from_what_is_given() {
        let mode = |given| asked(given).unwrap().search;
        assert!(matches!(mode(json!({"query": "tea"})), SessionSearch::Discover(_)));
        assert!(matches!(
            mode(json!({"session_id": "a", "around_message_id": "#3"})),
            SessionSearch::Scroll { around: MessageId(3), window: 5, .. }
        ));
        assert!(matches!(mode(json!({"session_id": "a", "query": ""})), SessionSearch::Read(_)));
        assert!(matches!(
            mode(json!({"limit": "4", "query": null})),
            SessionSearch::Browse { limit: 4, .. }
        ));
    }

    #[test]
    fn contradictions_are_refused_with_what_to_do() {
        for given in [
            json!({"query": "tea", "session_id": "a"}),
            json!({"query": "tea", "session_id": "a", "around_message_id": 3}),
            json!({"around_message_id": 3}),
            json!({"query": "tea", "around_message_id": 3}),
            json!({"query": "tea", "sort": "best first"}),
        ] {
            let error = asked(given.clone()).err().unwrap();
            assert!(error.remedy_text().is_some(), "{given}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_or_of_no_use_is_said() {
        let asked = |given| asked(given).unwrap();
        let bounded = asked(json!({"query": "tea", "limit": 99, "max_tokens": 1}));
        assert_eq!(bounded.tokens, 200);
        assert_eq!(bounded.notes.len(), 2, "{:?}", bounded.notes);
        let read = asked(json!({"session_id": "a", "limit": 3, "sort": "newest"}));
        assert_eq!(read.notes, ["not used here: limit, sort"]);
        assert!(asked(json!({"query": "tea", "limit": 3})).notes.is_empty());
    }
}
