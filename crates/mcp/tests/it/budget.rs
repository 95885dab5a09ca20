//! No answer is larger than its budget, in either part, a cut is noted, and structured content
//! holds no copy of the text.

use crate::support::{append_texts, call, note, open, search, split_at_tags};
use oneiro::count::tokens;
use oneiro_mcp::Answer;
use oneiro_testkit::{Backend, TestSpace, words};
use serde_json::{Value, json};

/// The most characters of structured content per session of an answer.
const SESSION_CHARS_MAX: usize = 320;

/// The most characters of structured content besides its sessions, messages and hits.
const ENVELOPE_CHARS_MAX: usize = 200;

/// The most characters of structured content per message of an expansion or hit of a grep.
const MESSAGE_CHARS_MAX: usize = 120;

fn assert_within_budget(answer: &Answer, budget: usize, arguments: &Value) {
    let (text, json) = (tokens(&answer.text), tokens(&answer.structured.to_string()));
    assert!(text <= budget, "{arguments}: {text} tokens of text\n{}", answer.text);
    assert!(json <= budget, "{arguments}: {json} tokens of JSON\n{}", answer.structured);
}

/// Texts that cost more than their letters: quotes and line ends are escaped in JSON and indented
/// in text, some scripts have a token to a character.
fn texts() -> Vec<String> {
    vec![
        words(1, 40),
        words(2, 1_000),
        "\"\\\n".repeat(1_300),
        "漢字かな交じり文。".repeat(200),
        "\u{1}\u{2}\u{1b}".repeat(500),
        "🦀🐫".repeat(700),
        "\n".repeat(3_000),
        format!("needle {}", "да нет ".repeat(400)),
        "x".repeat(4_000),
    ]
}

#[test]
fn no_answer_is_over_its_budget() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let mut message_ids = Vec::new();
    // Ids go into the calls that are proposed, which share what is set aside for the end.
    let ids = [20, 45, 90, 500].map(|length| "\"長".repeat(length / 2));
    let mut sessions = vec!["a", "漢字\n\"id\"", "c"];
    sessions.extend(ids.iter().map(String::as_str));
    for (number, session) in sessions.iter().enumerate() {
        let mut texts = texts();
        let turn = number * 2 % texts.len();
        texts.rotate_left(turn);
        for text in &mut texts {
            *text = format!("needle {text}");
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        message_ids.push(append_texts(&oneiro, session, &texts));
    }
    for budget in [200, 201, 333, 700, 2_000, 5_000, 20_000] {
        let mut asked = vec![
            json!({"query": "needle", "limit": 10, "window": 20}),
            json!({"limit": 100}),
            json!({}),
        ];
        for (session, message_ids) in sessions.iter().zip(&message_ids) {
            asked.push(json!({"session": session}));
            asked.extend(
                message_ids
                    .iter()
                    .step_by(2)
                    .map(|id| json!({"session": session, "around": id, "window": 20})),
            );
        }
        for mut arguments in asked {
            arguments["max_tokens"] = json!(budget);
            let answer = search(&oneiro, arguments.clone());
            assert_within_budget(&answer, budget, &arguments);
            let cut = answer.structured["not_shown"].as_u64().unwrap() > 0;
            let note = note(&answer.text);
            assert_eq!(
                cut,
                note.contains("cut to fit") && !note.contains("tokens: the end"),
                "{answer:?}"
            );
        }
    }
}

#[test]
fn a_larger_budget_shows_more_messages_and_every_one_shows_the_hit() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let mut texts: Vec<String> = (0..20).map(|seed| words(seed, 60)).collect();
    texts[10] = "the needle is here".to_owned();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let message_ids = append_texts(&oneiro, "a", &texts);
    let mut before = 0;
    for budget in [200, 600, 2_000] {
        let arguments = json!({"query": "needle", "window": 5, "max_tokens": budget});
        let answer = search(&oneiro, arguments.clone());
        assert_within_budget(&answer, budget, &arguments);
        let messages = answer.structured["sessions"][0]["message_ids"].as_array().unwrap();
        assert!(messages.iter().any(|id| *id == message_ids[10]), "{answer:?}");
        assert!(messages.len() > before, "{budget}: {}", messages.len());
        before = messages.len();
        assert!(split_at_tags(&answer.text).0.contains("the needle is here"));
    }
}

