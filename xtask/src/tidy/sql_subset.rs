//! SQL is written once for both engines, in the subset that means the same to both. That every
//! statement can be prepared on both is for the store's own tests; here is what prepares and yet
//! differs, or fails where no test looks.

use super::Problem;
use super::rust_source::{Literal, RustSource, is_word};
use super::tree::{Tree, numbered};

const SOURCES: &str = "crates/store/src/";

/// What may differ between the engines is here, and so is their own SQL.
const BACK_ENDS: &str = "crates/store/src/backend/";

/// A literal that begins with one of these is SQL: a statement, or a clause that a statement is
/// put together from.
const OPENINGS: [&str; 19] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "WITH",
    "FROM",
    "JOIN",
    "LEFT",
    "ON",
    "SET",
    "VALUES",
    "WHERE",
    "AND",
    "OR",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "RETURNING",
];

/// Words that one engine lacks or reads differently.
const WORDS: [(&str, &str); 3] = [
    ("LIKE", "search through the text index: LIKE folds case in SQLite alone"),
    ("ILIKE", "search through the text index: SQLite has no ILIKE"),
    ("AUTOINCREMENT", "take ids from the sequence counter: PostgreSQL has no AUTOINCREMENT"),
];

/// Functions of the time, which comes in through the clock.
const CLOCKS: [&str; 3] = ["DATETIME", "NOW", "STRFTIME"];

/// SQL in the store keeps to the subset, outside the back ends.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files() {
        if !file.path.starts_with(SOURCES) || file.path.starts_with(BACK_ENDS) {
            continue;
        }
        for literal in RustSource::parse(&file.text).literals {
            for (line, remedy) in faults(&literal) {
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

fn faults(literal: &Literal) -> Vec<(usize, String)> {
    // A backslash at the end of a line continues the Rust literal; to SQL it is whitespace.
    let content = literal.content.replace("\\\n", " \n");
    let first_word = content.split_whitespace().next().unwrap_or_default();
    if !OPENINGS.contains(&first_word) {
        return Vec::new();
    }
    let sql = without_quoted(&content).to_uppercase();
    let mut faults = Vec::new();
    for (offset, line) in numbered(&sql) {
        let mut report = |remedy: &str| faults.push((literal.line + offset - 1, remedy.to_owned()));
        for (_, remedy) in WORDS.iter().filter(|(word, _)| words(line).any(|(_, w)| w == *word)) {
            report(remedy);
        }
        for (at, word) in words(line).filter(|(at, word)| is_call(line, at + word.len())) {
            if CLOCKS.contains(&word) {
                report("take the time as a parameter: it comes in through the clock");
            }
            let before = line.get(..at).unwrap_or_default();
            if word == "SUM" && !before.trim_end().ends_with("CAST(") {
                report("write CAST(SUM(..) AS BIGINT): PostgreSQL sums BIGINT to NUMERIC");
            }
        }
        if number_follows(line, '$').any(|numbered| numbered) {
            report("write the parameter as ?1: the PostgreSQL back end rewrites it");
        }
        if number_follows(line, '?').any(|numbered| !numbered) {
            report("number the parameter, as in ?1: a bare ? is none in PostgreSQL");
        }
    }
    faults
}

/// For every place of the mark, whether a number follows, or the braces that `format!` puts one in.
fn number_follows(line: &str, mark: char) -> impl Iterator<Item = bool> {
    line.match_indices(mark).map(move |(at, _)| {
        let after = line.get(at + mark.len_utf8()..).unwrap_or_default();
        after.starts_with(|c: char| c.is_ascii_digit() || c == '{')
    })
}

/// The words of a line and where they begin.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split_inclusive(|c| !is_word(c)).filter_map(move |piece| {
        let start = at;
        at += piece.len();
        let word = piece.trim_end_matches(|c| !is_word(c));
        (!word.is_empty()).then_some((start, word))
    })
}

fn is_call(line: &str, end_of_word: usize) -> bool {
    line.get(end_of_word..).unwrap_or_default().trim_start().starts_with('(')
}

/// Blanks SQL's own string literals: a question mark in one is text. The doubled quote that
/// stands for a quote ends one and begins the next, which comes to the same.
fn without_quoted(sql: &str) -> String {
    let mut quoted = false;
    let blanked = sql.chars().map(|c| {
        quoted ^= c == '\'';
        if quoted && c != '\n' { ' ' } else { c }
    });
    blanked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sql: &str) -> Vec<usize> {
        let text = format!("const SQL: &str = \"{sql}\";\n");
        let tree = Tree::made_up(&[("crates/store/src/messages.rs", &text)]);
        check(&tree).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn the_subset_passes() {
        let sql = "\\\n  WITH x AS (SELECT CAST(SUM(a) AS BIGINT) FROM t WHERE b = ?1 AND c <> '?')\n\
                   UPDATE likes SET summary = ?12 RETURNING known, sum_id";
        assert_eq!(found(sql), [0; 0]);
    }

    #[test]
    fn every_departure_is_found() {
        for sql in [
            "SELECT a FROM t WHERE b LIKE ?1",
            "SELECT a FROM t WHERE b ilike ?1",
            "SELECT a FROM t WHERE b = $1",
            "INSERT INTO t VALUES (?)",
            "SELECT SUM(a) FROM t",
            "SELECT COALESCE(sum (a), 0) FROM t",
            "UPDATE t SET a = datetime('x')",
            "DELETE FROM t WHERE a < NOW()",
            "WITH x AS (SELECT strftime('%s')) SELECT 1",
            "INSERT INTO t DEFAULT VALUES AUTOINCREMENT",
            " WHERE a = ?",
            "AND b LIKE ?{n}",
        ] {
            assert_eq!(found(sql), [1], "{sql}");
        }
    }

    #[test]
    fn a_departure_is_found_on_its_line() {
        assert_eq!(found("\\\n  SELECT a\n  FROM t\n  WHERE b = ?"), [4]);
    }

    #[test]
    fn other_literals_and_the_back_ends_are_left_alone() {
        assert_eq!(found("Selected what you like?"), [0; 0]);
        let sql = "let sql = \"SELECT a FROM t WHERE b = $1\";";
        assert_eq!(check(&Tree::made_up(&[("crates/store/src/backend/postgres.rs", sql)])), []);
        assert_eq!(check(&Tree::made_up(&[("crates/engine/src/lib.rs", sql)])), []);
    }
}
