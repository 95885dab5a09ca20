//! Capture: new turns of the projects that people chose are stored as agents write them, by whichever
//! process of the space runs, and a pause or an exclusion stops it in all of them. Where agents keep
//! their files is for the caller to know.

mod decide;
mod lease;
mod projects;
mod watch;

pub use decide::CaptureTrigger;
pub use projects::found_projects;
pub(crate) use watch::Watcher;

use crate::transcripts::{Agent, CaptureRequest, Captured, working_folder};
use crate::views::{Capture, Transfer};
use decide::Transcript;
use oneiro_model::{
    CapturePause, CaptureStatus, CaptureSwitch, Error, PauseRequest, ProjectChoice, Result,
};
use oneiro_store::capture;
use std::path::{Path, PathBuf};

/// Where an agent keeps what it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureSource {
    /// A folder of transcripts, and of folders of them.
    Transcripts {
        /// Whose they are.
        agent: Agent,
        /// The folder.
        folder: PathBuf,
    },
    /// The `state.db` of hermes, which counts as one project.
    Hermes {
        /// The file.
        file: PathBuf,
    },
}

impl Capture<'_> {
    /// What is captured now.
    pub fn status(&self) -> Result<CaptureStatus> {
        let choices = self.oneiro.store.read(capture::choices)?;
        Ok(CaptureStatus {
            pause: decide::current_pause(&choices, self.oneiro.now()),
            other_projects: choices.other_projects.map(|other| other.capture),
            projects: choices.projects,
        })
    }

    /// Stores choices; what was chosen before for the same project gives way.
    pub fn choose(&self, choices: Vec<ProjectChoice>) -> Result<CaptureStatus> {
        let now = self.oneiro.now();
        self.oneiro.store.write(move |tx| {
            choices.iter().try_for_each(|choice| {
                capture::choose(tx, choice.folder.as_deref(), choice.capture, now)
            })
        })?;
        self.status()
    }

    /// Takes back what was switched on for these projects, or for all. What is switched off stays.
    pub fn forget_switched_on(&self, only: Option<&[String]>) -> Result<usize> {
        let only = only.map(<[String]>::to_vec);
        self.oneiro.store.write(move |tx| {
            let choices = capture::choices(tx)?;
            let is_meant = |folder: &str| {
                only.as_ref().is_none_or(|only| only.iter().any(|one| one == folder))
            };
            let mut forgotten = 0;
            for project in choices.projects {
                if project.capture == CaptureSwitch::On && is_meant(&project.folder) {
                    forgotten += usize::from(capture::forget(tx, Some(&project.folder))?);
                }
            }
            let other =
                choices.other_projects.is_some_and(|other| other.capture == CaptureSwitch::On);
            if other && only.is_none() {
                forgotten += usize::from(capture::forget(tx, None)?);
            }
            Ok(forgotten)
        })
    }

    /// Pauses capture in every process. What is written to transcripts meanwhile is not captured
    /// later either.
    pub fn pause(&self, request: PauseRequest) -> Result<CaptureStatus> {
        let now = self.oneiro.now();
        if request.until.is_some_and(|until| until <= now) {
            return Err(Error::field("until", "is not in the future"));
        }
        let pause = CapturePause { started_at: now, ended_at: request.until };
        self.oneiro.store.write(move |tx| capture::set_pause(tx, Some(pause), now))?;
        self.status()
    }

    /// Ends the pause.
    pub fn resume(&self) -> Result<CaptureStatus> {
        let now = self.oneiro.now();
        self.oneiro.store.write(move |tx| capture::set_pause(tx, None, now))?;
        self.status()
    }

    /// Stores what is new in a transcript if people want it captured; `None` when they do not.
    pub fn transcript(
        &self,
        request: &CaptureRequest<'_>,
        trigger: CaptureTrigger,
    ) -> Result<Option<Captured>> {
        let choices = self.oneiro.store.read(capture::choices)?;
        if decide::current_pause(&choices, self.oneiro.now()).is_some() {
            return Ok(None);
        }
        let folders = project_folders(request.path, request.agent)?;
        let transcript = Transcript { folders: &folders, modified: None };
        if !decide::is_captured(&choices, &transcript, trigger) {
            return Ok(None);
        }
        let excluded = decide::excluded_elsewhere(&choices, &folders);
        let request = CaptureRequest { pauses: &choices.pauses, excluded: &excluded, ..*request };
        let transfer = Transfer { oneiro: self.oneiro };
        transfer.capture_transcript(&request, &mut |_| {}).map(Some)
    }
}

/// The names of the working folder that a transcript begins in: as the agent wrote it, and with links
/// resolved where that differs.
fn project_folders(path: &Path, agent: Agent) -> Result<Vec<String>> {
    Ok(working_folder(path, agent)?
        .map(|folder| folder_names(Path::new(&folder)))
        .unwrap_or_default())
}

fn folder_names(folder: &Path) -> Vec<String> {
    let resolved = std::fs::canonicalize(folder).ok().filter(|resolved| resolved != folder);
    let names = [Some(folder.to_owned()), resolved].into_iter().flatten();
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}
