//! The documents are there, short where they must be, and true: what they name in the repository
//! exists, and they cite nothing outside it.

use super::Problem;
use super::rust_source::{RustSource, is_word};
use super::tree::{File, Tree, numbered};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const CONTRIBUTING: &str = "CONTRIBUTING.md";

const REQUIRED: [&str; 13] = [
    "README.md",
    ARCHITECTURE,
    "GLOSSARY.md",
    CONTRIBUTING,
    "CHANGELOG.md",
    "LICENSE",
    "docs/invariants.md",
    "docs/design/storage.md",
    "docs/design/index-format.md",
    "docs/design/search.md",
    "docs/design/context.md",
    "docs/design/serving.md",
    "docs/design/python.md",
];

/// Somebody reads the architecture before a first change, in one sitting.
const ARCHITECTURE_MAX_BYTES: usize = 12 << 10;

/// Places that a new capability takes, in the numbered table of the contributing guide.
const CAPABILITY_PLACES: usize = 14;

/// Documents whose paths and functions are checked. A changelog may name what is gone.
const DESCRIBING: [&str; 3] = [ARCHITECTURE, CONTRIBUTING, "docs/"];

/// Endings by which a code span is known to be a file, even without a folder before it.
const FILE_ENDINGS: [&str; 6] = [".rs", ".py", ".sql", ".mjs", ".md", ".talk"];

/// Stands for the name of a new file in a path: its folder must exist.
const PLACEHOLDER: &str = "N";

/// Documents that developers may have beside the repository, and nobody else.
const OUTSIDE: [&str; 3] =
    [concat!("DESIGN", ".md"), concat!("STYLE", ".md"), concat!("wording", ".md")];

/// Every required document exists, and what documents and comments name exists as well.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in REQUIRED {
        if tree.get(path).is_none_or(|file| file.text.trim().is_empty()) {
            problems.push(Problem::new(path, 1, "write this document"));
        }
    }
    if let Some(architecture) = tree.get(ARCHITECTURE)
        && architecture.text.len() > ARCHITECTURE_MAX_BYTES
    {
        let remedy = format!(
            "{} bytes, {ARCHITECTURE_MAX_BYTES} at most: move details to docs/design",
            architecture.text.len()
        );
        problems.push(Problem::new(ARCHITECTURE, 1, remedy));
    }
    problems.extend(tree.get(CONTRIBUTING).into_iter().flat_map(check_places));
    for file in tree.files().filter(|file| file.has_extension("md")) {
        problems.extend(check_links(tree, file));
        if DESCRIBING.iter().any(|prefix| file.path.starts_with(prefix)) {
            problems.extend(check_paths(tree, file));
        }
    }
    problems.extend(tree.files().flat_map(check_citations));
    problems
}

/// The places of a capability are numbered, complete, and each names a path.
fn check_places(file: &File) -> Vec<Problem> {
    let row = |text: &str| -> Option<(usize, bool)> {
        let (number, place) = text.strip_prefix("| ")?.split_once(" | ")?;
        Some((number.parse().ok()?, code_spans(place).any(|span| span.contains('/'))))
    };
    let mut problems = Vec::new();
    let mut expected = 1;
    for (line, (number, has_path)) in file.lines().filter_map(|(at, text)| Some((at, row(text)?))) {
        if number != expected || !has_path {
            let remedy = format!("number {expected} comes here, with its path in a code span");
            problems.push(Problem::new(&file.path, line, remedy));
        }
        expected = number + 1;
    }
    if expected != CAPABILITY_PLACES + 1 {
        let remedy = format!("list the {CAPABILITY_PLACES} places that a capability takes");
        problems.push(Problem::new(&file.path, 1, remedy));
    }
    problems
}

