//! What a call of `session_expand` asks for, and within what. It must not know how it is answered.

use crate::arguments::Given;
use crate::recalled::quoted;
use oneiro::contract::Request;
use oneiro::{ContextScope, Cursor, EXPAND_TOKENS, Error, ExpandWhat, Result, SessionId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The least tokens of an answer.
const TOKENS_MIN: usize = 200;

/// The most tokens of an answer.
const TOKENS_MAX: usize = 20_000;

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Arguments {
    /// The session that the id was named with.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    session: Option<SessionId>,
    /// A summary (sum_..), a message (12, or #3 by its place in the session) or a range of messages
    /// (12-34, #3-7).
    id: Option<String>,
    /// Words or `/a regular expression/` to look for.
    grep: Option<String>,
    /// Look in all conversations.
    anywhere: bool,
    /// Tokens that each part of the answer may cost.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    tokens: usize,
    /// Where the answer before ended.
    cursor: Option<Cursor>,
    /// The characters of the first message that were read before.
    #[schemars(range(min = 0, max = u32::MAX))]
    offset: usize,
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments {
            session: None,
            id: None,
            grep: None,
            anywhere: false,
            tokens: EXPAND_TOKENS,
            cursor: None,
            offset: 0,
        }
    }
}

impl Request for Arguments {}

/// What was asked for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) wanted: Wanted,
    pub(super) scope: ContextScope,
    /// Where the answer before ended.
    pub(super) cursor: Option<Cursor>,
    /// The characters of the first message that were read before.
    pub(super) offset: usize,
    /// Tokens that each part of the answer may cost.
    pub(super) tokens: usize,
    /// What of the arguments was not taken as given.
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Wanted {
    /// The exact messages under something.
    Messages(ExpandWhat),
    /// Where words were said.
    Words(String),
}

/// Reads the arguments of a call.
pub(super) fn read(given: &Map<String, Value>) -> Result<Asked> {
    let mut given = Given::<Arguments>::read(given)?;
    if given.request.grep.is_some() && given.request.id.is_none() {
        given.note_unused(&["cursor", "offset"]);
    }
    let Given { request, notes, .. } = given;
    let scope = match (request.anywhere, request.session) {
        (true, _) => ContextScope::Space,
        (false, Some(session)) => ContextScope::Lineage(session),
        (false, None) => {
            return Err(Error::field("session", "is missing").remedy(
                "give the session that the id was named with, yours as a rule; only with \
                 anywhere=true all conversations are in reach",
            ));
        }
    };
    let wanted = match (request.id, request.grep) {
        (Some(id), None) => Wanted::Messages(ExpandWhat::parse(&id)?),
        (None, Some(pattern)) => Wanted::Words(pattern),
        _ => {
            return Err(Error::field("id", "or grep is needed, and not both").remedy(
                "give id to read what it names, or grep to find where something was said",
            ));
        }
    };
    Ok(Asked {
        wanted,
        scope,
        cursor: request.cursor,
        offset: request.offset,
        tokens: request.tokens,
        notes,
    })
}

impl Asked {
    /// A call for something else within the same scope.
    pub(super) fn call(&self, id: &str, more: &str) -> String {
        let scope = match &self.scope {
            ContextScope::Lineage(session) => format!("session={}", quoted(session.as_str())),
            ContextScope::Space => "anywhere=true".to_owned(),
        };
        format!("session_expand({scope}, id={}{more})", json!(id))
    }

    /// Whether something is in the very session that was named.
    pub(super) fn is_of(&self, session: &SessionId) -> bool {
        matches!(&self.scope, ContextScope::Lineage(named) if named == session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::MessageId;

    fn asked(given: Value) -> Result<Asked> {
        read(given.as_object().unwrap())
    }

    #[test]
    fn ids_are_read_as_agents_write_them() {
        for (id, want) in [
            (json!(12), ExpandWhat::Message(MessageId(12).into())),
            (json!("12 - 14"), ExpandWhat::Range(MessageId(12).into(), MessageId(14).into())),
            (json!("#3"), ExpandWhat::parse("#3").unwrap()),
            (json!("monday#3-7"), ExpandWhat::parse("monday#3-7").unwrap()),
            (json!(" sum_ab "), ExpandWhat::Summary("sum_ab".to_owned())),
        ] {
            let asked = asked(json!({"session": "s", "id": id})).unwrap();
            assert!(matches!(asked.wanted, Wanted::Messages(what) if what == want), "{id}");
        }
    }

    #[test]
    fn what_cannot_be_answered_is_refused_with_what_to_do() {
        for given in [
            json!({}),
            json!({"id": "12"}),
            json!({"session": "s"}),
            json!({"session": "s", "id": "12", "grep": "tea"}),
            json!({"session": "s", "id": "mem_x"}),
            json!({"session": "s", "id": "sum_\u{0}"}),
            json!({"session": "s", "id": "12", "anywhere": "perhaps"}),
        ] {
            let error = asked(given.clone()).err().unwrap();
            assert!(error.remedy_text().is_some(), "{given}");
        }
        let error = asked(json!({"session": "s", "id": "12", "cursor": "x"})).unwrap_err();
        assert!(error.message().contains("was not made by an earlier page"), "{error:?}");
        let error = asked(json!({"id": "12"})).unwrap_err();
        assert!(error.remedy_text().unwrap().contains("anywhere=true"));
        let anywhere = asked(json!({"id": "12", "anywhere": true})).unwrap();
        assert_eq!(anywhere.scope, ContextScope::Space);
    }

    #[test]
    fn what_is_out_of_bounds_or_of_no_use_is_said() {
        let below = asked(json!({"session_id": "s", "id": "12", "offset": -1})).unwrap();
        assert_eq!((below.offset, below.notes.len()), (0, 1), "{:?}", below.notes);
        let grep = asked(json!({"session": "s", "grep": "tea", "offset": 5})).unwrap();
        assert_eq!(grep.notes, ["not used here: offset"]);
    }
}
