//! What was erased does not come back from a transcript, whatever happens to the file.

use crate::support::{assert_sound, id, message_texts, open};
use crate::transcript_files::{File, OWN, capture, line_uuid, user_line};
use oneiro::{Agent, CaptureRequest, EraseTarget, ReadFrom};
use oneiro_testkit::{Backend, on_both_backends};
use serde_json::json;

on_both_backends! {
    fn what_was_erased_does_not_come_back(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add(&user_line(1, "the secret of the blue tin"));
        file.add(&user_line(2, "and of the red one"));
        capture(&oneiro, &file);
        oneiro.erase(&EraseTarget::Session(id(OWN))).unwrap();
        assert_eq!(capture(&oneiro, &file).messages, 0);
        assert!(oneiro.sessions().find(&id(OWN)).unwrap().is_none());
        file.replace(&[user_line(1, "the secret of the blue tin")]);
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.left_out), (0, 1));
        assert!(oneiro.sessions().find(&id(OWN)).unwrap().is_none());
        if space.backend == Backend::Sqlite {
            drop(oneiro);
            let raw = std::fs::read(space.file()).unwrap();
            assert!(!raw.windows(8).any(|part| part == b"blue tin"));
        }
    }

    fn an_erased_message_does_not_come_back_from_any_file(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        let secret = "the secret of the blue tin";
        file.add(&user_line(1, secret));
        file.add(&user_line(2, "and of the red one"));
        capture(&oneiro, &file);
        let first = oneiro.sessions().show(&id(OWN), true).unwrap().messages[0].id;
        assert_eq!(oneiro.erase(&EraseTarget::Message(first)).unwrap().proof.found, 0);
        // It is rewritten, then read again from the start, then found under another name.
        file.replace(&[user_line(3, "new"), user_line(1, secret), user_line(2, "and of the red one")]);
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.duplicates, captured.left_out), (1, 1, 1));
        let again = CaptureRequest { from: ReadFrom::Start, ..CaptureRequest::new(&file.path, Agent::ClaudeCode) };
        let captured = oneiro.transfer().capture_transcript(&again, &mut |_| {}).unwrap();
        assert_eq!((captured.messages, captured.duplicates, captured.left_out), (0, 2, 1));
        let copy = File::new(space, "moved");
        copy.replace(&[user_line(1, secret)]);
        let request = CaptureRequest { dry_run: true, ..CaptureRequest::new(&copy.path, Agent::ClaudeCode) };
        let counted = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
        assert_eq!((counted.messages, counted.left_out), (0, 1));
        assert_eq!(capture(&oneiro, &copy).left_out, 1);
        // A session that was forked from it without saying so has the line too.
        let fork = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c0c";
        let forked = File::new(space, fork);
        for (n, words) in [(1, secret), (2, "and of the red one"), (4, "fork")] {
            let mut line = user_line(n, words);
            line["sessionId"] = fork.into();
            forked.add(&line);
        }
        let captured = capture(&oneiro, &forked);
        assert_eq!((captured.messages, captured.copies, captured.left_out), (1, 1, 1));
        assert_eq!(message_texts(&oneiro, OWN, true), ["and of the red one", "new"]);
        assert_sound(&oneiro);
        if space.backend == Backend::Sqlite {
            drop(oneiro);
            let raw = std::fs::read(space.file()).unwrap();
            let is_there = |text: &[u8]| raw.windows(text.len()).any(|part| part == text);
            assert!(!is_there(b"blue tin") && !is_there(line_uuid(1).as_bytes()));
            assert!(is_there(line_uuid(2).as_bytes()));
        }
    }

    fn an_erased_session_does_not_come_back_from_another_file_but_goes_on(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add(&user_line(1, "the secret of the blue tin"));
        capture(&oneiro, &file);
        oneiro.erase(&EraseTarget::Session(id(OWN))).unwrap();
        let copy = File::new(space, "copy");
        copy.add(&user_line(1, "the secret of the blue tin"));
        let captured = capture(&oneiro, &copy);
        assert_eq!((captured.sessions, captured.messages, captured.left_out), (0, 0, 1));
        assert!(oneiro.sessions().find(&id(OWN)).unwrap().is_none());
        copy.add(&user_line(2, "later"));
        assert_eq!(capture(&oneiro, &copy).messages, 1);
        assert_eq!(message_texts(&oneiro, OWN, true), ["later"]);
    }

    fn an_erased_message_of_codex_is_left_out_by_its_position_in_its_session_alone(space) {
        let oneiro = open(space);
        let lines = |session: &str| [
            json!({"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload":
                {"id": session, "timestamp": "2026-03-02T09:00:00Z", "cwd": "/srv/ann/hive"}}),
            json!({"timestamp": "2026-03-02T09:00:01Z", "type": "response_item", "payload":
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the blue tin"}]}}),
        ];
        let read = |file: &File, from: ReadFrom| {
            let request = CaptureRequest { from, ..CaptureRequest::new(&file.path, Agent::Codex) };
            oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap()
        };
        let (one, other) = (File::new(space, "one"), File::new(space, "two"));
        one.replace(&lines("one"));
        other.replace(&lines("two"));
        assert_eq!(read(&one, ReadFrom::Reached).messages, 1);
        let message = oneiro.sessions().show(&id("one"), true).unwrap().messages[0].id;
        oneiro.erase(&EraseTarget::Message(message)).unwrap();
        assert_eq!(read(&one, ReadFrom::Start).messages, 0);
        assert_eq!(read(&other, ReadFrom::Reached).messages, 1);
    }
}
