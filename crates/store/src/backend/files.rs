//! The files of a store as the file system sees them: made for their owner alone, named, measured.

use super::sqlite_errors::io_error;
use oneiro_model::Result;
use std::path::{Path, PathBuf};

/// Creates the file with mode 0600 in a folder with mode 0700, unless it is there.
pub(super) fn create_private(path: &Path) -> Result<()> {
    if path.exists() {
        // An empty file that somebody made for us is as private as one that we make.
        if path.is_file() && file_bytes(path) == 0 {
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(path, private).map_err(|error| io_error(path, error))?;
        }
        return Ok(());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| io_error(folder, error))?;
    }
    let mut open = std::fs::OpenOptions::new();
    open.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    match open.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(io_error(path, error)),
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |data| data.len())
}
