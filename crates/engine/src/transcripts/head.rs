//! What is known of a transcript without capturing it: whose it is, its project, and whether it was
//! read to its end.

use super::lines::Lines;
use super::reader::{ParsedLine, Reader};
use super::{Agent, ProjectFolder};
use oneiro_model::contract::Request;
use oneiro_model::{CaptureSwitch, ProjectChoice, Result};
use oneiro_store::transcripts::Reached;
use std::path::Path;

/// How much of the beginning of a file is searched for its working folder: agents write lines
/// without one first, such as snapshots of files.
const SEARCHED_LINES: usize = 4_096;

/// The same in bytes.
const SEARCHED_BYTES: u64 = 4 << 20;

/// Whether a file was read to its end and is still the same.
pub(crate) fn is_read_to_end(path: &Path, reached: &Reached) -> bool {
    // A file that cannot be read is left to the reader, which reports it.
    let resumes_at = Lines::open(path).and_then(|mut lines| lines.resume(Some(reached)));
    let length = std::fs::metadata(path).map(|meta| meta.len());
    resumes_at.is_ok_and(|at| {
        length.is_ok_and(|length| at == length && i64::try_from(at) == Ok(reached.position))
    })
}

/// Whether a file begins with lines that an agent writes.
pub(super) fn begins_as_transcript_of(path: &Path, agent: Agent) -> Result<bool> {
    let known = find_in_head(path, agent, |reader, _| reader.is_known.then_some(()))?;
    Ok(known.is_some())
}

/// The project of a transcript: the working folder that it begins in.
pub(crate) fn project_of(path: &Path, agent: Agent) -> Result<Option<ProjectFolder>> {
    Ok(working_folder(path, agent)?.map(ProjectFolder::resolve))
}

/// The working folder that a transcript begins in, as far as its first lines name one. What no choice
/// can be made for, such as an empty name, is none.
pub(crate) fn working_folder(path: &Path, agent: Agent) -> Result<Option<String>> {
    let is_folder = |name: &String| {
        let folder = Some(name.clone());
        ProjectChoice { folder, capture: CaptureSwitch::On }.check().is_ok()
    };
    find_in_head(path, agent, |_, parsed| parsed.facts.cwd.filter(is_folder))
}

/// The first thing that `find` makes of one of the first lines.
fn find_in_head<T>(
    path: &Path,
    agent: Agent,
    find: impl Fn(&Reader, ParsedLine) -> Option<T>,
) -> Result<Option<T>> {
    let mut lines = Lines::open(path)?;
    let mut reader = Reader::new(agent, "");
    for _ in 0..SEARCHED_LINES {
        let Some(line) = lines.next()?.filter(|line| line.at < SEARCHED_BYTES) else { break };
        let value = line.bytes.as_deref().and_then(|bytes| oneiro_model::json::parse(bytes).ok());
        let Some(value) = value else { continue };
        let parsed = reader.read(value.value, line.at);
        if let Some(found) = find(&reader, parsed) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
