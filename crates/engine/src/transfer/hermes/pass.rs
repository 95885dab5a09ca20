//! One pass over a `state.db`: imports sessions, messages, changes of both, parents and other tables,
//! then compares the counts. Every step is many short transactions; the next import completes an
//! interrupted one.

use super::checkpoint::{self, VisibilityRuns};
use super::layout::Layout;
use super::message_row;
use super::report::{HermesImported, NotKept};
use super::session_row::{SessionRow, Source, bytes_of};
use crate::Oneiro;
use crate::transfer::TransferProgress;
use oneiro_model::{ChangeKind, Error, ErrorKind, Lineage, Result, SessionId};
use oneiro_store::{ForeignFile, ForeignRow, ForeignRows, changes, message_rows};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// Sessions per transaction.
const BATCH_SESSIONS: usize = 128;

/// How a session of the file was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionStatus {
    /// Created by this import.
    New,
    /// It existed before.
    Known,
    /// Not imported: deleted here, or excluded by a pattern.
    Skipped,
}

/// A session of the file, with what later steps need.
#[derive(Debug, Clone)]
pub(super) struct SourceSession {
    pub(super) raw_id: Vec<u8>,
    pub(super) id: SessionId,
    pub(super) status: SessionStatus,
    /// The last message that earlier imports stored.
    pub(super) until: Option<i64>,
    /// The visibility of its messages at the last import.
    pub(super) known: VisibilityRuns,
    /// The visibility of its messages in the file.
    pub(super) runs: VisibilityRuns,
    pub(super) parent: Option<Vec<u8>>,
    pub(super) descends: Option<Lineage>,
    pub(super) is_of_tool: bool,
    pub(super) is_compressed: bool,
    /// The fingerprint of the parent that earlier imports set.
    pub(super) link: i64,
}

/// The result of a pass.
pub(super) struct Outcome {
    pub(super) done: HermesImported,
    /// Whether the file did not change during the pass.
    pub(super) is_complete: bool,
}

/// A pass over a file.
pub(super) struct Pass<'a> {
    pub(super) oneiro: &'a Oneiro,
    pub(super) layout: Layout,
    pub(super) path: String,
    pub(super) done: HermesImported,
    pub(super) seen: Vec<SourceSession>,
    pub(super) by_id: HashMap<Vec<u8>, usize>,
    pub(super) at: Progress,
}

/// The progress of a pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    pub(super) sessions: u64,
    pub(super) messages: u64,
    total: u64,
    bytes: u64,
}

impl Progress {
    pub(super) fn report_to(&self, progress: &mut dyn FnMut(TransferProgress)) {
        let share = self.messages as f64 / self.total.max(1) as f64;
        let bytes = (self.bytes as f64 * share.min(1.0)) as u64;
        let (sessions, messages) = (self.sessions, self.messages);
        progress(TransferProgress { sessions, messages, bytes, ..TransferProgress::default() });
    }
}

