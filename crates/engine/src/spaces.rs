//! The spaces of a store: which there are, and the end of one.

use crate::{Oneiro, Options};
use oneiro_model::{DeletedSpace, Result, SpaceInfo};
use oneiro_store::{Target, spaces};

/// The spaces of a store, by name. `store` is a folder, a file or a PostgreSQL address.
pub fn list_spaces(store: &str, options: &Options) -> Result<Vec<SpaceInfo>> {
    spaces::list(store, &options.for_store())
}

impl Oneiro {
    /// Deletes a space with everything in it, unless another process has it open. Its backups stay,
    /// and are named.
    pub fn delete_space(target: &Target, options: &Options) -> Result<DeletedSpace> {
        spaces::delete(target, &options.for_store(), options.clock.now())
    }
}
