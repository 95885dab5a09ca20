//! The write-ahead log (WAL) of a SQLite store: synced after commits, and verified and rewritten after
//! a failed sync before another write is accepted.
//!
//! When a sync fails, Linux keeps the unwritten pages in its cache but marks them as clean: reads
//! return them, the next sync succeeds without them, and a power cut loses them. A checkpoint in the
//! meantime copies from the cache, which need not be what was written. So after a failure the log is
//! read up to its last commit, compared with the checksum that SQLite keeps in shared memory,
//! rewritten in place, which makes its pages dirty again, and synced. Then every commit is on disk.
//!
//! Other processes that have the log open get the error at their own next sync, since the kernel
//! reports it once per descriptor. A process that opens the store later does not, although the cache
//! still returns the lost pages, so a marker file records the failure. The marker need not survive a
//! power cut, which clears the cache too: SQLite then recovers from what is on the disk.

use super::files::{is_same_file, open_for_process, with_suffix};
use crate::shared_sync::SharedSync;
use oneiro_model::{Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Size of the header of the log.
const WAL_HEADER_BYTES: usize = 32;

/// Size of the header of a frame, which precedes its page.
const FRAME_HEADER_BYTES: usize = 24;

/// How many frames are read, verified and rewritten at a time.
const BATCH_FRAMES: usize = 64;

/// The version of the WAL-index format that [`WalIndexHeader`] reads; SQLite has only this one.
const WAL_INDEX_VERSION: u32 = 3_007_000;

/// Two numbers that change whenever SQLite restarts the log from its beginning.
type Salt = [u8; 8];

/// The log of one store in this process.
pub(super) struct Wal {
    store: PathBuf,
    path: PathBuf,
    /// Exists while a sync has failed and the log is not verified. Holds the salt of the log at the time
    /// of the failure.
    marker: PathBuf,
    /// The descriptor that is synced. SQLite locks only the database and its shared memory, so it may
    /// be closed at any time.
    file: Mutex<Option<Arc<File>>>,
    syncs: SharedSync,
}

/// What is known to be on disk after the log was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verified {
    /// Every commit.
    Everything,
    /// Every commit in the log. SQLite restarted the log after the sync failed, so what it held before
    /// was copied to the database unverified.
    LogOnly,
}

impl Wal {
    pub(super) fn new(store: &Path) -> Wal {
        Wal {
            store: store.to_owned(),
            path: with_suffix(store, "-wal"),
            marker: with_suffix(store, "-sync-failed"),
            file: Mutex::default(),
            syncs: SharedSync::default(),
        }
    }

    /// Opens the log again if it was replaced, and refuses syncs if the marker exists. Called after a
    /// connection is opened: SQLite deletes and recreates the log only when no connection is open.
    ///
    /// The log is opened here rather than at the first sync, because the kernel reports a failed sync
    /// of another process only to descriptors that were open at the time. A check before each sync
    /// would cost more: after a stat, the next write updates the file's times, and the sync then writes
    /// its inode as well.
    pub(super) fn after_connect(&self) {
        let mut file = self.file();
        if !file.as_ref().is_some_and(|open| is_same_file(open, &self.path)) {
            *file = File::open(&self.path).ok().map(Arc::new);
        }
        drop(file);
        if self.marker.exists() {
            let _ = self.syncs.sync(|| Err(self.refusal("an earlier sync of it failed")));
        }
    }

    /// Returns when every commit of this process so far is on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.syncs.sync(|| {
            let file = self.open_file();
            let synced = file.as_ref().map_or_else(copy_error, |file| file.sync_data());
            synced.map_err(|error| {
                let salt = file.ok().and_then(|file| read_salt(&file)).unwrap_or_default();
                // If this fails too, the disk accepts no writes at all.
                let _ = std::fs::write(&self.marker, salt);
                self.refusal(&error.to_string()).because(error)
            })
        })
    }

    /// Why writes are refused, if a sync failed.
    pub(super) fn failure(&self) -> Option<Error> {
        self.syncs.failure()
    }

    /// Verifies the log after a failed sync, rewrites it and syncs it. The caller holds the write lock,
    /// so that the log neither grows nor restarts; writes stay refused until [`Wal::set_recovered`].
    pub(super) fn verify_and_rewrite(&self) -> Result<Verified> {
        let failed = |error: io::Error| {
            let refusal = self.refusal(&error.to_string());
            let refusal = match error.kind() {
                io::ErrorKind::InvalidData => refusal.remedy(
                    "stop every process that has this store open, then start again: the store \
                     recovers from the disk. Then send the refused messages again, with the same \
                     external_id",
                ),
                _ => refusal,
            };
            refusal.because(error)
        };
        let shared = open_for_process(&with_suffix(&self.store, "-shm")).map_err(failed)?;
        let header = WalIndexHeader::read(&shared).map_err(failed)?;
        if header.frames > 0 {
            let log = File::options().read(true).write(true).open(&self.path).map_err(failed)?;
            rewrite(&log, &header).map_err(failed)?;
            log.sync_data().map_err(failed)?;
            *self.file() = Some(Arc::new(log));
        }
        let failed_salt = std::fs::read(&self.marker).unwrap_or_default();
        Ok(if failed_salt == header.salt { Verified::Everything } else { Verified::LogOnly })
    }

    /// Accepts writes again. The caller still holds the write lock.
    pub(super) fn set_recovered(&self) -> Result<()> {
        match std::fs::remove_file(&self.marker) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.refusal(&error.to_string()).because(error))
            }
            _ => {
                self.syncs.set_recovered();
                Ok(())
            }
        }
    }

    /// The error of every write until the log is verified.
    pub(super) fn refusal(&self, reason: &str) -> Error {
        let place = self.store.display();
        Error::new(
            ErrorKind::Unavailable,
            format!("{place} could not be synced to the disk ({reason}), so it accepts no writes"),
        )
        .remedy(
            "check the disk; each new write first tries to sync the log again. \
             Then send the refused messages again, with the same external_id",
        )
    }

    fn open_file(&self) -> io::Result<Arc<File>> {
        let mut file = self.file();
        if let Some(file) = file.as_ref() {
            return Ok(Arc::clone(file));
        }
        let opened = File::open(&self.path)?;
        Ok(Arc::clone(file.insert(Arc::new(opened))))
    }

    fn file(&self) -> MutexGuard<'_, Option<Arc<File>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `io::Error` cannot be cloned.
