//! The tokens of fixed texts. Indexes contain them, so they may change only with the version.

use std::fmt::Write;

use oneiro_text::{Analyzer, VERSION};

const TEXTS: &str = include_str!("golden.txt");
const TOKENS: &str = include_str!("golden_tokens.txt");

#[test]
fn tokens_change_only_with_the_version() {
    let mut analyzer = Analyzer::default();
    let mut dump = format!("version {VERSION}\n");
    for line in TEXTS.lines() {
        analyzer.tokens(line, |token| {
            let stop = if token.stop { " stop" } else { "" };
            let (kind, term, norm) = (token.kind, token.term, token.norm);
            let (start, end, position) = (token.start, token.end, token.position);
            writeln!(dump, "{position} {start}..{end} {kind:?} {norm} {term}{stop}").unwrap();
        });
    }
    if dump != TOKENS {
        let place = std::env::temp_dir().join("oneiro_text_golden_tokens.txt");
        std::fs::write(&place, &dump).unwrap();
        panic!(
            "tokens changed: raise VERSION, then replace golden_tokens.txt by {}",
            place.display()
        );
    }
}
