//! A file holds one use case. Past 400 lines of code it usually holds two, and may stay only with
//! a reason; past 800 no reason helps.

use super::Problem;
use super::rust_source::RustSource;
use super::tree::Tree;

const SOFT: usize = 400;
const HARD: usize = 800;

/// Files over the soft limit, each with the reason that it is still one thing.
const ALLOWED: [(&str, &str); 2] = [
    ("crates/model/src/capability.rs", "one table, a row for each capability"),
    ("crates/server/src/api/mod.rs", "one table, a row for each endpoint"),
];

/// Rust files stay within the limits. Lines of code are those not blank, not comment, and before
/// the tests at the end of the file.
pub fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, &ALLOWED)
}

fn check_with(tree: &Tree, allowed: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files() {
        let lines = code_lines(&file.text);
        let is_allowed = allowed.iter().any(|(path, _)| *path == file.path);
        if lines > HARD {
            let remedy = format!("{lines} lines of code, {HARD} at most: split by use case");
            problems.push(Problem::new(&file.path, 1, remedy));
        } else if lines > SOFT && !is_allowed {
            let remedy = format!(
                "{lines} lines of code, {SOFT} without a reason: split by use case, or give the \
                 reason in {}",
                file!()
            );
            problems.push(Problem::new(&file.path, 1, remedy));
        } else if lines <= SOFT && is_allowed {
            let remedy =
                format!("{lines} lines of code: take it off the allow-list in {}", file!());
            problems.push(Problem::new(&file.path, 1, remedy));
        }
    }
    for (path, _) in allowed.iter().filter(|(path, _)| tree.get(path).is_none()) {
        let remedy = format!("is gone: take it off the allow-list in {}", file!());
        problems.push(Problem::new(path, 1, remedy));
    }
    problems
}

fn code_lines(text: &str) -> usize {
    let uncommented = RustSource::parse(text).uncommented;
    let lines: Vec<&str> = uncommented.lines().filter(|line| !line.trim().is_empty()).collect();
    let starts_tests = |&(at, line): &(usize, &&str)| {
        line.trim() == "#[cfg(test)]" && opens_module(lines.iter().skip(at + 1))
    };
    lines.iter().enumerate().find(starts_tests).map_or(lines.len(), |(at, _)| at)
}

/// Whether an inline module is next, under attributes of its own or none. Other things may stand
/// under `#[cfg(test)]`, and count.
fn opens_module<'a>(mut lines: impl Iterator<Item = &'a &'a str>) -> bool {
    lines
        .find(|line| !line.starts_with("#["))
        .is_some_and(|line| line.starts_with("mod ") && line.trim_end().ends_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: usize, allowed: &[(&str, &str)]) -> usize {
        let text = "fn f() {}\n".repeat(lines);
        check_with(&Tree::made_up(&[("crates/a/src/b.rs", &text)]), allowed).len()
    }

    #[test]
    fn only_code_before_the_tests_counts() {
        let text = "//! a\n\nuse b;\n#[cfg(test)]\nuse c;\n/* d\n e */\nlet f = \"\n// g\n\";\n\
                    #[cfg(test)]\n#[allow(h)]\nmod tests {\n    use super::*;\n}\n";
        assert_eq!(code_lines(text), 6);
    }

    #[test]
    fn files_over_the_limits_are_found() {
        let allowed = [("crates/a/src/b.rs", "one long table")];
        assert_eq!(found(SOFT, &[]), 0);
        assert_eq!(found(SOFT + 1, &[]), 1);
        assert_eq!(found(SOFT + 1, &allowed), 0);
        assert_eq!(found(HARD + 1, &allowed), 1);
    }

    #[test]
    fn the_allow_list_holds_nothing_it_need_not() {
        assert_eq!(found(SOFT, &[("crates/a/src/b.rs", "was long once")]), 1);
        assert_eq!(found(1, &[("crates/a/src/gone.rs", "was there once")]), 1);
    }
}
