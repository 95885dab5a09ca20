//! A space with something in it, and calls of tools on it.

use oneiro::{
    Durability, NewMessage, NewSession, Oneiro, Options, Result, Role, SessionId, Target,
};
use oneiro_mcp::{Answer, Call, Caller, TokenRole, Tool};
use oneiro_testkit::TestSpace;
use serde_json::Value;

pub fn open(space: &TestSpace) -> Oneiro {
    let target = Target::parse(&space.store, Some(&space.space)).unwrap();
    let options = Options { durability: Durability::Normal, ..Options::default() };
    Oneiro::open(&target, options).unwrap()
}

/// Says something in a session, person and agent in turns; answers the ids.
pub fn say(oneiro: &Oneiro, session: &str, texts: &[&str]) -> Vec<i64> {
    let id = SessionId::new(session).unwrap();
    oneiro.create_session(NewSession::with_id(id.clone())).unwrap();
    let message = |(number, text): (usize, &&str)| match number % 2 {
        0 => NewMessage::text(Role::User, *text),
        _ => NewMessage::text(Role::Assistant, *text),
    };
    let messages = texts.iter().enumerate().map(message).collect();
    oneiro.append(&id, messages).unwrap().ids.into_iter().map(|id| id.0).collect()
}

pub fn call(oneiro: &Oneiro, tool: &str, arguments: Value) -> Result<Answer> {
    let caller = Caller { oneiro: oneiro.clone(), role: TokenRole::Read };
    let arguments = arguments.as_object().unwrap().clone();
    (Tool::named(tool).unwrap().run)(&Call { caller, arguments })
}

pub fn search(oneiro: &Oneiro, arguments: Value) -> Answer {
    call(oneiro, "session_search", arguments).unwrap()
}

/// What stands between the tags, and the text without it.
pub fn recalled(text: &str) -> (String, String) {
    let tag = text.split_once("between the ").unwrap().1.split_once(" tags").unwrap().0;
    let (before, rest) = text.split_once(&format!("<{tag}>\n")).unwrap();
    let (inside, after) = rest.split_once(&format!("\n</{tag}>")).unwrap();
    assert!(!inside.contains(tag), "{text}");
    (inside.to_owned(), format!("{before}{after}"))
}
