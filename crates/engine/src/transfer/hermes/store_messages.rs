//! Stores messages of hermes in the order of their ids. One thread reads rows and makes them ready,
//! the other inserts them, batch by batch; with each batch the notes of its sessions say how far
//! they are read, so that no message is stored twice and none that was erased comes back.

use super::account::NotKept;
use super::message_row::{MessageRow, Reader};
use super::note::Note;
use super::pass::{Pass, Standing, scan};
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

/// How much a batch holds: messages, and bytes of them.
const BATCH: (usize, usize) = (2_048, 8 << 20);

/// Batches that may wait to be inserted.
const AHEAD: usize = 2;

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
    stand: Vec<(i64, Visibility)>,
    numbers: Vec<i64>,
    prepared: Vec<Prepared>,
    lost: Vec<i64>,
}

/// What became of a group.
struct Put {
    stored: usize,
    left_out: usize,
}

impl Pass<'_> {
    /// Stores the messages after one; answers the file and its last message, or nothing when the
    /// file changed meanwhile.
    pub(super) fn take_messages(
        &mut self,
        (file, from): (ForeignFile, Option<i64>),
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Option<(ForeignFile, Option<i64>)>> {
        let reader = Reader::new(&self.layout.messages);
        let now = self.oneiro.now();
        std::thread::scope(|scope| {
            let (send, batches) = sync_channel(AHEAD);
            let reading = scope.spawn(move || {
                let read = read(&file, (&reader, from, now), &send);
                (file, read)
            });
            let stored = self.store_batches(&batches, progress);
            // A reader that nobody listens to any more ends.
            drop(batches);
            let (file, read) = reading
                .join()
                .map_err(|_| Error::internal("the thread that reads the file gave up"))?;
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
            self.at.tell(progress);
        }
        Ok(Some(last))
    }

    fn store_batch(&mut self, batch: Vec<Item>) -> Result<()> {
        self.begin_missing(&batch)?;
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
                group.stand.into_iter().for_each(|(id, stands)| seen.known.push(id, stands));
            }
        }
        Ok(())
    }

    /// Begins sessions that messages name and that have no row.
    fn begin_missing(&mut self, batch: &[Item]) -> Result<()> {
        let mut missing: Vec<SessionRow> = Vec::new();
        for item in batch.iter().filter(|item| !self.by_id.contains_key(&item.session)) {
            if !missing.iter().any(|row| row.raw_id == item.session) {
                missing.push(SessionRow::without_row(&item.session, item.row.at));
            }
        }
        self.store_sessions(missing)
    }

    /// The messages that are new, by session.
    fn grouped(&mut self, batch: Vec<Item>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for item in batch {
            let Some(place) = self.by_id.get(&item.session).copied() else { continue };
            let Some(seen) = self.seen.get_mut(place) else { continue };
            seen.runs.push(item.number, item.visibility);
            if seen.standing == Standing::LeftOut {
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
                    stand: Vec::new(),
                    numbers: Vec::new(),
                    prepared: Vec::new(),
                    lost: Vec::new(),
                });
                groups.len() - 1
            });
            let Some(group) = groups.get_mut(at) else { continue };
            group.stand.push((item.number, item.visibility));
            self.done.repaired(&item.row.repairs);
            self.done.withheld += item.row.withheld;
            match item.row.prepared {
                Ok(prepared) => {
                    group.numbers.push(item.number);
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
    fn put(&self, oneiro: &Oneiro, tx: &Tx<'_>) -> Result<Put> {
        let all = Put { stored: 0, left_out: self.stand.len() };
        let Some(key) = sessions::key(tx, &self.id)? else { return Ok(all) };
        if oneiro.settings_in(tx)?.is_stateless(&self.id) {
            return Ok(all);
        }
        let mut note = Note::read(tx, &self.raw_id)?.unwrap_or_default();
        // Another import may have come first, with some of these or all.
        let known = self.numbers.partition_point(|number| Some(*number) <= note.until);
        let new = self.prepared.get(known..).unwrap_or_default();
        let taken = sequence::next_messages(tx)?;
        let appended = append_prepared(tx, key, taken.first, new)?;
        for (number, visibility) in &self.stand {
            if Some(*number) > note.until {
                note.runs.push(*number, *visibility);
            }
        }
        note.lost.extend(self.lost.iter().filter(|number| Some(**number) > note.until));
        note.until = note.until.max(self.stand.last().map(|(number, _)| *number));
        note.write(tx, &self.raw_id, oneiro.now())?;
        Ok(Put { stored: new.len() - appended.duplicates, left_out: 0 })
    }
}

/// Reads rows into batches until the end, or until nobody wants more. A batch of a file that changed
/// is not handed over.
fn read(
    file: &ForeignFile,
    (reader, from, now): (&Reader, Option<i64>, Timestamp),
    batches: &SyncSender<Option<Vec<Item>>>,
) -> Result<Vec<NotKept>> {
    let mut batch = Vec::with_capacity(BATCH.0);
    let (mut bytes, mut before) = (0, now);
    let hand_over = |batch: &mut Vec<Item>| {
        let full = std::mem::replace(batch, Vec::with_capacity(BATCH.0));
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
        ("messages", reader.columns(), from.map(|from| from.saturating_add(1))),
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
            if batch.len() < BATCH.0 && bytes < BATCH.1 {
                return Ok(ControlFlow::Continue(()));
            }
            bytes = 0;
            let next = hand_over(&mut batch);
            is_over = next.is_break();
            Ok(next)
        },
    )?;
    if !is_over && !batch.is_empty() {
        let _ = hand_over(&mut batch);
    }
    Ok(lost)
}
