//! A space with something in it, and calls of tools on it.

use oneiro::{
    CompactRequest, Durability, NewMessage, NewSession, Oneiro, Options, Result, Role, SessionId,
    Target,
};
use oneiro_mcp::{Answer, Call, Caller, TokenRole, Tool};
use oneiro_testkit::TestSpace;
use serde_json::Value;

pub fn open(space: &TestSpace) -> Oneiro {
    let target = Target::parse(&space.store, Some(&space.space)).unwrap();
    let options = Options { durability: Durability::Normal, ..Options::default() };
    Oneiro::open(&target, options).unwrap()
}

/// Appends texts to a session, alternately of the user and the assistant; returns the ids.
pub fn append_texts(oneiro: &Oneiro, session: &str, texts: &[&str]) -> Vec<i64> {
    let id = SessionId::new(session).unwrap();
    oneiro.sessions().create(NewSession::with_id(id.clone())).unwrap();
    let message = |(number, text): (usize, &&str)| match number % 2 {
        0 => NewMessage::text(Role::User, *text),
        _ => NewMessage::text(Role::Assistant, *text),
    };
    let messages = texts.iter().enumerate().map(message).collect();
    oneiro.host().append(&id, messages, None).unwrap().ids.into_iter().map(|id| id.0).collect()
}

pub fn call(oneiro: &Oneiro, tool: &str, arguments: Value) -> Result<Answer> {
    call_as(TokenRole::Read, oneiro, (tool, arguments))
}

pub fn call_as(role: TokenRole, oneiro: &Oneiro, call: (&str, Value)) -> Result<Answer> {
    let (tool, arguments) = call;
    let caller = Caller::local(oneiro.clone(), role);
    let arguments = arguments.as_object().unwrap().clone();
    (Tool::named(tool).unwrap().run)(&Call { caller, arguments })
}

/// Fills a session with enough messages about a word to compact it, and compacts it; returns the ids
/// of the messages and of the summaries.
pub fn compacted(oneiro: &Oneiro, session: &str, word: &str) -> (Vec<i64>, Vec<String>) {
    let text = |number: usize| {
        format!(
            "Number {number}: the {word} plan for office {number} costs {} euros, and Maria has \
             written it into plans/{word}_{number}.md so that nobody forgets what was decided.",
            number * 7 + 3
        )
    };
    let texts: Vec<String> = (0..300).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let message_ids = append_texts(oneiro, session, &texts);
    let request = CompactRequest { until: Some(3_000), redo: false };
    let compacted = oneiro.context().compact(&SessionId::new(session).unwrap(), &request).unwrap();
    assert!(!compacted.created.is_empty(), "{compacted:?}");
    (message_ids, compacted.created.iter().map(ToString::to_string).collect())
}

pub fn search(oneiro: &Oneiro, arguments: Value) -> Answer {
    call(oneiro, "session_search", arguments).unwrap()
}

/// The text inside the tags, and the text without it.
pub fn split_at_tags(text: &str) -> (String, String) {
    let tag = text.split_once("Text inside the ").unwrap().1.split_once(" tags").unwrap().0;
    let (before, rest) = text.split_once(&format!("<{tag}>\n")).unwrap();
    let (inside, after) = rest.split_once(&format!("\n</{tag}>")).unwrap();
    assert!(!inside.contains(tag), "{text}");
    (inside.to_owned(), format!("{before}{after}"))
}

/// The calls that a text proposes.
pub fn proposed(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("More: ")).collect()
}

/// The note outside the tags; empty without one.
pub fn note(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("Note: ")).unwrap_or_default()
}
