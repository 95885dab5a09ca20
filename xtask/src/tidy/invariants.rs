//! Every invariant has an id, one sentence, and tests that exist: an invariant without a test is a
//! wish.

use super::Problem;
use super::documents::defines;
use super::tree::Tree;
use std::collections::HashSet;

const INVARIANTS: &str = "docs/invariants.md";

/// The list in `docs/invariants.md` is well formed, and the tests it names exist.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(document) = tree.get(INVARIANTS) else {
        return vec![Problem::new(INVARIANTS, 1, "write the list of invariants")];
    };
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    let mut untested: Option<(usize, String)> = None;
    let without_test = |(line, id): (usize, String)| {
        Problem::new(INVARIANTS, line, format!("name the test that checks {id}"))
    };
    for (line, text) in document.lines() {
        if let Some(entry) = text.strip_prefix("- ") {
            problems.extend(untested.take().map(without_test));
            match parse_invariant(entry) {
                None => {
                    let remedy = "write `- **ID-1** One sentence.`, with its tests below";
                    problems.push(Problem::new(INVARIANTS, line, remedy));
                }
                Some(id) if !ids.insert(id) => {
                    problems.push(Problem::new(INVARIANTS, line, format!("{id} is used twice")));
                }
                Some(id) => untested = Some((line, id.to_owned())),
            }
        } else if let Some(test) = text.strip_prefix("  - ") {
            untested = None;
            let named = test.trim().trim_matches('`').rsplit_once("::");
            if !named
                .is_some_and(|(path, name)| tree.get(path).is_some() && defines(tree, path, name))
            {
                let remedy = format!("there is no test {test}: write `path::name` of one that is");
                problems.push(Problem::new(INVARIANTS, line, remedy));
            }
        }
    }
    problems.extend(untested.map(without_test));
    if ids.is_empty() {
        problems.push(Problem::new(INVARIANTS, 1, "list the invariants here"));
    }
    problems
}

/// The id of `**ID-1** One sentence.`; `None` where the entry has another form.
fn parse_invariant(entry: &str) -> Option<&str> {
    let (id, sentence) = entry.strip_prefix("**")?.split_once("** ")?;
    let (area, number) = id.split_once('-')?;
    let is_id = !area.is_empty()
        && area.bytes().all(|b| b.is_ascii_uppercase())
        && number.parse::<u32>().is_ok();
    let is_sentence = sentence.ends_with('.') && !sentence.trim_end_matches('.').contains(". ");
    (is_id && is_sentence).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &str) -> Vec<String> {
        let tree =
            Tree::made_up(&[(INVARIANTS, list), ("crates/a/src/b.rs", "// fn c() {}\nfn d() {}")]);
        check(&tree).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn invariants_with_tests_pass() {
        let list = "# Invariants\n\n- **A-1** It holds.\n  - `crates/a/src/b.rs::d`\n";
        assert_eq!(found(list), [""; 0]);
    }

    #[test]
    fn invariants_without_a_test_are_found() {
        let found = found("- **A-1** It holds.\n- **A-2** It too.\n\n## More\n");
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found.iter().all(|problem| problem.contains("name the test that checks A-")));
    }

    #[test]
    fn tests_that_do_not_exist_are_found() {
        let list = "- **A-1** It holds.\n  - `crates/a/src/b.rs::c`\n  - `crates/a/src/c.rs::d`\n";
        assert_eq!(found(list).len(), 2);
    }

    #[test]
    fn ids_are_unique_and_entries_are_one_sentence() {
        let test = "\n  - `crates/a/src/b.rs::d`\n";
        assert_eq!(found(&format!("- **A-1** It.{test}- **A-1** It.{test}")).len(), 1);
        for entry in ["- It holds.", "- **a-1** It.", "- **A-1** It. And it.", "- **A-1** It"] {
            assert_eq!(found(&format!("- **B-1** It.{test}{entry}{test}")).len(), 1, "{entry}");
        }
    }

    #[test]
    fn an_empty_list_is_found() {
        assert_eq!(found("# Invariants\n").len(), 1);
    }
}
