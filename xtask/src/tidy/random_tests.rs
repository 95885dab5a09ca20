//! Random tests draw from the seed of the testkit, so that the gate runs the same cases every time
//! and a failure names the command that replays it.

use super::Problem;
use super::rust_source::RustSource;
use super::tree::{Tree, numbered};

const TESTKIT: &str = "crates/testkit/";
const CONFIG: &str = "oneiro_testkit::proptest_config(";

/// Code that draws from a seed nobody knows.
const UNKNOWN_SEEDS: [&str; 4] =
    ["ProptestConfig", "test_runner::Config", "TestRunner::default", "Config::default()"];

/// Every use of proptest has the configuration of the testkit.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| !file.path.starts_with(TESTKIT)) {
        let source = RustSource::parse(&file.text);
        if !source.code.contains("proptest") {
            continue;
        }
        for (line, code) in numbered(&source.code) {
            if UNKNOWN_SEEDS.iter().any(|name| code.contains(name)) {
                let remedy = format!("take the configuration from `{CONFIG}cases)`");
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
        for (at, _) in source.code.match_indices("proptest!") {
            let (before, after) = source.code.split_at(at);
            if !is_configured(before, after) {
                let line = before.matches('\n').count() + 1;
                let remedy = format!("begin with `#![proptest_config({CONFIG}cases))]`");
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

/// A block of tests names its configuration first; a call takes it from a variable that was made
/// before it.
fn is_configured(before: &str, after: &str) -> bool {
    let body = after.trim_start_matches("proptest!").trim_start();
    if let Some(block) = body.strip_prefix('{') {
        let first = block.trim_start();
        return first.starts_with(&format!("#![proptest_config({CONFIG}"));
    }
    body.starts_with("(config,") && before.contains(CONFIG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::made_up(&[("crates/a/tests/it/laws.rs", text)])).len()
    }

    #[test]
    fn random_tests_without_the_seed_are_found() {
        assert_eq!(found("proptest! {\n    #[test]\n    fn f(a: u8) {}\n}"), 1);
        assert_eq!(found("proptest! { #![proptest_config(other(1))] }"), 1);
        assert_eq!(found("use proptest::prelude::*; let config = ProptestConfig::default();"), 1);
        assert_eq!(found("proptest!(|(a: u8)| {});"), 1);
    }

    #[test]
    fn random_tests_with_the_seed_are_left_alone() {
        let block = format!("proptest! {{\n    #![proptest_config({CONFIG}9))]\n}}");
        assert_eq!(found(&block), 0);
        assert_eq!(
            found(&format!("let config = {CONFIG}9); proptest!(config, |(a: u8)| {{}});")),
            0
        );
        assert_eq!(found("let config = Config::default();"), 0, "no use of proptest");
    }
}
