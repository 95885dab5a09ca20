//! There is one gate, and CI goes through the same one as a developer.

use super::Problem;
use super::tree::{File, Tree};

const GATE: &str = "scripts/test";
const CI: &str = ".ci/run";

/// The gate and the CI script can be executed, and the CI script calls the gate.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in [GATE, CI] {
        match tree.get(path) {
            None => problems.push(Problem::new(path, 1, "write this script")),
            Some(file) if !file.executable => {
                problems.push(Problem::new(
                    path,
                    1,
                    format!("make it executable: chmod +x {path}"),
                ));
            }
            Some(_) => {}
        }
    }
    if tree.get(CI).is_some_and(|file| !calls_gate(file)) {
        problems.push(Problem::new(CI, 1, format!("call {GATE} here, and nothing else")));
    }
    problems
}

fn calls_gate(file: &File) -> bool {
    let commands = file.lines().map(|(_, line)| line.trim()).filter(|line| !line.starts_with('#'));
    commands.flat_map(str::split_whitespace).any(|word| word.trim_matches('"').ends_with(GATE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_scripts_are_found() {
        assert_eq!(check(&Tree::default()).len(), 2);
    }

    #[test]
    fn scripts_that_cannot_be_executed_are_found() {
        let tree = Tree::made_up(&[(GATE, ""), (CI, "exec scripts/test\n")]);
        assert_eq!(check(&tree).len(), 2);
    }

    #[test]
    fn a_ci_script_that_goes_another_way_is_found() {
        let calls = |text: &str| {
            let file = Tree::made_up(&[(CI, text)]);
            file.files().any(calls_gate)
        };
        assert!(calls("exec scripts/test\n"));
        assert!(!calls("# scripts/test\ncargo test\n"));
        assert!(!calls("exec scripts/test-cli\n"));
    }
}