impl<'a> Pass<'a> {
    pub(super) fn new(oneiro: &'a Oneiro, path: &Path, file: &ForeignFile) -> Result<Pass<'a>> {
        let layout = Layout::read(file, path)?;
        let total = file.count("messages").unwrap_or(0);
        let at = Progress {
            total: u64::try_from(total).unwrap_or(0),
            bytes: std::fs::metadata(path).map_or(0, |found| found.len()),
            ..Progress::default()
        };
        let done = HermesImported {
            version: layout.version,
            warnings: layout.warnings.clone(),
            ..HermesImported::default()
        };
        let absolute = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let path = absolute.to_string_lossy().into_owned();
        Ok(Pass { oneiro, layout, path, done, seen: Vec::new(), by_id: HashMap::new(), at })
    }

    pub(super) fn run(
        mut self,
        file: ForeignFile,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Outcome> {
        let is_complete = self.steps(file, progress)?;
        if self.done.messages > 0 {
            self.oneiro.index.schedule_indexing(self.oneiro.store.read(message_rows::last_id)?);
        }
        Ok(Outcome { done: self.done, is_complete })
    }

    /// Returns false if the file changed.
    fn steps(
        &mut self,
        file: ForeignFile,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<bool> {
        if !self.import_sessions(&file, progress)? {
            return Ok(false);
        }
        let from = self.scan_known_messages(&file)?;
        self.at.report_to(progress);
        let Some((file, last)) = self.import_messages(file, from, progress)? else {
            return Ok(false);
        };
        if !self.reconcile(&file)? {
            return Ok(false);
        }
        self.link_parents()?;
        self.import_tables(&file)?;
        self.compare(&file)?;
        if !file.is_unchanged() {
            return Ok(false);
        }
        let now = self.oneiro.now();
        let path = self.path.as_str();
        self.oneiro.store.write_bulk(|tx| {
            last.map_or(Ok(()), |last| checkpoint::write_until(tx, path, last, now))?;
            changes::record(tx, ChangeKind::Imported, None, now)
        })?;
        Ok(true)
    }

    /// Imports the sessions. Returns false if the file changed.
    fn import_sessions(
        &mut self,
        file: &ForeignFile,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<bool> {
        let layout = self.layout.clone();
        let mut before = self.oneiro.now();
        let mut batch = Vec::with_capacity(BATCH_SESSIONS);
        let mut is_complete = true;
        let lost = scan(file, ScanRange::all("sessions", &layout.sessions.names), |row| {
            let read = SessionRow::read(Source { file, layout: &layout }, row, before)?;
            before = read.new.started_at.unwrap_or(before);
            batch.push(read);
            if batch.len() >= BATCH_SESSIONS {
                is_complete = file.is_unchanged();
                if !is_complete {
                    return Ok(ControlFlow::Break(()));
                }
                self.store_sessions(std::mem::take(&mut batch))?;
                self.at.report_to(progress);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !is_complete || !file.is_unchanged() {
            return Ok(false);
        }
        self.store_sessions(batch)?;
        self.done.not_kept.extend(lost);
        Ok(true)
    }

    /// Reads the visibility of the messages that earlier imports stored, without their content.
    /// Returns the last of them; all later messages are read completely.
    fn scan_known_messages(&mut self, file: &ForeignFile) -> Result<Option<i64>> {
        let until = self.oneiro.store.read(|tx| checkpoint::read_until(tx, &self.path))?;
        if until.is_none() {
            return Ok(None);
        }
        let columns = self.layout.messages.only(&["session_id", "active", "compacted"]);
        let mut from = None;
        let lost = scan(file, ScanRange::all("messages", &columns.names), |row| {
            let place = self.by_id.get(&bytes_of(columns.get(row, "session_id")));
            let seen = place.and_then(|place| self.seen.get_mut(*place));
            // An unknown message among known ones means that the file was replaced by another.
            let Some(seen) = seen.filter(|seen| {
                let is_known =
                    seen.status == SessionStatus::Skipped || Some(row.number) <= seen.until;
                Some(row.number) <= until && is_known
            }) else {
                return Ok(ControlFlow::Break(()));
            };
            seen.runs.push(row.number, message_row::visibility(&columns, row));
            if seen.status == SessionStatus::Skipped {
                self.done.left_out += 1;
            }
            self.at.messages += 1;
            from = Some(row.number);
            Ok(ControlFlow::Continue(()))
        })?;
        self.done.not_kept.extend(lost);
        Ok(from)
    }
}

/// What [`scan`] reads of a table.
#[derive(Clone, Copy)]
pub(super) struct ScanRange<'a> {
    pub(super) table: &'static str,
    pub(super) columns: &'a [String],
    /// The first row, if not all rows are read.
    pub(super) from: Option<i64>,
}

impl<'a> ScanRange<'a> {
    pub(super) fn all(table: &'static str, columns: &'a [String]) -> Self {
        ScanRange { table, columns, from: None }
    }
}

/// Calls `each` with the rows of a table. Damaged rows are skipped and returned.
pub(super) fn scan(
    file: &ForeignFile,
    range: ScanRange<'_>,
    mut each: impl FnMut(&ForeignRow<'_>) -> Result<ControlFlow<()>>,
) -> Result<Vec<NotKept>> {
    let mut lost = Vec::new();
    let ScanRange { table, columns, mut from } = range;
    loop {
        // Kept apart from errors of the file.
        let mut callback_error: Option<Error> = None;
        let rows = ForeignRows { table, columns, from, equals: None };
        let read = file.each(rows, |row| {
            from = Some(row.number.saturating_add(1));
            each(row).or_else(|error| {
                callback_error = Some(error);
                Ok(ControlFlow::Break(()))
            })
        });
        if let Some(error) = callback_error {
            return Err(error);
        }
        match read {
            Ok(()) => return Ok(lost),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let first = from.unwrap_or(0);
                let is_readable = |from: i64| {
                    let rows = ForeignRows { table, columns, from: Some(from), equals: None };
                    file.each(rows, |_| Ok(ControlFlow::Break(()))).is_ok()
                };
                let Some(next) = after_damage(first, is_readable) else { return Err(error) };
                let reason = match next.saturating_sub(first) {
                    1 => error.message().to_owned(),
                    count => format!("{} (up to row {})", error.message(), first + count - 1),
                };
                lost.push(NotKept { table, id: first, reason });
                from = Some(next);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The first readable row after a damaged one, by exponential and binary search: damaged rows are
/// assumed to be contiguous.
fn after_damage(first: i64, is_readable: impl Fn(i64) -> bool) -> Option<i64> {
    let mut step = 1_i64;
    let (mut bad, mut good) = (first, first.checked_add(step)?);
    while !is_readable(good) {
        bad = good;
        step = step.checked_mul(2)?;
        good = first.checked_add(step)?;
    }
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        if is_readable(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_after_damage_is_found() {
        for (first, last) in [(1, 1), (5, 60), (5, 68), (5, 69), (-3, 1_000_000)] {
            assert_eq!(after_damage(first, |from| from > last), Some(last + 1));
        }
        assert_eq!(after_damage(7, |_| false), None);
    }
}
