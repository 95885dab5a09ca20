//! Transcripts as Claude Code and Codex write them: whose words each message has, which of them are
//! the harness's, and what the session is called. hermes is not here: it keeps roles and titles
//! itself, and they are taken as they are.

use crate::support::{Fixed, assert_sound, id, open};
use crate::transcript_files::{File, OWN};
use oneiro::{Agent, CaptureRequest, Part, parts};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::Value;
use std::path::PathBuf;

/// The session of the fixture of Codex.
const HIVE: &str = "0198f0aa-7d31-7c02-b1a5-3c1e5a9b0001";

fn capture_fixture(space: &TestSpace, agent: Agent) -> Fixed {
    let fixture = format!("tests/fixtures/transcripts/{}.jsonl", agent.as_str());
    let fixture = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(fixture);
    let file = File::new(space, if agent == Agent::ClaudeCode { OWN } else { "rollout" });
    file.add_bytes(&std::fs::read(fixture).unwrap());
    let oneiro = open(space);
    let request = CaptureRequest::new(&file.path, agent);
    let captured = oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
    assert_eq!((captured.damaged.len(), captured.left_out, captured.sessions), (0, 0, 1));
    assert_sound(&oneiro);
    oneiro
}

/// Each message: its role, its kind, the kinds of its harness text, and what is said beside it.
fn rows(oneiro: &Fixed, session: &str) -> Vec<String> {
    let messages = oneiro.sessions().show(&id(session), true).unwrap().messages;
    let row = |message: oneiro::Message| {
        let kind = message.body.get("kind").and_then(Value::as_str).unwrap_or("-");
        let (mut harness, mut words) = (Vec::new(), Vec::new());
        for part in parts(&message.role, &message.body) {
            match part {
                Part::Harness { kind, .. } => harness.push(kind),
                Part::Text(text) => words.push(text.trim().lines().next().unwrap_or_default()),
                Part::ToolCall { name, .. } => words.push(name),
                _ => {}
            }
        }
        let words: String = words.join(" / ").chars().take(40).collect();
        format!("{} | {kind} | {} | {words}", message.role.as_str(), harness.join(" "))
    };
    messages.into_iter().map(row).collect()
}

on_both_backends! {
    fn lines_of_claude_code_have_the_role_of_whoever_wrote_them(space) {
        let oneiro = capture_fixture(space, Agent::ClaudeCode);
        let title = oneiro.sessions().find(&id(OWN)).unwrap().unwrap().title;
        assert_eq!(title.as_deref(), Some("Where do the beans go this year?"));
        assert_eq!(rows(&oneiro, OWN), [
            "system | meta |  | <local-command-caveat>Caveat: The messag",
            "system | command | command | ",
            "system | command_output | command_output | ",
            "system | meta |  | Caveat: The messages below were generate",
            "system | command | command | ",
            "system | command_output | command_output | ",
            "user | - | environment | Where do the beans go this year? Last ye",
            "assistant | - |  | ",
            "assistant | - |  | Read",
            "tool | - |  | ",
            "assistant | - |  | In the north bed.",
            "user | - | environment | swap these two",
            "system | interrupted | interrupted | ",
            "system | interrupted | interrupted | ",
            "system | command | command | ",
            "system | command_output | command_output | ",
            "user | - | command command | the beds for spring",
            "system | meta |  | Make a plan for the beds for spring. Ask",
            "user | - | command command | beans want lime",
            "user | - | reminder reminder | and the peas?",
            "system | meta |  | Stop hook feedback:",
            "user | - |  | [Image #1] what grows here?",
            "system | meta |  | [Image: source: /srv/ann/shot.png]",
            "user | - |  | what does <system-reminder> mean in my l",
            "user | - |  | and the kale?",
            "system | notification |  | <task-notification>",
            "system | local_command |  | <command-name>/context</command-name>",
            "system | compact_boundary |  | Conversation compacted",
            "system | compact_summary |  | This session is being continued from a p",
            "system | api_error |  | API Error: 529 overloaded",
        ]);
    }

    fn items_of_codex_have_the_role_of_whoever_wrote_them(space) {
        let oneiro = capture_fixture(space, Agent::Codex);
        let title = oneiro.sessions().find(&id(HIVE)).unwrap().unwrap().title;
        assert_eq!(title.as_deref(), Some("count the frames"));
        assert_eq!(rows(&oneiro, HIVE), [
            "developer | - |  | <permissions instructions>",
            "system | instructions | instructions environment | ",
            "user | - | environment | 1. count the frames 2. write them down",
            "assistant | - |  | ",
            "assistant | - |  | exec_command",
            "tool | - |  | ",
            "assistant | - |  | Ten frames.",
            "system | command_output | command_output | ",
            "system | interrupted | interrupted | ",
            "system | instructions | instructions | ",
            "system | notification | notification | ",
            "system | notification | notification | ",
            "user | - |  | is <environment_context> sent every turn",
            "system | compact_summary |  | Another language model started to solve ",
            "system | compact_summary | compact_summary | ",
        ]);
    }
}
