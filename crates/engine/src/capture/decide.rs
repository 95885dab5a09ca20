//! Decides what is captured, from what people chose alone.

use oneiro_model::{CapturePause, CaptureProject, CaptureSwitch, Span, Timestamp};
use oneiro_store::capture::Choices;
use std::path::{Path, PathBuf};

/// How far the time of a file may lie behind the clock: some file systems count in steps of two
/// seconds.
const FILE_TIME_STEP: Span = Span::seconds(2);

/// What makes a process look at a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureTrigger {
    /// The background of `serve` or `mcp`: only projects that were switched on are captured.
    Watcher,
    /// A hook, which somebody installed: only projects that were switched off are not captured.
    Hook,
}

/// What is known of a transcript before it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transcript<'a> {
    /// The names of its project's folder; none when it does not tell.
    pub(super) folders: &'a [String],
    /// When it was last written to, if that matters.
    pub(super) modified: Option<Timestamp>,
}

/// The pause that holds at a moment.
pub(super) fn current_pause(choices: &Choices, now: Timestamp) -> Option<CapturePause> {
    choices.pauses.iter().rev().find(|pause| pause.contains(now)).copied()
}

/// Whether a watcher has nothing to look for: nothing is switched on, or there is a pause.
pub(super) fn is_idle(choices: &Choices, now: Timestamp) -> bool {
    switched_on_first(choices).is_none() || current_pause(choices, now).is_some()
}

/// When the first of what is switched on was. No older transcript is captured by a watcher.
pub(super) fn switched_on_first(choices: &Choices) -> Option<Timestamp> {
    let all = choices.projects.iter().chain(&choices.other_projects);
    all.filter(|project| project.capture == CaptureSwitch::On)
        .map(|project| project.chosen_at)
        .min()
}

/// Whether a transcript is captured. A watcher captures what was written to since its project was
/// switched on: "from now on".
pub(super) fn is_captured(
    choices: &Choices,
    transcript: &Transcript<'_>,
    trigger: CaptureTrigger,
) -> bool {
    match choice_for(choices, transcript.folders) {
        Some(CaptureProject { capture: CaptureSwitch::Off, .. }) => false,
        Some(CaptureProject { chosen_at, .. }) => {
            trigger == CaptureTrigger::Hook
                || transcript.modified.is_none_or(|modified| is_since(modified, *chosen_at))
        }
        None => trigger == CaptureTrigger::Hook,
    }
}

/// Whether a file that was last written to then may have been written to since a choice.
pub(super) fn is_since(modified: Timestamp, chosen_at: Timestamp) -> bool {
    modified >= chosen_at.minus(FILE_TIME_STEP)
}

/// The choice that holds for a project. Where its names lead to different ones, the one that is off
/// does.
pub(super) fn choice_for<'c>(
    choices: &'c Choices,
    folders: &[String],
) -> Option<&'c CaptureProject> {
    let own = folders.iter().filter_map(|folder| own_choice(choices, Path::new(folder)));
    own.min_by_key(|choice| choice.capture != CaptureSwitch::Off)
        .or(choices.other_projects.as_ref())
}

/// The folders that are switched off, other than those that a project itself is in: what an agent
/// does there is not captured, although its session began elsewhere.
pub(super) fn excluded_elsewhere(choices: &Choices, folders: &[String]) -> Vec<PathBuf> {
    let off = choices.projects.iter().filter(|choice| choice.capture == CaptureSwitch::Off);
    off.map(|choice| PathBuf::from(&choice.folder))
        .filter(|off| !folders.iter().any(|folder| Path::new(folder).starts_with(off)))
        .collect()
}

