//! The lines of an import, read and made ready for the store on a thread of their own. It must not
//! know the store's transaction.

use super::ImportLimits;
use super::message_ids::SourceMessage;
use super::records::{self, RecordLine};
use oneiro_model::{Error, ErrorKind, NewMessage, Remedy, Result, SessionId, Timestamp};
use oneiro_store::messages::{self, Prepared, RewoundRow};
use serde_json::{Map, Value};
use std::collections::HashMap;
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
    pub(super) content: Option<Result<LineContent>>,
}

/// What a line holds.
pub(super) enum LineContent {
    Session(ReadSession),
    Record(RecordLine),
}

/// A session as a line has it.
pub(super) struct ReadSession {
    /// Its id.
    pub(super) id: SessionId,
    /// Every other field but its messages.
    pub(super) fields: Map<String, Value>,
    /// Its messages; an error matters only if the session is taken.
    pub(super) messages: Result<Vec<Prepared>>,
    /// Its messages as they are known where they come from, if later lines may cite them.
    pub(super) sources: Vec<SourceMessage>,
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
    // Only lines after the id of a store cite messages.
    let mut has_store = false;
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
        let is_blank = line.trim_ascii().is_empty();
        let content = (!is_blank).then(|| read_content(&line, limits, (now, has_store)));
        has_store |= matches!(content, Some(Ok(LineContent::Record(RecordLine::Store(_)))));
        let read = ReadLine { number, bytes: line.len() as u64, content };
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
        .remedy(Remedy::RaiseLimit { limit: "session-bytes".to_owned() }));
    }
    if before + line.len() as u64 > limits.bytes {
        return Err(Error::too_large(format!("the file is longer than {} bytes", limits.bytes))
            .remedy(Remedy::RaiseLimit { limit: "bytes".to_owned() }));
    }
    Ok(line)
}

fn read_content(
    line: &[u8],
    limits: ImportLimits,
    (now, has_store): (Timestamp, bool),
) -> Result<LineContent> {
    let read = oneiro_model::json::parse(line)?;
    let Value::Object(fields) = read.value else {
        return Err(Error::invalid("a session is a JSON object").remedy(Remedy::ImportExported));
    };
    if let Some(kind) = records::kind_of(&fields)? {
        return records::decode(kind, fields, (line.len(), now)).map(LineContent::Record);
    }
    let mut session = read_session(fields, limits, (read.surrogates, now))?;
    if !has_store {
        session.sources = Vec::new();
    }
    Ok(LineContent::Session(session))
}

fn read_session(
    mut fields: Map<String, Value>,
    limits: ImportLimits,
    (surrogates, now): (usize, Timestamp),
) -> Result<ReadSession> {
    let id = match fields.shift_remove("id") {
        Some(Value::String(id)) => SessionId::new(id)?,
        _ => return Err(Error::field("id", "is missing or not a string")),
    };
    let started_at = fields.get("started_at").and_then(Value::as_str);
    let default_at = started_at.and_then(|at| Timestamp::parse(at).ok()).unwrap_or(now);
    let mut sources = Vec::new();
    let messages = match fields.shift_remove("messages") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(messages)) if messages.len() > limits.messages => {
            Err(Error::too_large(format!(
                "session {:?} has {} messages; at most {} are taken",
                id.as_str(),
                messages.len(),
                limits.messages
            ))
            .remedy(Remedy::RaiseLimit { limit: "messages".to_owned() }))
        }
        Some(Value::Array(messages)) => {
            let rewinds = rewinds(fields.shift_remove("rewinds"))?;
            prepare(messages, &rewinds, (surrogates, default_at), &mut sources)
        }
        Some(_) => Err(Error::field("messages", "is not a list")),
    };
    Ok(ReadSession { id, fields, messages, sources })
}

/// Which rewinds hid which messages, by the ids they had where they come from.
fn rewinds(rows: Option<Value>) -> Result<HashMap<i64, RewoundRow>> {
    let bad = || Error::field("rewinds", "is not a list of messages and rewinds");
    let Some(Value::Array(rows)) = rows else { return Ok(HashMap::new()) };
    let read = |row: &Value| {
        let number = |name: &str| row.get(name).and_then(Value::as_i64).ok_or_else(bad);
        let compacted = row.get("compacted").and_then(Value::as_bool).unwrap_or(false);
        let (message, rewind) = (number("message")?, number("rewind")?);
        Ok((message, RewoundRow { message, rewind, compacted }))
    };
    rows.iter().map(read).collect()
}

/// Makes messages ready; an error says which it was.
fn prepare(
    messages: Vec<Value>,
    rewinds: &HashMap<i64, RewoundRow>,
    (surrogates, at): (usize, Timestamp),
    sources: &mut Vec<SourceMessage>,
) -> Result<Vec<Prepared>> {
    let mut prepare = |(index, message): (usize, Value)| {
        let id = message.get("id").and_then(Value::as_i64);
        let rewound = id.and_then(|id| rewinds.get(&id));
        let mut message = NewMessage::from_json(message)?;
        sources.push(SourceMessage::new(id, &message));
        // Which message held them is not known any more; the space counts them all the same.
        message.repaired = if index == 0 { surrogates } else { 0 };
        let mut prepared = messages::prepare(message, at)?;
        if let Some(rewound) = rewound {
            prepared.was_rewound(rewound);
        }
        Ok(prepared)
    };
    let place = |index: usize| move |error: Error| error.at(format!("message {}", index + 1));
    let messages = messages.into_iter().enumerate();
    messages.map(|(index, message)| prepare((index, message)).map_err(place(index))).collect()
}
