//! No answer costs more than was asked for, in either form, and what was cut is said.

use crate::support::{open, recalled, say, search};
use oneiro::count::tokens;
use oneiro_mcp::Answer;
use oneiro_testkit::{Backend, TestSpace, words};
use serde_json::{Value, json};

fn keeps_to(answer: &Answer, budget: usize, arguments: &Value) {
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
    let mut said = Vec::new();
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
        said.push(say(&oneiro, session, &texts));
    }
    for budget in [200, 201, 333, 700, 2_000, 5_000, 20_000] {
        let mut asked = vec![
            json!({"query": "needle", "limit": 10, "window": 20}),
            json!({"limit": 100}),
            json!({}),
        ];
        for (session, said) in sessions.iter().zip(&said) {
            asked.push(json!({"session": session}));
            asked.extend(
                said.iter()
                    .step_by(2)
                    .map(|id| json!({"session": session, "around": id, "window": 20})),
            );
        }
        for mut arguments in asked {
            arguments["max_tokens"] = json!(budget);
            let answer = search(&oneiro, arguments.clone());
            keeps_to(&answer, budget, &arguments);
            let cut = answer.structured["not_shown"].as_u64().unwrap() > 0;
            let note = answer.structured["note"].as_str().unwrap_or_default();
            assert_eq!(
                cut,
                note.contains("cut to fit") && !note.contains("tokens: the end"),
                "{answer:?}"
            );
            assert!(!cut || answer.text.contains("cut to fit"), "{}", answer.text);
        }
    }
}

#[test]
fn a_larger_budget_shows_more_and_the_hit_comes_first() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let mut texts: Vec<String> = (0..20).map(|seed| words(seed, 60)).collect();
    texts[10] = "the needle is here".to_owned();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let said = say(&oneiro, "a", &texts);
    let mut before = 0;
    for budget in [200, 600, 2_000] {
        let arguments = json!({"query": "needle", "max_tokens": budget});
        let answer = search(&oneiro, arguments.clone());
        keeps_to(&answer, budget, &arguments);
        let messages = answer.structured["sessions"][0]["messages"].as_array().unwrap();
        assert!(messages.iter().any(|message| message["id"] == said[10]), "{answer:?}");
        assert!(messages.len() > before, "{budget}: {}", messages.len());
        before = messages.len();
        assert!(recalled(&answer.text).0.contains("the needle is here"));
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
        say(&oneiro, session, &texts);
    }
    let mut least = usize::MAX;
    for budget in 200..700 {
        // Out of bounds and of no use, so that there is much to note.
        let arguments = json!({"query": "needle", "limit": 99, "window": 99, "max_tokens": budget});
        let answer = search(&oneiro, arguments.clone());
        keeps_to(&answer, budget, &arguments);
        let used = tokens(&answer.text).max(tokens(&answer.structured.to_string()));
        least = least.min(budget - used);
    }
    assert!(least < 30, "at best {least} tokens were left over: the budget is not used");
}
