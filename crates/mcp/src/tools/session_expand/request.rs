//! The arguments of `session_expand`, with the session they name. It does not know how a call is
//! answered.

use crate::arguments::Given;
use crate::recalled::quoted;
use oneiro::contract::Request;
use oneiro::{
    ContextScope, Cursor, EXPAND_TOKENS, Error, ExpandWhat, MessageRef, Oneiro, Result, SessionId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Minimum tokens of an answer.
const TOKENS_MIN: usize = 200;

/// Maximum tokens of an answer.
const TOKENS_MAX: usize = 20_000;

/// The arguments of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Arguments {
    /// The session that the id belongs to: an id, a unique prefix, or a title.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    session: Option<SessionId>,
    /// A summary (sum_..), a message (12, or #3 by its place in the session) or a range of messages
    /// (12-34, #3-7).
    id: Option<String>,
    /// Words or `/a regular expression/` to look for.
    grep: Option<String>,
    /// Only in sessions of this project.
    project: Option<String>,
    /// Look in all conversations.
    anywhere: bool,
    /// Show messages as stored JSON.
    raw: bool,
    /// Maximum tokens of the answer.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    tokens: usize,
    /// Where the previous answer ended.
    cursor: Option<Cursor>,
    /// Characters of the first message to skip.
    #[schemars(range(min = 0, max = u32::MAX))]
    offset: usize,
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments {
            session: None,
            id: None,
            grep: None,
            project: None,
            anywhere: false,
            raw: false,
            tokens: EXPAND_TOKENS,
            cursor: None,
            offset: 0,
        }
    }
}

impl Request for Arguments {}

/// A call of the tool.
#[derive(Debug)]
pub(super) struct ExpandCall {
    pub(super) target: Target,
    pub(super) scope: ContextScope,
    pub(super) project: Option<String>,
    pub(super) form: Form,
    /// Where the previous answer ended.
    pub(super) cursor: Option<Cursor>,
    /// Characters of the first message to skip.
    pub(super) offset: usize,
    /// Maximum tokens of the answer.
    pub(super) tokens: usize,
    /// Arguments that were corrected or ignored.
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Target {
    /// The messages that an id names.
    Messages(ExpandWhat),
    /// Messages and summaries that match a pattern.
    Grep(String),
}

impl Target {
    /// The session that an id names by a place, such as `monday#3`.
    fn session(&self) -> Option<SessionId> {
        match self {
            Target::Messages(ExpandWhat::Message(first) | ExpandWhat::Range(first, _)) => {
                match first {
                    MessageRef::Place { session, .. } => session.clone(),
                    MessageRef::Id(_) => None,
                }
            }
            _ => None,
        }
    }
}

/// How messages are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Their words.
    Words,
    /// The stored JSON.
    Raw,
}

/// Reads the arguments of a call and finds the session that they name.
pub(super) fn read(given: &Map<String, Value>, oneiro: &Oneiro) -> Result<ExpandCall> {
    parse(given)?.with_session_resolved(oneiro)
}

fn parse(given: &Map<String, Value>) -> Result<ExpandCall> {
    let mut given = Given::<Arguments>::read(given)?;
    if given.request.id.is_some() {
        given.note_unused(&["project"]);
    } else {
        given.note_unused(&["cursor", "offset", "raw"]);
    }
    let Given { request, notes, .. } = given;
    let target = match (request.id, request.grep) {
        (Some(id), None) => Target::Messages(ExpandWhat::parse(&id)?),
        (None, Some(pattern)) => Target::Grep(pattern),
        _ => {
            return Err(Error::field("id", "or grep is needed, and not both")
                .remedy("give id to read messages, or grep to search for words"));
        }
    };
    let scope = match (request.anywhere, request.session.or_else(|| target.session())) {
        (true, _) => ContextScope::Space,
        (false, Some(session)) => ContextScope::Lineage(session),
        (false, None) => {
            return Err(Error::field("session", "is missing").remedy(
                "give the session that the id belongs to; anywhere=true looks in all \
                 conversations",
            ));
        }
    };
    Ok(ExpandCall {
        target,
        scope,
        project: request.project,
        form: if request.raw { Form::Raw } else { Form::Words },
        cursor: request.cursor,
        offset: request.offset,
        tokens: request.tokens,
        notes,
    })
}

impl ExpandCall {
    fn with_session_resolved(mut self, oneiro: &Oneiro) -> Result<ExpandCall> {
        if let ContextScope::Lineage(session) = &mut self.scope {
            *session = oneiro.sessions().resolve(session.as_str())?;
        }
        Ok(self)
    }

    /// The text of another call with the same scope and form.
    pub(super) fn propose(&self, id: &str, more: &str) -> String {
        let scope = match &self.scope {
            ContextScope::Lineage(session) => format!("session={}", quoted(session.as_str())),
            ContextScope::Space => "anywhere=true".to_owned(),
        };
        let raw = match self.form {
            Form::Words => "",
            Form::Raw => ", raw=true",
        };
        format!("session_expand({scope}, id={}{raw}{more})", json!(id))
    }

    pub(super) fn is_in_named_session(&self, session: &SessionId) -> bool {
        matches!(&self.scope, ContextScope::Lineage(named) if named == session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::MessageId;

    fn expand_call(given: Value) -> Result<ExpandCall> {
        parse(given.as_object().unwrap())
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
            let call = expand_call(json!({"session": "s", "id": id})).unwrap();
            assert!(matches!(call.target, Target::Messages(what) if what == want), "{id}");
        }
    }

    #[test]
    fn contradictory_arguments_are_refused_with_a_remedy() {
        for given in [
            json!({}),
            json!({"id": "12"}),
            json!({"session": "s"}),
            json!({"session": "s", "id": "12", "grep": "tea"}),
            json!({"session": "s", "id": "mem_x"}),
            json!({"session": "s", "id": "sum_\u{0}"}),
            json!({"session": "s", "id": "12", "anywhere": "perhaps"}),
        ] {
            let error = expand_call(given.clone()).err().unwrap();
            assert!(error.remedy_text().is_some(), "{given}");
        }
        let error = expand_call(json!({"session": "s", "id": "12", "cursor": "x"})).unwrap_err();
        assert!(error.message().contains("was not made by an earlier page"), "{error:?}");
        let error = expand_call(json!({"id": "12"})).unwrap_err();
        assert!(error.remedy_text().unwrap().contains("anywhere=true"));
        let anywhere = expand_call(json!({"id": "12", "anywhere": true})).unwrap();
        assert_eq!(anywhere.scope, ContextScope::Space);
    }

    #[test]
    fn arguments_out_of_bounds_or_unused_are_noted() {
        let below = expand_call(json!({"session_id": "s", "id": "12", "offset": -1})).unwrap();
        assert_eq!((below.offset, below.notes.len()), (0, 1), "{:?}", below.notes);
        let grep =
            expand_call(json!({"session": "s", "grep": "tea", "offset": 5, "raw": true})).unwrap();
        assert_eq!(grep.notes, ["not used here: offset, raw"]);
    }
}
