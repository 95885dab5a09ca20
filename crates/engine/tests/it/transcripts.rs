//! Transcripts are captured once, whatever happens to the file and to its readers.

use crate::support::{assert_sound, content, id, message_texts, open};
use crate::transcript_files::{File, OWN, answer_line, capture, line_uuid, user_line};
use oneiro::{
    Agent, CapturePause, CaptureRequest, EraseTarget, ErrorKind, ExcludedFolders, Lineage,
    ProjectFolder, ReadFrom, Role, Timestamp, find_transcripts,
};
use oneiro_testkit::{Backend, on_both_backends};
use serde_json::json;
use std::time::Duration;

on_both_backends! {
    fn a_file_that_grows_is_stored_once_and_a_torn_line_waits(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add(&user_line(1, "first"));
        file.tear(&user_line(2, "second"), 40);
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.sessions, captured.messages), (1, 1));
        assert_eq!(capture(&oneiro, &file).bytes, 0);
        file.finish_torn_line();
        file.add(&answer_line(3, "m1", "third", 5));
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.sessions, captured.messages, captured.duplicates), (0, 2, 0));
        assert_eq!(message_texts(&oneiro, OWN, true), ["first", "second", "third"]);
        let session = oneiro.sessions().find(&id(OWN)).unwrap().unwrap();
        assert_eq!((session.source.as_str(), session.project.as_deref()), ("claude-code", Some("garden")));
        assert_eq!(session.cwd.as_deref(), Some("/srv/ann/garden"));
        assert_eq!(session.metadata["git_branch"], "main");
        assert_sound(&oneiro);
    }

    fn a_damaged_line_is_named_and_the_others_are_stored(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add(&user_line(1, "one"));
        file.add_bytes(b"{\"type\":\"user\",\"uuid\":\n");
        file.add_bytes(b"\n");
        file.add(&user_line(2, "two"));
        file.add_bytes(&[0; 64]);
        file.add_bytes(b"\n");
        let bad = user_line(3, "thr@@").to_string().into_bytes();
        let bad: Vec<u8> = bad.into_iter().map(|byte| if byte == b'@' { 0xff } else { byte }).collect();
        file.add_bytes(&bad);
        file.add_bytes(b"\n[]\n");
        let captured = capture(&oneiro, &file);
        let damaged: Vec<u64> = captured.damaged.iter().map(|line| line.line).collect();
        assert_eq!((damaged, captured.messages, captured.repaired), (vec![2, 5], 3, 1));
        assert_eq!(captured.skipped["not an object"], 1);
        assert_eq!(message_texts(&oneiro, OWN, true), ["one", "two", "thr\u{FFFD}\u{FFFD}"]);
        // What is named once is not named again.
        assert!(capture(&oneiro, &file).damaged.is_empty());
        file.add_bytes(b"nonsense\n");
        assert_eq!(capture(&oneiro, &file).damaged[0].line, 8);
    }

    fn a_file_that_shrank_or_was_replaced_is_read_again_and_stored_once(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        for n in 1..=4 {
            file.add(&user_line(n, &format!("number {n}")));
        }
        assert_eq!(capture(&oneiro, &file).messages, 4);
        file.replace(&[user_line(1, "number 1"), user_line(2, "number 2")]);
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.duplicates), (0, 2));
        file.replace(&[user_line(9, &"long ".repeat(400)), user_line(1, "number 1"), user_line(10, "ten")]);
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.duplicates), (2, 1));
        assert_eq!(oneiro.sessions().show(&id(OWN), true).unwrap().messages.len(), 6);
        assert_eq!(capture(&oneiro, &file).bytes, 0);
        assert_sound(&oneiro);
    }

    fn lines_that_were_left_out_are_stored_when_the_file_is_read_from_its_start(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        for n in 1..=5 {
            let mut line = user_line(n, &format!("number {n}"));
            line["timestamp"] = format!("2026-03-02T09:0{n}:00Z").into();
            line["cwd"] = if n == 5 { "/srv/secret".into() } else { line["cwd"].clone() };
            file.add(&line);
        }
        let at = |time: &str| Timestamp::parse(time).unwrap();
        let pauses = [CapturePause { started_at: at("2026-03-02T09:02:00Z"), ended_at: Some(at("2026-03-02T09:04:00Z")) }];
        oneiro.store().write(move |tx| oneiro_store::capture::set_pause(tx, Some(pauses[0]), pauses[0].started_at)).unwrap();
        let excluded = ExcludedFolders { trees: vec![ProjectFolder::resolve("/srv/secret")], ..ExcludedFolders::default() };
        let request = CaptureRequest { pauses: Some(&pauses), excluded: &excluded, ..CaptureRequest::new(&file.path, Agent::ClaudeCode) };
        let captured = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
        assert_eq!((captured.messages, captured.left_out), (2, 3));
        assert_eq!(capture(&oneiro, &file).messages, 0);
        let request = CaptureRequest { from: ReadFrom::Start, ..CaptureRequest::new(&file.path, Agent::ClaudeCode) };
        for (dry_run, counts) in [(true, (3, 2)), (false, (3, 2)), (false, (0, 5))] {
            let request = CaptureRequest { dry_run, ..request };
            let captured = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
            assert_eq!((captured.messages, captured.duplicates), counts, "{dry_run}");
        }
        let mut all = message_texts(&oneiro, OWN, true);
        all.sort();
        assert_eq!(all, ["number 1", "number 2", "number 3", "number 4", "number 5"]);
        // What comes after is read as before.
        file.add(&user_line(6, "number 6"));
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.duplicates), (1, 0));
        assert_sound(&oneiro);
    }

    /// Codex names the folder of a turn once: what follows in it is read later, by others.
    fn lines_of_an_excluded_folder_stay_left_out_when_reading_resumes_among_them(space) {
        let oneiro = open(space);
        let file = File::new(space, "rollout");
        let excluded = ExcludedFolders { trees: vec![ProjectFolder::resolve("/srv/secret")], ..ExcludedFolders::default() };
        let read = || {
            let request = CaptureRequest { excluded: &excluded, ..CaptureRequest::new(&file.path, Agent::Codex) };
            let captured = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
            (captured.messages, captured.left_out)
        };
        let turn = |cwd: &str| json!({"timestamp": "2026-03-02T09:00:00Z", "type": "turn_context", "payload": {"cwd": cwd}});
        let message = |words: &str| json!({"timestamp": "2026-03-02T09:00:01Z", "type": "response_item", "payload":
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}});
        file.add(&json!({"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload":
            {"id": "rollout", "timestamp": "2026-03-02T09:00:00Z", "cwd": "/srv/ann/hive"}}));
        file.add(&message("open"));
        assert_eq!(read(), (1, 0));
        file.add(&turn("/srv/secret/plans"));
        assert_eq!(read(), (0, 0));
        // More than is looked at first.
        file.add(&message(&"long ".repeat(40_000)));
        assert_eq!(read(), (0, 1));
        file.add(&message("secret"));
        assert_eq!(read(), (0, 1));
        file.add(&turn("/srv/ann/hive"));
        file.add(&message("open again"));
        assert_eq!(read(), (1, 0));
        file.add(&message("still open"));
        assert_eq!(read(), (1, 0));
    }

    fn the_use_of_an_answer_is_counted_once_however_its_lines_are_read(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add(&answer_line(1, "m1", "a", 2));
        file.add(&answer_line(2, "m1", "b", 2));
        capture(&oneiro, &file);
        // The rest of the answer is read by somebody else, later, after a result between.
        let later = open(space);
        file.add(&user_line(3, "a result"));
        file.add(&answer_line(4, "m1", "c", 90));
        file.add(&answer_line(5, "m2", "d", 7));
        capture(&later, &file);
        let session = later.sessions().find(&id(OWN)).unwrap().unwrap();
        assert_eq!((session.output_tokens, session.input_tokens, session.api_call_count), (97, 20, 2));
        assert_eq!((session.cache_read_tokens, session.model.as_deref()), (200, Some("claude-x")));
        // Read from the start again, it still is.
        file.replace(&[answer_line(1, "m1", "a", 2)]);
        capture(&later, &file);
        file.add(&answer_line(4, "m1", "c", 90));
        capture(&later, &file);
        let session = later.sessions().find(&id(OWN)).unwrap().unwrap();
        assert_eq!((session.output_tokens, session.api_call_count), (97, 2));
    }

    fn copies_in_a_fork_are_not_stored_twice(space) {
        let oneiro = open(space);
        let origin = File::new(space, OWN);
        origin.add(&user_line(1, "one"));
        origin.add(&user_line(2, "two"));
        capture(&oneiro, &origin);
        let told = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c0a";
        let silent = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c0b";
        for (name, is_told) in [(told, true), (silent, false)] {
            let fork = File::new(space, name);
            for n in [1, 2, 30] {
                let mut line = user_line(n, &format!("{n} in {name}"));
                line["sessionId"] = name.into();
                if is_told && n < 30 {
                    line["forkedFrom"] = json!({"sessionId": OWN, "messageUuid": "x"});
                }
                fork.add(&line);
            }
            let captured = capture(&oneiro, &fork);
            assert_eq!((captured.messages, captured.duplicates, captured.copies), (1, 2, 2), "{name}");
            let session = oneiro.sessions().find(&id(name)).unwrap().unwrap();
            assert_eq!((session.parent_id, session.lineage), (Some(id(OWN)), Some(Lineage::Branch)));
        }
        // A copy whose origin was never stored is all there is of it.
        let orphan = File::new(space, "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c0c");
        let mut line = user_line(77, "nowhere else");
        line["forkedFrom"] = json!({"sessionId": "gone", "messageUuid": "x"});
        orphan.add(&line);
        assert_eq!(capture(&oneiro, &orphan).messages, 1);
    }

    fn the_work_of_a_subagent_is_a_delegate(space) {
        let oneiro = open(space);
        let main = File::new(space, OWN);
        main.add(&user_line(1, "do it"));
        capture(&oneiro, &main);
        let agent = File::new(space, "agent-a1");
        let mut line = user_line(50, "look around");
        line["isSidechain"] = true.into();
        line["agentId"] = "a1".into();
        agent.add(&line);
        let captured = capture(&oneiro, &agent);
        assert_eq!((captured.sessions, captured.delegates), (1, 1));
        let delegate = oneiro.sessions().find(&id(&format!("{OWN}:agent-a1"))).unwrap().unwrap();
        assert_eq!((delegate.source.as_str(), delegate.parent_id), ("subagent", Some(id(OWN))));
        assert_eq!(delegate.lineage, Some(Lineage::Delegate));
        oneiro.erase(&EraseTarget::Session(id(OWN))).unwrap();
        assert!(oneiro.sessions().find(&delegate.id).unwrap().is_none());
        capture(&oneiro, &agent);
        assert!(oneiro.sessions().find(&delegate.id).unwrap().is_none());
    }

    fn titles_come_from_the_transcript_until_a_person_gives_one(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add(&json!({"type": "summary", "summary": "Of another", "leafUuid": "elsewhere"}));
        file.add(&json!({"type": "summary", "summary": "Beds", "leafUuid": line_uuid(1)}));
        file.add(&user_line(1, "one"));
        let title = || oneiro.sessions().find(&id(OWN)).unwrap().unwrap().title.unwrap();
        capture(&oneiro, &file);
        assert_eq!(title(), "Beds");
        file.add(&json!({"type": "ai-title", "aiTitle": "Tomatoes", "sessionId": OWN}));
        capture(&oneiro, &file);
        assert_eq!(title(), "Tomatoes");
        file.add(&json!({"type": "custom-title", "customTitle": "x".repeat(300), "sessionId": OWN}));
        capture(&oneiro, &file);
        assert_eq!(title(), "x".repeat(99) + "…");
        file.add(&json!({"type": "ai-title", "aiTitle": "Weaker", "sessionId": OWN}));
        capture(&oneiro, &file);
        assert_eq!(title(), "x".repeat(99) + "…");
        let patch = oneiro::SessionPatch { title: Some(Some("Mine".into())), ..Default::default() };
        oneiro.sessions().change(&id(OWN), patch).unwrap();
        file.add(&json!({"type": "custom-title", "customTitle": "Theirs", "sessionId": OWN}));
        capture(&oneiro, &file);
        assert_eq!(title(), "Mine");
    }

    fn what_is_private_is_withheld_wherever_it_stands(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        let secret = "the pin is <private>1234-zebra</private>, so";
        file.add(&user_line(1, secret));
        file.add(&json!({"type": "user", "uuid": line_uuid(2), "sessionId": OWN, "toolUseResult": {"stdout": secret},
            "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": secret}]}}));
        let mut call = answer_line(3, "m", "x", 1);
        call["message"]["content"] = json!([{"type": "tool_use", "id": "t", "name": "f", "input": {"a": secret}}]);
        file.add(&call);
        let captured = capture(&oneiro, &file);
        assert_eq!(captured.withheld, 4);
        let kept = serde_json::to_string(&oneiro.sessions().show(&id(OWN), true).unwrap().messages).unwrap();
        assert!(!kept.contains("zebra") && kept.contains("the pin is"), "{kept}");
    }

    fn a_backlog_is_taken_in_slices(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add_all((1..=300).map(|n| user_line(n, &format!("number {n}"))));
        let request = CaptureRequest { limit: Some(Duration::ZERO), ..CaptureRequest::new(&file.path, Agent::ClaudeCode) };
        let mut slices = Vec::new();
        loop {
            let captured = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
            slices.push(captured.messages);
            if captured.finished {
                break;
            }
        }
        assert_eq!(slices, [128, 128, 44]);
        assert_eq!(oneiro.sessions().show(&id(OWN), true).unwrap().messages.len(), 300);
    }

    fn a_dry_run_counts_and_stores_nothing(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add_all((1..=1_500).map(|n| user_line(n, &format!("number {n}"))));
        let request = CaptureRequest { dry_run: true, ..CaptureRequest::new(&file.path, Agent::ClaudeCode) };
        let counted = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
        assert_eq!((counted.sessions, counted.messages), (1, 1_500));
        assert_eq!(oneiro.stats().unwrap().messages, 0);
        assert_eq!(capture(&oneiro, &file).messages, 1_500);
        let counted = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
        assert_eq!((counted.sessions, counted.messages, counted.bytes), (0, 0, 0));
    }

    fn patterns_keep_sessions_out(space) {
        let oneiro = open(space);
        oneiro.settings().set("ignore_session_patterns", Some(json!(["5b3f*"]))).unwrap();
        let file = File::new(space, OWN);
        file.add(&user_line(1, "one"));
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.sessions, captured.messages, captured.left_out), (0, 0, 1));
    }

    fn a_rollout_of_codex_is_read_in_parts_and_charged_once(space) {
        let oneiro = open(space);
        let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/fixtures/home/.codex/sessions");
        let found = find_transcripts(home.as_ref(), Agent::Codex).unwrap().files;
        let whole = std::fs::read_to_string(&found[1].path).unwrap();
        let name = found[1].path.file_stem().unwrap().to_str().unwrap();
        let file = File::new(space, name);
        for line in whole.split_inclusive('\n') {
            file.add_bytes(line.as_bytes());
            let request = CaptureRequest::new(&file.path, Agent::Codex);
            oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
        }
        let other = oneiro_testkit::TestSpace::new(space.backend);
        let once = open(&other);
        once.transfer().capture_transcript(&CaptureRequest::new(&found[1].path, Agent::Codex), &mut |_| {}).unwrap();
        let session = id("0198f0aa-7d31-7c02-b1a5-3c1e5a9b0001");
        let (parts, whole) = (oneiro.sessions().show(&session, true).unwrap(), once.sessions().show(&session, true).unwrap());
        let roles = |view: &oneiro::SessionView| view.messages.iter().map(|m| (m.role.clone(), m.external_id.clone(), m.at)).collect::<Vec<_>>();
        assert_eq!(roles(&parts), roles(&whole));
        for view in [&parts, &whole] {
            let session = &view.session;
            assert_eq!((session.input_tokens, session.cache_read_tokens, session.output_tokens), (900, 3600, 210));
            assert_eq!((session.title.as_deref(), session.project.as_deref()), (Some("Weighing the hive"), Some("beehive")));
            assert_eq!(session.system_prompt.as_deref(), Some("You are Codex, a coding agent."));
            assert_eq!(session.preview.as_deref(), Some("Log the weight of the hive every hour."));
            assert_eq!(session.tool_call_count, 3);
        }
        let people = whole.messages.iter().filter(|message| message.role == Role::User);
        assert_eq!(people.map(content).collect::<Vec<_>>(), ["Log the weight of the hive every hour."]);
    }

    fn a_place_in_a_file_belongs_to_the_agent_that_knows_its_lines(space) {
        let oneiro = open(space);
        let file = File::new(space, OWN);
        file.add_bytes(b"nonsense\n");
        assert_eq!(capture(&oneiro, &file).not_transcripts.len(), 1);
        file.add(&user_line(1, "one"));
        let other = CaptureRequest::new(&file.path, Agent::Codex);
        let captured = oneiro.transfer().capture_transcript(&other, &mut |_| {}).unwrap();
        assert_eq!((captured.not_transcripts.len(), captured.damaged.len()), (1, 0));
        assert_eq!(Agent::of_transcript(&file.path), Some(Agent::ClaudeCode));
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.damaged[0].line), (1, 1));
        assert_eq!((capture(&oneiro, &file).bytes, captured.not_transcripts.len()), (0, 0));
        // A first line that is still being written may become anything.
        let torn = File::new(space, "torn");
        torn.tear(&user_line(2, "two"), 20);
        assert_eq!(capture(&oneiro, &torn).not_transcripts.len(), 0);
    }

    fn a_session_may_be_told_of_in_any_file(space) {
        let oneiro = open(space);
        // A file under another name goes by what its lines say.
        let file = File::new(space, "saved");
        file.add(&user_line(1, "one"));
        assert_eq!(capture(&oneiro, &file).messages, 1);
        let file = File::new(space, OWN);
        file.add(&user_line(1, "one"));
        file.add(&user_line(2, "two"));
        let captured = capture(&oneiro, &file);
        assert_eq!((captured.messages, captured.duplicates), (1, 1));
    }
}

#[test]
fn links_and_pipes_are_not_read() {
    let space = oneiro_testkit::TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let folder = space.folder().join("projects");
    std::fs::create_dir(&folder).unwrap();
    let outside = File::new(&space, OWN);
    outside.add(&user_line(1, "outside"));
    let link = folder.join("link.jsonl");
    std::os::unix::fs::symlink(&outside.path, &link).unwrap();
    std::os::unix::fs::symlink(space.folder(), folder.join("up")).unwrap();
    let pipe = folder.join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert_eq!(find_transcripts(&folder, Agent::ClaudeCode).unwrap().files, []);
    let request =
        CaptureRequest { within: Some(&folder), ..CaptureRequest::new(&link, Agent::ClaudeCode) };
    let refused = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let refused = oneiro
        .transfer()
        .capture_transcript(&CaptureRequest::new(&pipe, Agent::ClaudeCode), &mut |_| {})
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}
