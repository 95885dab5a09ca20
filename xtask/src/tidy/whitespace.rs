//! Whitespace that nobody sees and every diff shows.

use super::Problem;
use super::tree::Tree;

const EXTENSIONS: [&str; 4] = ["rs", "md", "toml", "sql"];

/// No trailing whitespace and no tabs in the files that people write.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files() {
        if !EXTENSIONS.iter().any(|extension| file.has_extension(extension)) {
            continue;
        }
        for (line, text) in file.lines() {
            if text.ends_with(char::is_whitespace) {
                problems.push(Problem::new(&file.path, line, "remove the whitespace at the end"));
            }
            if text.contains('\t') {
                let remedy = "use spaces, or \\t in a literal, in place of the tab";
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_whitespace_and_tabs_are_found() {
        let tree = Tree::made_up(&[
            ("a.rs", "fn f() {} \n\tg();\n"),
            ("b.md", "c\r\n"),
            ("d.sql", "SELECT 1\n"),
            ("Makefile", "all:\n\tcargo build\n"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|p| (p.path, p.line)).collect();
        let expected = [("a.rs", 1), ("a.rs", 2), ("b.md", 1)];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
