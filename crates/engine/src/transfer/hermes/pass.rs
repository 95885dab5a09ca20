//! One way through a `state.db`: sessions, their messages, what changed of both, how they descend,
//! the other tables, and at last the counts of both sides. Each step is many short transactions; one
//! that is cut short is completed by the next import.

use super::account::{HermesImported, NotKept};
use super::layout::Layout;
use super::message_row;
use super::note::{self, Runs};
use super::session_row::{SessionRow, Source, bytes_of};
use crate::Oneiro;
use crate::transfer::TransferProgress;
use oneiro_model::{ChangeKind, Error, ErrorKind, Lineage, Result, SessionId};
use oneiro_store::{ForeignFile, ForeignRow, ForeignRows, changes, message_rows};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// Sessions to a transaction.
const SESSIONS: usize = 128;

/// What became of a session of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It began with this import.
    New,
    /// An earlier import brought it, or it was here by itself.
    Known,
    /// Nothing of it is stored.
    LeftOut,
}

/// A session of the file, as far as it is needed again.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) raw_id: Vec<u8>,
    pub(super) id: SessionId,
    pub(super) standing: Standing,
    /// The last message that earlier imports took.
    pub(super) until: Option<i64>,
    /// Where its messages stood when they were last looked at.
    pub(super) known: Runs,
    /// Where they stand in the file.
    pub(super) runs: Runs,
    pub(super) parent: Option<Vec<u8>>,
    pub(super) descends: Option<Lineage>,
    pub(super) is_of_tool: bool,
    pub(super) is_compressed: bool,
    /// The mark of the link that earlier imports gave it.
    pub(super) link: i64,
}

/// What a way through the file did.
pub(super) struct Outcome {
    pub(super) done: HermesImported,
    /// Whether the file stayed as it was all the way.
    pub(super) is_whole: bool,
}

/// One way through a file.
pub(super) struct Pass<'a> {
    pub(super) oneiro: &'a Oneiro,
    pub(super) layout: Layout,
    pub(super) path: String,
    pub(super) done: HermesImported,
    pub(super) seen: Vec<Seen>,
    pub(super) by_id: HashMap<Vec<u8>, usize>,
    pub(super) at: Progress,
}

/// How far the pass has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    pub(super) sessions: u64,
    pub(super) messages: u64,
    total: u64,
    bytes: u64,
}

impl Progress {
    pub(super) fn tell(&self, progress: &mut dyn FnMut(TransferProgress)) {
        let share = self.messages as f64 / self.total.max(1) as f64;
        let bytes = (self.bytes as f64 * share.min(1.0)) as u64;
        progress(TransferProgress { sessions: self.sessions, messages: self.messages, bytes });
    }
}

