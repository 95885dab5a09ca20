//! Prints how fast extracts are made: of a file, line by line as messages and as one message, and of
//! texts that are hard on purpose. It owns the measured texts; it must not judge the figures.
#![allow(clippy::print_stdout, clippy::expect_used, missing_docs)]

use std::time::Instant;

use oneiro_extract::{ExtractRequest, SourceMessage, extract};

/// The day that everything was said on.
const DAY: Option<jiff::civil::Date> = Some(jiff::civil::Date::constant(2023, 5, 8));

/// Cheap, so that the figures are of the extract and not of the counter.
fn count(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn time(name: &str, said: &[SourceMessage<'_>]) {
    let bytes: usize = said.iter().map(|said| said.text.len()).sum();
    let request = ExtractRequest { said, target: 1200, about: None, count: &count };
    let mut length = 0;
    // The best of a few, so that other work on the machine does not count.
    let run = || {
        let start = Instant::now();
        length = extract(&request).len();
        start.elapsed()
    };
    let took = std::iter::repeat_with(run).take(7).min().unwrap_or_default();
    let speed = bytes as f64 / 1e6 / took.as_secs_f64();
    println!("{name:<28} {bytes:>9} bytes {took:>12.3?} {speed:>8.1} MB/s, {length} bytes out");
}

fn main() {
    if let Some(path) = std::env::args().nth(1) {
        let text = std::fs::read_to_string(path).expect("a file of text");
        let speakers = ["user", "assistant"];
        let lines: Vec<SourceMessage<'_>> = text
            .lines()
            .zip(speakers.iter().cycle())
            .map(|(text, speaker)| SourceMessage { speaker, text, day: DAY })
            .collect();
        time("lines of the file", &lines);
        time(
            "the file as one message",
            &[SourceMessage { speaker: "tool read", text: &text, day: DAY }],
        );
        for part in lines.chunks(400).take(3) {
            time("400 lines", part);
        }
    }
    let size = 1 << 20;
    for (name, piece) in [
        ("1 MB of a", "a"),
        ("1 MB of base64", "aGVsbG8gd29ybGQhIQ+Zm9vYmFy/"),
        ("1 MB of JSON", "{\"id\":123,\"name\":\"x\",\"tags\":[\"a\",\"b\"]},"),
        ("1 MB of marks", "\u{301}"),
        ("1 MB of stops", "."),
        ("1 MB of commas", "a, "),
        ("1 MB of parentheses", "("),
        ("1 MB of dots and spaces", ". "),
        ("1 MB of gaps", "a … "),
        ("1 MB of Chinese", "昨天我们去了山上，孩子们第一次看到了雪。"),
        ("1 MB of Thai", "เมื่อวานเราไปภูเขา"),
        ("1 MB of emoji", "👩\u{200d}👩\u{200d}👧"),
        ("1 MB of lines", "a\n"),
        ("1 MB of questions", "why? "),
        ("1 MB of and", "and we "),
        ("1 MB of yesterdays", "I saw Oslo yesterday. "),
        ("1 MB of calls", "called bash {\"command\":\"ls\"}\n"),
    ] {
        let text = piece.repeat(size / piece.len());
        time(name, &[SourceMessage { speaker: "user", text: &text, day: DAY }]);
    }
    let stops = format!("{}a", ".".repeat(size));
    time(
        "1 MB of stops and a letter",
        &[SourceMessage { speaker: "user", text: &stops, day: DAY }],
    );
    let tiny: Vec<SourceMessage<'_>> = (0..100_000)
        .map(|_| SourceMessage { speaker: "user", text: "ok then", day: DAY })
        .collect();
    time("100,000 tiny messages", &tiny);
}
