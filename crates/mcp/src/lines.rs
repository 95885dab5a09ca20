//! The transport over standard input and output: one message, or one batch of messages, per line. It
//! answers lines that are not messages.
//!
//! rmcp's own transport ignores a line that it cannot read, so that a client would wait forever, and
//! does not support batches, which the protocol had in 2025-03-26.

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
    /// Messages of a batch that are not yet received.
    waiting: VecDeque<ClientJsonRpcMessage>,
    /// Answers that rmcp does not write. They are kept here because a call of `receive` may be
    /// dropped at any await and must lose nothing.
    outbox: VecDeque<Value>,
    /// Whether the client has sent a request: before that no notification makes sense.
    has_asked: bool,
    batches: Arc<Mutex<Batches>>,
    writer: Option<Writer>,
    /// True once the output is closed.
    is_closed: watch::Receiver<bool>,
}

impl Lines {
    /// Starts a thread to read and one to write.
    pub(crate) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> std::io::Result<Lines> {
        let (writer, is_closed) = Writer::start(output)?;
        Ok(Lines {
            read: reading::start(input)?,
            waiting: VecDeque::new(),
            outbox: VecDeque::new(),
            has_asked: false,
            batches: Arc::default(),
            writer: Some(writer),
            is_closed,
        })
    }

    /// Parses a line and answers the parts of it that are not messages.
    fn take(&mut self, line: Line) {
        let value = match line {
            Line::TooLong => return self.send_error(Value::Null, TOO_LONG),
            Line::Read(bytes) => match serde_json::from_slice(&bytes) {
                Ok(value) => value,
                Err(_) => return self.send_error(Value::Null, NOT_JSON),
            },
        };
        let Value::Array(messages) = value else {
            match message(value) {
                Ok(message) => self.accept(message),
                Err(id) => self.send_error(id, NO_MESSAGE),
            }
            return;
        };
        if messages.is_empty() {
            return self.send_error(Value::Null, NO_MESSAGE);
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

    fn send_error(&mut self, id: Value, what: (i32, &str)) {
        self.outbox.push_back(problem(id, what));
    }

    /// Writes the pending answers; nothing is lost when it is dropped.
    async fn flush(&mut self) {
        let Some(writer) = &self.writer else { return };
        while !self.outbox.is_empty() {
            // The output is closed: `is_closed` ends the conversation.
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

/// The message in a value, or the id to which to answer that it is not a message.
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
    // A panic leaves nothing inside half changed.
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

    /// The next message. Cancel safe.
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
                _ = self.is_closed.wait_for(|is_closed| *is_closed) => return None,
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