impl<'a> Pass<'a> {
    pub(super) fn new(oneiro: &'a Oneiro, (path, file): (&Path, &ForeignFile)) -> Result<Pass<'a>> {
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
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let path = whole.to_string_lossy().into_owned();
        Ok(Pass { oneiro, layout, path, done, seen: Vec::new(), by_id: HashMap::new(), at })
    }

    pub(super) fn run(
        mut self,
        file: ForeignFile,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Outcome> {
        let is_whole = self.steps(file, progress)?;
        if self.done.messages > 0 {
            self.oneiro.index.schedule_indexing(self.oneiro.store.read(message_rows::last_id)?);
        }
        Ok(Outcome { done: self.done, is_whole })
    }

    fn steps(
        &mut self,
        file: ForeignFile,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<bool> {
        if !self.take_sessions(&file, progress)? {
            return Ok(false);
        }
        let from = self.look_at_known(&file)?;
        self.at.tell(progress);
        let Some((file, last)) = self.take_messages((file, from), progress)? else {
            return Ok(false);
        };
        if !self.reconcile(&file)? {
            return Ok(false);
        }
        self.link_parents()?;
        self.take_tables(&file)?;
        self.compare(&file)?;
        if !file.is_unchanged() {
            return Ok(false);
        }
        let now = self.oneiro.now();
        let path = self.path.as_str();
        self.oneiro.store.write_bulk(|tx| {
            last.map_or(Ok(()), |last| note::write_until(tx, path, (last, now)))?;
            changes::record(tx, ChangeKind::Imported, None, now)
        })?;
        Ok(true)
    }

    /// Stores the sessions; false when the file changed.
    fn take_sessions(
        &mut self,
        file: &ForeignFile,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<bool> {
        let layout = self.layout.clone();
        let mut before = self.oneiro.now();
        let mut batch = Vec::with_capacity(SESSIONS);
        let mut is_whole = true;
        let lost = scan(file, ("sessions", &layout.sessions.names, None), |row| {
            let read = SessionRow::read(Source { file, layout: &layout }, row, before)?;
            before = read.new.started_at.unwrap_or(before);
            batch.push(read);
            if batch.len() >= SESSIONS {
                is_whole = file.is_unchanged();
                if !is_whole {
                    return Ok(ControlFlow::Break(()));
                }
                self.store_sessions(std::mem::take(&mut batch))?;
                self.at.tell(progress);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !is_whole || !file.is_unchanged() {
            return Ok(false);
        }
        self.store_sessions(batch)?;
        self.done.not_kept.extend(lost);
        Ok(true)
    }

    /// Looks where the messages stand that earlier imports took, without reading their words.
    /// Answers the message after which everything is read.
    fn look_at_known(&mut self, file: &ForeignFile) -> Result<Option<i64>> {
        let until = self.oneiro.store.read(|tx| note::read_until(tx, &self.path))?;
        if until.is_none() {
            return Ok(None);
        }
        let columns = self.layout.messages.only(&["session_id", "active", "compacted"]);
        let mut from = None;
        let lost = scan(file, ("messages", &columns.names, None), |row| {
            let place = self.by_id.get(&bytes_of(columns.get(row, "session_id")));
            let seen = place.and_then(|place| self.seen.get_mut(*place));
            // One that is new among those that were read: another file is in the place of the
            // one that was.
            let Some(seen) = seen.filter(|seen| {
                let is_known = seen.standing == Standing::LeftOut || Some(row.number) <= seen.until;
                Some(row.number) <= until && is_known
            }) else {
                return Ok(ControlFlow::Break(()));
            };
            seen.runs.push(row.number, message_row::visibility(&columns, row));
            if seen.standing == Standing::LeftOut {
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

/// A table, its columns, and the row from which it is read.
type Wanted<'w> = (&'static str, &'w [String], Option<i64>);

/// Hands over the rows of a table. What cannot be read for damage is passed over and named, and the
/// first row after it that can be read is found.
pub(super) fn scan(
    file: &ForeignFile,
    (table, columns, from): Wanted<'_>,
    mut each: impl FnMut(&ForeignRow<'_>) -> Result<ControlFlow<()>>,
) -> Result<Vec<NotKept>> {
    let mut lost = Vec::new();
    let mut from = from;
    loop {
        // An error of whoever takes the rows is not one of the file.
        let mut own: Option<Error> = None;
        let rows = ForeignRows { table, columns, from, having: None };
        let read = file.each(rows, |row| {
            from = Some(row.number.saturating_add(1));
            each(row).or_else(|error| {
                own = Some(error);
                Ok(ControlFlow::Break(()))
            })
        });
        if let Some(error) = own {
            return Err(error);
        }
        match read {
            Ok(()) => return Ok(lost),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let first = from.unwrap_or(0);
                let is_readable = |from: i64| {
                    let rows = ForeignRows { table, columns, from: Some(from), having: None };
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

/// The first row after one from which a table can be read; the damage in between is in one piece.
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
    fn no_row_after_damage_is_passed_over() {
        for (first, last) in [(1, 1), (5, 60), (5, 68), (5, 69), (-3, 1_000_000)] {
            assert_eq!(after_damage(first, |from| from > last), Some(last + 1));
        }
        assert_eq!(after_damage(7, |_| false), None);
    }
}
