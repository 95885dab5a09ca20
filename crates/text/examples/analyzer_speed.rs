//! Prints how long the analyzer takes. It owns the measured texts; it must not judge the figures.
#![allow(clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use oneiro_text::{Analyzer, Phrase, chunks, normalise};

const ENGLISH: &str = "Hey Caroline, it was so good to see you at the support group last week! I \
    finally signed up for the pottery class we talked about, and the first session is on Tuesday \
    evening. The kids are excited too, they keep asking whether they can paint their own cups. \
    Don't worry about the camping trip, we'll find another weekend in July, and I've already \
    called the park.";
const CODE: &str = "The build fails with error[E0277] in crates/text/src/scan.rs:120 since \
    HttpClient::sendRequest returns a Result<Vec<u8>, io::Error>; see https://example.com/a/b?c=1 \
    and v1.2.3-rc.1, or run cargo test -p oneiro-text --release with RUST_BACKTRACE=1 set.";
const RUSSIAN: &str = "Привет, Анна! Вчера мы были в горах, и дети впервые увидели снег. Они \
    катались до вечера и совсем не хотели идти домой, а потом мы пили чай с мёдом у бабушки.";
const CHINESE: &str = "昨天我们去了山上，孩子们第一次看到了雪。他们一直玩到晚上，完全不想回家。\
    后来我们在奶奶家喝了茶，还吃了她做的饺子。";

/// The best of many batches, so that other work on the machine does not count.
fn time(name: &str, mut run: impl FnMut()) {
    let batch = || {
        let start = Instant::now();
        (0..100).for_each(|_| run());
        start.elapsed().as_nanos() / 100
    };
    let best = std::iter::repeat_with(batch).take(200).min();
    println!("{name:<24} {:>8} ns", best.unwrap_or_default());
}

fn main() {
    let mut analyzer = Analyzer::default();
    for (name, text) in
        [("English", ENGLISH), ("code", CODE), ("Russian", RUSSIAN), ("Chinese", CHINESE)]
    {
        let mut tokens = 0;
        analyzer.tokens(text, |_| tokens += 1);
        println!(
            "{name}: {} words, {} bytes, {tokens} tokens",
            text.split_whitespace().count(),
            text.len()
        );
        time("  tokens", || {
            analyzer.tokens(text, |token| {
                black_box(token);
            })
        });
    }
    let question = "When did Caroline go to the LGBTQ support group?";
    time("query_words", || {
        black_box(analyzer.query_words(question));
    });
    let phrase = Phrase::new("called the park");
    time("Phrase::find", || {
        black_box(phrase.find(ENGLISH));
    });
    time("normalise English", || {
        black_box(normalise(ENGLISH));
    });
    time("normalise Russian", || {
        black_box(normalise(RUSSIAN));
    });
    let long = ENGLISH.repeat(10);
    time("chunks of 600 words", || {
        black_box(chunks(&long));
    });
    for (name, text) in [
        ("1 MB of a", "a".repeat(1 << 20)),
        ("1 MB of base64", "aGVsbG8gd29ybGQhIQ+Zm9vYmFy/".repeat((1 << 20) / 29)),
        ("1 MB of English", ENGLISH.repeat((1 << 20) / ENGLISH.len())),
        ("1 MB of Chinese", CHINESE.repeat((1 << 20) / CHINESE.len())),
    ] {
        let start = Instant::now();
        let mut tokens = 0;
        analyzer.tokens(&text, |_| tokens += 1);
        let took = start.elapsed();
        let start = Instant::now();
        let cut = chunks(&text).len();
        println!(
            "{name:<18} {tokens:>8} tokens in {took:>10?}, {cut:>6} chunks in {:?}",
            start.elapsed()
        );
    }
}
