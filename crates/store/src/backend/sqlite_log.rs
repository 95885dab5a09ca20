//! The write-ahead log of a SQLite store: it is synced after commits, and after a sync failed it is
//! proved and written again before anything else is accepted.
//!
//! When a sync fails, Linux keeps the pages that it could not write in its cache but no longer as
//! dirty: reading shows them, the next sync succeeds without them, and a power cut takes them. What
//! SQLite copies from the log to the database meanwhile is whatever the cache shows, which need not
//! be what was written. So after a failure the log is read back up to its last commit, compared with
//! the checksum that SQLite keeps of it in shared memory, written once more to the same place, which
//! makes its pages dirty again, and synced. Only then has every commit reached the disk.
//!
//! Other processes with the log open see the failure at their own next sync, since the kernel reports
//! it once to each descriptor. A process that opens the store later cannot see it, although the
//! cache still shows it the lost pages; a marker file tells it. The marker need not survive a power
//! cut: after one, the cache is gone too, and SQLite recovers from what is on the disk.

use super::files::{kept_open, same_file, with_suffix};
use crate::durable::Syncs;
use oneiro_model::{Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes of a log before its first frame.
const LOG_HEADER: usize = 32;

/// The bytes of a frame before its page.
const FRAME_HEADER: usize = 24;

/// How many frames are read, checked and written at once.
const FRAMES_AT_ONCE: usize = 64;

/// The version of the layout of shared memory that [`IndexHeader`] reads, the only one there is.
const INDEX_VERSION: u32 = 3_007_000;

/// Two numbers that change whenever the log is begun again from its start.
type Salt = [u8; 8];

/// The log of one store, as this process uses it.
pub(super) struct Log {
    store: PathBuf,
    path: PathBuf,
    /// Says, for as long as it exists, that a sync failed and the log was not proved since.
    marker: PathBuf,
    /// Held open to be synced. SQLite locks only the database and its shared memory, so this
    /// descriptor may be closed at any time.
    file: Mutex<Option<Arc<File>>>,
    syncs: Syncs,
}

/// What was proved about a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Every commit is on disk.
    Complete,
    /// Every commit in the log is on disk, but the log was begun again since the sync failed: what
    /// it held before was copied to the database unchecked.
    LogOnly,
}

impl Log {
    pub(super) fn new(store: &Path) -> Log {
        Log {
            store: store.to_owned(),
            path: with_suffix(store, "-wal"),
            marker: with_suffix(store, "-sync-failed"),
            file: Mutex::default(),
            syncs: Syncs::default(),
        }
    }

    /// A connection was opened. The log is deleted and made again only when every connection was
    /// closed, so this is when its descriptor may be stale; one that is not is kept, because the
    /// kernel reports a failure of somebody else's sync only to descriptors that were open then.
    /// Looking before each sync would be dearer: a file whose times were looked at gets new ones
    /// with its next write, and the sync then has an inode to write as well.
    pub(super) fn connected(&self) {
        let mut file = self.file();
        if file.as_ref().is_some_and(|held| !same_file(held, &self.path)) {
            *file = None;
        }
        drop(file);
        if self.marker.exists() {
            let _ = self.syncs.sync(|| Err(self.refusal("an earlier sync of it failed")));
        }
    }

    /// Brings every commit of this process so far to the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.syncs.sync(|| {
            let opened = self.opened();
            let synced = opened.as_ref().map_or_else(copy_of, |log| log.sync_data());
            synced.map_err(|error| {
                let salt = opened.ok().and_then(|log| salt_of(&log)).unwrap_or_default();
                // Where even this fails the disk takes no writes at all.
                let _ = std::fs::write(&self.marker, salt);
                self.refusal(&error.to_string()).because(error)
            })
        })
    }

    /// Why this process accepts no writes, if a sync failed.
    pub(super) fn failure(&self) -> Option<Error> {
        self.syncs.failure()
    }

    /// Proves the log after a failed sync and brings it to the disk. The caller holds the write
    /// lock, so that the log neither grows nor begins again meanwhile; nothing is accepted before
    /// [`Log::recovered`].
    pub(super) fn prove(&self) -> Result<Proof> {
        let failed = |error: io::Error| {
            let refusal = self.refusal(&error.to_string());
            let refusal = match error.kind() {
                io::ErrorKind::InvalidData => refusal.remedy(
                    "stop every process that has this store open, then start again: what is on the \
                     disk is recovered. Then send what was refused again, with the same external_id",
                ),
                _ => refusal,
            };
            refusal.because(error)
        };
        let shared = kept_open(&with_suffix(&self.store, "-shm")).map_err(failed)?;
        let header = IndexHeader::read(&shared).map_err(failed)?;
        if header.frames > 0 {
            let log = File::options().read(true).write(true).open(&self.path).map_err(failed)?;
            rewrite(&log, &header).map_err(failed)?;
            log.sync_data().map_err(failed)?;
            *self.file() = Some(Arc::new(log));
        }
        let failed_at = std::fs::read(&self.marker).unwrap_or_default();
        Ok(if failed_at == header.salt { Proof::Complete } else { Proof::LogOnly })
    }

    /// Accepts writes again. The caller still holds the write lock.
    pub(super) fn recovered(&self) -> Result<()> {
        match std::fs::remove_file(&self.marker) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.refusal(&error.to_string()).because(error))
            }
            _ => {
                self.syncs.recovered();
                Ok(())
            }
        }
    }

    /// The error of every write until the log is proved.
    pub(super) fn refusal(&self, reason: &str) -> Error {
        let place = self.store.display();
        Error::new(
            ErrorKind::Unavailable,
            format!("{place} could not be synced to the disk ({reason}), so it takes no writes"),
        )
        .remedy(
            "check the disk; each new write first tries to bring the log to the disk again. \
             Then send what was refused again, with the same external_id",
        )
    }

    fn opened(&self) -> io::Result<Arc<File>> {
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

fn copy_of(error: &io::Error) -> io::Result<()> {
    Err(error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error))
}

