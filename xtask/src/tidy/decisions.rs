//! Records of decisions have one form and stay short: context, decision, consequences.

use super::Problem;
use super::tree::{File, Tree};
use std::collections::HashSet;

const FOLDER: &str = "docs/decisions/";
const HEADINGS: [&str; 3] = ["## Context", "## Decision", "## Consequences"];
const MAX_LINES: usize = 25;

/// Every record is `NNNN-title.md` with a number of its own, the three headings in order, and few
/// lines.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut numbers = HashSet::new();
    let mut problems = Vec::new();
    for file in tree.files().filter(|file| file.path.starts_with(FOLDER)) {
        match number(file.name()) {
            None => problems.push(Problem::new(&file.path, 1, "name it NNNN-title.md")),
            Some(number) if !numbers.insert(number) => {
                problems.push(Problem::new(&file.path, 1, format!("{number} is used twice")));
            }
            Some(_) => {}
        }
        problems.extend(check_form(file));
    }
    problems
}

fn number(name: &str) -> Option<&str> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let is_number = number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit());
    (is_number && !title.is_empty()).then_some(number)
}

fn check_form(file: &File) -> Option<Problem> {
    let lines = file.text.lines().count();
    let headings: Vec<&str> = file.text.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != HEADINGS {
        Some(Problem::new(&file.path, 1, format!("give it the headings {}", HEADINGS.join(", "))))
    } else if lines > MAX_LINES {
        let remedy = format!("{lines} lines, {MAX_LINES} at most: move details to docs/design");
        Some(Problem::new(&file.path, 1, remedy))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str =
        "# 1. A\n\n## Context\n\nB.\n\n## Decision\n\nC.\n\n## Consequences\n\nD.\n";

    fn found(files: &[(&str, &str)]) -> usize {
        check(&Tree::made_up(files)).len()
    }

    #[test]
    fn records_of_the_form_pass() {
        assert_eq!(found(&[("docs/decisions/0001-a.md", RECORD), ("docs/other.md", "")]), 0);
    }

    #[test]
    fn odd_names_repeated_numbers_and_other_forms_are_found() {
        assert_eq!(found(&[("docs/decisions/a.md", RECORD)]), 1);
        let twice = [("docs/decisions/0001-a.md", RECORD), ("docs/decisions/0001-b.md", RECORD)];
        assert_eq!(found(&twice), 1);
        assert_eq!(found(&[("docs/decisions/0001-a.md", "# 1. A\n\n## Decision\n\nC.\n")]), 1);
        let long = format!("{RECORD}{}", "- E.\n".repeat(MAX_LINES));
        assert_eq!(found(&[("docs/decisions/0001-a.md", &long)]), 1);
    }
}
