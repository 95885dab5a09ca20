//! The repository says nothing of the machine it was written on, nor of where packages are
//! fetched from: either would be wrong on the next machine.

use super::Problem;
use super::tree::{File, Tree};

/// Directories of a developer's machine. Put together from parts here and below, so that this
/// file passes its own check.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/", "home", "/"), concat!("/", "work", "/"), concat!("/", "root", "/")];

const REGISTRIES: [&str; 4] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("npmjs", ".org"),
    concat!("deb.debian", ".org"),
];

/// Cargo writes the name of its registry into this file.
const LOCK_FILE: &str = "Cargo.lock";

/// npm writes where it fetched each package from into this file, unless it is told not to.
const NPM_LOCK_FILE: &str = "package-lock.json";

/// No text file names a path of somebody's machine or the host of a package registry.
pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.files().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in file.lines() {
        for path in MACHINE_PATHS.iter().filter(|path| names_path(text, path)) {
            let remedy = format!("name no path under {path}: take a relative one, or $HOME");
            problems.push(Problem::new(&file.path, line, remedy));
        }
        if file.name() == NPM_LOCK_FILE && text.trim_start().starts_with("\"resolved\"") {
            let remedy = "write it anew with `omit-lockfile-registry-resolved=true` in .npmrc";
            problems.push(Problem::new(&file.path, line, remedy));
        }
        for host in REGISTRIES.iter().filter(|host| text.contains(**host)) {
            if file.name() != LOCK_FILE {
                let remedy = format!("do not name {host}: which registry is the machine's choice");
                problems.push(Problem::new(&file.path, line, remedy));
            }
        }
    }
    problems
}

/// Whether a line has the path at its root: `docs` before it would make it one of ours.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || "._-~})>*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> usize {
        check(&Tree::made_up(&[("docs/a.md", line)])).len()
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        for path in MACHINE_PATHS {
            assert_eq!(found(&format!("see {path}alice/x")), 1);
            assert_eq!(found(&format!("open file://{path}x")), 1);
            assert_eq!(found(&format!("see docs{path}x")), 0);
        }
    }

    #[test]
    fn a_lock_file_of_npm_tells_no_addresses() {
        let locked = |line: &str| check(&Tree::made_up(&[("tests/a/package-lock.json", line)]));
        assert_eq!(locked("      \"resolved\": \"https://mirror.example/x.tgz\",").len(), 1);
        assert_eq!(locked("      \"integrity\": \"sha512-x\","), []);
    }

    #[test]
    fn registries_are_found_but_not_in_the_lock_file() {
        for host in REGISTRIES {
            let line = format!("source = \"https://{host}/x\"");
            assert_eq!(found(&line), 1);
            assert_eq!(check(&Tree::made_up(&[(LOCK_FILE, &line)])), []);
        }
    }
}
