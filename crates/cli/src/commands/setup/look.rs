//! What an agent has on this machine, counted without reading it.

use crate::agents::AgentRow;
use crate::commands::import::Found;
use oneiro::Result;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What an agent has.
#[derive(Debug, Clone, Serialize)]
pub struct Looked {
    /// Its name.
    pub agent: &'static str,
    /// Whether it is on this machine.
    pub found: bool,
    /// Where it is, or would be.
    pub home: Option<PathBuf>,
    /// Files of sessions.
    pub files: usize,
    /// How many of them hold the work of subagents.
    pub subagents: usize,
    /// Their size.
    pub bytes: u64,
    /// Whether they can be imported.
    pub importable: bool,
}

/// Looks for an agent.
pub fn look(agent: &'static AgentRow) -> Result<Looked> {
    let home = agent.home();
    let mut looked = Looked {
        agent: agent.name,
        found: home.as_deref().is_some_and(Path::is_dir)
            || agent.mcp_file().is_some_and(|file| file.is_file()),
        home,
        files: 0,
        subagents: 0,
        bytes: 0,
        importable: agent.is_importable(),
    };
    if let Some(transcripts) = agent.transcripts {
        let found = Found::at_home(transcripts)?;
        looked.files = found.files.len();
        looked.subagents = found.files.iter().filter(|(file, _)| file.is_subagent).count();
        looked.bytes = found.bytes();
        return Ok(looked);
    }
    for folder in agent.kept() {
        count(&folder, agent, 0, &mut looked);
    }
    Ok(looked)
}

/// How deep the folders of an agent are searched.
const DEPTH: usize = 4;

/// Counts files; what cannot be listed is not counted.
fn count(folder: &Path, agent: &AgentRow, depth: usize, looked: &mut Looked) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { continue };
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if meta.is_dir() && depth < DEPTH && !agent.keeps_beside() {
            count(&path, agent, depth + 1, looked);
        } else if meta.is_file() && agent.kept_as.contains(&ending) {
            looked.files += 1;
            looked.bytes += meta.len();
        }
    }
}
