//! Decides what is captured, from what people chose alone.

use crate::transcripts::{ExcludedFolders, ProjectFolder};
use oneiro_model::{CapturePause, CaptureProject, CaptureSwitch, Span, Timestamp};
use oneiro_store::capture::{CaptureGap, Choices};
use std::collections::BTreeMap;

/// How far the time of a file may lie behind the clock: some file systems count in steps of two
/// seconds.
const FILE_TIME_STEP: Span = Span::seconds(2);

/// What makes a process read a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureTrigger {
    /// The background of `serve` or `mcp`: only projects that were switched on are captured.
    Watcher,
    /// A hook, which somebody installed: only projects that were switched off are not captured.
    Hook,
    /// The import of all that an agent has: only excluded folders are left out. A pause does not
    /// stop it, but lines that were written in one are left out.
    Import,
}

/// What is known of a transcript before it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transcript<'a> {
    /// Its project; `None` when its first lines name no folder.
    pub(super) project: Option<&'a ProjectFolder>,
    /// When it was last written to, if that matters.
    pub(super) modified: Option<Timestamp>,
}

/// What people chose, by real folder.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    projects: BTreeMap<ProjectFolder, CaptureProject>,
    other_projects: Option<CaptureProject>,
    /// Those that are over included, the oldest first.
    pub(super) pauses: Vec<CapturePause>,
    /// The times in which folders that are on now were not.
    gaps: Vec<(ProjectFolder, CaptureGap)>,
}

impl Decisions {
    /// Resolves the folders. Stores of earlier versions may have a choice for each of several names
    /// of a folder: the latest holds.
    pub(super) fn of(choices: Choices) -> Decisions {
        let mut projects: BTreeMap<ProjectFolder, CaptureProject> = BTreeMap::new();
        for chosen in choices.projects {
            let folder = ProjectFolder::resolve(&chosen.folder);
            let is_later = |before: &CaptureProject| {
                (before.chosen_at, &before.folder) < (chosen.chosen_at, &chosen.folder)
            };
            if projects.get(&folder).is_none_or(is_later) {
                projects.insert(folder, chosen);
            }
        }
        for (folder, chosen) in &mut projects {
            chosen.folder = folder.name();
        }
        let resolve = |gap: CaptureGap| (ProjectFolder::resolve(&gap.folder), gap);
        Decisions {
            projects,
            other_projects: choices.other_projects,
            pauses: choices.pauses,
            gaps: choices.gaps.into_iter().map(resolve).collect(),
        }
    }

    /// The choices for projects, by folder.
    pub(super) fn projects(self) -> Vec<CaptureProject> {
        self.projects.into_values().collect()
    }

    /// The choice for projects without one of their own.
    pub(super) fn other_projects(&self) -> Option<CaptureSwitch> {
        self.other_projects.as_ref().map(|other| other.capture)
    }

    /// The pause that holds at a moment.
    pub(super) fn current_pause(&self, now: Timestamp) -> Option<CapturePause> {
        self.pauses.iter().rev().find(|pause| pause.contains(now)).copied()
    }

    /// The times in which a project was off or excluded. What was written then is left out.
    pub(super) fn gaps(&self, project: Option<&ProjectFolder>) -> Vec<CapturePause> {
        let is_meant = |folder: &ProjectFolder, gap: &CaptureGap| match project {
            _ if gap.folder.is_empty() => {
                project.is_none_or(|project| !self.projects.contains_key(project))
            }
            Some(project) if gap.is_tree => project.is_in(folder),
            Some(project) => project == folder,
            None => false,
        };
        let meant = self.gaps.iter().filter(|(folder, gap)| is_meant(folder, gap));
        meant.map(|(_, gap)| gap.pause()).collect()
    }

    /// The gap that ends when a project is switched on now.
    pub(super) fn ending_gap(
        &self,
        project: Option<&ProjectFolder>,
        now: Timestamp,
    ) -> Option<CaptureGap> {
        let before = self.choice_for(project)?;
        let is_tree = match before.capture {
            CaptureSwitch::On => return None,
            CaptureSwitch::Off => false,
            CaptureSwitch::Excluded => true,
        };
        Some(CaptureGap {
            folder: project.map(ProjectFolder::name).unwrap_or_default(),
            is_tree,
            started_at: before.chosen_at,
            ended_at: now,
        })
    }

