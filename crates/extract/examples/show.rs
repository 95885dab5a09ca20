//! Prints the extract of a JSON list of [speaker, text]. It owns nothing; it must not judge.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs
)]
use oneiro_extract::{ExtractRequest, Said, extract};
fn main() {
    let mut a = std::env::args().skip(1);
    let data: Vec<(String, String)> =
        serde_json::from_slice(&std::fs::read(a.next().unwrap()).unwrap()).unwrap();
    let target: usize = a.next().unwrap().parse().unwrap();
    let about = a.next();
    let said: Vec<Said> = data.iter().map(|(s, t)| Said { speaker: s, text: t }).collect();
    let count = |t: &str| {
        t.chars()
            .fold((0, 0), |(n, run), c| {
                if c.is_ascii_alphabetic() {
                    (n + usize::from(run % 7 == 0), run + 1)
                } else {
                    (n + usize::from(!c.is_whitespace() || c == '\n'), 0)
                }
            })
            .0
    };
    println!(
        "{}",
        extract(&ExtractRequest { said: &said, target, about: about.as_deref(), count: &count })
    );
}
