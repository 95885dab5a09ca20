//! Stores the messages of hermes in the order of their ids. One thread reads and prepares batches
//! of rows, the other inserts them. Each batch updates the checkpoints of its sessions, so that no
//! message is stored twice and erased messages are not imported again.

use super::checkpoint::Checkpoint;
use super::message_row::{MessageRow, Reader};
use super::pass::{Pass, ScanRange, SessionStatus, scan};
use super::report::NotKept;
use super::session_row::{SessionRow, bytes_of};
use crate::Oneiro;
use crate::append::append_prepared;
use crate::transfer::TransferProgress;
use oneiro_model::{Error, Result, SessionId, Timestamp, Visibility};
use oneiro_store::messages::Prepared;
use oneiro_store::{ForeignFile, Tx, sequence, sessions};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// A batch is full at this many messages or bytes.
const BATCH_MESSAGES: usize = 2_048;
const BATCH_BYTES: usize = 8 << 20;

/// Batches that may wait to be inserted.
const MAX_WAITING_BATCHES: usize = 2;

/// A message of the file.
struct Item {
    number: i64,
    session: Vec<u8>,
    visibility: Visibility,
    row: MessageRow,
}

/// Messages of one session in a batch.
struct Group {
    place: usize,
    id: SessionId,
    raw_id: Vec<u8>,
    visibilities: Vec<(i64, Visibility)>,
    usage_numbers: Vec<i64>,
    prepared: Vec<Prepared>,
    lost: Vec<i64>,
}

/// How a group was stored.
struct StoredGroup {
    stored: usize,
    left_out: usize,
}

impl Pass<'_> {
    /// Stores the messages after `from`. Returns the file and its last message, or `None` if the
    /// file changed.
    pub(super) fn import_messages(
        &mut self,
        file: ForeignFile,
        from: Option<i64>,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Option<(ForeignFile, Option<i64>)>> {
        let reader = Reader::new(&self.layout.messages);
        let now = self.oneiro.now();
        std::thread::scope(|scope| {
            let (send, batches) = sync_channel(MAX_WAITING_BATCHES);
            let reader = scope.spawn(move || {
                let read = read_batches(&file, ReadRequest { reader: &reader, from, now }, &send);
                (file, read)
            });
            let stored = self.store_batches(&batches, progress);
            // Ends the reader if it is still sending.
            drop(batches);
            let (file, read) = reader
                .join()
                .map_err(|_| Error::internal("the thread that reads the file panicked"))?;
            let Some(last) = stored? else { return Ok(None) };
            self.done.not_kept.extend(read?);
            Ok(file.is_unchanged().then_some((file, last.max(from))))
        })
    }

    fn store_batches(
        &mut self,
        batches: &Receiver<Option<Vec<Item>>>,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Option<Option<i64>>> {
        let mut last = None;
        for batch in batches {
            let Some(batch) = batch else { return Ok(None) };
            last = batch.last().map(|item| item.number).or(last);
            self.at.messages += batch.len() as u64;
            self.store_batch(batch)?;
            self.at.report_to(progress);
        }
        Ok(Some(last))
    }

    fn store_batch(&mut self, batch: Vec<Item>) -> Result<()> {
        self.create_missing_sessions(&batch)?;
        let groups = self.grouped(batch);
        if groups.is_empty() {
            return Ok(());
        }
        let oneiro = self.oneiro;
        let put = oneiro.store.write_bulk(|tx| {
            groups.iter().map(|group| group.put(oneiro, tx)).collect::<Result<Vec<_>>>()
        })?;
        for (group, put) in groups.into_iter().zip(put) {
            self.done.messages += put.stored;
            self.done.left_out += put.left_out;
            if let Some(seen) = self.seen.get_mut(group.place).filter(|_| put.left_out == 0) {
                group
                    .visibilities
                    .into_iter()
                    .for_each(|(id, visibility)| seen.known.push(id, visibility));
            }
        }
        Ok(())
    }

    /// Creates sessions that messages refer to and that have no row.
    fn create_missing_sessions(&mut self, batch: &[Item]) -> Result<()> {
        let mut missing: Vec<SessionRow> = Vec::new();
        for item in batch.iter().filter(|item| !self.by_id.contains_key(&item.session)) {
            if !missing.iter().any(|row| row.raw_id == item.session) {
                missing.push(SessionRow::without_row(&item.session, item.row.at));
            }
        }
        self.store_sessions(missing)
    }

    /// The new messages by session.
    fn grouped(&mut self, batch: Vec<Item>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for item in batch {
            let Some(place) = self.by_id.get(&item.session).copied() else { continue };
            let Some(seen) = self.seen.get_mut(place) else { continue };
            seen.runs.push(item.number, item.visibility);
            if seen.status == SessionStatus::Skipped {
                self.done.left_out += 1;
                continue;
            }
            if Some(item.number) <= seen.until {
                continue;
            }
            let at = *places.entry(place).or_insert_with(|| {
                groups.push(Group {
                    place,
                    id: seen.id.clone(),
                    raw_id: item.session.clone(),
                    visibilities: Vec::new(),
                    usage_numbers: Vec::new(),
                    prepared: Vec::new(),
                    lost: Vec::new(),
                });
                groups.len() - 1
            });
            let Some(group) = groups.get_mut(at) else { continue };
            group.visibilities.push((item.number, item.visibility));
            self.done.repaired(&item.row.repairs);
            self.done.withheld += item.row.withheld;
            match item.row.prepared {
                Ok(prepared) => {
                    group.usage_numbers.push(item.number);
                    group.prepared.push(prepared);
                }
                Err(error) => {
                    group.lost.push(item.number);
                    let reason = error.message().to_owned();
                    self.done.not_kept.push(NotKept { table: "messages", id: item.number, reason });
                }
            }
        }
        groups
    }
}

impl Group {
    fn put(&self, oneiro: &Oneiro, tx: &Tx<'_>) -> Result<StoredGroup> {
        let all = StoredGroup { stored: 0, left_out: self.visibilities.len() };
        let Some(key) = sessions::key(tx, &self.id)? else { return Ok(all) };
        if oneiro.settings_in(tx)?.is_stateless(&self.id) {
            return Ok(all);
        }
        let mut checkpoint = Checkpoint::read(tx, &self.raw_id)?.unwrap_or_default();
        // A concurrent import may have stored some of them.
        let known = self.usage_numbers.partition_point(|number| Some(*number) <= checkpoint.until);
        let new = self.prepared.get(known..).unwrap_or_default();
        let taken = sequence::next_messages(tx)?;
        let appended = append_prepared(tx, key, taken.first, new)?;
        for (number, visibility) in &self.visibilities {
            if Some(*number) > checkpoint.until {
                checkpoint.runs.push(*number, *visibility);
            }
        }
        checkpoint.lost.extend(self.lost.iter().filter(|number| Some(**number) > checkpoint.until));
        checkpoint.until =
            checkpoint.until.max(self.visibilities.last().map(|(number, _)| *number));
        checkpoint.write(tx, &self.raw_id, oneiro.now())?;
        Ok(StoredGroup { stored: new.len() - appended.duplicates, left_out: 0 })
    }
}

/// What [`read_batches`] reads.
struct ReadRequest<'a> {
    reader: &'a Reader,
    /// The last message that was read before.
    from: Option<i64>,
    /// The time of a first row without one.
    now: Timestamp,
}

