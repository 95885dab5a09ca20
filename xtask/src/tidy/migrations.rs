//! Migrations are numbered twins: a store of either engine must be able to take every step, in
//! the one order there is.

use super::Problem;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

const DIRECTORY: &str = "crates/store/src/schema/";
const ENGINES: [&str; 2] = ["sqlite", "postgres"];

/// Each `NNNN_name.ENGINE.sql` has its twin, and the numbers run from 0001 without a gap.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut steps: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for file in tree.files() {
        if !file.path.starts_with(DIRECTORY) || !file.has_extension("sql") {
            continue;
        }
        match parse(&file.path) {
            Some((step, engine)) => {
                steps.entry(step.to_owned()).or_default().insert(engine);
            }
            None => problems.push(Problem::new(
                &file.path,
                1,
                format!("name a migration {DIRECTORY}NNNN_name.sqlite.sql or .postgres.sql"),
            )),
        }
    }
    if steps.is_empty() {
        problems.push(Problem::new(DIRECTORY, 1, "write the first migration, 0001"));
    }
    for (expected, (step, engines)) in (1_usize..).zip(&steps) {
        let path = |engine: &str| format!("{DIRECTORY}{step}.{engine}.sql");
        for engine in ENGINES.iter().filter(|engine| !engines.contains(**engine)) {
            problems.push(Problem::new(&path(engine), 1, "write this twin of the other engine's"));
        }
        if !step.starts_with(&format!("{expected:04}_")) {
            let first = engines.iter().next().copied().unwrap_or_default();
            let remedy = format!("number this {expected:04}: no number is left out or used twice");
            problems.push(Problem::new(&path(first), 1, remedy));
        }
    }
    problems
}

/// `crates/store/src/schema/0001_start.sqlite.sql` is step `0001_start` for `sqlite`.
fn parse(path: &str) -> Option<(&str, &str)> {
    let name = path.strip_prefix(DIRECTORY)?.strip_suffix(".sql")?;
    let (step, engine) = name.rsplit_once('.')?;
    let (number, title) = step.split_once('_')?;
    let numbered = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    let titled = !title.is_empty()
        && title.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    (numbered && titled && ENGINES.contains(&engine)).then_some((step, engine))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Vec<String> {
        let paths: Vec<_> = names.iter().map(|name| format!("{DIRECTORY}{name}")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "")).collect();
        check(&Tree::made_up(&files)).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn contiguous_twins_pass() {
        let names = [
            "0001_a.sqlite.sql",
            "0001_a.postgres.sql",
            "0002_b.sqlite.sql",
            "0002_b.postgres.sql",
        ];
        assert_eq!(found(&names), [""; 0]);
    }

    #[test]
    fn a_missing_twin_is_found() {
        assert_eq!(found(&["0001_a.sqlite.sql"]), [format!("{DIRECTORY}0001_a.postgres.sql")]);
    }

    #[test]
    fn gaps_and_repeats_are_found() {
        let gap = ["0002_a.sqlite.sql", "0002_a.postgres.sql"];
        assert_eq!(found(&gap).len(), 1);
        let repeat = [
            "0001_a.sqlite.sql",
            "0001_a.postgres.sql",
            "0001_b.sqlite.sql",
            "0001_b.postgres.sql",
        ];
        assert_eq!(found(&repeat).len(), 1);
    }

    #[test]
    fn odd_names_and_no_migrations_at_all_are_found() {
        let twins = ["0001_a.sqlite.sql", "0001_a.postgres.sql", "2_b.sqlite.sql", "0002_b.sql"];
        assert_eq!(found(&twins).len(), 2);
        assert_eq!(found(&[]).len(), 1);
    }
}
