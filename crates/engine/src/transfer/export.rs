//! Exports sessions with all their messages as JSONL, and everything else that is believed, in one
//! snapshot.

use super::{TransferProgress, export_records, records};
use crate::sessions::{fetch_session, key_of};
use crate::views::Transfer;
use oneiro_model::{Error, ErrorKind, ExportRequest, Message, Result, Session, UsageRow};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{SessionRef, Tx, sessions, usage};
use serde::Serialize;
use std::io::Write;

/// Sessions read at a time.
const BATCH_SESSIONS: usize = 256;

/// Messages read at a time.
const PAGE_MESSAGES: usize = 1_024;

/// Bytes of large values that are read at once.
const PAGE_BYTES: usize = 16 << 20;

impl Transfer<'_> {
    /// Writes everything as JSONL: sessions, oldest first, with rewound and compacted messages, then
    /// projects, facts, distrusted sources, memories, operations and signals. A selection of sessions is
    /// written alone.
    pub fn export(
        &self,
        request: &ExportRequest,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<TransferProgress> {
        let mut output = Output { out, done: TransferProgress::default(), progress };
        self.oneiro.store.read(|tx| {
            let store = if request.is_selection() { None } else { export_records::source(tx)? };
            if let Some(store) = &store {
                output.record("store", store, false)?;
            }
            write_sessions(tx, request, &mut output)?;
            if store.is_some() { export_records::write(tx, &mut output) } else { Ok(()) }
        })?;
        output.out.flush().map_err(cannot_write)?;
        Ok(output.done)
    }
}

/// Where an export is written to, and how far it is.
pub(super) struct Output<'o> {
    out: &'o mut dyn Write,
    done: TransferProgress,
    progress: &'o mut dyn FnMut(TransferProgress),
}

impl Output<'_> {
    /// Writes the line of a record.
    pub(super) fn record(
        &mut self,
        kind: &str,
        record: &impl Serialize,
        is_removed: bool,
    ) -> Result<()> {
        let record = serde_json::to_string(record).map_err(cannot_encode)?;
        let removed = if is_removed {
            format!(",\"{}\":true", records::REMOVED_FIELD)
        } else {
            String::new()
        };
        let mut line = Line { out: self.out, bytes: 0 };
        line.write(&format!("{{\"{kind}\":{record}{removed}}}\n"))?;
        self.done.bytes += line.bytes;
        self.done.records += 1;
        (self.progress)(self.done);
        Ok(())
    }
}

fn write_sessions(tx: &Tx<'_>, request: &ExportRequest, output: &mut Output<'_>) -> Result<()> {
    let mut export = |key: i64| -> Result<()> {
        let session = fetch_session(tx, key)?;
        if request.source.as_ref().is_some_and(|source| *source != session.source) {
            return Ok(());
        }
        write_session(tx, StoredSession { key, session }, output.out, &mut output.done)?;
        (output.progress)(output.done);
        Ok(())
    };
    if !request.sessions.is_empty() {
        let keys = request.sessions.iter().map(|id| key_of(tx, id));
        return keys.collect::<Result<Vec<_>>>()?.into_iter().try_for_each(export);
    }
    let mut after = 0;
    loop {
        let keys = sessions::keys_after(tx, after, BATCH_SESSIONS)?;
        let Some(last) = keys.last() else { return Ok(()) };
        after = *last;
        keys.into_iter().try_for_each(&mut export)?;
    }
}

/// Writes one session, message by message, so that a long session is never completely in memory.
fn write_session(
    tx: &Tx<'_>,
    stored: StoredSession,
    out: &mut dyn Write,
    done: &mut TransferProgress,
) -> Result<()> {
    let StoredSession { key, session } = stored;
    let mut line = Line { out, bytes: 0 };
    let accounts: Vec<UsageRow> = usage::of_session(tx, key)?;
    let head = serde_json::to_string(&session).map_err(cannot_encode)?;
    line.write(head.strip_suffix('}').unwrap_or(&head))?;
    line.write(",\"usage\":")?;
    line.write(&serde_json::to_string(&accounts).map_err(cannot_encode)?)?;
    let rewound = messages::rewound(tx, key)?;
    if !rewound.is_empty() {
        line.write(",\"rewinds\":")?;
        line.write(&serde_json::to_string(&rewound).map_err(cannot_encode)?)?;
    }
    line.write(",\"messages\":[")?;
    let mut after = 0;
    let mut first = true;
    loop {
        let request = PageRequest { after, hidden: true, limit: PAGE_MESSAGES };
        let page: Vec<Message> =
            messages::page_within(tx, SessionRef { key, id: &session.id }, request, PAGE_BYTES)?.0;
        let Some(last) = page.last() else { break };
        after = last.id.0;
        done.messages += page.len() as u64;
        for message in &page {
            if !std::mem::take(&mut first) {
                line.write(",")?;
            }
            line.write(&serde_json::to_string(message).map_err(cannot_encode)?)?;
        }
    }
    line.write("]}\n")?;
    done.sessions += 1;
    done.bytes += line.bytes;
    Ok(())
}

struct StoredSession {
    key: i64,
    session: Session,
}

struct Line<'o> {
    out: &'o mut dyn Write,
    bytes: u64,
}

impl Line<'_> {
    fn write(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len() as u64;
        self.out.write_all(text.as_bytes()).map_err(cannot_write)
    }
}

fn cannot_encode(error: serde_json::Error) -> Error {
    Error::internal("a line cannot be written as JSON").because(error)
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("writing the export failed: {error}"))
        .remedy("check the disk, or the program that reads the output")
        .because(error)
}
