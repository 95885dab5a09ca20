//! Searches the raw bytes of a store's files for erased text.

use super::files::open_for_process;
use aho_corasick::AhoCorasick;
use oneiro_model::{Error, ErrorKind, Result};
use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes read from a file at a time.
const READ_BYTES: usize = 1 << 20;

/// The indices of the `needles` that occur in `files`, and how many bytes were searched.
pub(super) fn search(files: &[PathBuf], needles: &[Vec<u8>]) -> Result<(Vec<usize>, u64)> {
    let finder = Finder::new(needles)?;
    let mut found = BTreeSet::new();
    let mut bytes = 0;
    let longest = needles.iter().map(Vec::len).max().unwrap_or(0);
    for path in files.iter().filter(|path| path.exists()) {
        let file = open_for_process(path).map_err(|error| unreadable(path, error))?;
        let mut window: Vec<u8> = Vec::new();
        let mut block = vec![0; READ_BYTES];
        let mut offset = 0;
        loop {
            let read = file.read_at(&mut block, offset).map_err(|error| unreadable(path, error))?;
            if read == 0 {
                break;
            }
            offset += read as u64;
            window.extend_from_slice(block.get(..read).unwrap_or_default());
            finder.find(&window, &mut found);
            let keep = window.len().saturating_sub(longest);
            window.drain(..keep);
        }
        bytes += offset;
    }
    Ok((found.into_iter().collect(), bytes))
}

/// Searches for many needles in one pass.
pub struct Finder(AhoCorasick);

impl Finder {
    /// Prepares a search for `needles`.
    pub fn new(needles: &[Vec<u8>]) -> Result<Finder> {
        AhoCorasick::new(needles)
            .map(Finder)
            .map_err(|error| Error::internal("too many texts to search for").because(error))
    }

    /// Adds the index of each needle that occurs in `haystack`.
    pub fn find(&self, haystack: &[u8], found: &mut BTreeSet<usize>) {
        let hits = self.0.find_overlapping_iter(haystack);
        found.extend(hits.map(|hit| hit.pattern().as_usize()));
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{} cannot be searched: {error}", path.display()))
        .because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_are_found_across_block_borders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw");
        let mut bytes = vec![b'x'; READ_BYTES - 3];
        bytes.extend_from_slice(b"needle and more");
        std::fs::write(&path, &bytes).unwrap();
        let needles = [b"needle".to_vec(), b"absent".to_vec(), b"xxn".to_vec()];
        let (found, searched) = search(&[path], &needles).unwrap();
        assert_eq!((found, searched), (vec![0, 2], bytes.len() as u64));
    }
}