/// Reads rows and sends them in batches, until the end or until the receiver stops. Sends `None`
/// once the file has changed.
fn read_batches(
    file: &ForeignFile,
    request: ReadRequest<'_>,
    batches: &SyncSender<Option<Vec<Item>>>,
) -> Result<Vec<NotKept>> {
    let ReadRequest { reader, from, now } = request;
    let mut batch = Vec::with_capacity(BATCH_MESSAGES);
    let (mut bytes, mut before) = (0, now);
    let send_batch = |batch: &mut Vec<Item>| {
        let full = std::mem::replace(batch, Vec::with_capacity(BATCH_MESSAGES));
        let full = file.is_unchanged().then_some(full);
        let is_over = full.is_none();
        if batches.send(full).is_err() || is_over {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut is_over = false;
    let lost = scan(
        file,
        ScanRange {
            table: "messages",
            columns: reader.columns(),
            from: from.map(|from| from.saturating_add(1)),
        },
        |found| {
            let row = reader.read(found, before);
            before = row.at;
            bytes += row.bytes;
            batch.push(Item {
                number: found.number,
                session: bytes_of(reader.session(found)),
                visibility: reader.visibility(found),
                row,
            });
            if batch.len() < BATCH_MESSAGES && bytes < BATCH_BYTES {
                return Ok(ControlFlow::Continue(()));
            }
            bytes = 0;
            let next = send_batch(&mut batch);
            is_over = next.is_break();
            Ok(next)
        },
    )?;
    if !is_over && !batch.is_empty() {
        let _ = send_batch(&mut batch);
    }
    Ok(lost)
}
