//! A long conversation to compact, of which every message is known word for word.

use crate::support::{append, json, run};
use oneiro_testkit::{TestSpace, words};
use serde_json::{Value, json as value};

/// A conversation of `count` messages under `id`, begun in January 2026, ten minutes apart. Every
/// eighth is a tool's result of many lines.
pub fn talk(space: &TestSpace, id: &str, count: usize) -> Vec<Value> {
    let said: Vec<Value> = (0..count).map(|n| message(id, n)).collect();
    json(space, &["session", "new", "--id", id]);
    let lines: String = said.iter().map(|message| format!("{message}\n")).collect();
    append(space, id, &lines);
    said
}

/// Makes summaries small and many, so that a conversation of some hundred messages has a tree.
pub fn small_summaries(space: &TestSpace) {
    for (name, tokens) in [
        ("leaf_chunk_tokens", "1500"),
        ("leaf_target_tokens", "200"),
        ("condensed_target_tokens", "300"),
    ] {
        let set = run(space, &["config", "set", name, tokens]);
        assert_eq!(set.code, 0, "{}", set.err);
    }
}

fn message(id: &str, n: usize) -> Value {
    let at = format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + n / 144, n / 6 % 24, n % 6 * 10);
    let seed = n as u64 + 1;
    match n % 8 {
        5 => value!({"role": "assistant", "content": null, "at": at, "tool_calls": [
            {"id": format!("c{n}"), "type": "function",
             "function": {"name": "list", "arguments": format!("{{\"page\":{n}}}")}}]}),
        6 => {
            let lines: Vec<String> =
                (0..12).map(|line| format!("row {n}.{line} {}", words(seed + line, 3))).collect();
            value!({"role": "tool", "content": lines.join("\n"), "at": at,
                    "tool_call_id": format!("c{}", n - 1)})
        }
        turn => {
            let role = if turn % 2 == 0 { "user" } else { "assistant" };
            let text = format!(
                "In {id}, number {n}: we decided that box B{n:04} goes to room {}. {}.",
                n % 7,
                words(seed, 40)
            );
            value!({"role": role, "content": text, "at": at})
        }
    }
}

/// What a message said, without what the store adds to it.
pub fn as_said(message: &Value) -> Value {
    let mut message = message.clone();
    for field in ["id", "session_id", "visibility"] {
        message.as_object_mut().unwrap().shift_remove(field);
    }
    message
}

/// The summaries of a session.
pub fn summaries(space: &TestSpace, id: &str) -> Vec<Value> {
    let page = json(space, &["session", "tree", id]);
    assert_eq!(page["next"], Value::Null);
    page["items"].as_array().unwrap().clone()
}
