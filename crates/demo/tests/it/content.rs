//! What the month holds: every page of a surface has something to show, and nothing is impossible.

use crate::support::{NOW, filled, messages, sessions, time};
use oneiro::{Span, Timestamp};
use oneiro_testkit::{Backend, TestSpace};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

fn month(now: &str) -> Vec<Value> {
    sessions(&filled(&TestSpace::new(Backend::Sqlite), now))
}

fn all(month: &[Value]) -> impl Iterator<Item = &Value> {
    month.iter().flat_map(messages)
}

#[test]
fn it_has_the_size_of_a_month() {
    let month = month(NOW);
    assert!((40..=60).contains(&month.len()), "{}", month.len());
    let count = all(&month).count();
    assert!((900..=1_500).contains(&count), "{count}");
    let long = all(&month).filter(|message| {
        message["content"].as_str().is_some_and(|text| text.lines().count() >= 150)
    });
    assert!(long.count() >= 3);
}

#[test]
fn nothing_is_in_the_future_at_any_hour() {
    for now in ["2026-11-15T00:00:30Z", "2026-03-01T06:50:00Z", "2028-02-29T23:59:59Z"] {
        let end = Timestamp::parse(now).unwrap();
        let begin = end.minus(Span::days(31));
        let inside = |value: &Value, what: &Value| {
            let at = time(value);
            assert!(begin <= at && at <= end, "{now}: {at} of {what}");
            at
        };
        for session in month(now) {
            let id = &session["id"];
            let mut before = inside(&session["started_at"], id);
            for message in messages(&session) {
                let shared =
                    !message["external_id"].as_str().unwrap().contains(id.as_str().unwrap());
                let at = inside(&message["at"], id);
                assert!(shared || before <= at, "{id}: {message}");
                before = if shared { before } else { at };
            }
            assert_eq!(inside(&session["last_active_at"], id), before, "{id}");
            if !session["ended_at"].is_null() {
                assert!(inside(&session["ended_at"], id) >= before, "{id}");
            }
        }
    }
}

#[test]
fn every_result_has_its_call_before_it() {
    for session in month(NOW) {
        let mut waiting = HashSet::new();
        for message in messages(&session) {
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let arguments = call["function"]["arguments"].as_str().unwrap();
                assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
                assert!(waiting.insert(call["id"].as_str().unwrap().to_owned()));
            }
            if message["role"] == "tool" {
                let call = message["tool_call_id"].as_str().unwrap();
                assert!(waiting.remove(call), "{}: {message}", session["id"]);
            }
        }
        let broke_off = session["end_reason"] == "error";
        assert_eq!(waiting.is_empty(), !broke_off, "{}: {waiting:?}", session["id"]);
    }
}

#[test]
fn it_is_said_in_several_languages() {
    let month = month(NOW);
    let said = |project: &str, test: &dyn Fn(&str) -> bool| {
        let sessions = month.iter().filter(|session| session["project"] == project);
        let texts = sessions.flat_map(messages).filter_map(|message| message["content"].as_str());
        assert!(texts.filter(|text| test(text)).count() >= 3, "{project}");
    };
    let within = |text: &str, from: char, to: char| text.chars().any(|c| (from..=to).contains(&c));
    said("family", &|text| text.contains("ção") || text.contains("você") || text.contains("mãe"));
    said("family", &|text| within(text, '\u{0621}', '\u{064a}'));
    said("nordlicht", &|text| text.contains("Rechnung") || text.contains(" und "));
    said("japan", &|text| within(text, '\u{3041}', '\u{3096}'));
    said("sluice", &|text| within(text, '\u{4e00}', '\u{9fff}'));
}

#[test]
fn every_kind_of_session_is_there() {
    let month = month(NOW);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for session in &month {
        for field in ["source", "lineage", "end_reason", "project"] {
            let value = session[field].as_str().unwrap_or("none");
            *counts.entry(format!("{field} {value}")).or_default() += 1;
        }
        assert!(!session["system_prompt"].as_str().unwrap().is_empty());
        assert!(session["api_call_count"].as_i64().unwrap() > 0, "{}", session["id"]);
        let is_local = session["model"] == "qwen3:14b";
        assert_eq!(session["estimated_cost_usd"].as_f64().unwrap() > 0.0, !is_local);
        let accounts = session["usage"].as_array().unwrap();
        let own = accounts.iter().find(|account| account["task"] == "").unwrap();
        assert_eq!(own["model"], session["model"]);
        assert_eq!(own["output_tokens"], session["output_tokens"]);
    }
    for (what, least) in [
        ("source claude-code", 5),
        ("source codex", 3),
        ("source telegram", 10),
        ("source cli", 3),
        ("source cron", 4),
        ("source subagent", 2),
        ("lineage continuation", 5),
        ("lineage branch", 1),
        ("lineage delegate", 2),
        ("lineage reset", 1),
        ("end_reason none", 2),
        ("end_reason error", 1),
        ("end_reason compression", 5),
    ] {
        assert!(counts.get(what).is_some_and(|count| *count >= least), "{what}: {counts:#?}");
    }
    assert_eq!(month.iter().filter(|session| session["archived"] == true).count(), 1);
    let hidden = |what: &str| all(&month).filter(|message| message["visibility"] == what).count();
    assert!(hidden("rewound") >= 2);
    assert!(all(&month).filter(|message| message["reasoning"].is_string()).count() >= 10);
    assert!(all(&month).filter(|message| message["name"] == "Amélia").count() >= 3);
}

#[test]
fn no_mark_of_the_script_is_left() {
    for message in all(&month(NOW)) {
        let text = message.to_string();
        assert!(!text.contains("{{") && !text.contains("[[+") && !text.contains("[[-"), "{text}");
        let templates = ["[[iso", "[[th ", "[[pt ", "[[de ", "[[ja ", "[[ar ", "[[wd "];
        assert!(!templates.iter().any(|mark| text.contains(mark)), "{text}");
    }
}