    /// Whether a watcher has nothing to look for: nothing is switched on, or there is a pause.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        self.switched_on_first().is_none() || self.current_pause(now).is_some()
    }

    /// When the first of what is switched on was. No older transcript is captured by a watcher.
    pub(super) fn switched_on_first(&self) -> Option<Timestamp> {
        let all = self.projects.values().chain(&self.other_projects);
        all.filter(|project| project.capture == CaptureSwitch::On)
            .map(|project| project.chosen_at)
            .min()
    }

    /// Whether a transcript is captured. A watcher captures what was written to since its project was
    /// switched on: "from now on".
    pub(super) fn is_captured(&self, transcript: &Transcript<'_>, trigger: CaptureTrigger) -> bool {
        match self.choice_for(transcript.project) {
            Some(CaptureProject { capture: CaptureSwitch::On, chosen_at, .. }) => {
                trigger != CaptureTrigger::Watcher
                    || transcript.modified.is_none_or(|modified| is_since(modified, *chosen_at))
            }
            Some(CaptureProject { capture: CaptureSwitch::Off, .. }) => {
                trigger == CaptureTrigger::Import
            }
            Some(CaptureProject { capture: CaptureSwitch::Excluded, .. }) => false,
            None => trigger != CaptureTrigger::Watcher,
        }
    }

    /// The choice that holds for a project: the one for its folder, or that of the nearest excluded
    /// folder above it, or the one for other projects.
    pub(super) fn choice_for(&self, project: Option<&ProjectFolder>) -> Option<&CaptureProject> {
        let chosen = project.into_iter().flat_map(ProjectFolder::with_parents).find_map(|folder| {
            let chosen = self.projects.get(&folder)?;
            let reaches_below = match chosen.capture {
                CaptureSwitch::On | CaptureSwitch::Off => false,
                CaptureSwitch::Excluded => true,
            };
            (reaches_below || project == Some(&folder)).then_some(chosen)
        });
        chosen.or(self.other_projects.as_ref())
    }

    /// The folders that are switched off, other than those that a project itself is in: what an agent
    /// does there is not captured, although its session began elsewhere.
    pub(super) fn excluded_elsewhere(&self, project: Option<&ProjectFolder>) -> ExcludedFolders {
        let mut excluded = ExcludedFolders::default();
        for (folder, chosen) in &self.projects {
            match chosen.capture {
                CaptureSwitch::On => {}
                CaptureSwitch::Off => excluded.alone.push(folder.clone()),
                CaptureSwitch::Excluded => excluded.trees.push(folder.clone()),
            }
        }
        excluded.elsewhere_than(project)
    }
}

