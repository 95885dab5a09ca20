//! Counts of tiktoken, made by `encode_ordinary` of `tiktoken-rs` 0.12: one line per text.

use serde_json::Value;

const COUNTS: &str = include_str!("../golden/o200k.jsonl");

#[test]
fn counts_are_those_of_tiktoken() {
    let mut wrong = Vec::new();
    for line in COUNTS.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let expected = line["tokens"].as_u64().unwrap() as usize;
        let pieces_with_counts = oneiro_count::tokens(line["text"].as_str().unwrap());
        if pieces_with_counts != expected {
            wrong.push(format!("{}: {pieces_with_counts}, not {expected}", line["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(COUNTS.lines().count() >= 60, "the file has lost lines");
}
