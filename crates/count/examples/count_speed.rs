//! Prints what counting costs on this machine: `cargo run --profile dist -p oneiro-count --example
//! speed -- FILE..`. It owns the measured texts; it must not judge the figures.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 15;
const MEGABYTE: usize = 1 << 20;

/// The best of some rounds, so that other work on the machine does not count.
fn time(name: &str, text: &str) {
    let mut tokens = 0;
    let round = || {
        let start = Instant::now();
        tokens = oneiro_count::tokens(black_box(text));
        start.elapsed().as_secs_f64()
    };
    let best = std::iter::repeat_with(round).take(ROUNDS).fold(f64::MAX, f64::min);
    let rate = text.len() as f64 / best / 1e6;
    println!("{name:<24} {:>9} bytes {tokens:>9} tokens {rate:>8.1} MB/s", text.len());
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let before = resident();
    let start = Instant::now();
    black_box(oneiro_count::tokens("hello"));
    println!("first call {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("resident {before} before, {} after", resident());

    for path in std::env::args().skip(1) {
        time(&path, &std::fs::read_to_string(&path)?);
    }
    let mut random = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(MEGABYTE).collect();
    let letters: String = std::iter::repeat_with(|| random.lowercase()).take(MEGABYTE).collect();
    let chinese = "昨天我们去了山上，孩子们第一次看到了雪。他们一直玩到晚上，完全不想回家。";
    let russian = "Вчера мы были в горах, и дети впервые увидели снег, а потом пили чай с мёдом. ";
    for (name, text) in [
        ("Chinese", chinese.repeat(MEGABYTE / chinese.len())),
        ("Russian", russian.repeat(MEGABYTE / russian.len())),
        ("one letter", "a".repeat(MEGABYTE)),
        ("one capital", "A".repeat(MEGABYTE)),
        ("spaces", " ".repeat(MEGABYTE)),
        ("ends of lines", "\n".repeat(MEGABYTE)),
        ("one sign", "=".repeat(MEGABYTE)),
        ("letters without spaces", letters),
        ("noise", String::from_utf8_lossy(&noise).into_owned()),
    ] {
        time(name, &text);
    }
    Ok(())
}
