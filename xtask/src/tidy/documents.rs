//! The documents exist, and the tests that the architecture rests on do too: an invariant without
//! a test is a wish.

use super::Problem;
use super::rust_source::{RustSource, is_word};
use super::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";

const REQUIRED: [&str; 6] =
    ["README.md", ARCHITECTURE, "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"];

/// Every required document is there, and every `file.rs::test` that the architecture names.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in REQUIRED {
        if tree.get(path).is_none_or(|file| file.text.trim().is_empty()) {
            problems.push(Problem::new(path, 1, "write this document"));
        }
    }
    let Some(architecture) = tree.get(ARCHITECTURE) else {
        return problems;
    };
    for (line, text) in architecture.lines() {
        for (path, test) in text.split('`').skip(1).step_by(2).filter_map(named_test) {
            if !defines(tree, path, test) {
                let remedy = format!("there is no `fn {test}` in {path}: name the test that is");
                problems.push(Problem::new(ARCHITECTURE, line, remedy));
            }
        }
    }
    problems
}

/// Takes `path/to/file.rs::test` apart; modules between the two are left out.
fn named_test(code_span: &str) -> Option<(&str, &str)> {
    let (stem, rest) = code_span.split_once(".rs::")?;
    let path = code_span.get(..stem.len() + ".rs".len())?;
    Some((path, rest.rsplit("::").next().unwrap_or(rest)))
}

fn defines(tree: &Tree, path: &str, test: &str) -> bool {
    tree.get(path).is_some_and(|file| {
        let code = RustSource::parse(&file.text).code;
        let definition = format!("fn {test}");
        code.match_indices(&definition).any(|(at, _)| {
            !code.get(at + definition.len()..).unwrap_or_default().starts_with(is_word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(architecture: &str) -> Vec<String> {
        let mut files = REQUIRED.map(|path| (path, "text")).to_vec();
        files.retain(|(path, _)| *path != ARCHITECTURE);
        files.push((ARCHITECTURE, architecture));
        files.push(("crates/a/src/b.rs", "// fn gone() {}\nmod tests { fn holds() {} }\n"));
        check(&Tree::made_up(&files)).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn tests_that_exist_pass() {
        let named = "`x` held by `crates/a/src/b.rs::holds`, `crates/a/src/b.rs::tests::holds`";
        assert_eq!(found(named), [""; 0]);
    }

    #[test]
    fn tests_that_do_not_exist_are_found() {
        let named = "\n`crates/a/src/b.rs::hold`, `crates/a/src/b.rs::gone`, `crates/c.rs::holds`";
        let found = found(named);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found.iter().all(|problem| problem.starts_with("ARCHITECTURE.md:2:")));
    }

    #[test]
    fn missing_documents_are_found() {
        assert_eq!(check(&Tree::made_up(&[("README.md", "Oneiro")])).len(), REQUIRED.len() - 1);
        assert_eq!(found("\n").len(), 1, "an empty document is missing too");
    }
}
