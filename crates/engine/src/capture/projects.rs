//! The projects that agents have worked in, as their transcripts tell.

use super::CaptureSource;
use crate::transcripts::{ProjectFolder, list_transcripts, project_of};
use crate::transfer::{ForeignStore, foreign_store};
use crate::views::Capture;
use oneiro_model::{Project, Result, Timestamp};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

impl Capture<'_> {
    /// The projects in these sources and those that somebody chose, each with the choice that holds
    /// for it; the most recently used first.
    pub fn projects(&self, sources: &[CaptureSource]) -> Result<Vec<Project>> {
        let decisions = self.decisions()?;
        let mut projects = found_projects(sources);
        for project in &mut projects {
            let folder = ProjectFolder::resolve(&project.folder);
            project.capture = decisions.choice_for(Some(&folder)).map(|choice| choice.capture);
        }
        for chosen in decisions.projects() {
            if !projects.iter().any(|project| project.folder == chosen.folder) {
                let capture = Some(chosen.capture);
                projects.push(Project { capture, ..Project::new(chosen.folder) });
            }
        }
        Ok(projects)
    }
}

/// The projects in these sources, the most recently used first. What cannot be read is left out.
pub fn found_projects(sources: &[CaptureSource]) -> Vec<Project> {
    let mut found: BTreeMap<ProjectFolder, Project> = BTreeMap::new();
    let mut add = |folder: ProjectFolder, agent: &str, modified: Option<Timestamp>| {
        let name = folder.name();
        let project = found.entry(folder).or_insert_with(|| Project::new(name));
        project.transcripts += 1;
        project.last_active_at = project.last_active_at.max(modified);
        if !project.agents.iter().any(|known| known == agent) {
            project.agents.push(agent.to_owned());
        }
    };
    for source in sources {
        match source {
            CaptureSource::Hermes { file } => {
                let is_there = foreign_store(file) == Some(ForeignStore::Hermes);
                if let Some(meta) = std::fs::metadata(file).ok().filter(|_| is_there) {
                    add(ProjectFolder::resolve(file), "hermes", modified(&meta));
                }
            }
            CaptureSource::Transcripts { agent, folder } => {
                let (listed, _) = list_transcripts(folder, *agent).unwrap_or_default();
                for listed in listed.iter().filter(|listed| !listed.file.is_subagent) {
                    if let Ok(Some(project)) = project_of(&listed.file.path, *agent) {
                        add(project, agent.as_str(), modified(&listed.meta));
                    }
                }
            }
        }
    }
    let mut found: Vec<Project> = found.into_values().collect();
    found.sort_by_key(|project| std::cmp::Reverse(project.last_active_at));
    found
}

/// When a file was last written to.
pub(super) fn modified(meta: &std::fs::Metadata) -> Option<Timestamp> {
    meta.modified().ok().map(timestamp)
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
