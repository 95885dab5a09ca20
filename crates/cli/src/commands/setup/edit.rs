//! Changes of other programs' files: computed on text, shown as a diff, written beside the file and
//! put in its place, undone exactly. It must not know agents.

use oneiro::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// One replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The byte it begins at.
    pub at: usize,
    /// What is taken out.
    pub old: String,
    /// What is put in.
    pub new: String,
}

impl Change {
    /// What makes `after` of `before`: everything between what both begin and end with.
    pub fn between(before: &str, after: &str) -> Change {
        let both = |(one, other): &(char, char)| one == other;
        let bytes = |pairs: (char, char)| pairs.0.len_utf8();
        let at = before.chars().zip(after.chars()).take_while(both).map(bytes).sum();
        let (old, new) =
            (before.get(at..).unwrap_or_default(), after.get(at..).unwrap_or_default());
        let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(both).map(bytes).sum();
        let part = |text: &str| text.get(..text.len() - end).unwrap_or_default().to_owned();
        Change { at, old: part(old), new: part(new) }
    }

    /// The text with the change.
    pub fn apply(&self, text: &str) -> Option<String> {
        let (before, rest) = (text.get(..self.at)?, text.get(self.at..)?);
        Some(format!("{before}{}{}", self.new, rest.strip_prefix(self.old.as_str())?))
    }

    /// The text without the change. Where others have moved it, it is looked for, and must be there
    /// once.
    pub fn revert(&self, text: &str) -> Option<String> {
        let back = |at| Change { at, old: self.new.clone(), new: self.old.clone() };
        if let Some(reverted) = back(self.at).apply(text) {
            return Some(reverted);
        }
        let mut found = text.match_indices(self.new.as_str());
        match (found.next(), found.next()) {
            (Some((at, _)), None) if !self.new.is_empty() => back(at).apply(text),
            _ => None,
        }
    }
}

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// Left alone because of this.
    pub fn new(why: impl Into<String>) -> Refusal {
        Refusal(why.into())
    }
}

/// A file as it was found.
#[derive(Debug, Clone)]
pub struct Original {
    /// The name it was asked for by.
    pub path: PathBuf,
    /// The file that links lead to, which is replaced.
    target: PathBuf,
    /// What it held; `None` when it was not there.
    bytes: Option<Vec<u8>>,
}

/// Files above this size are no configuration.
const FILE_BYTES: u64 = 64 << 20;

impl Original {
    /// Reads a file that may not exist.
    pub fn read(path: &Path) -> Result<Original> {
        let target = match std::fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    return Err(Error::conflict(format!("{} is a broken link", path.display()))
                        .remedy("fix the link, or remove it"));
                }
                let (path, target) = (path.to_owned(), path.to_owned());
                return Ok(Original { path, target, bytes: None });
            }
            Err(error) => return Err(cannot("read", path, error)),
        };
        let meta = std::fs::metadata(&target).map_err(|error| cannot("read", path, error))?;
        if !meta.is_file() || meta.len() > FILE_BYTES {
            return Err(Error::conflict(format!("{} is not a configuration file", path.display())));
        }
        let bytes = std::fs::read(&target).map_err(|error| cannot("read", path, error))?;
        Ok(Original { path: path.to_owned(), target, bytes: Some(bytes) })
    }

    /// Whether the file was there.
    pub fn exists(&self) -> bool {
        self.bytes.is_some()
    }

    /// What it held; nothing when it was not there.
    pub fn text(&self) -> Result<&str, Refusal> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| Refusal::new("it is not UTF-8"))
    }

    /// The difference, as `diff -u` shows it.
    pub fn diff(&self, new: Option<&str>) -> String {
        let name = self.path.display().to_string();
        let old = String::from_utf8_lossy(self.bytes.as_deref().unwrap_or_default());
        let diff = similar::TextDiff::from_lines(old.as_ref(), new.unwrap_or_default());
        let before = if self.exists() { name.as_str() } else { "/dev/null" };
        let after = if new.is_some() { name.as_str() } else { "/dev/null" };
        let shown = diff.unified_diff().context_radius(3).header(before, after).to_string();
        // A terminal shows the line ends of other systems as an unknown character.
        shown.replace("\r\n", "\n")
    }

    /// Puts `new` in the place of the file, or removes it; refused when it changed since it was
    /// read.
    pub fn replace(&self, new: Option<&str>) -> Result<()> {
        self.refuse_changed()?;
        let Some(new) = new else {
            return std::fs::remove_file(&self.target)
                .map_err(|error| cannot("remove", &self.path, error));
        };
        let folder = self.target.parent().unwrap_or(Path::new("."));
        let written = (|| {
            let mut part = tempfile::Builder::new().prefix(".oneiro-").tempfile_in(folder)?;
            part.write_all(new.as_bytes())?;
            if self.exists() {
                let meta = std::fs::metadata(&self.target)?;
                let made = part.as_file().metadata()?;
                // Somebody else's file stays theirs, also when an administrator runs this.
                if (meta.uid(), meta.gid()) != (made.uid(), made.gid()) {
                    std::os::unix::fs::fchown(part.as_file(), Some(meta.uid()), Some(meta.gid()))?;
                }
                part.as_file().set_permissions(meta.permissions())?;
            }
            part.as_file().sync_all()?;
            Ok(part)
        })();
        let part = written.map_err(|error| cannot("write", &self.path, error))?;
        // Once more, as late as can be: what a running agent wrote meanwhile must not be lost.
        self.refuse_changed()?;
        let kept = if self.exists() {
            part.persist(&self.target)
        } else {
            part.persist_noclobber(&self.target)
        };
        kept.map(drop).map_err(|error| cannot("write", &self.path, error.error))
    }

    fn refuse_changed(&self) -> Result<()> {
        let now = match std::fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot("read", &self.path, error)),
        };
        if now == self.bytes {
            Ok(())
        } else {
            Err(Error::conflict(format!("{} changed while setup was running", self.path.display()))
                .remedy("run `oneiro setup` again; quit the agent first if it keeps happening"))
        }
    }
}

fn cannot(what: &str, path: &Path, error: std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("cannot {what} {}: {error}", path.display()))
        .remedy("check the path and its permissions")
        .because(error)
}
