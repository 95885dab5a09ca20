//! A home folder with agents in it, copied from the fixtures.

use crate::support::oneiro;
use oneiro_testkit::TestSpace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const GARDEN: &str = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c01";
pub const HIVE: &str = "0198f0aa-7d31-7c02-b1a5-3c1e5a9b0001";

/// A home folder that goes with its space.
pub struct Home {
    pub path: PathBuf,
}

impl Home {
    /// Ann's, who has every agent.
    pub fn of_ann(space: &TestSpace) -> Home {
        let home = Home::empty(space);
        copy(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/home")), &home.path);
        home
    }

    pub fn empty(space: &TestSpace) -> Home {
        let path = space.folder().join("home");
        std::fs::create_dir(&path).unwrap();
        Home { path }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn garden(&self) -> PathBuf {
        self.at(&format!(".claude/projects/-srv-ann-garden/{GARDEN}.jsonl"))
    }

    /// A command that lives here.
    pub fn oneiro(&self, space: &TestSpace) -> Command {
        let mut command = oneiro(space);
        command.env("HOME", &self.path);
        command
    }

    /// Every file with its bytes and mode.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = std::fs::symlink_metadata(&path).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions());
                if meta.is_dir() {
                    folders.push(path);
                } else if meta.is_symlink() {
                    let to = std::fs::read_link(&path).unwrap();
                    found.insert(path, (to.to_string_lossy().into_owned().into_bytes(), mode));
                } else {
                    found.insert(path.clone(), (std::fs::read(&path).unwrap(), mode));
                }
            }
        }
        found
    }
}

/// Copies in the order of names: transcripts are imported oldest first, by the times of their files.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let mut entries: Vec<_> = std::fs::read_dir(from).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target)
        } else {
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap()
        }
    }
}
