//! A module opens with its purpose: whoever opens a file reads first what it is for.

use super::Problem;
use super::tree::Tree;

/// Every Rust file of a crate's sources begins with a `//!` line.
pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust_files()
        .filter(|file| is_source(&file.path))
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| Problem::new(&file.path, 1, "begin with a `//!` line that says what it is for"))
        .collect()
}

fn is_source(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts.as_slice(), ["crates", _, "src", ..] | ["bench" | "xtask", "src", ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_purpose_is_found() {
        let tree = Tree::made_up(&[
            ("bench/src/lib.rs", "use std::fs;\n//! Too late.\n"),
            ("crates/a/src/b/c.rs", "//!\n"),
            ("crates/a/src/lib.rs", "//! The words.\n"),
            ("crates/a/tests/it/main.rs", "mod a;\n"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|problem| problem.path).collect();
        assert_eq!(found, ["bench/src/lib.rs", "crates/a/src/b/c.rs"]);
    }
}