/// The choice for this folder, or the nearest folder above it that is switched off. What is switched
/// on is one project: a home folder that is would take in everything below it.
fn own_choice<'c>(choices: &'c Choices, folder: &Path) -> Option<&'c CaptureProject> {
    let holds = |choice: &&CaptureProject| {
        let chosen = Path::new(&choice.folder);
        match choice.capture {
            CaptureSwitch::On => folder == chosen,
            CaptureSwitch::Off => folder.starts_with(chosen),
        }
    };
    let depth = |choice: &&CaptureProject| Path::new(&choice.folder).components().count();
    choices.projects.iter().filter(holds).max_by_key(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    fn is_watched(choices: &Choices, folders: &[&str], modified: i64) -> bool {
        let folders: Vec<String> = folders.iter().map(|folder| (*folder).to_owned()).collect();
        let modified = Some(seconds(modified));
        is_captured(choices, &Transcript { folders: &folders, modified }, CaptureTrigger::Watcher)
    }

    fn is_hooked(choices: &Choices, folder: &str) -> bool {
        let folders = [folder.to_owned()];
        let transcript = Transcript { folders: &folders, modified: None };
        is_captured(choices, &transcript, CaptureTrigger::Hook)
    }

    #[test]
    fn off_holds_below_a_folder_and_on_for_the_folder_alone() {
        use CaptureSwitch::{Off, On};
        let choices = chosen(
            &[
                ("/srv/ann", On),
                ("/srv/office", Off),
                ("/srv/office/open", On),
                ("/srv/office/open/key", Off),
            ],
            None,
        );
        for (folder, watched, hooked) in [
            ("/srv/ann", true, true),
            ("/srv/ann/", true, true),
            ("/srv/ann/new", false, true),
            ("/srv/office", false, false),
            ("/srv/office/client", false, false),
            ("/srv/officebuilding", false, true),
            ("/srv/office/open", true, true),
            ("/srv/office/open/deep", false, false),
            ("/srv/office/open/key/deep", false, false),
        ] {
            assert_eq!(is_watched(&choices, &[folder], 99), watched, "{folder}");
            assert_eq!(is_hooked(&choices, folder), hooked, "{folder}");
        }
    }

    #[test]
    fn projects_nobody_was_asked_about_follow_the_choice_for_all() {
        use CaptureSwitch::{Off, On};
        for (other, watched, hooked) in
            [(None, false, true), (Some(On), true, true), (Some(Off), false, false)]
        {
            let choices = chosen(&[("/a", Off)], other);
            assert_eq!(is_watched(&choices, &["/new"], 99), watched, "{other:?}");
            assert_eq!(is_watched(&choices, &[], 99), watched, "{other:?}");
            assert_eq!(is_hooked(&choices, "/new"), hooked, "{other:?}");
            assert!(!is_watched(&choices, &["/a"], 99) && !is_hooked(&choices, "/a"));
        }
    }

    #[test]
    fn a_watcher_leaves_alone_what_was_last_written_before_the_choice() {
        let choices = chosen(&[("/a", CaptureSwitch::On)], Some(CaptureSwitch::On));
        assert!(!is_watched(&choices, &["/a"], 7) && is_watched(&choices, &["/a"], 10));
        assert!(!is_watched(&choices, &["/b"], 17) && is_watched(&choices, &["/b"], 20));
        assert_eq!(switched_on_first(&choices), Some(seconds(10)));
    }

    #[test]
    fn of_two_names_of_a_folder_the_one_that_is_off_holds() {
        let choices = chosen(&[("/link", CaptureSwitch::On), ("/real", CaptureSwitch::Off)], None);
        assert!(!is_watched(&choices, &["/link", "/real/garden"], 99));
        assert!(is_watched(&choices, &["/link", "/elsewhere"], 99));
    }

    #[test]
    fn a_pause_ends_by_itself_or_when_somebody_ends_it() {
        let at = seconds;
        let pause = |started, ended: Option<i64>| CapturePause {
            started_at: at(started),
            ended_at: ended.map(at),
        };
        let mut choices = chosen(&[("/a", CaptureSwitch::On)], None);
        choices.pauses = vec![pause(10, Some(20)), pause(30, None)];
        let is_paused = |now| current_pause(&choices, at(now)).is_some();
        assert_eq!(
            [9, 10, 19, 20, 29, 30, 99].map(is_paused),
            [false, true, true, false, false, true, true]
        );
        assert!(is_idle(&choices, at(15)) && !is_idle(&choices, at(25)));
        assert!(is_idle(&chosen(&[("/a", CaptureSwitch::Off)], None), at(0)));
    }
}
