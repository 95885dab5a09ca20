//! Names that say nothing are refused, and so are names that only this project understands. What
//! is called Helper takes in everything, a V2 is a fork of something that should have been
//! replaced, and `plainly` sends every reader to its definition.

use super::Problem;
use super::rust_source::{RustSource, is_word};
use super::tree::{Tree, numbered};

/// Words that no name of a path, type or module has among its words, in the singular; the plural
/// is refused with them.
const EMPTY_WORDS: [&str; 6] = ["manager", "helper", "util", "common", "service", "v2"];

/// Names that nothing declared has as a whole, in lower case, with examples of plain ones.
const PRIVATE_NAMES: [(&str, Declared, &str); 59] = [
    ("again", Declared::AsConstant, "RETRY_DELAY"),
    ("ahead", Declared::AsConstant, "MAX_WAITING_BATCHES"),
    ("answered", Declared::AsAnything, "PendingGuard, Response"),
    ("ask", Declared::AsAnything, "request, prompt, complete"),
    ("beyond", Declared::AsAnything, "difference"),
    ("carefully", Declared::AsAnything, "run_with_savepoints"),
    ("carried", Declared::AsAnything, "SlotTable"),
    ("carry", Declared::AsAnything, "copy_window"),
    ("complain", Declared::AsAnything, "render_error"),
    ("depth", Declared::AsConstant, "MAX_DEPTH"),
    ("durably", Declared::AsAnything, "sync_then_return"),
    ("fan", Declared::AsConstant, "MERGE_FAN_IN"),
    ("figures", Declared::AsAnything, "metrics, stats"),
    ("furnish", Declared::AsAnything, "add_fixture"),
    ("gate", Declared::AsAnything, "auth"),
    ("gather", Declared::AsConstant, "GROUP_WAIT"),
    ("goes", Declared::AsAnything, "matches"),
    ("goes_on", Declared::AsAnything, "continuation"),
    ("gone", Declared::AsAnything, "missing, removed"),
    ("holding", Declared::AsAnything, "existing_sessions"),
    ("hump", Declared::AsAnything, "subword"),
    ("in_our_words", Declared::AsAnything, "render_error"),
    ("joints", Declared::AsAnything, "identifier, links"),
    ("keeps_nothing_of", Declared::AsAnything, "is_stateless"),
    ("lead", Declared::AsAnything, "LeaderGuard, become_leader"),
    ("led", Declared::AsAnything, "has_leader"),
    ("listed", Declared::AsConstant, "MAX_LISTED_IDS"),
    ("longest", Declared::AsConstant, "MAX_ENTRY_BYTES"),
    ("look", Declared::AsAnything, "score_candidates, inspect"),
    ("many", Declared::AsConstant, "BATCH_ROWS"),
    ("measured", Declared::AsConstant, "MIN_MEASURED_TIME"),
    ("mend", Declared::AsAnything, "repair"),
    ("nameless", Declared::AsAnything, "derived_id"),
    ("ours", Declared::AsConstant, "RESERVED_NAMES"),
    ("outgrown", Declared::AsAnything, "over_budget"),
    ("patience", Declared::AsAnything, "busy_timeout"),
    ("patient", Declared::AsAnything, "busy_timeout, may_call_model"),
    ("plainly", Declared::AsAnything, "run_without_savepoints"),
    ("quietly", Declared::AsAnything, "ignore_error"),
    ("read", Declared::AsConstant, "READ_BATCH_ROWS"),
    ("removed", Declared::AsConstant, "REMOVE_BATCH_ROWS"),
    ("said", Declared::AsAnything, "message_text"),
    ("saw", Declared::AsAnything, "record_session"),
    ("says", Declared::AsAnything, "summary"),
    ("seat", Declared::AsAnything, "writer_slot"),
    ("shown", Declared::AsAnything, "visible_items"),
    ("some_go", Declared::AsAnything, "any_removed"),
    ("standing", Declared::AsAnything, "status"),
    ("stands", Declared::AsAnything, "visibilities"),
    ("tell", Declared::AsAnything, "render, report"),
    ("tidied", Declared::AsAnything, "unwrap_text"),
    ("told", Declared::AsConstant, "MAX_DIFFERENCES"),
    ("took", Declared::AsAnything, "imported"),
    ("turned", Declared::AsAnything, "changed"),
    ("unfenced", Declared::AsAnything, "strip_fence"),
    ("ways", Declared::AsAnything, "candidates, tabs"),
    ("whole", Declared::AsAnything, "fetch_session"),
    ("woven", Declared::AsAnything, "expand_bulk"),
    ("write", Declared::AsConstant, "WRITE_BATCH_ROWS"),
];

/// As what a name is refused: `read` is a plain function, and a constant without a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    AsAnything,
    AsConstant,
}

/// Files and folders that still have private names. An entry goes when its last private name does.
const NOT_YET_RENAMED: [&str; 3] =
    ["bench/src/context", "crates/engine/src/context/", "crates/engine/tests/it/context"];

