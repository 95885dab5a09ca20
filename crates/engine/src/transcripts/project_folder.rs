//! Folders of projects by their real names, so that a folder with several names is one project.

use std::path::{Component, Path, PathBuf};

/// The folder of a project, with links resolved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectFolder(PathBuf);

impl ProjectFolder {
    /// Resolves the links in a name. Of a folder that does not exist any more, those in the part of
    /// its name that does are resolved. The name of a folder of another machine stays as it is.
    pub fn resolve(name: impl AsRef<Path>) -> ProjectFolder {
        let name = name.as_ref();
        for existing in name.ancestors().filter(|_| name.is_absolute()) {
            if let Ok(resolved) = std::fs::canonicalize(existing) {
                let rest = name.strip_prefix(existing).unwrap_or(Path::new(""));
                let joined = rest.components().fold(resolved, join);
                // Without its `..`, the rest may name something that exists.
                return ProjectFolder(std::fs::canonicalize(&joined).unwrap_or(joined));
            }
        }
        ProjectFolder(name.components().collect())
    }

    /// The name.
    pub fn name(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// The folder and those above it, the nearest first.
    pub(crate) fn with_parents(&self) -> impl Iterator<Item = ProjectFolder> + '_ {
        self.0.ancestors().map(|folder| ProjectFolder(folder.to_owned()))
    }

    pub(crate) fn is_in(&self, other: &ProjectFolder) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// A path with one more component, and without the last for `..`.
fn join(mut path: PathBuf, component: Component<'_>) -> PathBuf {
    if component == Component::ParentDir {
        path.pop();
    } else {
        path.push(component);
    }
    path
}

/// Folders whose lines are not captured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExcludedFolders {
    /// Those without the folders below them.
    pub alone: Vec<ProjectFolder>,
    /// Those with the folders below them.
    pub trees: Vec<ProjectFolder>,
}

impl ExcludedFolders {
    /// No folder.
    pub const NONE: &'static ExcludedFolders =
        &ExcludedFolders { alone: Vec::new(), trees: Vec::new() };

    /// Whether there is no folder.
    pub(super) fn is_empty(&self) -> bool {
        self.alone.is_empty() && self.trees.is_empty()
    }

    /// Whether nothing is captured in a folder, by any of its names.
    pub(super) fn contain(&self, name: &str) -> bool {
        // Most requests exclude nothing, and then no link is resolved.
        if self.is_empty() {
            return false;
        }
        let folder = ProjectFolder::resolve(name);
        self.alone.contains(&folder) || self.trees.iter().any(|tree| folder.is_in(tree))
    }

    /// Without the folders that a project is in.
    pub(crate) fn elsewhere_than(mut self, project: Option<&ProjectFolder>) -> ExcludedFolders {
        if let Some(project) = project {
            self.alone.retain(|folder| folder != project);
            self.trees.retain(|tree| !project.is_in(tree));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_folder_resolves_to_one() {
        let folder = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(real.join("garden")).unwrap();
        std::os::unix::fs::symlink(real.join("garden"), real.join("link")).unwrap();
        let garden = real.join("garden");
        for (name, resolved) in [
            (real.join("garden"), garden.clone()),
            (real.join("link"), garden.clone()),
            (real.join("link/"), garden.clone()),
            (real.join("gone/../link"), garden.clone()),
            (real.join("link/gone/deep"), garden.join("gone/deep")),
            (real.join("link/gone/../deep"), garden.join("deep")),
            (PathBuf::from("C:\\Users\\ann"), PathBuf::from("C:\\Users\\ann")),
        ] {
            assert_eq!(ProjectFolder::resolve(&name), ProjectFolder(resolved), "{name:?}");
        }
    }
}
