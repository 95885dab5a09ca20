//! Counts what an import would do, without storing anything.

use super::checkpoint::Checkpoint;
use super::message_row;
use super::pass::{Pass, ScanRange, SessionStatus, SourceSession, scan};
use super::report::HermesImported;
use super::session_row::bytes_of;
use crate::Oneiro;
use crate::transfer::TransferProgress;
use oneiro_model::{Result, SessionId};
use oneiro_store::{ForeignFile, sessions};
use std::ops::ControlFlow;
use std::path::Path;

/// Messages between two reports of the progress.
const PROGRESS_MESSAGES: u64 = 4_096;

pub(super) fn preview(
    oneiro: &Oneiro,
    path: &Path,
    file: &ForeignFile,
    progress: &mut dyn FnMut(TransferProgress),
) -> Result<HermesImported> {
    let mut pass = Pass::new(oneiro, path, file)?;
    let columns = pass.layout.sessions.only(&["id"]);
    let lost = scan(file, ScanRange::all("sessions", &columns.names), |row| {
        pass.add_expected(bytes_of(row.value(0)))?;
        Ok(ControlFlow::Continue(()))
    })?;
    pass.done.not_kept.extend(lost);
    let columns = pass.layout.messages.only(&["session_id", "active", "compacted"]);
    let lost = scan(file, ScanRange::all("messages", &columns.names), |row| {
        let session = bytes_of(columns.get(row, "session_id"));
        let place = match pass.by_id.get(&session).copied() {
            Some(place) => place,
            None => pass.add_expected(session)?,
        };
        if let Some(seen) = pass.seen.get_mut(place) {
            seen.runs.push(row.number, message_row::visibility(&columns, row));
            match seen.status {
                SessionStatus::Skipped => pass.done.left_out += 1,
                _ => pass.done.messages += usize::from(Some(row.number) > seen.until),
            }
        }
        pass.at.messages += 1;
        if pass.at.messages.is_multiple_of(PROGRESS_MESSAGES) {
            pass.at.report_to(progress);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    pass.done.not_kept.extend(lost);
    pass.compare(file)?;
    pass.done.agrees = None;
    pass.done.differences.clear();
    Ok(pass.done)
}

impl Pass<'_> {
    /// Adds a session with the status an import would give it, and returns its index.
    fn add_expected(&mut self, raw_id: Vec<u8>) -> Result<usize> {
        let text = String::from_utf8_lossy(&raw_id).into_owned();
        let id = SessionId::new(text).ok();
        let (key, checkpoint, is_ignored) = self.oneiro.store.read(|tx| {
            let key = id.as_ref().map(|id| sessions::key(tx, id)).transpose()?.flatten();
            let settings = self.oneiro.settings_in(tx)?;
            let is_ignored =
                id.as_ref().is_some_and(|id| settings.ignores(id) || settings.is_stateless(id));
            Ok((key, Checkpoint::read(tx, &raw_id)?, is_ignored))
        })?;
        let status = match (key, &checkpoint) {
            _ if is_ignored => SessionStatus::Skipped,
            (None, Some(_)) if id.is_some() => SessionStatus::Skipped,
            (None, _) => SessionStatus::New,
            (Some(_), _) => SessionStatus::Known,
        };
        match status {
            SessionStatus::New => self.done.sessions += 1,
            SessionStatus::Skipped => self.done.left_out_sessions += 1,
            SessionStatus::Known => {}
        }
        let checkpoint = checkpoint.unwrap_or_default();
        let place = self.seen.len();
        self.by_id.insert(raw_id.clone(), place);
        self.seen.push(SourceSession {
            raw_id,
            id: id.unwrap_or_else(|| SessionId::from_random([0; 10])),
            status,
            until: checkpoint.until,
            known: checkpoint.runs,
            runs: Default::default(),
            parent: None,
            descends: None,
            is_of_tool: false,
            is_compressed: false,
            link: checkpoint.link,
        });
        Ok(place)
    }
}
