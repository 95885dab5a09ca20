//! Lines of a file that may be growing: bounded, with their place in it. A last line without its
//! end is not there yet. It must not know what lines mean.

use super::DamagedLine;
use oneiro_model::{Error, ErrorKind, Result};
use oneiro_store::transcripts::Reached;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The longest line that is read: what the store takes as one message.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// The bytes before a place by which it is known again: a line of an agent, with its id and time.
const FINGERPRINT_BYTES: u64 = 1_024;

/// Where a line stands and what became of it.
#[derive(Debug)]
pub(super) struct Line {
    /// The byte it begins at.
    pub(super) at: u64,
    /// The byte after its end.
    pub(super) end: u64,
    /// Its bytes without the end; `None` when it is too long.
    pub(super) bytes: Option<Vec<u8>>,
}

/// An open transcript.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    input: BufReader<File>,
    at: u64,
    max_line_bytes: u64,
}

impl Lines {
    /// Opens a file for reading. Anything but a regular file is refused before it is opened: a pipe
    /// would wait for its writer.
    pub(super) fn open(path: &Path) -> Result<Lines> {
        let meta = std::fs::metadata(path).map_err(|error| cannot_read(path, error))?;
        if !meta.is_file() {
            return Err(Error::invalid(format!("{} is not a file", path.display()))
                .remedy("name a transcript (.jsonl) or a folder of them"));
        }
        let file = File::open(path).map_err(|error| cannot_read(path, error))?;
        let input = BufReader::with_capacity(1 << 16, file);
        Ok(Lines { path: path.to_owned(), input, at: 0, max_line_bytes: MAX_LINE_BYTES })
    }

    /// Where to go on after a place that was reached before: there, or at the start when the file is
    /// not the one that was read, because it was truncated or replaced. A place that was reached
    /// stands right after the end of a line.
    pub(super) fn resume(&mut self, reached: Option<&Reached>) -> Result<u64> {
        let known = reached.and_then(|reached| u64::try_from(reached.position).ok()).unwrap_or(0);
        let before = self.bytes_before(known)?;
        let fingerprint = reached.and_then(|reached| reached.fingerprint.as_deref());
        let is_same = before.last().is_none_or(|last| *last == b'\n')
            && before.is_empty() == (known == 0)
            && fingerprint.is_none_or(|fingerprint| fingerprint == hash(&before));
        let start = if is_same { known } else { 0 };
        self.seek(start)?;
        Ok(start)
    }

    /// What a place in the file is known by later.
    pub(super) fn reached(&self, position: u64) -> Result<Reached> {
        let fingerprint = Some(hash(&self.bytes_before(position)?));
        Ok(Reached { position: i64::try_from(position).unwrap_or(i64::MAX), fingerprint })
    }

    /// The bytes right before a place; none when the file ends before it.
    fn bytes_before(&self, position: u64) -> Result<Vec<u8>> {
        let start = position.saturating_sub(FINGERPRINT_BYTES);
        let mut bytes = vec![0; usize::try_from(position - start).unwrap_or(0)];
        match self.input.get_ref().read_exact_at(&mut bytes, start) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(Vec::new()),
            Err(error) => Err(cannot_read(&self.path, error)),
        }
    }

    /// Goes to a byte of the file.
    pub(super) fn seek(&mut self, at: u64) -> Result<()> {
        self.input.seek(SeekFrom::Start(at)).map_err(|error| cannot_read(&self.path, error))?;
        self.at = at;
        Ok(())
    }

    /// The next whole line; `None` when there is none yet.
    pub(super) fn next(&mut self) -> Result<Option<Line>> {
        let at = self.at;
        let mut bytes = Vec::new();
        let mut bounded = (&mut self.input).take(self.max_line_bytes);
        let mut read = bounded
            .read_until(b'\n', &mut bytes)
            .map_err(|error| cannot_read(&self.path, error))? as u64;
        let mut is_whole = bytes.last() == Some(&b'\n');
        let is_long = !is_whole && read == self.max_line_bytes;
        if is_long {
            bytes = Vec::new();
            (read, is_whole) = self.skip_line(read)?;
        }
        if !is_whole {
            // What is there of the line is read again when it has its end.
            self.seek(at)?;
            return Ok(None);
        }
        bytes.pop();
        self.at = at + read;
        Ok(Some(Line { at, end: self.at, bytes: (!is_long).then_some(bytes) }))
    }

    /// The first byte from here that is not white space, as far as one reading goes.
    pub(super) fn first_byte(&mut self) -> Result<Option<u8>> {
        let buffer = self.input.fill_buf().map_err(|error| cannot_read(&self.path, error))?;
        Ok(buffer.iter().copied().find(|byte| !byte.is_ascii_whitespace()))
    }

    /// Reads on to the end of the line without keeping it; answers its length and whether it ends.
    fn skip_line(&mut self, mut read: u64) -> Result<(u64, bool)> {
        loop {
            let buffer = self.input.fill_buf().map_err(|error| cannot_read(&self.path, error))?;
            if buffer.is_empty() {
                return Ok((read, false));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(taken);
            read += taken as u64;
            if end.is_some() {
                return Ok((read, true));
            }
        }
    }
}

