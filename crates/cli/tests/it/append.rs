//! `append`: batches, streams, duplicates, and input that cannot be taken.

use crate::support::{append, json, oneiro, run, run_with};
use oneiro_testkit::{awkward_messages, on_both_backends};
use serde_json::{Value, json as value};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

on_both_backends! {
    fn messages_come_back_as_they_went_in(space) {
        run(space, &["session", "new", "--id", "s"]);
        let messages = awkward_messages();
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        let appended = append(space, "s", &lines);
        assert_eq!(appended["ids"].as_array().unwrap().len(), messages.len());
        assert_eq!(appended["duplicates"], 0);
        let shown = json(space, &["session", "show", "s"]);
        for (sent, shown) in messages.iter().zip(shown["messages"].as_array().unwrap()) {
            for (name, field) in sent.as_object().unwrap() {
                assert_eq!(&shown[name], field, "{name}");
            }
        }
        assert_eq!(shown["message_count"], messages.len());
        assert_eq!(shown["tool_call_count"], 2);
    }

    fn an_external_id_is_stored_once(space) {
        run(space, &["session", "new", "--id", "s"]);
        let lines = "{\"role\":\"user\",\"content\":\"a\",\"external_id\":\"x\"}\n\
                     {\"role\":\"user\",\"content\":\"b\"}\n";
        let first = append(space, "s", lines);
        let again = append(space, "s", lines);
        assert_eq!(again["duplicates"], 1);
        assert_eq!(first["ids"][0], again["ids"][0]);
        assert_eq!(json(space, &["session", "show", "s"])["message_count"], 3);
    }

    fn a_bad_line_stores_nothing_and_is_named(space) {
        run(space, &["session", "new", "--id", "s"]);
        for (bad, says) in [
            (&b"not json"[..], "line 2: not JSON"),
            (b"{\"role\":\"user\",\"content\":\"\xff\"}", "line 2: not UTF-8 at byte 26"),
            (b"{\"content\":\"x\"}", "line 2: role: is missing"),
            (b"[1]", "line 2: a message is a JSON object"),
            (b"{\"role\":\"user\",\"at\":\"noon\"}", "line 2: at: "),
        ] {
            let input = [b"{\"role\":\"user\",\"content\":\"ok\"}\n", bad, b"\n"].concat();
            let answer = run_with(oneiro(space), &["append", "s", "--json"], &input);
            assert_eq!(answer.code, 2);
            let message = answer.error()["message"].as_str().unwrap().to_owned();
            assert!(message.starts_with(says), "{message}");
        }
        assert_eq!(json(space, &["session", "show", "s"])["message_count"], 0);
    }

    fn a_stream_acknowledges_line_by_line(space) {
        run(space, &["session", "new", "--id", "s"]);
        let mut child = oneiro(space)
            .args(["append", "s", "--stream"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut acknowledged = BufReader::new(child.stdout.take().unwrap()).lines();
        for n in 0..3 {
            writeln!(input, "{}", value!({"role": "user", "content": format!("line {n}")})).unwrap();
            let id: i64 = acknowledged.next().unwrap().unwrap().parse().unwrap();
            // Acknowledged is durable: another process sees it while the stream is still open.
            let shown = json(space, &["session", "show", "s"]);
            let last = shown["messages"].as_array().unwrap().last().unwrap().clone();
            assert_eq!((last["id"].as_i64(), last["content"].as_str()), (Some(id), Some(format!("line {n}").as_str())));
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }

    fn a_stream_keeps_what_stands_before_a_bad_line(space) {
        run(space, &["session", "new", "--id", "s"]);
        let input = b"{\"role\":\"user\",\"content\":\"1\"}\n{\"role\":\"user\",\"content\":\"2\"}\nbad\n";
        let answer = run_with(oneiro(space), &["append", "s", "--stream"], input);
        assert_eq!(answer.code, 2);
        assert_eq!(answer.out.lines().count(), 2);
        assert!(answer.err.contains("line 3"), "{}", answer.err);
        assert_eq!(json(space, &["session", "show", "s"])["message_count"], 2);
    }

    fn text_on_the_command_line_and_sessions_made_on_the_way(space) {
        run(space, &["session", "new", "--id", "other"]);
        let answer = run(space, &["append", "new", "--text", "hello"]);
        assert_eq!(answer.code, 3);
        assert!(answer.err.contains("hint: create it"), "{}", answer.err);
        let made = json(space, &["append", "new", "--create", "--source", "test", "--text", "hello"]);
        assert_eq!(made["ids"].as_array().unwrap().len(), 1);
        let shown = json(space, &["session", "show", "new"]);
        assert_eq!((shown["source"].as_str(), shown["preview"].as_str()), (Some("test"), Some("hello")));
    }

    fn patterns_keep_sessions_out(space) {
        run(space, &["config", "set", "stateless_session_patterns", "[\"cron:*\"]"]);
        run(space, &["session", "new", "--id", "cron:1"]);
        let appended = append(space, "cron:1", "{\"role\":\"user\",\"content\":\"x\"}\n");
        assert_eq!(appended, value!({"ids": [], "duplicates": 0, "skipped": 1}));
        let line = b"{\"role\":\"user\",\"content\":\"x\"}\n";
        assert_eq!(run_with(oneiro(space), &["append", "cron:1", "--stream"], line).out, "null\n");
        let refused = run(space, &["session", "new", "--id", "heartbeat"]);
        assert_eq!(refused.code, 4, "{}", refused.err);
    }
}

#[test]
fn a_message_of_fifty_megabytes_and_one_too_deep() {
    let space = oneiro_testkit::TestSpace::new(oneiro_testkit::Backend::Sqlite);
    run(&space, &["session", "new", "--id", "s"]);
    let big = value!({"role": "user", "content": "x".repeat(50 << 20)}).to_string();
    let appended = append(&space, "s", &big);
    assert_eq!(appended["ids"].as_array().unwrap().len(), 1);
    let shown: Value = json(&space, &["session", "show", "s"]);
    assert_eq!(shown["messages"][0]["content"].as_str().unwrap().len(), 50 << 20);
    let deep =
        format!("{{\"role\":\"user\",\"content\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999));
    let answer = run_with(oneiro(&space), &["append", "s", "--json"], deep.as_bytes());
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("nested deeper than"), "{}", answer.err);
}
