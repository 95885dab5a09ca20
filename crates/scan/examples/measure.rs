//! Prints how many attacks are found and how many notes are found wrongly, by kind, and how fast a
//! scan is. With `failures` as argument, names the lines that fail, of the files that rules
//! are tuned on.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeMap;
use std::time::Instant;

use oneiro_scan::{scan, scan_all};

#[path = "../tests/fixtures/lines.rs"]
mod lines;

use lines::{FIXTURES, Fixture, read_lines};

fn print_rates(fixture: &Fixture) {
    let mut kinds: BTreeMap<(bool, String), (usize, usize)> = BTreeMap::new();
    for line in read_lines(fixture.text) {
        let found = usize::from(scan(&line.text).is_some());
        // The kinds of the other files would show what to tune.
        let kind = fixture.is_tuned.then_some(line.label);
        for label in kind.into_iter().chain(["all".to_owned()]) {
            let (hits, total) = kinds.entry((!line.is_attack, label)).or_default();
            *hits += found;
            *total += 1;
        }
    }
    for ((is_note, label), (hits, total)) in kinds {
        let (name, kind) = (fixture.name, if is_note { "note" } else { "attack" });
        let percent = hits as f64 * 100.0 / total as f64;
        println!("{name:<13} {kind:<6} {label:<10} found {hits:>3} of {total:>3} {percent:>6.1} %");
    }
}

fn print_failures() {
    for line in FIXTURES.iter().filter(|it| it.is_tuned).flat_map(|it| read_lines(it.text)) {
        let found = scan_all(&line.text);
        if found.is_empty() == line.is_attack {
            let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
            println!("{} {rules:?} {:?}", line.label, line.text);
        }
    }
}

fn print_speed(name: &str, texts: &[String]) {
    let bytes: usize = texts.iter().map(String::len).sum();
    let run = || {
        let start = Instant::now();
        let found = texts.iter().filter(|text| scan(text).is_some()).count();
        (start.elapsed(), found)
    };
    let (took, found) = std::iter::repeat_with(run).take(5).min().unwrap();
    let speed = bytes as f64 / 1e6 / took.as_secs_f64();
    println!("{name:<24} {bytes:>9} bytes {took:>12.3?} {speed:>8.1} MB/s, {found} found");
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("failures") {
        return print_failures();
    }
    let start = Instant::now();
    scan("hello");
    println!("first call, which compiles the rules: {:.1?}", start.elapsed());
    FIXTURES.iter().for_each(print_rates);
    let notes = || FIXTURES.iter().flat_map(|it| read_lines(it.text)).filter(|it| !it.is_attack);
    let ordinary: Vec<String> = notes().map(|line| line.text).collect();
    print_speed("ordinary notes", &ordinary);
    let joined = ordinary.join("\n").repeat(60);
    print_speed("them as one text", &[joined]);
    for piece in ["a", " ", "-", "ignore ", "ignore the ", "a b ", "é", "\u{200d}", "<!-- "] {
        print_speed(&format!("1 MB of {piece:?}"), &[piece.repeat((1 << 20) / piece.len())]);
    }
}