/// What is left over differs from budget to budget; somewhere among many it is almost nothing, and
/// there every part of the answer must have been counted.
#[test]
fn a_budget_that_is_used_up_is_not_overdrawn() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    for session in ["an id of some length, as hosts make them", "another one, a little longer"] {
        let texts: Vec<String> = (0..40).map(|seed| format!("needle {}", words(seed, 6))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        append_texts(&oneiro, session, &texts);
    }
    let mut least = usize::MAX;
    for budget in 200..700 {
        // Out of bounds and ignored, so that there is much to note.
        let arguments = json!({"query": "needle", "limit": 99, "window": 99, "max_tokens": budget});
        let answer = search(&oneiro, arguments.clone());
        assert_within_budget(&answer, budget, &arguments);
        let used = tokens(&answer.text);
        least = least.min(budget - used);
    }
    assert!(least < 40, "at best {least} tokens were left over: the budget is not used");
}

fn length(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// Five sessions of ten short messages; the answers to them are counted by characters.
#[test]
fn the_text_is_short_and_the_structured_content_holds_ids_alone() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let mut ids = Vec::new();
    for session in ["monday", "tuesday", "wednesday", "thursday", "friday"] {
        let texts: Vec<String> = (0..10)
            .map(|number| format!("The lantern of {session} number {number} hangs by the pier."))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        ids.push(append_texts(&oneiro, session, &texts));
    }
    let found = search(&oneiro, json!({"query": "lantern tuesday 4", "limit": 1}));
    assert!(found.text.chars().count() <= 600, "{}", found.text);
    let all = search(&oneiro, json!({"query": "lantern"}));
    assert!(all.text.chars().count() <= 1_500, "{}", all.text);
    let read = search(&oneiro, json!({"session": "monday"}));
    let browsed = search(&oneiro, json!({}));
    for answer in [&found, &all, &read, &browsed] {
        assert!(answer.text.contains("lantern"), "{}", answer.text);
        assert!(!answer.structured.to_string().contains("lantern"), "{}", answer.structured);
        let sessions = answer.structured["sessions"].as_array().unwrap();
        for session in sessions {
            assert!(length(session) <= SESSION_CHARS_MAX, "{session}");
        }
        let rest = length(&answer.structured) - sessions.iter().map(length).sum::<usize>();
        assert!(rest <= ENVELOPE_CHARS_MAX, "{}", answer.structured);
    }
    // A message is shown once, however many hits are near it.
    let inside = split_at_tags(&all.text).0;
    for id in ids.iter().flatten() {
        assert!(inside.matches(&format!(" #{id} ")).count() <= 1, "{inside}");
    }
    let range = format!("{}-{}", ids[0][0], ids[0][9]);
    for (arguments, list) in [
        (json!({"session": "monday", "id": range}), "messages"),
        (json!({"session": "monday", "grep": "lantern"}), "hits"),
    ] {
        let answer = call(&oneiro, "session_expand", arguments).unwrap();
        assert!(answer.text.contains("lantern"), "{}", answer.text);
        assert!(!answer.structured.to_string().contains("lantern"), "{}", answer.structured);
        let items = answer.structured[list].as_array().unwrap();
        assert_eq!(items.len(), 10);
        for item in items {
            assert!(length(item) <= MESSAGE_CHARS_MAX, "{item}");
        }
    }
    let window = call(&oneiro, "memory_context", json!({"session": "monday"})).unwrap();
    assert!(window.text.contains("lantern"));
    assert!(length(&window.structured) <= ENVELOPE_CHARS_MAX + 100, "{}", window.structured);
    assert!(!window.structured.to_string().contains("lantern"), "{}", window.structured);
}
