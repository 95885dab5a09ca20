//! Finds the transcripts in a folder, the oldest first. Links are not followed, so that a folder of
//! transcripts cannot hand out other files.

use super::Agent;
use super::lines::cannot_read;
use oneiro_model::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A transcript that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether it holds the work of a subagent.
    pub is_subagent: bool,
}

/// The transcripts found in a folder.
#[derive(Debug, Clone, Default)]
pub struct Transcripts {
    /// The transcripts.
    pub files: Vec<TranscriptFile>,
    /// Folders in it that could not be listed.
    pub unreadable: Vec<Error>,
}

/// How deep folders are searched.
const MAX_DEPTH: usize = 12;

/// The transcripts in a folder. Those of subagents come last, after the sessions they belong to; a
/// copy comes after what it was copied from, as far as times tell.
pub fn find_transcripts(folder: &Path, agent: Agent) -> Result<Transcripts> {
    let (listed, unreadable) = list_transcripts(folder, agent)?;
    let began = |listed: ListedTranscript| {
        let began = (first_time(&listed.file.path), listed.meta.created().ok());
        (began, listed.file)
    };
    let mut found: Vec<_> = listed.into_iter().map(began).collect();
    type Found = ((Option<String>, Option<SystemTime>), TranscriptFile);
    found.sort_by(|(one, a): &Found, (other, b): &Found| {
        (a.is_subagent, one, &a.path).cmp(&(b.is_subagent, other, &b.path))
    });
    let files = found.into_iter().map(|(_, file)| file).collect();
    Ok(Transcripts { files, unreadable })
}

/// A transcript in a listing, which opens no file.
pub(crate) struct ListedTranscript {
    pub(crate) file: TranscriptFile,
    pub(crate) meta: std::fs::Metadata,
}

/// The transcripts in a folder in any order, and the folders in it that could not be listed.
pub(crate) fn list_transcripts(
    folder: &Path,
    agent: Agent,
) -> Result<(Vec<ListedTranscript>, Vec<Error>)> {
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder).map_err(|error| cannot_read(&folder, error))
        {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error),
            Err(error) => {
                unreadable.push(error);
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // It was removed since it was listed.
            let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
            if meta.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if meta.is_file() && path.extension().is_some_and(|kind| kind == "jsonl") {
                let is_subagent = agent == Agent::ClaudeCode && is_of_subagent(&path);
                let file = TranscriptFile { path, bytes: meta.len(), is_subagent };
                found.push(ListedTranscript { file, meta });
            }
        }
    }
    Ok((found, unreadable))
}

fn is_of_subagent(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("agent-")
}

/// The first time that a file tells, as it stands there: enough to order files by.
fn first_time(path: &Path) -> Option<String> {
    const MARK: &str = "\"timestamp\":\"";
    let mut head = Vec::new();
    File::open(path).ok()?.take(16 << 10).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.split_once(MARK)?;
    rest.split_once('"').map(|(time, _)| time.to_owned())
}
