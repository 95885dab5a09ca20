//! Transcripts: the files in which other agents keep their conversations, read line by line into
//! sessions, each line once. Where these files are is for the caller to know.

mod capture;
mod charged_usage;
mod claude_code;
mod codex;
mod find;
mod harness;
mod head;
mod idle;
mod lines;
mod project_folder;
mod reader;
mod title;
mod write;

pub(crate) use harness::outside_harness;

pub(crate) use find::{ListedTranscript, list_transcripts};
pub use find::{TranscriptFile, Transcripts, find_transcripts};
pub(crate) use head::{is_read_to_end, project_of, working_folder};
pub use project_folder::{ExcludedFolders, ProjectFolder};
pub(crate) use title::remove_title_of_message;

use oneiro_model::{CapturePause, Error, Result};
use reader::Reader;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::time::Duration;

/// An agent whose transcripts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl Agent {
    /// Every agent whose transcripts are read.
    pub const ALL: [Agent; 2] = [Agent::ClaudeCode, Agent::Codex];

    /// Reads the name of an agent.
    pub fn parse(name: &str) -> Result<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.as_str() == name).ok_or_else(|| {
            Error::field("agent", format!("transcripts of {name:?} cannot be read"))
                .remedy("give claude-code or codex")
        })
    }

    /// The name, which is also the source of its sessions.
    pub fn as_str(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
        }
    }

    /// Whose transcript a file is, by its first lines.
    pub fn of_transcript(path: &Path) -> Option<Agent> {
        Agent::ALL
            .into_iter()
            .find(|agent| head::begins_as_transcript_of(path, *agent).unwrap_or(false))
    }

    /// Who wrote these lines, if they are of a transcript.
    pub(crate) fn of_lines(input: impl BufRead) -> Option<Agent> {
        /// Lines that are read, and the bytes of all of them.
        const LINES: usize = 64;
        const BYTES: u64 = 1 << 20;
        let lines = input.take(BYTES).split(b'\n').take(LINES).map_while(std::result::Result::ok);
        let mut readers = Agent::ALL.map(|agent| (agent, Reader::new(agent, "")));
        for line in lines {
            let Ok(value) = oneiro_model::json::parse(&line) else { continue };
            for (agent, reader) in &mut readers {
                reader.read(value.value.clone(), 0);
                if reader.is_known {
                    return Some(*agent);
                }
            }
        }
        None
    }
}

/// Where the reading of a file begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// After what was read before.
    Reached,
    /// At the start: lines that were left out before are stored now. None is stored twice.
    Start,
}

/// One file to capture.
#[derive(Debug, Clone, Copy)]
pub struct CaptureRequest<'a> {
    /// The file.
    pub path: &'a Path,
    /// Whose it is.
    pub agent: Agent,
    /// The folder that it must be in when links are resolved, if that matters.
    pub within: Option<&'a Path>,
    /// Start no further batch after this long; the rest is captured next time.
    pub limit: Option<Duration>,
    /// Where to begin.
    pub from: ReadFrom,
    /// Count what is new, and store nothing.
    pub dry_run: bool,
    /// Lines that were written in these times are left out; `None` leaves out none. A pause that
    /// begins or ends while the file is read leaves the rest for another call.
    pub pauses: Option<&'a [CapturePause]>,
    /// Times in which the project of the file was not captured: lines of then are left out.
    pub gaps: &'a [CapturePause],
    /// Lines that were written in these folders are left out.
    pub excluded: &'a ExcludedFolders,
}

impl<'a> CaptureRequest<'a> {
    /// A file, all of it.
    pub fn new(path: &'a Path, agent: Agent) -> CaptureRequest<'a> {
        CaptureRequest {
            path,
            agent,
            within: None,
            limit: None,
            from: ReadFrom::Reached,
            dry_run: false,
            pauses: None,
            gaps: &[],
            excluded: ExcludedFolders::NONE,
        }
    }
}

/// What was captured.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Captured {
    /// Sessions that began.
    pub sessions: usize,
    /// How many of those are delegates, which a list leaves out unless asked; not counted by a dry run.
    pub delegates: usize,
    /// Messages stored.
    pub messages: usize,
    /// Messages that were there already: in their session, or where they were copied from.
    pub duplicates: usize,
    /// How many of those are copies of what another session holds.
    pub copies: usize,
    /// Messages not stored because of a pattern, a pause or an exclusion, or because they were erased
    /// or their session was removed.
    pub left_out: usize,
    /// Lines without a message, by type.
    pub skipped: BTreeMap<String, usize>,
    /// Lines that could not be read.
    pub damaged: Vec<DamagedLine>,
    /// Files without a single line that the agent could have written. Nothing of them is
    /// remembered.
    pub not_transcripts: Vec<String>,
    /// Lines with bytes that are not UTF-8, which were replaced.
    pub repaired: usize,
    /// `<private>` spans withheld.
    pub withheld: usize,
    /// Bytes read.
    pub bytes: u64,
    /// Whether the end was reached; a last line that is not finished yet does not count.
    pub finished: bool,
}

impl Captured {
    /// Adds what another file held.
    pub fn add(&mut self, other: Captured) {
        self.sessions += other.sessions;
        self.delegates += other.delegates;
        self.messages += other.messages;
        self.duplicates += other.duplicates;
        self.copies += other.copies;
        self.left_out += other.left_out;
        for (kind, count) in other.skipped {
            *self.skipped.entry(kind).or_default() += count;
        }
        self.damaged.extend(other.damaged);
        self.not_transcripts.extend(other.not_transcripts);
        self.repaired += other.repaired;
        self.withheld += other.withheld;
        self.bytes += other.bytes;
        self.finished &= other.finished;
    }
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedLine {
    /// The file.
    pub path: String,
    /// Which line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: String,
}