/// A line that could not be read.
#[derive(Debug)]
pub(super) struct Damage {
    /// The byte it begins at.
    pub(super) at: u64,
    /// What is wrong with it.
    pub(super) problem: String,
}

/// Gives damage the numbers of its lines. Counting them needs the whole file, so only a file that
/// has some pays for it.
pub(super) fn number(path: &Path, damage: Vec<Damage>) -> Result<Vec<DamagedLine>> {
    if damage.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = BufReader::with_capacity(1 << 18, open(path)?);
    let (mut at, mut line) = (0, 1);
    let mut numbered = Vec::with_capacity(damage.len());
    for damaged in damage {
        while at < damaged.at {
            let buffer = input.fill_buf().map_err(|error| cannot_read(path, error))?;
            let left = usize::try_from(damaged.at - at).unwrap_or(usize::MAX).min(buffer.len());
            if left == 0 {
                break;
            }
            let passed = buffer.iter().take(left);
            line += passed.filter(|byte| **byte == b'\n').count() as u64;
            input.consume(left);
            at += left as u64;
        }
        let path = path.to_string_lossy().into_owned();
        numbered.push(DamagedLine { path, line, problem: damaged.problem });
    }
    Ok(numbered)
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| cannot_read(path, error))
}

pub(super) fn cannot_read(path: &Path, error: std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::NotFound,
        std::io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("the transcript {} cannot be read: {error}", path.display()))
        .remedy("check the path and its permissions")
        .because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> (tempfile::TempDir, Lines) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        let lines = Lines::open(&path).unwrap();
        (folder, lines)
    }

    fn all(lines: &mut Lines) -> Vec<(u64, u64, Option<String>)> {
        std::iter::from_fn(|| lines.next().unwrap())
            .map(|line| {
                let text = line.bytes.map(|bytes| String::from_utf8(bytes).unwrap());
                (line.at, line.end, text)
            })
            .collect()
    }

    #[test]
    fn a_line_without_its_end_is_not_there_yet() {
        let (_folder, mut lines) = lines(b"ab\n\ncd");
        assert_eq!(all(&mut lines), [(0, 3, Some("ab".into())), (3, 4, Some(String::new()))]);
    }

    #[test]
    fn a_line_that_gets_its_end_while_the_file_is_open_is_read_whole() {
        let (folder, mut lines) = lines(b"ab\ncd");
        assert_eq!(all(&mut lines), [(0, 3, Some("ab".into()))]);
        std::fs::write(folder.path().join("t.jsonl"), b"ab\ncdef\ng\n").unwrap();
        assert_eq!(all(&mut lines), [(3, 8, Some("cdef".into())), (8, 10, Some("g".into()))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let (_folder, mut lines) = lines(b"ab\n0123456789\ncd\n0123456789");
        lines.max_line_bytes = 4;
        let found = all(&mut lines);
        assert_eq!(found, [(0, 3, Some("ab".into())), (3, 14, None), (14, 17, Some("cd".into()))]);
    }

    #[test]
    fn reading_resumes_only_after_the_end_of_a_line() {
        let (_folder, mut lines) = lines(b"ab\ncd\n");
        for (position, start) in [(0, 0), (3, 3), (6, 6), (2, 0), (4, 0), (7, 0), (99, 0)] {
            let reached = Reached { position, fingerprint: None };
            assert_eq!(lines.resume(Some(&reached)).unwrap(), start, "{position}");
        }
        assert_eq!(lines.resume(None).unwrap(), 0);
    }

    #[test]
    fn reading_resumes_only_in_the_file_that_was_read() {
        let (folder, mut lines) = lines(b"ab\ncd\n");
        let reached = lines.reached(6).unwrap();
        assert_eq!(lines.resume(Some(&reached)).unwrap(), 6);
        for (name, text, start) in [
            ("grown", "ab\ncd\nef\n", 6),
            ("replaced", "ab\nxx\nef\n", 0),
            ("truncated", "ab\n", 0),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            assert_eq!(
                Lines::open(&path).unwrap().resume(Some(&reached)).unwrap(),
                start,
                "{name}"
            );
        }
    }

    #[test]
    fn damage_is_reported_by_line_and_a_folder_is_no_transcript() {
        let (folder, _lines) = lines(b"a\nb\nc\n");
        let damage = [2, 4].map(|at| Damage { at, problem: String::new() });
        let found = number(&folder.path().join("t.jsonl"), damage.into()).unwrap();
        assert_eq!(found.iter().map(|line| line.line).collect::<Vec<_>>(), [2, 3]);
        assert!(Lines::open(folder.path()).is_err());
    }
}
