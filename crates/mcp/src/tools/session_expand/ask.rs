//! What a call of `session_expand` asks for, and within what. It must not know how it is answered.

use super::TOKENS;
use crate::arguments::Arguments;
use crate::recalled::quoted;
use oneiro::{ContextScope, Cursor, Error, ExpandWhat, Result, SessionId};
use serde_json::{Map, Value, json};

/// What was asked for.
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

pub(super) enum Wanted {
    /// The exact messages under something.
    Messages(ExpandWhat),
    /// Where words were said.
    Words(String),
}

/// Reads the arguments of a call.
pub(super) fn read(given: &Map<String, Value>, schema: &Value) -> Result<Asked> {
    let given = Arguments::read(given, schema)?;
    let mut notes = Vec::new();
    let session = given.text("session")?.map(SessionId::new).transpose()?;
    let scope = match (given.flag("anywhere")?, session) {
        (true, _) => ContextScope::Space,
        (false, Some(session)) => ContextScope::Lineage(session),
        (false, None) => {
            return Err(Error::field("session", "is missing").remedy(
                "give the session that the id was named with, yours as a rule; only with \
                 anywhere=true all conversations are in reach",
            ));
        }
    };
    let wanted = match (given.text("id")?, given.text("grep")?) {
        (Some(id), None) => Wanted::Messages(what(&id)?),
        (None, Some(pattern)) => {
            given.unused(&["cursor", "offset"], &mut notes);
            Wanted::Words(pattern)
        }
        _ => {
            return Err(Error::field("id", "or grep is needed, and not both").remedy(
                "give id to read what it names, or grep to find where something was said",
            ));
        }
    };
    let offset = given.number("offset")?.unwrap_or(0);
    Ok(Asked {
        wanted,
        scope,
        cursor: given.text("cursor")?.as_deref().map(Cursor::parse).transpose()?,
        offset: usize::try_from(offset)
            .map_err(|_| Error::field("offset", "is below zero").remedy("leave it out"))?,
        tokens: given.bounded("tokens", TOKENS, &mut notes)?,
        notes,
    })
}

/// What an id names; agents copy the `#` before numbers with them.
fn what(id: &str) -> Result<ExpandWhat> {
    let id: String = id.chars().filter(|letter| *letter != '#').collect();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_- ".contains(letter);
    let shown: String = id.chars().take(60).collect();
    let refused = || {
        Error::field("id", format!("{shown:?} is not an id"))
            .remedy("give a summary (sum_..), a message (12) or a range of messages (12-34)")
    };
    match id.chars().all(is_plain) {
        true => ExpandWhat::parse(&id).map_err(|_| refused()),
        false => Err(refused()),
    }
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
        read(given.as_object().unwrap(), &super::super::input())
    }

    #[test]
    fn ids_are_read_as_agents_write_them() {
        for (id, want) in [
            (json!(12), ExpandWhat::Message(MessageId(12))),
            (json!("#12"), ExpandWhat::Message(MessageId(12))),
            (json!("#12 - #14"), ExpandWhat::Range(MessageId(12), MessageId(14))),
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
            json!({"session": "s", "id": "12", "cursor": "x"}),
            json!({"session": "s", "id": "12", "offset": -1}),
            json!({"session": "s", "id": "12", "anywhere": "perhaps"}),
        ] {
            let error = asked(given.clone()).err().unwrap();
            assert!(error.remedy_text().is_some(), "{given}");
        }
        let error = asked(json!({"id": "12"})).err().unwrap();
        assert!(error.remedy_text().unwrap().contains("anywhere=true"));
        let anywhere = asked(json!({"id": "12", "anywhere": true})).unwrap();
        assert_eq!(anywhere.scope, ContextScope::Space);
    }
}
