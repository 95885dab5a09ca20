//! Standard input and output as a transport: a message, or a batch of them, to a line. It owns what
//! is done with lines that are none; it must not know what any message asks for.
//!
//! rmcp's own transport passes over a line it cannot read without a word, and knows no batches,
//! which the protocol had in 2025-03-26.

mod batches;
mod reading;
mod writing;

use batches::Batches;
use reading::Line;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, watch};
use writing::Writer;

/// The transport over a pair of streams.
pub(crate) struct Lines {
    read: mpsc::Receiver<Line>,
    /// Messages of a batch that wait for their turn.
    waiting: VecDeque<ClientJsonRpcMessage>,
    /// Answers of our own. They wait here because a call of `receive` may be dropped at any await,
    /// and must not take what it has read with it.
    outbox: VecDeque<Value>,
    /// Whether the client has asked for anything: before that there is nothing to notify about.
    has_asked: bool,
    batches: Arc<Mutex<Batches>>,
    writer: Option<Writer>,
    /// True once nobody reads what is written.
    gone: watch::Receiver<bool>,
}

impl Lines {
    /// Starts a thread to read and one to write.
    pub(crate) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> std::io::Result<Lines> {
        let (writer, gone) = Writer::start(output)?;
        Ok(Lines {
            read: reading::start(input)?,
            waiting: VecDeque::new(),
            outbox: VecDeque::new(),
            has_asked: false,
            batches: Arc::default(),
            writer: Some(writer),
            gone,
        })
    }

    /// Takes a line apart; what of it cannot be a message is answered here.
    fn take(&mut self, line: Line) {
        let value = match line {
            Line::TooLong => return self.complain(Value::Null, TOO_LONG),
            Line::Read(bytes) => match serde_json::from_slice(&bytes) {
                Ok(value) => value,
                Err(_) => return self.complain(Value::Null, NOT_JSON),
            },
        };
        let Value::Array(messages) = value else {
            match message(value) {
                Ok(message) => self.accept(message),
                Err(id) => self.complain(id, NO_MESSAGE),
            }
            return;
        };
        if messages.is_empty() {
            return self.complain(Value::Null, NO_MESSAGE);
        }
        let read: Vec<_> = messages.into_iter().map(message).collect();
        self.outbox.extend(lock(&self.batches).open(&read));
        for message in read.into_iter().flatten() {
            self.accept(message);
        }
    }

    fn accept(&mut self, message: ClientJsonRpcMessage) {
        self.has_asked |= matches!(message, ClientJsonRpcMessage::Request(_));
        if self.has_asked {
            self.waiting.push_back(message);
        }
    }

    fn complain(&mut self, id: Value, what: (i32, &str)) {
        self.outbox.push_back(problem(id, what));
    }

    /// Writes answers of our own; nothing is lost when it is dropped.
    async fn flush(&mut self) {
        let Some(writer) = &self.writer else { return };
        while !self.outbox.is_empty() {
            // Nobody reads any more: `gone` ends the conversation.
            let Ok(room) = writer.room().await else { return };
            if let Some(value) = self.outbox.pop_front() {
                room.send(value.to_string());
            }
        }
    }
}

const NOT_JSON: (i32, &str) = (-32700, "the line is not JSON");
const NO_MESSAGE: (i32, &str) =
    (-32600, "the line is not a JSON-RPC 2.0 message with a text or a whole number as its id");
const TOO_LONG: (i32, &str) = (-32600, "the line is longer than 16 MB");

fn problem(id: Value, (code, message): (i32, &str)) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The message that a value is, or the id to answer that it is none.
fn message(value: Value) -> Result<ClientJsonRpcMessage, Value> {
    let id = match value.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        // Anything else is no id of MCP's; as an absent one it would make a request a notification.
        Some(_) => return Err(Value::Null),
        None => Value::Null,
    };
    serde_json::from_value(value).map_err(|_| id)
}

fn lock(batches: &Mutex<Batches>) -> std::sync::MutexGuard<'_, Batches> {
    // Nothing in there is left half done by a panic.
    batches.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport<RoleServer> for Lines {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let (writer, batches) = (self.writer.clone(), Arc::clone(&self.batches));
        async move {
            let value = serde_json::to_value(&message)?;
            let Some(value) = lock(&batches).close(value) else { return Ok(()) };
            match writer {
                Some(writer) => writer.line(value.to_string()).await,
                None => Err(std::io::ErrorKind::NotConnected.into()),
            }
        }
    }

    /// The next message; dropped and called again it loses none.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.flush().await;
            if let Some(message) = self.waiting.pop_front() {
                if let ClientJsonRpcMessage::Notification(notification) = &message {
                    let cancelled = lock(&self.batches).cancel(&notification.notification);
                    self.outbox.extend(cancelled);
                }
                return Some(message);
            }
            let line = tokio::select! {
                line = self.read.recv() => line?,
                _ = self.gone.wait_for(|gone| *gone) => return None,
            };
            self.take(line);
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish().await;
        }
        Ok(())
    }
}
