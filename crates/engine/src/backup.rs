//! Back up a space while others use it.

use crate::Oneiro;
use crate::views::Transfer;
use oneiro_model::Result;
pub use oneiro_store::Progress;
use std::path::Path;

impl Transfer<'_> {
    /// Copies the space into a new SQLite file, which is itself a store. A space on PostgreSQL is
    /// copied too, so that a backup can be opened anywhere.
    pub fn backup(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        self.oneiro.store.backup(path, self.oneiro.now(), progress)
    }

    /// Removes partial backups of processes that died; returns the removed files.
    pub fn remove_abandoned_backups(&self) -> Result<Vec<String>> {
        self.oneiro.store.remove_abandoned_backups()
    }
}

impl Oneiro {
    /// Returns free pages to the file system. Other processes wait meanwhile, so it only runs on
    /// request. Returns the number of bytes freed.
    pub fn vacuum(&self) -> Result<i64> {
        let before = self.stats()?.bytes;
        self.store.scrub(&[], &|| self.cancel.is_cancelled())?;
        Ok(before.saturating_sub(self.stats()?.bytes))
    }
}
