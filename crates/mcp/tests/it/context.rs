//! memory_context: a session within a budget, named by id, prefix or title, and left unchanged for
//! callers who may only read.

use crate::support::{append_texts, call, call_as, compacted, note, open, proposed, split_at_tags};
use oneiro::count::tokens;
use oneiro::{ErrorKind, NewMessage, Oneiro, SessionId, SessionPatch};
use oneiro_mcp::{Answer, Payload, TokenRole};
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
        let fields = &answer.structured;
        assert_eq!(fields["budget"], 8_000);
        assert!(fields["tokens"].as_u64().unwrap() <= 8_000, "{fields}");
        let named = fields["summaries"].as_array().unwrap();
        assert!(named.iter().all(|id| summaries.contains(&id.as_str().unwrap().to_owned())));
        let (inside, outside) = split_at_tags(&answer.text);
        assert!(inside.contains("Number 299:") && !outside.contains("Number 299:"));
        assert!(inside.contains(named[0].as_str().unwrap()));
        assert!(!fields.to_string().contains("Number 299:"), "{fields}");
        assert!(fields["prefix_hash"].is_string() && fields["omitted"]["messages"].is_number());
        assert_eq!(proposed(&answer.text)[0], format!("session_expand(session=\"long\", id={})", named.last().unwrap()));
        for format in ["openai", "anthropic"] {
            let answer = context(&oneiro, json!({"session": "long", "format": format}));
            let messages = answer.structured["messages"].as_array().unwrap();
            assert!(messages.iter().all(|message| message["role"].is_string()), "{format}");
            assert!(answer.structured.to_string().contains("Number 299:"), "{format}");
            assert!(!answer.text.contains("Number 299:"), "{format}: the messages come once");
            assert_eq!(answer.payload, Payload::Structured);
        }
    }

    fn a_session_is_named_by_prefix_or_title(space) {
        let oneiro = open(space);
        let message_ids = append_texts(&oneiro, "monday-7f3a", &["the tea is in the blue tin"]);
        append_texts(&oneiro, "tuesday-1", &["coffee"]);
        append_texts(&oneiro, "tuesday-2", &["coffee"]);
        let id = SessionId::new("monday-7f3a").unwrap();
        let title = Some(Some("Tea tins".to_owned()));
        oneiro.sessions().change(&id, SessionPatch { title, ..SessionPatch::default() }).unwrap();
        for name in ["monday-7f3a", "mon", "Tea tins"] {
            let window = context(&oneiro, json!({"session": name}));
            assert_eq!(window.structured["session_id"], "monday-7f3a", "{name}");
            let arguments = json!({"session": name, "id": message_ids[0]});
            let expanded = call(&oneiro, "session_expand", arguments).unwrap();
            assert!(expanded.text.contains("blue tin"), "{name}: {}", expanded.text);
            let arguments = json!({"session": name, "grep": "tea"});
            let grep = call(&oneiro, "session_expand", arguments).unwrap();
            assert_eq!(grep.structured["hits"][0]["id"], message_ids[0], "{name}");
        }
        for (tool, arguments) in [
            ("session_search", json!({"session": "tue"})),
            ("session_expand", json!({"session": "tue", "id": message_ids[0]})),
            ("memory_context", json!({"session": "tue"})),
        ] {
            let error = call(&oneiro, tool, arguments).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Conflict, "{tool}");
            for candidate in ["tuesday-1", "tuesday-2"] {
                assert!(error.message().contains(candidate), "{tool}: {error:?}");
            }
        }
    }

    fn a_reader_compacts_nothing(space) {
        let oneiro = open(space);
        let texts: Vec<String> = (0..400).map(|seed| words(seed, 60)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        append_texts(&oneiro, "s", &texts);
        let id = SessionId::new("s").unwrap();
        let arguments = json!({"session": "s"});
        context(&oneiro, arguments.clone());
        let peek = json!({"session": "s", "peek": true});
        call_as(TokenRole::Write, &oneiro, ("memory_context", peek)).unwrap();
        assert!(oneiro.context().summaries(&id).unwrap().is_empty(), "a read made summaries");
        let answer = call_as(TokenRole::Write, &oneiro, ("memory_context", arguments)).unwrap();
        assert!(!oneiro.context().summaries(&id).unwrap().is_empty());
        assert!(!answer.structured["summaries"].as_array().unwrap().is_empty());
    }

    fn invalid_arguments_are_refused_with_a_remedy(space) {
        let oneiro = open(space);
        append_texts(&oneiro, "s", &["tea"]);
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
            let note = note(&answer.text);
            assert!(note.contains(&format!("was taken as {taken}")), "{note}");
        }
    }
}

#[test]
fn a_turn_larger_than_the_budget_is_cut_and_noted() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    append_texts(&oneiro, "s", &["begin to look through all of it"]);
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
        assert!(note(&answer.text).contains("larger than the budget"), "{}", answer.text);
        assert!(answer.structured["tokens"].as_u64().unwrap() > budget as u64);
        let text = split_at_tags(&answer.text).0;
        assert!(text.ends_with("seen 59") && text.contains("begin to look"), "{text}");
        assert!(text.contains("characters left out]"), "{text}");
        let arguments = json!({"session": "s", "budget": budget, "format": "openai"});
        let error = call(&oneiro, "memory_context", arguments).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
    let whole = context(&oneiro, json!({"session": "s", "budget": 20_000}));
    assert_eq!(note(&whole.text), "");
}
