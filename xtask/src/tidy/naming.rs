//! Names that say nothing are refused: what is called Helper takes in everything, and a V2 is a
//! fork of something that should have been replaced.

use super::Problem;
use super::rust_source::{RustSource, is_word};
use super::tree::{Tree, numbered};

/// In the singular; the plural is refused with it.
const FORBIDDEN: [&str; 6] = ["manager", "helper", "util", "common", "service", "v2"];

const NAMING_KEYWORDS: [&str; 6] = ["struct", "enum", "union", "trait", "mod", "type"];

/// No path, type or module has a forbidden word in its name.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files() {
        if let Some(word) = file.path.split('/').find_map(forbidden_word) {
            problems.push(Problem::new(&file.path, 1, remedy("this path", &word)));
        }
    }
    for file in tree.rust_files() {
        for (line, text) in numbered(&RustSource::parse(&file.text).code) {
            for name in declared_names(text) {
                if let Some(word) = forbidden_word(name) {
                    let subject = format!("`{name}`");
                    problems.push(Problem::new(&file.path, line, remedy(&subject, &word)));
                }
            }
        }
    }
    problems
}

fn remedy(subject: &str, word: &str) -> String {
    format!("name {subject} after what it is or does; `{word}` says neither")
}

/// The names that a line of code gives to types and modules.
fn declared_names(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs.filter(|(word, _)| NAMING_KEYWORDS.contains(word)).map(|(_, name)| *name).collect()
}

fn forbidden_word(name: &str) -> Option<String> {
    words_of(name).into_iter().find(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        FORBIDDEN.contains(&singular)
    })
}

/// The words of a CamelCase, snake_case or file name, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = '_';
    let mut following = name.chars().skip(1);
    for c in name.chars() {
        let next = following.next().unwrap_or('_');
        // The second case is the last capital of a run: the S in HTTPService.
        let opens_word = c.is_uppercase() && (!previous.is_uppercase() || next.is_lowercase());
        if opens_word || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words_of("HTTPServiceV2"), ["http", "service", "v2"]);
        assert_eq!(words_of("read_only-copy.test.rs"), ["read", "only", "copy", "test", "rs"]);
    }

    #[test]
    fn forbidden_words_in_paths_and_declarations_are_found() {
        let tree = Tree::made_up(&[
            ("crates/a/src/utils/mod.rs", ""),
            ("scripts/test_helpers.sh", ""),
            (
                "crates/a/src/lib.rs",
                "pub struct JobManager;\nmod common;\ntype RowV2 = u8;\nenum Services {}\n",
            ),
        ]);
        let found: Vec<_> = check(&tree).iter().map(Problem::to_string).collect();
        assert_eq!(found.len(), 6, "{found:#?}");
        assert!(found.iter().any(|problem| problem.starts_with("crates/a/src/lib.rs:3:")));
    }

    #[test]
    fn other_words_comments_and_uses_are_left_alone() {
        let tree = Tree::made_up(&[(
            "crates/a/src/commons_dump.rs".replace("commons", "uncommon").as_str(),
            "// mod helper;\nuse tower::Service;\nstruct Servicing(u8);\nlet x = \"mod util\";\n",
        )]);
        assert_eq!(check(&tree), []);
    }
}
