//! A model on loopback that takes requests and answers none until released.

use crate::serve_support::eventually;
use crate::support::config;
use oneiro_testkit::TestSpace;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The model; it is gone when this is dropped.
pub struct SilentModel {
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<String>>,
    unanswered: Mutex<Vec<TcpStream>>,
    has_ended: AtomicBool,
}

impl SilentModel {
    pub fn start() -> SilentModel {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let taking = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if taking.has_ended.load(Ordering::SeqCst) {
                    break;
                }
                let (stream, seen) = (stream.unwrap(), Arc::clone(&taking));
                std::thread::spawn(move || seen.take(stream));
            }
        });
        SilentModel { address, seen }
    }

    /// Makes every command on a space ask this model, and summaries of few messages.
    pub fn configure(&self, space: &TestSpace) {
        let text = format!("llm_url = \"http://{}/v1\"\nllm_model = \"m\"\n", self.address);
        std::fs::write(config(space), text).unwrap();
        crate::talk::small_summaries(space);
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    pub fn wait_for_requests(&self, count: usize) {
        eventually("the model was not asked", || self.requests().len() >= count);
    }

    /// Answers every request so far.
    pub fn answer_all(&self) {
        let answer = json!({
            "choices": [{
                "message": {"role": "assistant", "content": "They talked about boxes."},
                "finish_reason": "stop",
            }],
            "usage": {"prompt_tokens": 9, "completion_tokens": 5},
        });
        let (body, kind) = (answer.to_string(), "content-type: application/json");
        for mut stream in self.seen.unanswered.lock().unwrap().drain(..) {
            // The client may be gone.
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\n{kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    }
}

impl Drop for SilentModel {
    fn drop(&mut self) {
        self.seen.has_ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Seen {
    fn take(&self, stream: TcpStream) -> Option<()> {
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        let mut reader = BufReader::new(&stream);
        let (mut line, mut length) = (String::new(), 0);
        while line.trim() != "" || line.is_empty() {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        self.unanswered.lock().ok()?.push(stream);
        self.requests.lock().ok()?.push(String::from_utf8_lossy(&body).into_owned());
        Some(())
    }
}