/// Relative links lead to files of the repository.
fn check_links(tree: &Tree, file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in outside_code_blocks(&file.text) {
        for target in link_targets(text) {
            let is_elsewhere = target.contains("://") || target.starts_with(['#', '/']);
            let path = target.split('#').next().unwrap_or(target);
            if !is_elsewhere && !exists(tree, &resolve(&file.path, path)) {
                let remedy = format!("the link to {target} leads nowhere: link to what is there");
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

/// Paths and functions in code spans exist.
fn check_paths(tree: &Tree, file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in outside_code_blocks(&file.text) {
        for span in code_spans(text) {
            let (path, function) = match span.split_once("::") {
                Some((path, rest)) => (path, Some(rest.rsplit("::").next().unwrap_or(rest))),
                None => (span, None),
            };
            if !is_path(tree, path) {
                continue;
            }
            if let Some(missing) = missing_paths(tree, path).first() {
                let remedy = format!("there is no {missing}: name what is there");
                problems.push(Problem::new(&file.path, line, remedy));
            } else if let Some(function) = function
                && !defines(tree, path, function)
            {
                let remedy = format!("there is no function `{function}` in {path}");
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

/// Documents and comments state a rule instead of citing where it was first written down.
fn check_citations(file: &File) -> Vec<Problem> {
    let text = if file.has_extension("rs") {
        RustSource::parse(&file.text).comments
    } else if file.has_extension("md") {
        file.text.clone()
    } else {
        return Vec::new();
    };
    let cited = |line: &str| {
        let outside = OUTSIDE.iter().find(|name| line.contains(**name)).map(|name| (*name).into());
        outside.or_else(|| numbered_source(line))
    };
    let lines = numbered(&text).filter_map(|(line, text)| Some((line, cited(text)?)));
    lines
        .map(|(line, cited)| {
            let remedy =
                format!("`{cited}` is not in this repository: state the rule, not its source");
            Problem::new(&file.path, line, remedy)
        })
        .collect()
}

/// A section of a design, a numbered requirement or an issue: `DESIGN` with a number, `P` with a
/// number, and the like.
fn numbered_source(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_requirement = |word: &&&str| word.strip_prefix('P').is_some_and(is_number);
    let pair = words.windows(2).find_map(|pair| match pair {
        [source @ ("DESIGN" | "issue" | "Issue"), number] if is_number(number) => {
            Some(format!("{source} {number}"))
        }
        _ => None,
    });
    pair.or_else(|| words.iter().find(is_requirement).map(|word| (*word).to_owned()))
}

/// The lines of a document that are not inside a fenced block.
fn outside_code_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    numbered(text).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_inside ^= is_fence;
        !is_inside && !is_fence
    })
}

fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The addresses of `[text](address)`.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

/// A relative path, seen from the folder of a document.
fn resolve(document: &str, path: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a code span names a path of the repository, rather than a command or a type.
fn is_path(tree: &Tree, span: &str) -> bool {
    let is_path_char = |c: char| is_word(c) || "/.-{},*".contains(c);
    let first_part = span.split('/').next().unwrap_or_default();
    let is_below_root = span.contains('/') && is_folder(tree, first_part);
    span.chars().all(is_path_char)
        && (is_below_root || FILE_ENDINGS.iter().any(|ending| is_file_name(span, ending)))
}

fn is_file_name(span: &str, ending: &str) -> bool {
    span.strip_suffix(ending).is_some_and(|stem| stem.ends_with(is_word))
}

/// The paths that a span names and the tree does not have: `{a,b}` names several.
fn missing_paths(tree: &Tree, span: &str) -> Vec<String> {
    let alternatives = match (span.split_once('{'), span.split_once('}')) {
        (Some((before, rest)), Some((_, after))) => {
            let inside = rest.split('}').next().unwrap_or_default();
            inside.split(',').map(|part| format!("{before}{part}{after}")).collect()
        }
        _ => vec![span.to_owned()],
    };
    alternatives.into_iter().filter(|path| !exists(tree, &without_placeholder(path))).collect()
}

/// The part of a path before `NAME`, `NNNN` or `*`, up to its folder.
fn without_placeholder(path: &str) -> String {
    let is_placeholder = |part: &str| {
        part.contains('*')
            || part.split(['_', '.']).any(|word| {
                word.starts_with(PLACEHOLDER)
                    && word.len() > 1
                    && word.chars().all(char::is_uppercase)
            })
    };
    path.split('/').take_while(|part| !is_placeholder(part)).collect::<Vec<_>>().join("/")
}

/// Whether a path is a file or a folder, in full or as the end of a file's path.
fn exists(tree: &Tree, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path.is_empty() || is_folder(tree, path) || !files_at(tree, path).is_empty()
}

fn is_folder(tree: &Tree, path: &str) -> bool {
    tree.files().any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
}

/// The files whose path is this, or ends in it.
fn files_at<'t>(tree: &'t Tree, path: &str) -> Vec<&'t File> {
    let ends_so = |file: &&File| {
        file.path
            .strip_suffix(path)
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    tree.files().filter(ends_so).collect()
}

/// Whether a file defines a function or a test of this name, in Rust or in Python.
pub(super) fn defines(tree: &Tree, path: &str, function: &str) -> bool {
    files_at(tree, path).into_iter().any(|file| {
        let (code, keyword) = if file.has_extension("rs") {
            (RustSource::parse(&file.text).code, "fn")
        } else {
            (file.text.clone(), "def")
        };
        let definition = format!("{keyword} {function}");
        code.match_indices(&definition).any(|(at, _)| {
            !code.get(at + definition.len()..).unwrap_or_default().starts_with(is_word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a complete tree whose document at `path` has this text.
    fn found_in(path: &str, text: &str) -> Vec<String> {
        let places = places(CAPABILITY_PLACES);
        let mut files = REQUIRED.map(|path| (path, "text")).to_vec();
        files.retain(|(required, _)| *required != path && *required != CONTRIBUTING);
        if path != CONTRIBUTING {
            files.push((CONTRIBUTING, &places));
        }
        files.push((path, text));
        files.push(("crates/a/src/b.rs", "// fn gone() {}\nmod tests { fn holds() {} }\n"));
        files.push(("tests/c/test_d.py", "def test_e():\n    pass\n"));
        check(&Tree::made_up(&files)).iter().map(Problem::to_string).collect()
    }

    fn places(count: usize) -> String {
        (1..=count).map(|number| format!("| {number} | `crates/a` | - |\n")).collect()
    }

    #[test]
    fn the_places_of_a_capability_are_complete_and_in_order() {
        assert_eq!(found_in(CONTRIBUTING, &places(CAPABILITY_PLACES)), [""; 0]);
        assert_eq!(found_in(CONTRIBUTING, &places(CAPABILITY_PLACES - 1)).len(), 1);
        let all = places(CAPABILITY_PLACES);
        assert_eq!(found_in(CONTRIBUTING, &all.replace("| 7 |", "| 8 |")).len(), 2);
        assert_eq!(found_in(CONTRIBUTING, &all.replace("| 7 | `crates/a`", "| 7 | it")).len(), 1);
    }

    #[test]
    fn missing_and_empty_documents_are_found() {
        assert_eq!(check(&Tree::made_up(&[("README.md", "Oneiro")])).len(), REQUIRED.len() - 1);
        assert_eq!(found_in("GLOSSARY.md", "\n").len(), 1);
    }

    #[test]
    fn an_architecture_over_its_limit_is_found() {
        assert_eq!(found_in(ARCHITECTURE, &"a".repeat(ARCHITECTURE_MAX_BYTES)).len(), 0);
        assert_eq!(found_in(ARCHITECTURE, &"a".repeat(ARCHITECTURE_MAX_BYTES + 1)).len(), 1);
    }

    #[test]
    fn paths_and_functions_that_exist_pass() {
        let text = "`crates/a`, `crates/a/src/`, `b.rs`, `src/b.rs::holds`, `test_d.py::test_e`, \
                    `crates/a/src/NAME.rs`, `tests/{c,c/test_d.py}`, `cargo test`, `/v1/search`, \
                    `Type::method`, `a/b`";
        assert_eq!(found_in(ARCHITECTURE, text), [""; 0]);
    }

    #[test]
    fn paths_and_functions_that_do_not_exist_are_found() {
        let text = "\n`crates/b`, `c.rs`, `crates/a/src/b.rs::gone`, `test_d.py::test_f`, \
                    `crates/a/tests/NAME.rs`, `tests/{c,d}`";
        let found = found_in("docs/design/search.md", text);
        assert_eq!(found.len(), 6, "{found:#?}");
        assert!(found.iter().all(|problem| problem.starts_with("docs/design/search.md:2:")));
    }

    #[test]
    fn links_are_followed_from_the_folder_of_their_document() {
        let links = "[a](../../README.md), [b](storage.md#parts), [c](https://example.com/x.md), \
                     [d](#here)\n```\n[e](nowhere.md)\n```\n";
        assert_eq!(found_in("docs/design/search.md", links), [""; 0]);
        assert_eq!(found_in("docs/design/search.md", "[a](README.md)").len(), 1);
    }

    #[test]
    fn sources_outside_the_repository_are_found() {
        for cited in ["DESIGN 6", "P25", "see issue 14", OUTSIDE[1]] {
            assert_eq!(found_in("README.md", cited).len(), 1, "{cited}");
        }
        for plain in ["p95", "P2P", "GPT-4", "an issue", "design 6"] {
            assert_eq!(found_in("README.md", plain), [""; 0], "{plain}");
        }
        let comment = |text| check_citations(&made_up_file("crates/a/src/c.rs", text)).len();
        assert_eq!(comment("let a = 1; // P25: any script\n"), 1);
        assert_eq!(comment("let a = \"P25\";\n"), 0);
    }

    fn made_up_file(path: &str, text: &str) -> File {
        Tree::made_up(&[(path, text)]).get(path).cloned().unwrap()
    }
}
