//! The spaces of a store: which there are, how one begins, and how one ends.

use crate::memories::has_memories_of_people;
use crate::operations::needs_person;
use crate::{Oneiro, Options};
use oneiro_model::{Actor, ActorKind, DeletedSpace, Error, ErrorKind, Result, SpaceInfo};
use oneiro_store::{Target, spaces};
use std::ops::Deref;

/// The spaces of a store, by name. `store` is a folder, a file or a PostgreSQL address.
pub fn list_spaces(store: &str, options: &Options) -> Result<Vec<SpaceInfo>> {
    spaces::list(store, &options.for_store())
}

/// An empty space in a temporary folder, removed when it is dropped.
pub struct ScratchSpace {
    oneiro: Oneiro,
    // Dropped after the space in it is closed.
    _folder: tempfile::TempDir,
}

impl ScratchSpace {
    /// Creates one.
    pub fn new(options: Options) -> Result<ScratchSpace> {
        let folder = tempfile::tempdir().map_err(|error| {
            let what = format!("a temporary folder cannot be created: {error}");
            Error::new(ErrorKind::Unavailable, what).because(error)
        })?;
        let target = Target::parse(&folder.path().to_string_lossy(), None)?;
        let oneiro = Oneiro::open(&target, Options { must_exist: false, ..options })?;
        Ok(ScratchSpace { oneiro, _folder: folder })
    }
}

impl Drop for ScratchSpace {
    /// What the work did outside the store goes too.
    fn drop(&mut self) {
        self.oneiro.remove_mount_markers();
    }
}

impl Deref for ScratchSpace {
    type Target = Oneiro;

    fn deref(&self) -> &Oneiro {
        &self.oneiro
    }
}

impl Oneiro {
    /// Opens a space and runs `work`, which adds something to it. If the space does not exist, `work`
    /// runs on an empty scratch space first, and the space is created only if that succeeds: work
    /// that is refused leaves no space behind. Removing the space afterwards instead could lose what
    /// another process has stored in it meanwhile.
    pub fn open_to_add<T, E: From<Error>>(
        target: &Target,
        options: Options,
        work: impl Fn(&Oneiro) -> Result<T, E>,
    ) -> Result<(Oneiro, T), E> {
        let existing = Options { must_exist: true, ..options.clone() };
        let oneiro = match Oneiro::open(target, existing) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let scratch = ScratchSpace::new(options.clone())?;
                work(&scratch)?;
                Oneiro::open(target, Options { must_exist: false, ..options })?
            }
            opened => opened?,
        };
        let added = work(&oneiro)?;
        Ok((oneiro, added))
    }

    /// Deletes a space with everything in it, unless another process has it open. Its backups stay,
    /// and are named. An agent cannot delete one with memories that a person stated or promoted.
    pub fn delete_space(target: &Target, options: &Options, actor: &Actor) -> Result<DeletedSpace> {
        if actor.kind == ActorKind::Agent {
            let existing = Options { must_exist: true, ..options.clone() };
            let opened = Oneiro::open(target, existing);
            // What cannot be read has no memories to protect, and is refused or deleted below.
            if let Ok(oneiro) = opened
                && oneiro.store.read(has_memories_of_people)?
            {
                return Err(needs_person("delete a space with memories of people"));
            }
        }
        spaces::delete(target, &options.for_store(), options.clock.now())
    }
}
