//! The spaces of a store: listed, and deleted with everything in them.

use crate::store::new_backend;
use crate::target::is_single_space;
use crate::{FileKind, Options, Store, Target, backups, kind_of_file};
use oneiro_model::{DeletedSpace, Error, ErrorKind, Remedy, Result, SpaceInfo, Timestamp};

/// The spaces of a store, by name. `store` is a folder, a file or a PostgreSQL address.
pub fn list(store: &str, options: &Options) -> Result<Vec<SpaceInfo>> {
    let target = Target::parse(store, None)?.resolved();
    let backend = new_backend(&target, options)?;
    let Target::File { path, space } = &target else { return backend.spaces() };
    let is_single = is_single_space(store);
    let place = if is_single { Some(path.as_path()) } else { path.parent() };
    if !place.is_some_and(std::path::Path::exists) {
        return Err(
            Error::not_found(format!("there is no store at {store}")).remedy(Remedy::CheckStore)
        );
    }
    if is_single {
        let damaged = kind_of_file(path) == FileKind::Damaged;
        return Ok(vec![SpaceInfo { name: space.clone(), bytes: backend.bytes()?, damaged }]);
    }
    backend.spaces()
}

/// Deletes a space, unless another process has it open. Its backups stay, and are named.
pub fn delete(target: &Target, options: &Options, now: Timestamp) -> Result<DeletedSpace> {
    let target = target.resolved();
    let existing = Options { must_exist: true, ..options.clone() };
    let backups = Store::open(&target, &existing, now).and_then(|store| store.read(backups::all));
    let backups = match backups {
        Ok(backups) => backups,
        // What cannot be read here can still be removed, if it is a space at all.
        Err(error) if error.kind() == ErrorKind::NewerSchema => Vec::new(),
        Err(error) if error.kind() == ErrorKind::Corrupt && !is_foreign(&target) => Vec::new(),
        Err(error) => return Err(error),
    };
    new_backend(&target, options)?.delete()?;
    let backups = backups.into_iter().map(|copy| copy.path);
    let left = backups.filter(|path| std::path::Path::new(path).exists());
    Ok(DeletedSpace { name: target.space().clone(), backups: left.collect() })
}

/// Whether a file is not a space of ours, or can no longer be told to be one.
fn is_foreign(target: &Target) -> bool {
    let Target::File { path, .. } = target else { return false };
    !matches!(kind_of_file(path), FileKind::Ours | FileKind::Damaged)
}
