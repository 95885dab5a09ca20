//! Prints how fast claims are found: in the lines of a file, one message each, and in texts that are
//! hard on purpose. The best of a few runs, because other work on the machine does not count.
#![allow(clippy::print_stdout, clippy::expect_used, missing_docs)]

use std::time::Instant;

use oneiro_claims::{Speaker, Utterance, claims};
use oneiro_model::Timestamp;

fn time(name: &str, messages: &[&str]) {
    let bytes: usize = messages.iter().map(|text| text.len()).sum();
    let at = Timestamp::from_micros(1_683_547_200_000_000);
    let mut found = 0;
    let run = || {
        let start = Instant::now();
        let all = messages.iter().map(|text| {
            let speaker = Speaker::Person;
            let previous = None;
            claims(&Utterance { text, speaker, at, utc_offset_seconds: 0, previous }).len()
        });
        found = all.sum();
        start.elapsed()
    };
    let took = std::iter::repeat_with(run).take(7).min().unwrap_or_default();
    let speed = bytes as f64 / 1e6 / took.as_secs_f64();
    println!("{name:<24} {bytes:>9} bytes {took:>12.3?} {speed:>8.1} MB/s, {found} claims");
}

fn main() {
    let file = std::env::args().nth(1);
    let text = file.map(|path| std::fs::read_to_string(path).expect("a file of text"));
    if let Some(text) = &text {
        let lines: Vec<&str> = text.lines().collect();
        time("lines of the file", &lines);
    }
    let fixture = include_str!("../tests/fixtures/tune.txt");
    let lines: Vec<&str> = fixture.lines().filter_map(|line| line.rsplit(" | ").next()).collect();
    time("labelled lines", &lines);
    for (name, piece) in [
        ("1 MB of a", "a"),
        ("1 MB of dashes", "-"),
        ("1 MB of line breaks", "\n"),
        ("1 MB of short lines", "I live in Porto\n"),
        ("1 MB of words", "lorem ipsum dolor sit amet. "),
        ("1 MB of and I", "and I "),
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        time(name, &[&text]);
    }
}
