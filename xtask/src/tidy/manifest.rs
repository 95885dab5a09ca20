//! Reads the dependencies out of a `Cargo.toml`, line by line: enough for the forms in use here,
//! and no TOML library to wait for in every build.

use super::tree::{File, numbered};

/// A `Cargo.toml`, as far as layering needs it.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// The name of the package; empty for a workspace without one.
    pub package: String,
    /// Everything the package depends on, in order of lines.
    pub dependencies: Vec<Dependency>,
}

/// One dependency of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the other package, also where it goes by another one in the code.
    pub package: String,
    /// Whether only tests depend on it.
    pub for_tests: bool,
    /// The line it stands on, counted from 1.
    pub line: usize,
}

enum Section {
    Package,
    Dependencies {
        for_tests: bool,
    },
    /// `[dependencies.name]`: the lines below describe the dependency that was read last.
    OneDependency,
    Other,
}

impl Manifest {
    /// Reads a manifest.
    pub fn parse(file: &File) -> Self {
        let mut manifest = Manifest::default();
        let mut section = Section::Other;
        for (line, text) in numbered(&file.text) {
            let text = text.trim();
            if let Some(header) = text.strip_prefix('[') {
                section = manifest.open_section(header, line);
                continue;
            }
            let Some((key, value)) = text.split_once('=') else {
                continue;
            };
            // `serde.workspace = true` and `"serde" = "1"` both name serde.
            let name = unquoted(key.split('.').next().unwrap_or(key));
            match section {
                Section::Package if name == "name" => manifest.package = unquoted(value).to_owned(),
                Section::Dependencies { for_tests } => {
                    let package = renamed(value).unwrap_or(name).to_owned();
                    manifest.dependencies.push(Dependency { package, for_tests, line });
                }
                Section::OneDependency if name == "package" => {
                    if let Some(dependency) = manifest.dependencies.last_mut() {
                        dependency.package = unquoted(value).to_owned();
                    }
                }
                _ => {}
            }
        }
        manifest
    }

    fn open_section(&mut self, header: &str, line: usize) -> Section {
        let header = header.split(']').next().unwrap_or(header).trim();
        if header == "package" {
            return Section::Package;
        }
        // What the whole workspace may use is no dependency of anybody yet.
        if header.starts_with("workspace") {
            return Section::Other;
        }
        // The last parts decide: `[target.'cfg(unix)'.dependencies]` counts like the plain one.
        let mut parts = header.rsplit('.');
        let last = parts.next().unwrap_or_default();
        if let Some(for_tests) = table_kind(last) {
            return Section::Dependencies { for_tests };
        }
        match parts.next().and_then(table_kind) {
            Some(for_tests) => {
                let package = unquoted(last).to_owned();
                self.dependencies.push(Dependency { package, for_tests, line });
                Section::OneDependency
            }
            None => Section::Other,
        }
    }
}

/// Whether the table of this name lists dependencies, and if so, whether for tests alone.
fn table_kind(name: &str) -> Option<bool> {
    match name {
        "dependencies" | "build-dependencies" => Some(false),
        "dev-dependencies" => Some(true),
        _ => None,
    }
}

/// The package in `{ package = "name", .. }`.
fn renamed(value: &str) -> Option<&str> {
    let fields = value.trim().strip_prefix('{')?.split(['{', ',', '}']);
    let mut pairs = fields.filter_map(|field| field.split_once('='));
    pairs.find(|(key, _)| key.trim() == "package").map(|(_, value)| unquoted(value))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn parse(text: &str) -> Manifest {
        let tree = Tree::made_up(&[("Cargo.toml", text)]);
        tree.files().map(Manifest::parse).next().unwrap()
    }

    #[test]
    fn every_form_of_dependency_is_read() {
        let manifest = parse(
            "[package]\nname = \"a\"\n\n[dependencies]\nb.workspace = true\nc = \"1\"\n\
             d = { version = \"1\", package = \"e\" }\nf = { features = [\n  \"g\",\n] }\n\
             [target.'cfg(unix)'.dependencies]\nh = \"1\"\n[dependencies.i]\nversion = \"1\"\n\
             package = \"j\"\n[dev-dependencies]\nk = \"1\"\n[build-dependencies]\nl = \"1\"\n\
             [lints]\nworkspace = true\n",
        );
        let read: Vec<_> =
            manifest.dependencies.iter().map(|d| (d.package.as_str(), d.for_tests)).collect();
        assert_eq!(manifest.package, "a");
        let expected = [
            ("b", false),
            ("c", false),
            ("e", false),
            ("f", false),
            ("h", false),
            ("j", false),
            ("k", true),
            ("l", false),
        ];
        assert_eq!(read, expected);
        assert_eq!(manifest.dependencies.first().map(|d| d.line), Some(5));
    }

    #[test]
    fn what_a_workspace_offers_is_not_a_dependency() {
        let manifest = parse("[workspace.dependencies]\nb = \"1\"\n# c = \"1\"\n");
        assert_eq!(manifest.dependencies, []);
    }
}
