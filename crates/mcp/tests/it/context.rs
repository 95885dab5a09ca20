//! memory_context: a session within a budget, told twice, and left as it was by who may only read.

use crate::support::{call, call_as, compacted, open, recalled, say};
use oneiro::count::tokens;
use oneiro::{ErrorKind, NewMessage, Oneiro, SessionId};
use oneiro_mcp::{Answer, TokenRole};
use oneiro_testkit::{Backend, TestSpace, on_both_backends, words};
use serde_json::{Value, json};

fn context(oneiro: &Oneiro, arguments: Value) -> Answer {
    call(oneiro, "memory_context", arguments).unwrap()
}

on_both_backends! {
    fn a_session_fits_a_budget_and_names_the_rest(space) {
        let oneiro = open(space);
        let (_, summaries) = compacted(&oneiro, "long", "kayak");
        let answer = context(&oneiro, json!({"session": "long"}));
        let told = &answer.structured;
        assert_eq!(told["budget"], 8_000);
        assert!(told["tokens"].as_u64().unwrap() <= 8_000, "{told}");
        let named = told["summaries"].as_array().unwrap();
        assert!(named.iter().all(|id| summaries.contains(&id.as_str().unwrap().to_owned())));
        let (inside, outside) = recalled(&answer.text);
        assert!(inside.contains("Number 299:") && !outside.contains("Number 299:"));
        assert!(inside.contains(named[0].as_str().unwrap()));
        assert!(told["text"].as_str().unwrap().contains("Number 299:"));
        assert!(told["prefix_hash"].is_string() && told["omitted"]["messages"].is_number());
        // What it proposes can be called.
        let next = told["next"][0].as_str().unwrap();
        assert_eq!(next, format!("session_expand(session=\"long\", id={})", named.last().unwrap()));
        for format in ["openai", "anthropic"] {
            let answer = context(&oneiro, json!({"session": "long", "format": format}));
            let messages = answer.structured["messages"].as_array().unwrap();
            assert!(messages.iter().all(|message| message["role"].is_string()), "{format}");
            assert!(recalled(&answer.text).0.contains("Number 299:"), "{format}");
        }
    }

    fn who_may_only_read_compacts_nothing(space) {
        let oneiro = open(space);
        let texts: Vec<String> = (0..400).map(|seed| words(seed, 60)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        say(&oneiro, "s", &texts);
        let id = SessionId::new("s").unwrap();
        let arguments = json!({"session": "s"});
        context(&oneiro, arguments.clone());
        let peek = json!({"session": "s", "peek": true});
        call_as(TokenRole::Write, &oneiro, ("memory_context", peek)).unwrap();
        assert!(oneiro.context().summaries(&id).unwrap().is_empty(), "a look made something");
        let answer = call_as(TokenRole::Write, &oneiro, ("memory_context", arguments)).unwrap();
        assert!(!oneiro.context().summaries(&id).unwrap().is_empty());
        assert!(!answer.structured["summaries"].as_array().unwrap().is_empty());
    }

    fn what_makes_no_sense_is_said_with_what_to_do(space) {
        let oneiro = open(space);
        say(&oneiro, "s", &["tea"]);
        for (arguments, kind) in [
            (json!({}), ErrorKind::Invalid),
            (json!({"session": "nowhere"}), ErrorKind::NotFound),
            (json!({"session": "s", "format": "gemini"}), ErrorKind::Invalid),
            (json!({"session": "s", "budget": "much"}), ErrorKind::Invalid),
            (json!({"session": "s", "budgt": 5}), ErrorKind::Invalid),
        ] {
            let error = call(&oneiro, "memory_context", arguments.clone()).unwrap_err();
            assert_eq!(error.kind(), kind, "{arguments}");
            assert!(!error.remedy_text().unwrap().contains("`oneiro"), "{arguments}");
        }
        for (given, taken) in [(0, 500), (-7, 500), (1_000_000, 20_000)] {
            let answer = context(&oneiro, json!({"session": "s", "budget": given}));
            assert_eq!(answer.structured["budget"], taken);
            let note = answer.structured["note"].as_str().unwrap();
            assert!(note.contains(&format!("was taken as {taken}")), "{note}");
        }
    }
}

#[test]
fn a_turn_that_is_larger_than_the_budget_is_cut_and_that_is_said() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    say(&oneiro, "s", &["begin to look through all of it"]);
    let id = SessionId::new("s").unwrap();
    // No part of a turn is left out, and none of these is long enough to have a short form.
    let name = |number: usize| format!("call{number}");
    let calls: Vec<Value> = (0..60)
        .map(|number| {
            let function = json!({"name": "look", "arguments": "{}"});
            json!({"id": name(number), "type": "function", "function": function})
        })
        .collect();
    let mut turn = vec![json!({"role": "assistant", "content": null, "tool_calls": calls})];
    turn.extend((0..60).map(|number| {
        let seen = format!("{} seen {number}", words(number as u64, 150));
        json!({"role": "tool", "tool_call_id": name(number), "content": seen})
    }));
    let turn = turn.into_iter().map(|one| NewMessage::from_json(one).unwrap());
    oneiro.messages().append(&id, turn.collect()).unwrap();
    for budget in [6_000, 8_000] {
        let answer = context(&oneiro, json!({"session": "s", "budget": budget}));
        assert!(tokens(&answer.text) <= budget + 200, "{}", tokens(&answer.text));
        assert!(tokens(&answer.structured.to_string()) <= budget + 200);
        assert!(answer.structured["note"].as_str().unwrap().contains("larger than the budget"));
        assert!(answer.structured["tokens"].as_u64().unwrap() > budget as u64);
        let text = answer.structured["text"].as_str().unwrap();
        assert!(text.ends_with("seen 59") && text.contains("begin to look"), "{text}");
        assert!(text.contains("characters are left out here"), "{text}");
        let arguments = json!({"session": "s", "budget": budget, "format": "openai"});
        let error = call(&oneiro, "memory_context", arguments).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
    let whole = context(&oneiro, json!({"session": "s", "budget": 20_000}));
    assert!(whole.structured["note"].is_null(), "{}", whole.structured["note"]);
}
