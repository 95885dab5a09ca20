//! What is useful while writing and must not stay: gaps, debug prints, tests that do not run.

use super::Problem;
use super::rust_source::{RustSource, is_word};
use super::tree::{Tree, numbered};

const MACROS: [(&str, &str); 3] = [
    ("todo", "write what is missing"),
    ("unimplemented", "write what is missing"),
    ("dbg", "remove the debug print"),
];

/// No Rust file has an unfinished place, a debug print or an ignored test.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files() {
        for (line, code) in numbered(&RustSource::parse(&file.text).code) {
            for (name, remedy) in MACROS {
                if calls_macro(code, name) {
                    problems.push(Problem::new(&file.path, line, remedy));
                }
            }
            if ignores_test(code) {
                let remedy = "let the test run, or delete it: an ignored test proves nothing";
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

fn calls_macro(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + name.len()..).unwrap_or_default();
        after.starts_with('!') && !after.starts_with("!=") && !before.ends_with(is_word)
    })
}

fn ignores_test(code: &str) -> bool {
    let conditionally =
        code.contains("cfg_attr") && code.split(|c| !is_word(c)).any(|word| word == "ignore");
    conditionally || code.contains(concat!("#[", "ignore"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_found() {
        let text = concat!(
            "fn f() { todo",
            "!() }\nlet a = unimplemented",
            "!(\"b\");\nstd::dbg!(a);\n#[",
            "ignore]\n#[",
            "ignore = \"slow\"]\n#[cfg_attr(windows, ignore)]\n",
        );
        assert_eq!(check(&Tree::made_up(&[("a.rs", text)])).len(), 6);
    }

    #[test]
    fn comments_literals_and_longer_names_are_left_alone() {
        let text = concat!(
            "// todo",
            "!()\nlet a = \"dbg!()\";\nmy_todo",
            "!();\nif todo != done {}\nignore(a);\n",
        );
        assert_eq!(check(&Tree::made_up(&[("a.rs", text)])), []);
    }
}
