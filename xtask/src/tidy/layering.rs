//! Arrows between crates point one way, model <- store and index <- engine <- what people run, and the
//! database drivers are behind the store.

use super::Problem;
use super::manifest::{Dependency, Manifest};
use super::tree::Tree;

/// A crate, and the crates of this workspace that it may depend on.
const ARROWS: [(&str, &[&str]); 19] = [
    ("oneiro-model", &[]),
    ("oneiro-text", &[]),
    ("oneiro-count", &[]),
    ("oneiro-extract", &["oneiro-text"]),
    ("oneiro-claims", &["oneiro-model", "oneiro-text"]),
    ("oneiro-scan", &[]),
    ("oneiro-store", &["oneiro-model"]),
    ("oneiro-index", &["oneiro-model", "oneiro-text"]),
    (
        "oneiro",
        &[
            "oneiro-model",
            "oneiro-store",
            "oneiro-text",
            "oneiro-index",
            "oneiro-count",
            "oneiro-extract",
            "oneiro-claims",
            "oneiro-scan",
        ],
    ),
    ("oneiro-inference", &["oneiro"]),
    ("oneiro-mcp", &["oneiro"]),
    ("oneiro-page", &["oneiro"]),
    ("oneiro-demo", &["oneiro"]),
    ("oneiro-server", &["oneiro", "oneiro-mcp", "oneiro-page"]),
    ("oneiro-bench", &["oneiro", "oneiro-text", "oneiro-count", "oneiro-inference"]),
    (
        "oneiro-cli",
        &[
            "oneiro",
            "oneiro-bench",
            "oneiro-demo",
            "oneiro-inference",
            "oneiro-mcp",
            "oneiro-server",
        ],
    ),
    ("oneiro-python", &["oneiro", "oneiro-inference"]),
    (TESTKIT, &["oneiro-model"]),
    ("xtask", &["oneiro-model"]),
];

/// For tests alone, and for the tests of any crate.
const TESTKIT: &str = "oneiro-testkit";

/// A driver, and the crates that may depend on it.
const DRIVERS: [(&str, &[&str]); 2] = [
    // The bench compares with the barest loop there is over rusqlite.
    ("rusqlite", &["oneiro-store", "oneiro-bench"]),
    // The testkit makes and drops the databases that tests run in.
    ("postgres", &["oneiro-store", TESTKIT]),
];

/// Every dependency in every manifest is one that the tables above allow.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files().filter(|file| file.name() == "Cargo.toml") {
        let manifest = Manifest::parse(file);
        if manifest.package.is_empty() {
            continue;
        }
        let Some(allowed) = allowed_arrows(&manifest.package) else {
            let remedy = format!("say in {} what `{}` may depend on", file!(), manifest.package);
            problems.push(Problem::new(&file.path, 1, remedy));
            continue;
        };
        for dependency in &manifest.dependencies {
            if let Some(remedy) = fault(&manifest.package, allowed, dependency) {
                problems.push(Problem::new(&file.path, dependency.line, remedy));
            }
        }
    }
    problems
}

fn fault(package: &str, allowed: &[&str], dependency: &Dependency) -> Option<String> {
    let name = dependency.package.as_str();
    if dependency.for_tests {
        // Tests may look at anything below their crate, and into a store with a bare driver.
        let is_upward = is_internal(name) && name != TESTKIT && !reaches(package, name);
        return is_upward.then(|| {
            format!("move the test up: `{name}` is not below `{package}`, not even for tests")
        });
    }
    if name == TESTKIT {
        return Some(format!("move `{TESTKIT}` to [dev-dependencies]: it is for tests alone"));
    }
    if is_internal(name) && !allowed.contains(&name) {
        return Some(format!(
            "remove `{name}`: `{package}` may depend on {}",
            if allowed.is_empty() { "no crate of ours".to_owned() } else { allowed.join(", ") }
        ));
    }
    let (_, users) = DRIVERS.iter().find(|(driver, _)| *driver == name)?;
    let is_outside = !users.contains(&package);
    is_outside.then(|| format!("go through the store: `{name}` is for {}", users.join(", ")))
}

fn allowed_arrows(package: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|(name, _)| *name == package).map(|(_, allowed)| *allowed)
}

fn is_internal(name: &str) -> bool {
    allowed_arrows(name).is_some()
}

/// Whether arrows lead from one crate to the other, over however many between them.
fn reaches(from: &str, to: &str) -> bool {
    let allowed = allowed_arrows(from).unwrap_or_default();
    allowed.iter().any(|next| *next == to || reaches(next, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(package: &str, dependencies: &str) -> usize {
        let text = format!("[package]\nname = \"{package}\"\n{dependencies}");
        check(&Tree::made_up(&[("crates/x/Cargo.toml", &text)])).len()
    }

    #[test]
    fn an_arrow_that_points_up_is_found() {
        assert_eq!(found("oneiro", "[dependencies]\noneiro-store.workspace = true\n"), 0);
        assert_eq!(found("oneiro-store", "[dependencies]\noneiro.workspace = true\n"), 1);
        assert_eq!(found("oneiro-cli", "[dependencies]\noneiro-store.workspace = true\n"), 1);
        assert_eq!(found("xtask", "[dependencies]\noneiro.workspace = true\n"), 1);
    }

    #[test]
    fn a_driver_outside_the_store_is_found() {
        assert_eq!(
            found("oneiro-store", "[dependencies]\nrusqlite = \"1\"\npostgres = \"1\"\n"),
            0
        );
        assert_eq!(found("oneiro", "[dependencies]\nrusqlite = \"1\"\npostgres = \"1\"\n"), 2);
        assert_eq!(
            found("oneiro-bench", "[dependencies]\nrusqlite = \"1\"\npostgres = \"1\"\n"),
            1
        );
    }

    #[test]
    fn tests_may_look_down_but_not_up() {
        assert_eq!(found("oneiro-cli", "[dev-dependencies]\noneiro-store.workspace = true\n"), 0);
        assert_eq!(found("oneiro-store", "[dev-dependencies]\noneiro-testkit = \"1\"\n"), 0);
        assert_eq!(found("oneiro-store", "[dev-dependencies]\noneiro.workspace = true\n"), 1);
    }

    #[test]
    fn the_testkit_outside_tests_is_found() {
        assert_eq!(found("oneiro-cli", "[dependencies]\noneiro-testkit.workspace = true\n"), 1);
    }

    #[test]
    fn a_crate_without_a_rule_is_found() {
        assert_eq!(found("oneiro-extra", ""), 1);
    }
}
