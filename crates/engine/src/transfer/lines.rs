//! The lines of an import, read and made ready for the store on a thread of their own. It must not
//! know the store's transaction.

use super::ImportLimits;
use oneiro_model::{Error, ErrorKind, NewMessage, Result, SessionId, Timestamp};
use oneiro_store::messages::{self, Prepared};
use serde_json::{Map, Value};
use std::io::BufRead;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

/// Lines that may wait to be inserted.
pub(super) const LINES_AHEAD: usize = 4;

/// One line.
pub(super) struct ReadLine {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its length.
    pub(super) bytes: u64,
    /// What it holds; nothing when it is blank.
    pub(super) session: Option<Result<ReadSession>>,
}

/// A session as a line has it.
pub(super) struct ReadSession {
    /// Its id.
    pub(super) id: SessionId,
    /// Every other field but its messages.
    pub(super) fields: Map<String, Value>,
    /// Its messages; an error matters only if the session is taken.
    pub(super) messages: Result<Vec<Prepared>>,
}

/// Reads lines until the end, the first that cannot be read, or until nobody wants more.
pub(super) fn read_lines(
    input: &Mutex<&mut (dyn BufRead + Send)>,
    limits: ImportLimits,
    now: Timestamp,
    lines: &SyncSender<Result<ReadLine>>,
) {
    let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
    let mut before = 0;
    for number in 1.. {
        let line = match read_line(&mut **input, limits, before) {
            Ok(line) if line.is_empty() => return,
            Ok(line) => line,
            Err(error) => {
                let _ = lines.send(Err(error));
                return;
            }
        };
        before += line.len() as u64;
        let session = (!line.trim_ascii().is_empty()).then(|| read_session(&line, limits, now));
        let read = ReadLine { number, bytes: line.len() as u64, session };
        if lines.send(Ok(read)).is_err() {
            return;
        }
    }
}

/// Reads a line of bounded length; empty at the end.
fn read_line(input: &mut dyn BufRead, limits: ImportLimits, before: u64) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut bounded = std::io::Read::take(&mut *input, limits.session_bytes as u64 + 1);
    bounded.read_until(b'\n', &mut line).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("reading the import failed: {error}"))
            .because(error)
    })?;
    if line.len() > limits.session_bytes {
        return Err(Error::too_large(format!(
            "a session is longer than {} bytes",
            limits.session_bytes
        ))
        .remedy("raise --max-session-bytes"));
    }
    if before + line.len() as u64 > limits.bytes {
        return Err(Error::too_large(format!("the file is longer than {} bytes", limits.bytes))
            .remedy("split it, or raise --max-bytes"));
    }
    Ok(line)
}

fn read_session(line: &[u8], limits: ImportLimits, now: Timestamp) -> Result<ReadSession> {
    let read = oneiro_model::json::parse(line)?;
    let Value::Object(mut fields) = read.value else {
        return Err(Error::invalid("a session is a JSON object")
            .remedy("import what `oneiro session export` wrote"));
    };
    let id = match fields.shift_remove("id") {
        Some(Value::String(id)) => SessionId::new(id)?,
        _ => return Err(Error::field("id", "is missing or not a string")),
    };
    let started_at = fields.get("started_at").and_then(Value::as_str);
    let default_at = started_at.and_then(|at| Timestamp::parse(at).ok()).unwrap_or(now);
    let messages = match fields.shift_remove("messages") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(messages)) if messages.len() > limits.messages => {
            Err(Error::too_large(format!(
                "session {:?} has {} messages; at most {} are taken",
                id.as_str(),
                messages.len(),
                limits.messages
            ))
            .remedy("raise --max-messages"))
        }
        Some(Value::Array(messages)) => prepare(messages, read.surrogates, default_at),
        Some(_) => Err(Error::field("messages", "is not a list")),
    };
    Ok(ReadSession { id, fields, messages })
}

/// Makes messages ready; an error says which it was.
fn prepare(messages: Vec<Value>, surrogates: usize, at: Timestamp) -> Result<Vec<Prepared>> {
    let prepare = |(index, message)| {
        let mut message = NewMessage::from_json(message)?;
        // Which message held them is not known any more; the space counts them all the same.
        message.repaired = if index == 0 { surrogates } else { 0 };
        messages::prepare(message, at)
    };
    let place = |index: usize| move |error: Error| error.at(format!("message {}", index + 1));
    let messages = messages.into_iter().enumerate();
    messages.map(|(index, message)| prepare((index, message)).map_err(place(index))).collect()
}
