//! Finds what agents have on this machine, counted without reading it.

use crate::agents::AgentRow;
use crate::commands::import::TranscriptSet;
use oneiro::Result;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What an agent has.
#[derive(Debug, Clone, Serialize)]
pub struct DiscoveredAgent {
    /// Its name.
    pub agent: &'static str,
    /// Its name as people write it.
    #[serde(skip)]
    pub title: &'static str,
    /// Whether it is on this machine.
    pub found: bool,
    /// Where it is, or would be.
    pub home: Option<PathBuf>,
    /// Files of sessions.
    pub files: usize,
    /// How many of them hold the work of subagents.
    pub subagents: usize,
    /// The size of all files.
    pub bytes: u64,
    /// Whether they can be imported.
    pub importable: bool,
    /// Whether setup knows where the agent keeps sessions.
    #[serde(skip)]
    pub has_sessions: bool,
}

/// Finds what an agent has.
pub fn discover(agent: &'static AgentRow) -> Result<DiscoveredAgent> {
    let home = agent.home();
    let mut discovered = DiscoveredAgent {
        agent: agent.name,
        title: agent.title,
        found: home.as_deref().is_some_and(Path::is_dir)
            || agent.mcp_file().is_some_and(|file| file.is_file()),
        home,
        files: 0,
        subagents: 0,
        bytes: 0,
        importable: agent.is_importable(),
        has_sessions: agent.has_sessions(),
    };
    if let Some(transcripts) = agent.transcripts() {
        let set = TranscriptSet::of_agent(transcripts)?;
        discovered.files = set.files.len();
        discovered.subagents = set.files.iter().filter(|(file, _)| file.is_subagent).count();
        discovered.bytes = set.bytes();
        return Ok(discovered);
    }
    for folder in agent.session_folders() {
        count_files(&folder, agent, 0, &mut discovered);
    }
    Ok(discovered)
}

/// How deep the folders of an agent are searched.
const MAX_DEPTH: usize = 4;

/// Counts files; what cannot be listed is not counted.
fn count_files(folder: &Path, agent: &AgentRow, depth: usize, discovered: &mut DiscoveredAgent) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { continue };
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if meta.is_dir() && depth < MAX_DEPTH && !agent.has_database_beside_other_files() {
            count_files(&path, agent, depth + 1, discovered);
        } else if meta.is_file() && agent.session_endings().contains(&ending) {
            discovered.files += 1;
            discovered.bytes += meta.len();
        }
    }
}
