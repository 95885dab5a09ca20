//! File system access for stores: private files, resolved paths, and descriptors that do not disturb
//! the locks of SQLite.

use super::sqlite_errors::io_error;
use oneiro_model::Result;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Descriptors that stay open until the process ends: closing one would drop the POSIX locks that
/// SQLite holds on the same file in this process.
static OPEN_FILES: Mutex<Vec<(PathBuf, Arc<File>)>> = Mutex::new(Vec::new());

/// A file that SQLite locks, opened for reading once and kept open until the process ends.
pub(super) fn open_for_process(path: &Path) -> io::Result<Arc<File>> {
    let mut files = OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = files.iter().find(|(name, file)| name == path && is_same_file(file, path));
    if let Some((_, file)) = found {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    files.push((path.to_owned(), Arc::clone(&file)));
    Ok(file)
}

/// Whether `path` still names the file that is open.
pub(super) fn is_same_file(open: &File, path: &Path) -> bool {
    let id = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (open.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => id(open) == id(named),
        _ => false,
    }
}

/// The longest chain of symbolic links that is followed; the limit of Linux.
const MAX_LINKS: usize = 40;

/// The path with every symbolic link resolved, since SQLite keeps its log beside the target of a link.
/// For a file that does not exist, the path at which it would be created.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    if let Ok(real) = std::fs::canonicalize(path) {
        return real;
    }
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(target);
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => resolve(folder).join(name),
        _ => path,
    }
}

/// Creates the file with mode 0600 in a folder with mode 0700, unless it exists.
pub(crate) fn create_private(path: &Path) -> Result<()> {
    if path.exists() {
        // An empty file that was made for the store becomes as private as one created here.
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

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |data| data.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_resolved_and_missing_files_keep_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::fs::write(root.join("real/x.db"), b"x").unwrap();
        symlink("real", root.join("folder")).unwrap();
        symlink("folder/x.db", root.join("file")).unwrap();
        symlink("folder/new.db", root.join("dangling")).unwrap();
        symlink("dangling", root.join("twice")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let resolved = |name: &str| resolve(&root.join(name));
        assert_eq!(resolved("file"), root.join("real/x.db"));
        assert_eq!(resolved("folder/x.db"), root.join("real/x.db"));
        assert_eq!(resolved("folder/deep/er/x.db"), root.join("real/deep/er/x.db"));
        assert_eq!(resolved("dangling"), root.join("real/new.db"));
        assert_eq!(resolved("twice"), root.join("real/new.db"));
        assert_eq!(resolved("folder/../missing.db"), root.join("missing.db"));
        assert_eq!(resolved("circle"), root.join("circle"));
        assert_eq!(resolve(Path::new("x.db")), std::env::current_dir().unwrap().join("x.db"));
    }
}