/// Keywords before the name of a type or a module.
const TYPE_KEYWORDS: [&str; 6] = ["struct", "enum", "union", "trait", "mod", "type"];

/// Keywords before every other name that is checked.
const OTHER_KEYWORDS: [&str; 3] = ["fn", "const", "static"];

/// No path, type or module has an empty word in its name, and nothing has a private name.
pub fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, &NOT_YET_RENAMED)
}

fn check_with(tree: &Tree, not_yet_renamed: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files() {
        if let Some(word) = file.path.split('/').find_map(empty_word) {
            problems.push(Problem::new(&file.path, 1, name_it("this path", &word)));
        }
    }
    let mut is_needed = vec![false; not_yet_renamed.len()];
    for file in tree.rust_files() {
        let mut private = Vec::new();
        let module = file.path.trim_end_matches(".rs").trim_end_matches("/mod").rsplit('/').next();
        if let Some(found) = module.and_then(rename_it) {
            private.push(Problem::new(&file.path, 1, found));
        }
        for (line, text) in numbered(&RustSource::parse(&file.text).code) {
            for name in declared_names(text, &TYPE_KEYWORDS) {
                if let Some(word) = empty_word(name) {
                    let subject = format!("`{name}`");
                    problems.push(Problem::new(&file.path, line, name_it(&subject, &word)));
                }
            }
            let others = declared_names(text, &OTHER_KEYWORDS);
            for name in declared_names(text, &TYPE_KEYWORDS).into_iter().chain(others) {
                private.extend(rename_it(name).map(|it| Problem::new(&file.path, line, it)));
            }
        }
        let allowed = not_yet_renamed.iter().position(|entry| file.path.starts_with(entry));
        match allowed.and_then(|at| is_needed.get_mut(at)) {
            Some(needed) => *needed |= !private.is_empty(),
            None => problems.extend(private),
        }
    }
    for (entry, _) in not_yet_renamed.iter().zip(is_needed).filter(|(_, needed)| !needed) {
        let remedy = format!("has no private name left: take it off the list in {}", file!());
        problems.push(Problem::new(entry, 1, remedy));
    }
    problems
}

fn name_it(subject: &str, word: &str) -> String {
    format!("name {subject} after what it is or does; `{word}` says neither")
}

/// The names that a line of code declares after one of these keywords.
fn declared_names<'l>(line: &'l str, keywords: &[&str]) -> Vec<&'l str> {
    let words: Vec<&str> = line.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs.filter(|(word, _)| keywords.contains(word)).map(|(_, name)| *name).collect()
}

fn empty_word(name: &str) -> Option<String> {
    words_of(name).into_iter().find(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        EMPTY_WORDS.contains(&singular)
    })
}

/// What to do about a private name.
fn rename_it(name: &str) -> Option<String> {
    let is_constant = name.chars().all(char::is_uppercase);
    let (.., instead) = PRIVATE_NAMES.iter().find(|(private, declared, _)| {
        name.eq_ignore_ascii_case(private) && (is_constant || *declared == Declared::AsAnything)
    })?;
    Some(format!("rename `{name}` to what an engineer of the field would write: {instead}"))
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
        let found: Vec<_> = check_with(&tree, &[]).iter().map(Problem::to_string).collect();
        assert_eq!(found.len(), 6, "{found:#?}");
        assert!(found.iter().any(|problem| problem.starts_with("crates/a/src/lib.rs:3:")));
    }

    #[test]
    fn other_words_comments_and_uses_are_left_alone() {
        let tree = Tree::made_up(&[(
            "crates/a/src/commons_dump.rs".replace("commons", "uncommon").as_str(),
            "// mod helper;\nuse tower::Service;\nstruct Servicing(u8);\nlet x = \"mod util\";\n",
        )]);
        assert_eq!(check_with(&tree, &[]), []);
    }

    #[test]
    fn private_names_are_found_where_they_are_declared() {
        let tree = Tree::made_up(&[
            ("crates/a/src/mend.rs", "fn quietly() {}\nconst READ: usize = 1;\nstruct Seat;\n"),
            ("crates/a/src/b.rs", "fn read() {}\nfn seated() {}\n// fn said\nx.said();\n"),
        ]);
        let found: Vec<_> = check_with(&tree, &[]).iter().map(Problem::to_string).collect();
        assert_eq!(found.len(), 4, "{found:#?}");
        assert!(found.iter().all(|problem| problem.starts_with("crates/a/src/mend.rs:")));
    }

    #[test]
    fn the_list_of_files_not_yet_renamed_holds_nothing_it_need_not() {
        let tree = Tree::made_up(&[("crates/a/src/b.rs", "fn quietly() {}\n")]);
        assert_eq!(check_with(&tree, &["crates/a/"]), []);
        assert_eq!(check_with(&tree, &["crates/a/", "crates/b/"]).len(), 1);
    }
}