/// Whether a file that was last written to then may have been written to since a choice.
pub(super) fn is_since(modified: Timestamp, chosen_at: Timestamp) -> bool {
    modified >= chosen_at.minus(FILE_TIME_STEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use CaptureSwitch::{Excluded, Off, On};

    fn seconds(at: i64) -> Timestamp {
        Timestamp::from_micros(at * 1_000_000)
    }

    fn choice(folder: &str, capture: CaptureSwitch, at: i64) -> CaptureProject {
        CaptureProject { folder: folder.to_owned(), capture, chosen_at: seconds(at) }
    }

    fn chosen(projects: &[(&str, CaptureSwitch)], other: Option<CaptureSwitch>) -> Choices {
        Choices {
            projects: projects
                .iter()
                .map(|(folder, capture)| choice(folder, *capture, 10))
                .collect(),
            other_projects: other.map(|capture| choice("", capture, 20)),
            pauses: Vec::new(),
            gaps: Vec::new(),
        }
    }

    fn is_watched(decisions: &Decisions, folder: Option<&str>, modified: i64) -> bool {
        let project = folder.map(ProjectFolder::resolve);
        let transcript =
            Transcript { project: project.as_ref(), modified: Some(seconds(modified)) };
        decisions.is_captured(&transcript, CaptureTrigger::Watcher)
    }

    fn is_hooked(decisions: &Decisions, folder: &str) -> bool {
        is_captured_by(decisions, folder, CaptureTrigger::Hook)
    }

    fn is_captured_by(decisions: &Decisions, folder: &str, trigger: CaptureTrigger) -> bool {
        let project = ProjectFolder::resolve(folder);
        let transcript = Transcript { project: Some(&project), modified: None };
        decisions.is_captured(&transcript, trigger)
    }

    #[test]
    fn an_import_leaves_out_what_is_excluded_and_nothing_else() {
        let decisions = Decisions::of(chosen(&[("/off", Off), ("/tree", Excluded)], Some(Off)));
        for (folder, imported) in
            [("/off", true), ("/new", true), ("/tree", false), ("/tree/below", false)]
        {
            let is_imported = is_captured_by(&decisions, folder, CaptureTrigger::Import);
            assert_eq!(is_imported, imported, "{folder}");
        }
    }

    #[test]
    fn on_and_off_are_for_one_folder_and_excluded_also_for_those_below() {
        let decisions = Decisions::of(chosen(
            &[
                ("/srv/ann", On),
                ("/srv/bob", Off),
                ("/srv/bob/garden", On),
                ("/srv/office", Excluded),
                ("/srv/office/open", On),
                ("/srv/office/open/key", Excluded),
                ("/srv/office/shut", Off),
            ],
            None,
        ));
        for (folder, watched, hooked) in [
            ("/srv/ann", true, true),
            ("/srv/ann/", true, true),
            ("/srv/ann/new", false, true),
            ("/srv/bob", false, false),
            ("/srv/bob/garden", true, true),
            ("/srv/bob/new", false, true),
            ("/srv/office", false, false),
            ("/srv/office/client", false, false),
            ("/srv/officebuilding", false, true),
            ("/srv/office/open", true, true),
            ("/srv/office/open/deep", false, false),
            ("/srv/office/open/key/deep", false, false),
            ("/srv/office/shut/deep", false, false),
        ] {
            assert_eq!(is_watched(&decisions, Some(folder), 99), watched, "{folder}");
            assert_eq!(is_hooked(&decisions, folder), hooked, "{folder}");
        }
    }

    #[test]
    fn projects_without_a_choice_follow_the_choice_for_all() {
        for (other, watched, hooked) in
            [(None, false, true), (Some(On), true, true), (Some(Off), false, false)]
        {
            let decisions = Decisions::of(chosen(&[("/a", Off)], other));
            assert_eq!(is_watched(&decisions, Some("/new"), 99), watched, "{other:?}");
            assert_eq!(is_watched(&decisions, Some("/a/new"), 99), watched, "{other:?}");
            assert_eq!(is_watched(&decisions, None, 99), watched, "{other:?}");
            assert_eq!(is_hooked(&decisions, "/new"), hooked, "{other:?}");
            assert!(!is_watched(&decisions, Some("/a"), 99) && !is_hooked(&decisions, "/a"));
        }
    }

    #[test]
    fn a_watcher_skips_what_was_last_written_before_the_choice() {
        let decisions = Decisions::of(chosen(&[("/a", On)], Some(On)));
        for (folder, before, since) in [("/a", 7, 10), ("/b", 17, 20)] {
            assert!(!is_watched(&decisions, Some(folder), before), "{folder}");
            assert!(is_watched(&decisions, Some(folder), since), "{folder}");
        }
        assert_eq!(decisions.switched_on_first(), Some(seconds(10)));
    }

    #[test]
    fn of_choices_for_several_names_of_a_folder_the_latest_holds() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let [real, link] = [real, link].map(|path| path.to_string_lossy().into_owned());
        for (off_at, on_at, captured) in [(10, 20, true), (20, 10, false)] {
            let projects = vec![choice(&link, Off, off_at), choice(&real, On, on_at)];
            let decisions = Decisions::of(Choices { projects, ..Choices::default() });
            for name in [&real, &link] {
                assert_eq!(is_watched(&decisions, Some(name), 99), captured, "{name}");
            }
        }
    }

    #[test]
    fn folders_that_are_off_are_excluded_from_sessions_of_other_projects_only() {
        let decisions =
            Decisions::of(chosen(&[("/off", Off), ("/tree", Excluded), ("/tree/in", On)], None));
        let excluded = |project: &str| {
            let excluded = decisions.excluded_elsewhere(Some(&ProjectFolder::resolve(project)));
            let names = excluded.alone.iter().chain(&excluded.trees).map(ProjectFolder::name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(excluded("/a"), ["/off", "/tree"]);
        assert_eq!(excluded("/off/below"), ["/off", "/tree"]);
        assert_eq!(excluded("/off"), ["/tree"]);
        assert_eq!(excluded("/tree/in"), ["/off"]);
    }

    #[test]
    fn a_pause_ends_by_itself_or_when_somebody_ends_it() {
        let at = seconds;
        let pause = |started, ended: Option<i64>| CapturePause {
            started_at: at(started),
            ended_at: ended.map(at),
        };
        let pauses = vec![pause(10, Some(20)), pause(30, None)];
        let decisions = Decisions::of(Choices { pauses, ..chosen(&[("/a", On)], None) });
        let is_paused = |now| decisions.current_pause(at(now)).is_some();
        assert_eq!(
            [9, 10, 19, 20, 29, 30, 99].map(is_paused),
            [false, true, true, false, false, true, true]
        );
        assert!(decisions.is_idle(at(15)) && !decisions.is_idle(at(25)));
        assert!(Decisions::of(chosen(&[("/a", Off)], None)).is_idle(at(0)));
    }
}
