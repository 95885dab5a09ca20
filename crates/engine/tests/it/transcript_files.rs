//! Transcripts for tests: a file that grows, tears and is replaced, and lines to put into it.

use crate::support::Fixed;
use oneiro::{Agent, CaptureRequest, Captured};
use oneiro_testkit::TestSpace;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

/// The session most tests speak of.
pub const OWN: &str = "5b3f1a52-6c1d-4f0e-9a37-0d2f6f6e1c01";

/// A transcript.
pub struct File {
    pub path: PathBuf,
    torn: Mutex<Vec<u8>>,
}

impl File {
    pub fn new(space: &TestSpace, stem: &str) -> File {
        let path = space.folder().join(format!("{stem}.jsonl"));
        std::fs::write(&path, "").unwrap();
        File { path, torn: Mutex::default() }
    }

    pub fn add_bytes(&self, bytes: &[u8]) {
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(bytes).unwrap();
    }

    pub fn add(&self, line: &Value) {
        self.add_bytes(format!("{line}\n").as_bytes());
    }

    pub fn add_all(&self, lines: impl Iterator<Item = Value>) {
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        self.add_bytes(text.as_bytes());
    }

    /// Writes only the first bytes of a line.
    pub fn tear(&self, line: &Value, at: usize) {
        let line = format!("{line}\n").into_bytes();
        self.add_bytes(&line[..at]);
        *self.torn.lock().unwrap() = line[at..].to_vec();
    }

    /// Writes the rest of it.
    pub fn finish_torn_line(&self) {
        let rest = std::mem::take(&mut *self.torn.lock().unwrap());
        self.add_bytes(&rest);
    }

    pub fn replace(&self, lines: &[Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.path, text).unwrap();
    }
}

/// The id of a line.
pub fn line_uuid(n: u32) -> String {
    format!("7a1c0000-0000-4000-8000-{n:012}")
}

/// A turn of the person.
pub fn user_line(n: u32, words: &str) -> Value {
    json!({
        "type": "user", "uuid": line_uuid(n), "sessionId": OWN, "cwd": "/srv/ann/garden",
        "gitBranch": "main", "timestamp": "2026-03-02T09:00:00.000Z",
        "message": {"role": "user", "content": words},
    })
}

/// A piece of an answer of the agent.
pub fn answer_line(n: u32, message: &str, words: &str, output: u32) -> Value {
    json!({
        "type": "assistant", "uuid": line_uuid(n), "sessionId": OWN, "cwd": "/srv/ann/garden",
        "timestamp": "2026-03-02T09:00:01.000Z",
        "message": {
            "id": message, "role": "assistant", "model": "claude-x",
            "content": [{"type": "text", "text": words}],
            "usage": {"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 100},
        },
    })
}

pub fn capture(oneiro: &Fixed, file: &File) -> Captured {
    let request = CaptureRequest::new(&file.path, Agent::ClaudeCode);
    oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap()
}
