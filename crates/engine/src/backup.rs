//! Back up a space while others use it.

use crate::Oneiro;
use oneiro_model::Result;
pub use oneiro_store::Progress;
use std::path::Path;

impl Oneiro {
    /// Copies the space into a new SQLite file, which is itself a store. A space on PostgreSQL is
    /// copied too, so that a backup can be opened anywhere.
    pub fn backup(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        self.store.backup(path, self.now(), progress)
    }
}
