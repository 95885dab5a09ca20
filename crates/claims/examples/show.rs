//! Prints the claims of each line of the standard input, for people who write rules.
#![allow(clippy::print_stdout, missing_docs)]

use std::io::BufRead;

use oneiro_claims::{Speaker, Utterance, claims};
use oneiro_model::Timestamp;

fn main() {
    let at = Timestamp::from_micros(1_683_547_200_000_000);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let text = line.replace("\\n", "\n");
        let (text, speaker) = match text.strip_prefix("assistant: ") {
            Some(text) => (text, Speaker::Assistant),
            None => (text.as_str(), Speaker::Person),
        };
        let (text, previous) = text.split_once(" << ").map_or((text, None), |(a, b)| (a, Some(b)));
        let found = claims(&Utterance { text, speaker, at, utc_offset_seconds: 0, previous });
        println!("{line}");
        for claim in found {
            let marks = [(claim.durable, "durable"), (claim.corrects, "corrects")];
            let marks: Vec<&str> = marks.iter().filter(|it| it.0).map(|it| it.1).collect();
            println!("    {} {} {:?}", claim.rule, marks.join(" "), claim.content);
        }
    }
}
