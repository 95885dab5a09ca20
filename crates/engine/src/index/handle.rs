//! The index of one handle: the cache, a pool of readers, and the scheduler that extends the index
//! beside the writers.

use super::extend::{Merged, purge, sweep};
use super::rebuild::Rebuild;
use super::scheduler::{IndexScheduler, Indexer, StopWhen, TAIL_TEXTS_MIN};
use super::texts::texts;
use crate::background::Wake;
use crate::views;
use crate::{Cancel, Embedder, EmbedderChoice, Oneiro, WordModel};
use oneiro_index::{Cache, Reader, Source};
use oneiro_model::{NewJob, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Readers kept for reuse.
const READER_POOL_SIZE: usize = 8;

pub(crate) struct Index {
    pub(crate) cache: Cache,
    folder: Indexer,
    readers: Mutex<Vec<Reader>>,
    scheduler: IndexScheduler,
}

impl Index {
    pub(crate) fn new(folder: Indexer) -> Index {
        Index {
            cache: Cache::default(),
            folder,
            readers: Mutex::default(),
            scheduler: IndexScheduler::default(),
        }
    }

    /// The word vectors, if any.
    pub(crate) fn words(&self) -> Option<&dyn WordModel> {
        self.folder.words.as_deref()
    }

    /// The remote embedder, if any.
    pub(crate) fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.folder.embedder.as_ref()
    }

    /// Takes a reader from the pool; it computes vectors if the space uses word vectors.
    pub(crate) fn reader(&self, choice: EmbedderChoice) -> Reader {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = kept.unwrap_or_else(|| Reader::new(self.folder.words.clone()));
        reader.use_vectors(choice == EmbedderChoice::Static);
        reader
    }

    /// Returns a reader to the pool.
    pub(crate) fn give_back(&self, reader: Reader) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READER_POOL_SIZE {
            readers.push(reader);
        }
    }

    /// Queues a job that rebuilds the index, without blocking the caller.
    pub(crate) fn rebuild_soon(&self, job: NewJob) {
        self.scheduler.request_with_job(&self.folder, job);
    }

    /// One round of the index lane.
    pub(crate) fn run_index_round(
        &self,
        lane: &Arc<Wake>,
        is_enough: &dyn Fn() -> bool,
        cancel: &Cancel,
    ) -> Result<()> {
        self.scheduler.attach(lane);
        self.scheduler.run_round(&self.folder, is_enough, &|| cancel.is_cancelled())
    }

    /// Requests an extension if the tail is long; `last` is the newest known message.
    pub(crate) fn schedule_indexing(&self, last: i64) {
        self.scheduler.request_if_long(&self.folder, last);
    }

    /// The same after a search.
    pub(crate) fn schedule_indexing_after_search(&self, last: i64) {
        self.scheduler.request_after_search(&self.folder, last);
    }
}

impl views::Index<'_> {
    /// Extends the index up to the newest message. Searches find everything without it, but take
    /// longer while the tail is long. `on_progress` receives the last covered message and the
    /// newest one.
    pub fn catch_up(&self, on_progress: &mut dyn FnMut(i64, i64)) -> Result<()> {
        self.oneiro.index.scheduler.wait();
        let last = self.oneiro.store.read(|tx| texts(tx).last())?;
        let stopped = || self.oneiro.cancel.is_cancelled();
        let until = StopWhen::tail_below(1, &stopped);
        self.oneiro.index.folder.run(until, &mut |reach| on_progress(reach, last))?;
        self.oneiro.cancel.check()?;
        self.oneiro.embed_until(&stopped)
    }

    /// Rebuilds the index beside the current one and swaps it in. `on_progress` receives the last
    /// covered message and the newest one.
    pub fn rebuild(&self, on_progress: &mut dyn FnMut(i64, i64)) -> Result<()> {
        self.oneiro.store.create_missing_index_tables()?;
        let mut reader = self.oneiro.index.reader(self.oneiro.embedder_choice()?);
        let stopped = || self.oneiro.cancel.is_cancelled();
        let rebuild = Rebuild {
            store: &self.oneiro.store,
            clock: self.oneiro.clock.as_ref(),
            stopped: &stopped,
        };
        let is_finished = rebuild.run(&mut reader, on_progress)?;
        self.oneiro.index.cache.clear();
        self.oneiro.index.give_back(reader);
        // The finished part is kept, and the next rebuild continues from there.
        if is_finished { Ok(()) } else { self.oneiro.cancel.check() }
    }
}

impl Oneiro {
    /// Shortens a long tail for at most `limit`. Short-lived processes call this before they exit,
    /// because the thread beside the writers ends with them.
    pub(crate) fn index_for(&self, limit: Duration) -> Result<()> {
        let started = Instant::now();
        let stopped = || started.elapsed() >= limit || self.cancel.is_cancelled();
        let until = StopWhen::tail_below(TAIL_TEXTS_MIN, &stopped);
        self.index.folder.run(until, &mut |_| {})
    }

    /// Removes the words of deleted messages from the index.
    pub(crate) fn purge_index(&self) -> Result<()> {
        let stopped = || self.cancel.is_cancelled();
        // A lost race means that another process finished a merge: check again.
        while purge(self.index.folder.merger(&stopped))? != Merged::Nothing {
            self.cancel.check()?;
        }
        while sweep(&self.store, self.now())? {
            self.cancel.check()?;
        }
        self.store.write(oneiro_store::segments::remove_orphan_embeddings)
    }

    /// The embedder setting of the space.
    pub(crate) fn embedder_choice(&self) -> Result<EmbedderChoice> {
        Ok(self.store.read(|tx| self.settings_in(tx))?.embedder)
    }

    /// Requests missing vectors from the remote embedder for at most `limit`.
    pub(crate) fn embed_for(&self, limit: Duration) -> Result<()> {
        let started = Instant::now();
        self.embed_until(&|| started.elapsed() >= limit || self.cancel.is_cancelled())
    }

    /// Requests missing vectors from the remote embedder until `stopped` returns true.
    pub(crate) fn embed_until(&self, stopped: &dyn Fn() -> bool) -> Result<()> {
        match self.embedder() {
            Some(embedder) => self.index.folder.embed(&embedder, stopped),
            None => Ok(()),
        }
    }

    /// Requests an extension if the tail is long.
    pub(crate) fn schedule_indexing(&self) -> Result<()> {
        self.index.schedule_indexing(self.store.read(|tx| texts(tx).last())?);
        Ok(())
    }
}
