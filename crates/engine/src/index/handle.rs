//! What a handle keeps of the index: what is in memory, readers that know words already, and the
//! fold beside the writers.

use super::fold::{Merged, purge, sweep};
use super::folding::{FoldUntil, Folder, Folding, LONG};
use super::rebuild::Rebuild;
use super::texts::texts;
use crate::background::Wake;
use crate::views;
use crate::{Cancel, Embedder, EmbedderChoice, Oneiro, WordModel};
use oneiro_index::{Cache, Reader, Source};
use oneiro_model::{NewJob, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Readers kept for later searches.
const READERS: usize = 8;

/// The index of one handle.
pub(crate) struct Index {
    pub(crate) cache: Cache,
    folder: Folder,
    readers: Mutex<Vec<Reader>>,
    folding: Folding,
}

impl Index {
    pub(crate) fn new(folder: Folder) -> Index {
        Index {
            cache: Cache::default(),
            folder,
            readers: Mutex::default(),
            folding: Folding::default(),
        }
    }

    /// The model of words, if there is one.
    pub(crate) fn words(&self) -> Option<&dyn WordModel> {
        self.folder.words.as_deref()
    }

    /// The model elsewhere, if there is one.
    pub(crate) fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.folder.embedder.as_ref()
    }

    /// A reader, to be given back, that makes vectors if the space wants those of words.
    pub(crate) fn reader(&self, choice: EmbedderChoice) -> Reader {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = kept.unwrap_or_else(|| Reader::new(self.folder.words.clone()));
        reader.use_vectors(choice == EmbedderChoice::Static);
        reader
    }

    /// Keeps a reader for the next search.
    pub(crate) fn give_back(&self, reader: Reader) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(reader);
        }
    }

    /// Leaves a job to build the index anew, beside the caller.
    pub(crate) fn rebuild_soon(&self, job: NewJob) {
        self.folding.with_job(&self.folder, job);
    }

    /// One round of the fold lane.
    pub(crate) fn fold_round(
        &self,
        lane: &Arc<Wake>,
        is_enough: &dyn Fn() -> bool,
        cancel: &Cancel,
    ) -> Result<()> {
        self.folding.attach(lane);
        self.folding.run_round(&self.folder, is_enough, &|| cancel.is_cancelled())
    }

    /// Begins to fold if there is enough to fold; `last` is the newest message known.
    pub(crate) fn fold_soon(&self, last: i64) {
        self.folding.soon(&self.folder, last);
    }
}

impl views::Index<'_> {
    /// Brings the text index up to the newest message. Searches find everything without it; they
    /// only take longer while much is left. `told` hears the last message covered and the newest.
    pub fn fold_all(&self, told: &mut dyn FnMut(i64, i64)) -> Result<()> {
        self.oneiro.index.folding.wait();
        let last = self.oneiro.store.read(|tx| texts(tx).last())?;
        let stopped = || self.oneiro.cancel.is_cancelled();
        let until = FoldUntil { leave: 1, is_enough: &|| false, stopped: &stopped };
        self.oneiro.index.folder.run(until, &mut |reach| told(reach, last))?;
        self.oneiro.cancel.check()?;
        self.oneiro.embed_until(&stopped)
    }

    /// Builds the text index anew beside the one that answers, then puts it in its place. `told`
    /// hears the last message that is covered and the newest.
    pub fn rebuild(&self, told: &mut dyn FnMut(i64, i64)) -> Result<()> {
        self.oneiro.store.create_missing_index_tables()?;
        let mut reader = self.oneiro.index.reader(self.oneiro.embedder_choice()?);
        let stopped = || self.oneiro.cancel.is_cancelled();
        let rebuild = Rebuild {
            store: &self.oneiro.store,
            clock: self.oneiro.clock.as_ref(),
            stopped: &stopped,
        };
        let is_finished = rebuild.run(&mut reader, told)?;
        self.oneiro.index.cache.clear();
        self.oneiro.index.give_back(reader);
        // What is built so far is kept, and the next rebuild goes on from there.
        if is_finished { Ok(()) } else { self.oneiro.cancel.check() }
    }
}

impl Oneiro {
    /// Shortens the tail if it is long, for as long as `limit` allows: what a short-lived process
    /// owes to the next one. The thread beside the writers would end with it.
    pub(crate) fn fold_for(&self, limit: Duration) -> Result<()> {
        let started = Instant::now();
        let stopped = || started.elapsed() >= limit || self.cancel.is_cancelled();
        let until = FoldUntil { leave: LONG, is_enough: &|| false, stopped: &stopped };
        self.index.folder.run(until, &mut |_| {})
    }

    /// Takes the words of messages that were deleted out of the index.
    pub(crate) fn purge_index(&self) -> Result<()> {
        let stopped = || self.cancel.is_cancelled();
        // A race that is lost is a merge that another process finished: look again.
        while purge(self.index.folder.merger(&stopped))? != Merged::Nothing {
            self.cancel.check()?;
        }
        while sweep(&self.store, self.now())? {
            self.cancel.check()?;
        }
        Ok(())
    }

    /// Which vectors this space wants.
    pub(crate) fn embedder_choice(&self) -> Result<EmbedderChoice> {
        Ok(self.store.read(|tx| self.settings_in(tx))?.embedder)
    }

    /// Gives messages the vectors of the model elsewhere for as long as `limit` allows.
    pub(crate) fn embed_for(&self, limit: Duration) -> Result<()> {
        let started = Instant::now();
        self.embed_until(&|| started.elapsed() >= limit || self.cancel.is_cancelled())
    }

    /// Gives messages the vectors of the model elsewhere until `stopped`.
    pub(crate) fn embed_until(&self, stopped: &dyn Fn() -> bool) -> Result<()> {
        match self.embedder() {
            Some(embedder) => self.index.folder.embed(&embedder, stopped),
            None => Ok(()),
        }
    }

    /// Begins to fold beside the caller if there is enough to fold.
    pub(crate) fn fold_soon(&self) -> Result<()> {
        self.index.fold_soon(self.store.read(|tx| texts(tx).last())?);
        Ok(())
    }
}
