//! Agents at work: calls told once, logs left out, and the statements of the list made by hand kept.

use jiff::civil::Date;
use oneiro_extract::{ExtractRequest, SourceMessage, extract};
use serde_json::Value;

use crate::{Told, assert_extracted, count, extract_told};

const DAY: &str = "2 March 2026";

#[test]
fn repeated_calls_are_a_count_and_the_last_outcome() {
    let mut told: Vec<Told<'_>> =
        vec![(DAY, "user", "The queue tests fail, ticket QUE-417. Please fix them.")];
    for n in 0..11 {
        told.push((DAY, "assistant", r#"called bash {"command":"cargo test 2>&1 | tail -3"}"#));
        let result = if n < 10 { "test result: FAILED. 9 failed" } else { "3 failed" };
        told.push((DAY, "tool bash", result));
    }
    told.push((
        DAY,
        "assistant",
        "The cause is the lock in src/drain.rs. Fixed in 9c41e07, closes QUE-417.",
    ));
    let text = extract_told(&told, 110);
    assert_extracted(
        &text,
        &["ran cargo test 11 times, last: 3 failed", "9c41e07, closes QUE-417"],
        &["called bash", "command"],
    );
    assert_eq!(text.matches("cargo test").count(), 1, "{text}");
}

#[test]
fn a_nightly_log_is_told_by_its_end() {
    let mut log: String = (1..400).map(|n| format!("test queue::case_{n:03}... ok\n")).collect();
    log.push_str("test queue::drain_under_load... FAILED\n");
    log.push_str("test result: FAILED. 399 passed; 1 failed; finished in 91.20s\n");
    let told = [
        (DAY, "user", "Why is the nightly build red?"),
        (DAY, "tool bash", log.as_str()),
        (DAY, "assistant", "Only queue::drain_under_load fails."),
    ];
    assert_extracted(&extract_told(&told, 120), &["drain_under_load", "1 failed"], &["case_"]);
}

/// Of everything on the list, at least four fifths.
const KEPT_PERCENT_MIN: usize = 80;

#[test]
fn summaries_of_an_eighth_keep_four_fifths_of_what_the_list_names() {
    let cases: Value = serde_json::from_str(oneiro_testkit::AGENT_WORK).unwrap();
    let (mut all, mut missing) = (0, Vec::new());
    for case in cases.as_array().unwrap().iter().filter(|case| case["messages"].is_array()) {
        let messages: Vec<(String, String, Date)> =
            case["messages"].as_array().unwrap().iter().map(|one| message(one).unwrap()).collect();
        let said: Vec<SourceMessage<'_>> = messages
            .iter()
            .map(|(speaker, text, day)| SourceMessage { speaker, text, day: Some(*day) })
            .collect();
        let tokens: usize =
            said.iter().map(|said| count(said.speaker) + count(said.text) + 4).sum();
        let request =
            ExtractRequest { said: &said, target: tokens / 8, about: None, count: &count };
        let text = extract(&request).to_lowercase();
        for phrases in case["keep"].as_array().unwrap() {
            all += 1;
            let phrases = phrases.as_array().unwrap();
            let is_kept = |phrase: &Value| text.contains(&phrase.as_str().unwrap().to_lowercase());
            if !phrases.iter().all(is_kept) {
                missing.push(format!("{}: {phrases:?}", case["name"]));
            }
        }
    }
    let kept = all - missing.len();
    assert!(kept * 100 >= all * KEPT_PERCENT_MIN, "{kept} of {all}, without {missing:#?}");
}

/// The speaker, the words with the calls, and the day of a message.
fn message(message: &Value) -> Option<(String, String, Date)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let role = text(&message["role"]);
    let speaker = if role == "tool" { format!("tool {}", text(&message["name"])) } else { role };
    let mut words = text(&message["content"]);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let call = format!("called {} {}", text(&function["name"]), text(&function["arguments"]));
        words = format!("{words}\n{call}").trim_start().to_owned();
    }
    let day = message["at"].as_str()?.get(..10)?.parse().ok()?;
    Some((speaker, words, day))
}
