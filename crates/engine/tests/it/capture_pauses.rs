//! Pauses of capture: what is written during one is captured neither then nor later, in any
//! process.

use crate::capture::{Transcripts, assert_captured, choose, open, stored, wait_for_a_look};
use oneiro::{Agent, Background, CaptureRequest, CaptureSwitch, CaptureTrigger, PauseRequest};
use oneiro_testkit::on_both_backends;

on_both_backends! {
    fn what_is_written_during_a_pause_is_never_captured(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        let background = Background::of(oneiro.clone(), files.sources());
        files.add("garden", "before");
        assert_captured(&oneiro, "garden", &["before"]);
        // Another process pauses.
        let other = open(space);
        other.capture().pause(PauseRequest::default()).unwrap();
        files.add("garden", "during");
        wait_for_a_look(&background);
        let path = files.path("garden");
        let request = CaptureRequest::new(&path, Agent::ClaudeCode);
        assert!(other.capture().transcript(&request, CaptureTrigger::Hook).unwrap().is_none());
        assert_eq!(stored(&oneiro, "garden"), ["before"]);
        assert!(other.capture().resume().unwrap().pause.is_none());
        files.add("garden", "after");
        assert_captured(&oneiro, "garden", &["before", "after"]);
    }

    fn a_pause_that_begins_while_a_file_is_read_holds_for_its_next_batch(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        files.add("garden", "before");
        let path = files.path("garden");
        let request = CaptureRequest { pauses: Some(&[]), ..CaptureRequest::new(&path, Agent::ClaudeCode) };
        let mut is_paused = false;
        let captured = oneiro.transfer().capture_transcript(&request, &mut |_| {
            if !is_paused {
                oneiro.capture().pause(PauseRequest::default()).unwrap();
                files.add("garden", "during");
                is_paused = true;
            }
        });
        assert!(!captured.unwrap().finished);
        assert_eq!(stored(&oneiro, "garden"), ["before"]);
    }

    // Both for a file that was read before the exclusion and for one that began in it.
    fn what_is_written_while_a_project_is_excluded_is_never_captured(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        for project in ["/srv/garden", "/srv/harbour"] {
            choose(&oneiro, Some(project), CaptureSwitch::On);
        }
        let background = Background::of(oneiro.clone(), files.sources());
        files.add("garden", "before");
        assert_captured(&oneiro, "garden", &["before"]);
        for (project, switch) in [("/srv/garden", CaptureSwitch::Excluded), ("/srv/harbour", CaptureSwitch::Off)] {
            choose(&oneiro, Some(project), switch);
        }
        files.add("garden", "during");
        files.add("harbour", "during");
        wait_for_a_look(&background);
        for project in ["/srv/garden", "/srv/harbour"] {
            choose(&oneiro, Some(project), CaptureSwitch::On);
        }
        files.add("garden", "after");
        files.add("harbour", "after");
        assert_captured(&oneiro, "garden", &["before", "after"]);
        assert_captured(&oneiro, "harbour", &["after"]);
        // A hook leaves it out too, and an import from the start stores it.
        let path = files.path("harbour");
        let request = CaptureRequest::new(&path, Agent::ClaudeCode);
        oneiro.capture().transcript(&request, CaptureTrigger::Hook).unwrap();
        assert_eq!(stored(&oneiro, "harbour"), ["after"]);
        let from_start = CaptureRequest { from: oneiro::ReadFrom::Start, ..request };
        oneiro.transfer().capture_transcript(&from_start, &mut |_| {}).unwrap();
        assert_eq!(stored(&oneiro, "harbour").len(), 2);
    }
}
