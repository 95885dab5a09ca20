//! The files of the repository, read once, so that a check is a function of paths and texts and
//! can be shown to fail on a made-up tree.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Never part of the repository, wherever they stand; see `.gitignore`.
const SKIPPED: [&str; 4] = [".git", ".venv", "__pycache__", "node_modules"];

/// Cargo marks its target directories with this file. The name `target` alone would not do: it
/// is also a good name for a module directory.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// One file, its path relative to the root and with `/` between the parts.
#[derive(Debug, Clone)]
pub struct File {
    /// Relative to the root of the repository.
    pub path: String,
    /// Empty for a file that is not UTF-8: there is nothing in it for a person to tidy.
    pub text: String,
    /// Whether its owner may execute it.
    pub executable: bool,
}

impl File {
    /// The lines of the text, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the name ends in a dot and this.
    pub fn has_extension(&self, extension: &str) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, found)| found == extension)
    }
}

/// The lines of a text, counted from 1.
pub fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // Not `lines()`: a carriage return before the newline is whitespace that a check should see.
    (1..).zip(text.split('\n'))
}

/// All files of a repository, in order of path.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: Vec<File>,
}

impl Tree {
    /// Reads the repository below `root`.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Tree::default();
        tree.read_directory(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// A tree of these paths and texts, none of them executable.
    #[cfg(test)]
    pub(crate) fn made_up(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File {
            path: path.to_owned(),
            text: text.to_owned(),
            executable: false,
        };
        Tree { files: files.iter().map(file).collect() }
    }

    /// Every file.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// Every Rust file.
    pub fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.has_extension("rs"))
    }

    /// The file at exactly this path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files().find(|file| file.path == path)
    }

    fn read_directory(&mut self, directory: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // In a worktree `.git` is a file.
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            // Symbolic links are neither: what they point to is checked where it is, or is not ours.
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !entry.path().join(CACHE_MARK).exists() {
                    self.read_directory(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() {
                let text = String::from_utf8(fs::read(entry.path())?).unwrap_or_default();
                let executable = entry.metadata()?.permissions().mode() & 0o100 != 0;
                self.files.push(File { path, text, executable });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one_and_keep_carriage_returns() {
        let lines: Vec<_> = numbered("a\r\nb").collect();
        assert_eq!(lines, [(1, "a\r"), (2, "b")]);
    }

    #[test]
    fn this_crate_is_read_without_build_output() {
        let tree = Tree::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(tree.get("src/tidy/tree.rs").is_some());
        assert!(tree.files().all(|file| !file.path.starts_with("target/")));
    }
}