fn copy_error(error: &io::Error) -> io::Result<()> {
    Err(error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error))
}

fn read_salt(log: &File) -> Option<Salt> {
    let mut salt = Salt::default();
    log.read_exact_at(&mut salt, 16).ok().map(|()| salt)
}

/// The header of the WAL-index in shared memory: see "WAL-Index Format" in SQLite's documentation.
struct WalIndexHeader {
    page_bytes: usize,
    frames: usize,
    /// The checksum of the log up to its last commit.
    checksum: Checksum,
    salt: Salt,
}

impl WalIndexHeader {
    const BYTES: usize = 48;

    fn read(shared: &File) -> io::Result<WalIndexHeader> {
        let mut copies = [0; 2 * WalIndexHeader::BYTES];
        shared.read_exact_at(&mut copies, 0)?;
        let (first, second) = copies.split_at(WalIndexHeader::BYTES);
        let word = |at: usize| u32::from_ne_bytes(bytes(first, at));
        // It has two equal copies; no process writes it while the write lock is held.
        if first != second || word(0) != WAL_INDEX_VERSION {
            return Err(io::Error::other("its WAL index cannot be read"));
        }
        let size = usize::from(u16::from_ne_bytes(bytes(first, 14)));
        Ok(WalIndexHeader {
            page_bytes: (size & 0xfe00) + ((size & 1) << 16),
            frames: word(16) as usize,
            checksum: Checksum(word(24), word(28)),
            salt: bytes(first, 32),
        })
    }
}

/// SQLite's checksum of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Checksum(u32, u32);

impl Checksum {
    /// The checksum with `content` added, whose length is a multiple of eight bytes.
    fn with(self, content: &[u8], is_big_endian: bool) -> Checksum {
        let word = |part: &[u8], at| {
            let word = bytes(part, at);
            if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        content.chunks_exact(8).fold(self, |Checksum(a, b), part| {
            let a = a.wrapping_add(word(part, 0)).wrapping_add(b);
            let b = b.wrapping_add(word(part, 4)).wrapping_add(a);
            Checksum(a, b)
        })
    }

    /// A checksum as stored in the log.
    fn read(content: &[u8], at: usize) -> Checksum {
        let word = |at| u32::from_be_bytes(bytes(content, at));
        Checksum(word(at), word(at + 4))
    }
}

/// Rewrites the log in place, each batch of frames after verifying its checksums.
fn rewrite(log: &File, index: &WalIndexHeader) -> io::Result<()> {
    let lost = || {
        let what = "what was written to its log is lost";
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let mut header = [0; WAL_HEADER_BYTES];
    log.read_exact_at(&mut header, 0).map_err(|_| lost())?;
    let is_big_endian = header.get(3).is_some_and(|magic| magic & 1 == 1);
    let mut sum = Checksum::default().with(header.get(..24).unwrap_or_default(), is_big_endian);
    if sum != Checksum::read(&header, 24) || bytes::<8>(&header, 16) != index.salt {
        return Err(lost());
    }
    log.write_all_at(&header, 0)?;
    let frame = FRAME_HEADER_BYTES + index.page_bytes;
    let mut offset = WAL_HEADER_BYTES as u64;
    let mut left = index.frames;
    while left > 0 {
        let count = left.min(BATCH_FRAMES);
        let mut batch = vec![0; count * frame];
        log.read_exact_at(&mut batch, offset).map_err(|_| lost())?;
        for frame in batch.chunks_exact(frame) {
            let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
            sum = sum.with(head.get(..8).unwrap_or_default(), is_big_endian);
            sum = sum.with(page, is_big_endian);
            if sum != Checksum::read(head, 16) || bytes::<8>(head, 8) != index.salt {
                return Err(lost());
            }
        }
        log.write_all_at(&batch, offset)?;
        offset += batch.len() as u64;
        left -= count;
    }
    if sum == index.checksum { Ok(()) } else { Err(lost()) }
}

/// The `N` bytes at an offset; zeros past the end.
fn bytes<const N: usize>(content: &[u8], at: usize) -> [u8; N] {
    content.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}
