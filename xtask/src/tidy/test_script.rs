//! There is one gate, and CI goes through the same one as a developer.

use super::Problem;
use super::tree::{File, Tree};

const TEST_SCRIPT: &str = "scripts/test";
const CI_SCRIPT: &str = ".ci/run";

/// The gate and the CI script can be executed, the CI script calls the gate, and the gate runs
/// everything under `tests`.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in [TEST_SCRIPT, CI_SCRIPT] {
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
    if tree.get(CI_SCRIPT).is_some_and(|file| !calls_gate(file)) {
        problems.push(Problem::new(
            CI_SCRIPT,
            1,
            format!("call {TEST_SCRIPT} here, and nothing else"),
        ));
    }
    problems.extend(tree.get(TEST_SCRIPT).into_iter().flat_map(|gate| forgotten(tree, gate)));
    problems
}

/// Cargo finds its tests by itself; a folder of others, or a script, is run only where it is named.
fn forgotten(tree: &Tree, gate: &File) -> Vec<Problem> {
    // Of a folder that is named, pytest runs the folders in it, too.
    let is_run = |path: &str| {
        let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        folders.filter(|folder| folder.contains('/')).any(|folder| {
            gate.text.contains(&format!("{folder}/")) || gate.text.contains(&format!("{folder}\n"))
        })
    };
    let is_test = |file: &&File| {
        let name = file.name();
        name.starts_with("test_") || name.ends_with(".test.mjs")
    };
    let tests = tree.files().filter(|file| file.path.starts_with("tests/")).filter(is_test);
    let forgotten = tests.filter(|file| !is_run(&file.path)).map(|file| file.path.as_str());
    let scripts = tree.files().filter(|file| file.executable && file.path.starts_with("tests/"));
    let unnamed = scripts.filter(|file| !gate.text.contains(&file.path));
    let paths = forgotten.chain(unnamed.map(|file| file.path.as_str()));
    paths.map(|path| Problem::new(path, 1, format!("run it in a step of {TEST_SCRIPT}"))).collect()
}

fn calls_gate(file: &File) -> bool {
    let commands = file.lines().map(|(_, line)| line.trim()).filter(|line| !line.starts_with('#'));
    commands
        .flat_map(str::split_whitespace)
        .any(|word| word.trim_matches('"').ends_with(TEST_SCRIPT))
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
        let tree = Tree::made_up(&[(TEST_SCRIPT, ""), (CI_SCRIPT, "exec scripts/test\n")]);
        assert_eq!(check(&tree).len(), 2);
    }

    #[test]
    fn tests_that_nobody_runs_are_found() {
        let found = |gate: &str, path: &str| {
            let tree = Tree::made_up(&[(TEST_SCRIPT, gate), (path, "")]);
            tree.get(TEST_SCRIPT).map_or(0, |gate| forgotten(&tree, gate).len())
        };
        assert_eq!(found("pytest tests/http\n", "tests/http/test_a.py"), 0);
        assert_eq!(found("node --test tests/page/*.test.mjs", "tests/page/a.test.mjs"), 0);
        assert_eq!(found("pytest tests/http\n", "tests/other/test_a.py"), 1);
        assert_eq!(found("pytest tests/http\n", "tests/http/conftest.py"), 0);
    }

    #[test]
    fn a_ci_script_that_goes_another_way_is_found() {
        let calls = |text: &str| {
            let file = Tree::made_up(&[(CI_SCRIPT, text)]);
            file.files().any(calls_gate)
        };
        assert!(calls("exec scripts/test\n"));
        assert!(!calls("# scripts/test\ncargo test\n"));
        assert!(!calls("exec scripts/test-cli\n"));
    }
}
