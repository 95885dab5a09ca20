//! What the tests share: opening a space, filling it, and a dump of everything in it.

use oneiro::{ExportRequest, Oneiro, Options, Target, Timestamp};
use oneiro_demo::{Filled, Request};
use oneiro_testkit::TestSpace;
use serde_json::Value;

/// When the months of these tests end.
pub const NOW: &str = "2026-11-15T18:00:00Z";

pub fn open(space: &TestSpace) -> Oneiro {
    let target = Target::parse(&space.store, Some(&space.space)).unwrap();
    Oneiro::open(&target, Options::default()).unwrap()
}

pub fn request(now: &str) -> Request {
    Request::new(Timestamp::parse(now).unwrap())
}

pub fn fill(oneiro: &Oneiro, now: &str) -> Filled {
    oneiro_demo::fill(oneiro, request(now), &mut |_| {}).unwrap()
}

/// A space of its own, filled.
pub fn filled(space: &TestSpace, now: &str) -> Oneiro {
    let oneiro = open(space);
    fill(&oneiro, now);
    oneiro
}

/// The sessions of a space as they are exported. Ids of memories and operations differ in every space.
pub fn dump(oneiro: &Oneiro) -> String {
    let mut out = Vec::new();
    oneiro.transfer().export(&ExportRequest::default(), &mut out, &mut |_| {}).unwrap();
    let exported = String::from_utf8(out).unwrap();
    exported
        .lines()
        .filter(|line| line.starts_with("{\"id\""))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The sessions of a dump.
pub fn sessions(oneiro: &Oneiro) -> Vec<Value> {
    dump(oneiro).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sessions of a dump by id, without the ids that messages have in this space.
pub fn sessions_by_id(oneiro: &Oneiro) -> Vec<Value> {
    let mut all = sessions(oneiro);
    for session in &mut all {
        session.as_object_mut().unwrap().remove("rewinds");
        for message in session["messages"].as_array_mut().unwrap() {
            message.as_object_mut().unwrap().remove("id");
        }
    }
    all.sort_by_key(|session| session["id"].to_string());
    all
}

/// The messages of a session of a dump.
pub fn messages(session: &Value) -> &[Value] {
    session["messages"].as_array().unwrap()
}

/// When something happened.
pub fn time(value: &Value) -> Timestamp {
    Timestamp::parse(value.as_str().unwrap()).unwrap()
}
