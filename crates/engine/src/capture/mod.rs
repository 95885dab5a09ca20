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

use crate::transcripts::{Agent, CaptureRequest, Captured, ProjectFolder, project_of};
use crate::views::{Capture, Transfer};
use decide::{Decisions, Transcript};
use oneiro_model::contract::Request;
use oneiro_model::{
    CapturePause, CaptureStatus, CaptureSwitch, Error, PauseRequest, ProjectChoice, Result,
};
use oneiro_store::capture;
use std::path::PathBuf;

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
        let decisions = self.decisions()?;
        Ok(CaptureStatus {
            pause: decisions.current_pause(self.oneiro.now()),
            other_projects: decisions.other_projects(),
            projects: decisions.projects(),
        })
    }

    /// Whether a folder is kept out of memory: capture is paused, or switched off for its project.
    pub fn is_private(&self, folder: &std::path::Path) -> Result<bool> {
        let decisions = self.decisions()?;
        let project = crate::ProjectFolder::resolve(folder);
        let is_off = decisions
            .choice_for(Some(&project))
            .is_some_and(|choice| choice.capture != CaptureSwitch::On);
        Ok(is_off || decisions.current_pause(self.oneiro.now()).is_some())
    }

    fn decisions(&self) -> Result<Decisions> {
        self.oneiro.store.read(capture::choices).map(Decisions::of)
    }

    /// Stores choices. Each replaces what was chosen before for the same project, by whichever of its
    /// names.
    pub fn choose(&self, choices: Vec<ProjectChoice>) -> Result<CaptureStatus> {
        choices.iter().try_for_each(Request::check)?;
        let now = self.oneiro.now();
        let known = self.oneiro.store.read(capture::choices)?;
        let decisions = Decisions::of(known.clone());
        let known: Vec<_> = known
            .projects
            .into_iter()
            .map(|chosen| (ProjectFolder::resolve(&chosen.folder), chosen.folder))
            .collect();
        let choices: Vec<_> = choices
            .into_iter()
            .map(|choice| (choice.folder.map(ProjectFolder::resolve), choice.capture))
            .collect();
        self.oneiro.store.write(move |tx| {
            for (folder, capture) in &choices {
                let name = folder.as_ref().map(ProjectFolder::name);
                for (_, other) in known.iter().filter(|(known, other)| {
                    Some(known) == folder.as_ref() && Some(other) != name.as_ref()
                }) {
                    capture::forget(tx, other)?;
                }
                if *capture == CaptureSwitch::On
                    && let Some(gap) = decisions.ending_gap(folder.as_ref(), now)
                {
                    capture::add_gap(tx, gap, now)?;
                }
                capture::choose(tx, name.as_deref(), *capture, now)?;
            }
            Ok(())
        })?;
        self.status()
    }

    /// Removes the choice for these projects, or all, where it is `on`. What is off stays off.
    pub fn forget_switched_on(&self, only: Option<&[String]>) -> Result<usize> {
        let is_meant = |folder: &str| {
            only.is_none_or(|only| only.contains(&ProjectFolder::resolve(folder).name()))
        };
        let known = self.oneiro.store.read(capture::choices)?.projects;
        let mut named: Vec<Option<String>> = known
            .into_iter()
            .map(|chosen| chosen.folder)
            .filter(|folder| is_meant(folder))
            .map(Some)
            .collect();
        named.extend(only.is_none().then_some(None));
        self.oneiro.store.write(move |tx| {
            let mut forgotten = 0;
            for folder in &named {
                forgotten += usize::from(capture::forget_on(tx, folder.as_deref())?);
            }
            Ok(forgotten)
        })
    }

    /// Pauses capture in every process. What is written to transcripts meanwhile is not captured
    /// later either; an import from the start of a transcript stores it.
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
        let decisions = self.decisions()?;
        let is_paused = decisions.current_pause(self.oneiro.now()).is_some();
        if is_paused && trigger != CaptureTrigger::Import {
            return Ok(None);
        }
        let project = project_of(request.path, request.agent)?;
        let transcript = Transcript { project: project.as_ref(), modified: None };
        if !decisions.is_captured(&transcript, trigger) {
            return Ok(None);
        }
        let mut excluded = decisions.excluded_elsewhere(project.as_ref());
        if trigger == CaptureTrigger::Import {
            excluded.alone.clear();
        }
        let gaps = decisions.gaps(project.as_ref());
        let request = CaptureRequest {
            pauses: Some(&decisions.pauses),
            gaps: &gaps,
            excluded: &excluded,
            ..*request
        };
        let transfer = Transfer { oneiro: self.oneiro };
        transfer.capture_transcript(&request, &mut |_| {}).map(Some)
    }
}
