//! Inside the store only the back ends know a driver: what the engines do differently is a closed
//! list, and stays one only as long as there is one place for it.

use super::Problem;
use super::rust_source::RustSource;
use super::tree::{Tree, numbered};

const SOURCES: &str = "crates/store/src/";

const WORDS: [&str; 2] = ["rusqlite", "postgres"];

/// Where the words may be, each with the reason. A path ending in `/` is a directory.
const ALLOWED: [(&str, &str); 6] = [
    ("crates/store/src/backend/", "the back ends themselves"),
    ("crates/store/src/target.rs", "reads postgres:// addresses"),
    ("crates/store/src/schema.rs", "picks the migrations of an engine"),
    ("crates/store/src/schema/", "the migrations of an engine"),
    ("crates/store/src/lib.rs", "names the engines in the table of contents"),
    ("crates/store/src/store.rs", "opens the back end that a target names"),
];

/// No file of the store but those allowed has a driver's name in its code or literals.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| file.path.starts_with(SOURCES)) {
        if ALLOWED.iter().any(|(allowed, _)| covers(allowed, &file.path)) {
            continue;
        }
        for (line, text) in numbered(&RustSource::parse(&file.text).uncommented) {
            let text = text.to_lowercase();
            for word in WORDS.iter().filter(|word| text.contains(**word)) {
                let remedy = format!("move what needs `{word}` to {SOURCES}backend/");
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

fn covers(allowed: &str, path: &str) -> bool {
    path == allowed || (allowed.ends_with('/') && path.starts_with(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_outside_the_back_ends_is_found() {
        let tree = Tree::made_up(&[
            (
                "crates/store/src/sessions.rs",
                "\nuse rusqlite::Row;\nlet engine = Engine::Postgres;\n",
            ),
            ("crates/store/src/target.rs.rs", "let scheme = \"postgres://\";\n"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|p| (p.path, p.line)).collect();
        let expected = [
            ("crates/store/src/sessions.rs", 2),
            ("crates/store/src/sessions.rs", 3),
            ("crates/store/src/target.rs.rs", 1),
        ];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }

    #[test]
    fn comments_allowed_files_and_other_crates_are_left_alone() {
        let tree = Tree::made_up(&[
            ("crates/store/src/sessions.rs", "// PostgreSQL and rusqlite agree here.\n"),
            ("crates/store/src/backend/sqlite.rs", "use rusqlite::Row;\n"),
            ("crates/store/src/target.rs", "let scheme = \"postgres://\";\n"),
            ("bench/src/lib.rs", "use rusqlite::Row;\n"),
        ]);
        assert_eq!(check(&tree), []);
    }
}