fn salt_of(log: &File) -> Option<Salt> {
    let mut salt = Salt::default();
    log.read_exact_at(&mut salt, 16).ok().map(|()| salt)
}

/// What SQLite's shared memory says of the log: see "WAL-Index Format" in its documentation.
struct IndexHeader {
    page: usize,
    frames: usize,
    /// The checksum of the log up to its last commit.
    checksum: Checksum,
    salt: Salt,
}

impl IndexHeader {
    const BYTES: usize = 48;

    fn read(shared: &File) -> io::Result<IndexHeader> {
        let mut copies = [0; 2 * IndexHeader::BYTES];
        shared.read_exact_at(&mut copies, 0)?;
        let (first, second) = copies.split_at(IndexHeader::BYTES);
        let word = |at: usize| u32::from_ne_bytes(bytes(first, at));
        // Nobody writes it while the write lock is held.
        if first != second || word(0) != INDEX_VERSION {
            return Err(io::Error::other("the index of its log cannot be read"));
        }
        let size = usize::from(u16::from_ne_bytes(bytes(first, 14)));
        Ok(IndexHeader {
            page: (size & 0xfe00) + ((size & 1) << 16),
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
    /// The checksum with `content` added, which is a multiple of eight bytes.
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

    /// A checksum as the log has it.
    fn stored(content: &[u8], at: usize) -> Checksum {
        let word = |at| u32::from_be_bytes(bytes(content, at));
        Checksum(word(at), word(at + 4))
    }
}

/// Writes the log to the same place once more, after comparing each piece with its checksums.
fn rewrite(log: &File, index: &IndexHeader) -> io::Result<()> {
    let lost = || {
        let what = "what was written to its log is not there any more";
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let mut header = [0; LOG_HEADER];
    log.read_exact_at(&mut header, 0).map_err(|_| lost())?;
    let is_big_endian = header.get(3).is_some_and(|magic| magic & 1 == 1);
    let mut sum = Checksum::default().with(header.get(..24).unwrap_or_default(), is_big_endian);
    if sum != Checksum::stored(&header, 24) || bytes::<8>(&header, 16) != index.salt {
        return Err(lost());
    }
    log.write_all_at(&header, 0)?;
    let frame = FRAME_HEADER + index.page;
    let mut offset = LOG_HEADER as u64;
    let mut left = index.frames;
    while left > 0 {
        let count = left.min(FRAMES_AT_ONCE);
        let mut piece = vec![0; count * frame];
        log.read_exact_at(&mut piece, offset).map_err(|_| lost())?;
        for frame in piece.chunks_exact(frame) {
            let (head, page) = frame.split_at(FRAME_HEADER);
            sum = sum.with(head.get(..8).unwrap_or_default(), is_big_endian);
            sum = sum.with(page, is_big_endian);
            if sum != Checksum::stored(head, 16) || bytes::<8>(head, 8) != index.salt {
                return Err(lost());
            }
        }
        log.write_all_at(&piece, offset)?;
        offset += piece.len() as u64;
        left -= count;
    }
    if sum == index.checksum { Ok(()) } else { Err(lost()) }
}

/// The bytes at a place; zeros where there are none.
fn bytes<const N: usize>(content: &[u8], at: usize) -> [u8; N] {
    content.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}
