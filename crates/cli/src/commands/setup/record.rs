//! What setup did to other programs' files, kept beside the configuration so that it can be undone
//! exactly. It must not know how changes are made.

use super::edit::Change;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What was done to one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AppliedChange {
    /// The agent.
    pub agent: String,
    /// `mcp`, `hooks` or `plugin`.
    pub what: String,
    /// The file.
    pub path: PathBuf,
    /// Whether the file was made for it.
    pub created: bool,
    /// The changes, in the order they were made.
    pub changes: Vec<Change>,
    /// What was put in.
    pub value: Value,
}

/// Every change that was made and not undone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    #[serde(skip)]
    path: Option<PathBuf>,
    /// In the order it was done.
    pub done: Vec<AppliedChange>,
}

impl Record {
    /// Reads the record beside the configuration file.
    pub fn read(config: Option<&Path>) -> anyhow::Result<Record> {
        let path = config.and_then(Path::parent).map(|folder| folder.join("setup.json"));
        let Some(path) = path else { return Ok(Record::default()) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Record { path: Some(path), done: Vec::new() });
            }
            Err(error) => return Err(error).context(path.display().to_string()),
        };
        let read: Record = serde_json::from_str(&text).map_err(|error| {
            oneiro::Error::invalid(format!("{} cannot be read: {error}", path.display()))
                .remedy("move it away; entries that setup added then have to be removed by hand")
        })?;
        Ok(Record { path: Some(path), ..read })
    }

    /// Writes the record, or removes it when nothing is left.
    pub fn write(&self) -> anyhow::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        if self.done.is_empty() {
            if let Err(error) = std::fs::remove_file(path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(error.into());
            }
            // The folder was made for the record, unless it holds a configuration.
            if folder.file_name().is_some_and(|name| name == "oneiro") {
                drop(std::fs::remove_dir(folder));
            }
            return Ok(());
        }
        std::fs::create_dir_all(folder)?;
        let mut part = tempfile::NamedTempFile::new_in(folder)?;
        part.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        part.as_file().sync_all()?;
        part.persist(path)?;
        Ok(())
    }

    /// What was done to a file.
    pub fn find(&self, agent: &str, what: &str, path: &Path) -> Option<&AppliedChange> {
        let is_it =
            |done: &&AppliedChange| done.agent == agent && done.what == what && done.path == path;
        self.done.iter().rev().find(is_it)
    }

    /// Forgets what was done to a file.
    pub fn forget(&mut self, agent: &str, what: &str, path: &Path) {
        self.done.retain(|done| done.agent != agent || done.what != what || done.path != path);
    }
}
