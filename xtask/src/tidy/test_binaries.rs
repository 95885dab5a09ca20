//! A crate's integration tests are one binary, `tests/it`, which links once. The price: a file
//! that its `main.rs` does not declare is never compiled, and its tests pass by not running.

use super::Problem;
use super::rust_source::RustSource;
use super::tree::Tree;

const DIRECTORY: &str = "/tests/it/";

/// Every file of a `tests/it` directory is declared in its `main.rs`.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files() {
        let Some((package, rest)) = file.path.split_once(DIRECTORY) else {
            continue;
        };
        let Some(module) = module_of(rest) else {
            continue;
        };
        let main = format!("{package}{DIRECTORY}main.rs");
        let declared = tree.get(&main).is_some_and(|main| declares(&main.text, module));
        if !declared {
            let remedy = format!("add `mod {module};` to {main}, or these tests never run");
            problems.push(Problem::new(&file.path, 1, remedy));
        }
    }
    problems
}

/// The module that `main.rs` has to declare for this file. Files further down are for their own
/// parent module to declare.
fn module_of(path: &str) -> Option<&str> {
    let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"))?;
    (module != "main" && !module.contains('/')).then_some(module)
}

fn declares(main: &str, module: &str) -> bool {
    let declaration = format!("mod {module};");
    RustSource::parse(main).code.lines().map(str::trim).any(|line| {
        line.strip_suffix(declaration.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_files_are_found() {
        let tree = Tree::made_up(&[
            ("crates/a/tests/it/main.rs", "//! a\nmod kept;\n// mod forgotten;\npub mod deep;\n"),
            ("crates/a/tests/it/kept.rs", ""),
            ("crates/a/tests/it/forgotten.rs", ""),
            ("crates/a/tests/it/deep/mod.rs", "mod deeper;"),
            ("crates/a/tests/it/deep/deeper.rs", ""),
            ("crates/b/tests/it/no_main.rs", ""),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|problem| problem.path).collect();
        assert_eq!(found, ["crates/a/tests/it/forgotten.rs", "crates/b/tests/it/no_main.rs"]);
    }
}
