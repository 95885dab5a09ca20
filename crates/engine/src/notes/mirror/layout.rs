//! Layouts: which files of a folder are notes, and what the notes are called.

use super::folder::SyncError;
use super::marker;
use oneiro_model::{EntryStyle, Layout, NoteName};
use std::io;
use std::path::{Path, PathBuf};

/// Folders in a plain mount that are not looked into.
const SKIPPED_FOLDERS: &[&str] = &["node_modules", "target"];

/// Entries of a folder that are looked at, with those below it. A folder with more is no folder of notes.
const ENTRIES_MAX: usize = 10_000;

/// How deep a plain mount is looked into.
const DEPTH_MAX: usize = 16;

/// What stands between the name of a file and the hash of a text that was kept beside it.
pub(super) const COPY_MARK: &str = ".conflict-";

/// Texts that were kept beside a file.
pub(super) fn copies_of(file: &Path) -> io::Result<Vec<PathBuf>> {
    let start = format!("{}{COPY_MARK}", file.file_name().unwrap_or_default().to_string_lossy());
    let folder = match std::fs::read_dir(file.parent().unwrap_or(file)) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut copies = Vec::new();
    for entry in folder {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&start) {
            copies.push(entry.path());
        }
    }
    copies.sort();
    Ok(copies)
}

/// Files with fixed names, each with the name of its note.
fn fixed(layout: Layout) -> &'static [(&'static str, &'static str)] {
    match layout {
        Layout::Plain => &[],
        Layout::Hermes => &[("memories/MEMORY.md", "MEMORY.md"), ("memories/USER.md", "USER.md")],
        Layout::Nanobot => {
            &[("SOUL.md", "SOUL.md"), ("USER.md", "USER.md"), ("memory/MEMORY.md", "MEMORY.md")]
        }
        Layout::Openclaw => {
            &[("MEMORY.md", "MEMORY.md"), ("USER.md", "USER.md"), ("DREAMS.md", "DREAMS.md")]
        }
    }
}

/// The file of a note, relative to the folder; `None` if the note has none in this layout.
pub(super) fn file_of(layout: Layout, name: &NoteName) -> Option<String> {
    let known = fixed(layout).iter().find(|(_, note)| *note == name.as_str());
    if let Some((file, _)) = known {
        return Some((*file).to_owned());
    }
    let has_file = match layout {
        Layout::Plain => true,
        Layout::Openclaw => is_dated(name.as_str()),
        Layout::Hermes | Layout::Nanobot => false,
    };
    has_file.then(|| name.to_string())
}

/// Whether a name is that of a dated note: `memory/2026-01-31.md`, or with more after the date.
fn is_dated(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("memory/") else { return false };
    let Some((date, rest)) = rest.split_at_checked(10) else { return false };
    let is_date = date.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_date && rest.ends_with(".md") && !rest.contains('/')
}

/// How entries are written in the notes of a layout that do not show it.
pub(super) fn entry_style(layout: Layout) -> Option<EntryStyle> {
    (layout == Layout::Hermes).then_some(EntryStyle::Delimited)
}

/// The names of the notes that have a file in a folder.
pub(super) fn names_in(layout: Layout, root: &Path) -> Result<Vec<NoteName>, SyncError> {
    let mut names = Vec::new();
    for (file, note) in fixed(layout) {
        if std::fs::symlink_metadata(root.join(file)).is_ok() {
            names.extend(NoteName::parse(note).ok());
        }
    }
    match layout {
        Layout::Plain => {
            Walk { left: ENTRIES_MAX, is_note: |name| name.ends_with(".md"), names: &mut names }
                .visit(root, "", DEPTH_MAX)?;
        }
        Layout::Openclaw => {
            let folder = root.join("memory");
            if std::fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir()) {
                Walk { left: ENTRIES_MAX, is_note: is_dated, names: &mut names }
                    .visit(&folder, "memory/", 1)?;
            }
        }
        Layout::Hermes | Layout::Nanobot => {}
    }
    Ok(names)
}

/// Looks for notes in a folder.
struct Walk<'w> {
    /// Entries that may still be looked at.
    left: usize,
    is_note: fn(&str) -> bool,
    names: &'w mut Vec<NoteName>,
}

impl Walk<'_> {
    /// Adds the notes of a folder and of those below it that are not mounted themselves. Symbolic links to folders are not followed;
    /// links to files are named, and refused when they are read.
    fn visit(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), SyncError> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if self.left == 0 {
                return Err(SyncError::file(format!(
                    "the folder has more than {ENTRIES_MAX} files; mount a smaller one, or choose a \
                     layout with fixed names"
                )));
            }
            self.left -= 1;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                // A mounted folder inside has notes of its own, perhaps of another space.
                let is_other = || marker::read(&entry.path()).is_some();
                if depth > 1 && !SKIPPED_FOLDERS.contains(&name) && !is_other() {
                    self.visit(&entry.path(), &format!("{path}/"), depth - 1)?;
                }
            } else if (self.is_note)(&path) {
                self.names.extend(NoteName::parse(&path).ok());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_names_the_files_of_its_notes() {
        for (layout, note, file) in [
            (Layout::Plain, "a/b.txt", Some("a/b.txt")),
            (Layout::Hermes, "MEMORY.md", Some("memories/MEMORY.md")),
            (Layout::Hermes, "SOUL.md", None),
            (Layout::Nanobot, "MEMORY.md", Some("memory/MEMORY.md")),
            (Layout::Nanobot, "memory/MEMORY.md", None),
            (Layout::Openclaw, "MEMORY.md", Some("MEMORY.md")),
            (Layout::Openclaw, "memory/2026-01-31.md", Some("memory/2026-01-31.md")),
            (Layout::Openclaw, "memory/2026-01-31-tea.md", Some("memory/2026-01-31-tea.md")),
            (Layout::Openclaw, "memory/2026-1-31.md", None),
            (Layout::Openclaw, "memory/2026-01-31/x.md", None),
            (Layout::Openclaw, "memory/ä.md", None),
        ] {
            let name = NoteName::parse(note).unwrap();
            assert_eq!(file_of(layout, &name).as_deref(), file, "{layout:?} {note}");
        }
    }

    #[test]
    fn a_folder_is_listed_without_hidden_files_and_installed_packages() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "MEMORY.md",
            "memory/2026-01-31.md",
            "memory/notes.md",
            "notes.txt",
            ".git/x.md",
            "node_modules/a/README.md",
            "SOUL.md",
            "memory/deep/2026-01-31.md",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let listed = |layout| {
            let mut names = names_in(layout, folder.path()).map_err(|_| ()).unwrap();
            names.sort();
            names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            listed(Layout::Plain),
            "MEMORY.md SOUL.md memory/2026-01-31.md memory/deep/2026-01-31.md memory/notes.md"
        );
        assert_eq!(listed(Layout::Openclaw), "MEMORY.md memory/2026-01-31.md");
        assert_eq!(listed(Layout::Nanobot), "SOUL.md");
        assert_eq!(listed(Layout::Hermes), "");
    }
}
