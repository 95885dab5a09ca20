//! The file that an import reads. A pipe, a terminal or a socket is copied to a temporary file
//! first. An import is one transaction, so input that waits for another process would make every
//! other writer wait for it too.

use super::ImportLimits;
use oneiro_model::{Error, ErrorKind, Remedy, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::Path;

/// Bytes read from a file at once.
const READ_BUFFER_BYTES: usize = 1 << 20;

/// The beginning of every SQLite file.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// A file that an import reads to its end without waiting for another process.
#[derive(Debug)]
pub struct ImportFile {
    file: File,
    bytes: u64,
}

impl ImportFile {
    /// Opens the file at `path`. Whatever is not a regular file is copied first, which takes until
    /// the writer closes it.
    pub fn open(path: &Path, limits: ImportLimits) -> Result<ImportFile> {
        let failed = |error| unreadable(path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::invalid(format!("{} is a folder", path.display()))
                .remedy(Remedy::ImportExported));
        }
        if metadata.is_file() {
            return Ok(ImportFile { file, bytes: metadata.len() });
        }
        ImportFile::spool(file, limits).map_err(|error| error.at(path.display().to_string()))
    }

    /// Copies `input` to a temporary file, up to the bytes that an import may have. The file has
    /// no name, so nobody else can open it and nothing is left behind, even by a killed process.
    pub fn spool(input: impl Read, limits: ImportLimits) -> Result<ImportFile> {
        let unwritable = |error: std::io::Error| {
            let what = format!("the input cannot be copied to a temporary file: {error}");
            Error::new(ErrorKind::Unavailable, what)
                .remedy("free some space, or set TMPDIR to a folder on a larger disk")
                .because(error)
        };
        let mut file = tempfile::tempfile().map_err(unwritable)?;
        // One byte more than allowed, so that the import itself sees and refuses the excess.
        let mut input =
            BufReader::with_capacity(READ_BUFFER_BYTES, input.take(limits.bytes.saturating_add(1)));
        let mut bytes = 0;
        loop {
            let read = match input.fill_buf() {
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_failed(error)),
            };
            let length = read.len();
            if length == 0 {
                break;
            }
            file.write_all(read).map_err(unwritable)?;
            input.consume(length);
            bytes += length as u64;
        }
        file.rewind().map_err(unwritable)?;
        Ok(ImportFile { file, bytes })
    }

    /// Whether it is a database of SQLite.
    pub fn is_sqlite(&self) -> Result<bool> {
        let mut begin = Vec::new();
        let length = SQLITE_MAGIC.len() as u64;
        self.reader()?.take(length).read_to_end(&mut begin).map_err(read_failed)?;
        Ok(begin == SQLITE_MAGIC)
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the file from its beginning.
    pub(super) fn reader(&self) -> Result<impl BufRead + Send + '_> {
        let mut file = &self.file;
        file.rewind().map_err(read_failed)?;
        Ok(BufReader::with_capacity(READ_BUFFER_BYTES, file))
    }
}

fn read_failed(error: std::io::Error) -> Error {
    let what = format!("reading the import failed: {error}");
    Error::new(ErrorKind::Unavailable, what).because(error)
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::NotFound,
        std::io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("{}: {error}", path.display())).because(error)
}
