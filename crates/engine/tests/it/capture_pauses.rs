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
}
