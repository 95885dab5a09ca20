//! `oneiro import`: what another agent keeps becomes sessions.

pub mod hermes;

use super::session::import as session_import;
use crate::agents::AgentRow;
use crate::context::Context;
use crate::output::{count, data, plain};
use crate::progress;
use clap::Args;
use oneiro::{
    Agent, CaptureRequest, Captured, Error, Oneiro, SpaceUse, TranscriptFile, find_transcripts,
};
use serde_json::json;
use std::path::PathBuf;

/// Import what another agent keeps: transcripts, or the state.db of hermes
///
/// Each line or message is stored once, however often this is run: what was read is remembered. What
/// was erased does not come back. What cannot be read is named, and the rest is taken.
///
/// The state.db of hermes is only read, and may be in use. Run again, what hermes changed since is
/// brought up to date, and what was changed here stays. Both sides are counted, and the exit code is
/// 4 when they do not agree.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// claude-code, codex or hermes; or a file that `oneiro session export` wrote (- for standard
    /// input)
    #[arg(value_name = "AGENT|FILE")]
    agent: String,
    /// A transcript, a folder of them, or a state.db; where the agent keeps it unless given
    path: Option<PathBuf>,
    /// Count what is new, and store nothing
    #[arg(long)]
    dry_run: bool,
}

/// The files to import, each with the folder it must stay in.
pub struct Found {
    /// Whose they are.
    pub agent: Agent,
    /// The files.
    pub files: Vec<(TranscriptFile, Option<PathBuf>)>,
    /// Folders that could not be listed.
    unreadable: Vec<Error>,
}

impl Found {
    /// The transcripts where an agent keeps them.
    pub fn at_home(agent: Agent) -> oneiro::Result<Found> {
        let folders = AgentRow::of(agent).map(AgentRow::kept).unwrap_or_default();
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for folder in folders {
            let found = find_transcripts(&folder, agent)?;
            files.extend(found.files.into_iter().map(|file| (file, Some(folder.clone()))));
            unreadable.extend(found.unreadable);
        }
        // Subagents come after all sessions, of whichever folder.
        files.sort_by_key(|(file, _)| file.is_subagent);
        Ok(Found { agent, files, unreadable })
    }

    fn at(agent: Agent, path: PathBuf) -> oneiro::Result<Found> {
        if path.is_dir() {
            let found = find_transcripts(&path, agent)?;
            let files = found.files.into_iter().map(|file| (file, Some(path.clone()))).collect();
            return Ok(Found { agent, files, unreadable: found.unreadable });
        }
        let bytes = std::fs::metadata(&path).map(|meta| meta.len()).map_err(|error| {
            Error::not_found(format!("{}: {error}", path.display()))
                .remedy("name a transcript (.jsonl) or a folder of them")
        })?;
        let file = TranscriptFile { path, bytes, is_subagent: false };
        Ok(Found { agent, files: vec![(file, None)], unreadable: Vec::new() })
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(file, _)| file.bytes).sum()
    }

    /// Captures every file. One that cannot be read is named and the others are taken.
    pub fn capture(&self, context: &Context, oneiro: &Oneiro, dry_run: bool) -> Taken {
        let bar = progress::bar(self.bytes(), "import", context.output.json);
        let mut taken = Taken { failed: self.unreadable.clone(), ..Taken::default() };
        taken.captured.finished = true;
        let mut before = 0;
        for (file, within) in &self.files {
            let request = CaptureRequest {
                within: within.as_deref(),
                dry_run,
                ..CaptureRequest::new(&file.path, self.agent)
            };
            let captured = oneiro
                .transfer()
                .capture_transcript(&request, &mut |at| bar.set_position(before + at));
            match captured {
                Ok(captured) => taken.captured.add(captured),
                Err(error) => {
                    let is_ours = !matches!(
                        error.kind(),
                        oneiro::ErrorKind::NotFound
                            | oneiro::ErrorKind::Forbidden
                            | oneiro::ErrorKind::Invalid
                    );
                    taken.failed.push(error);
                    // A store that cannot be written to will not take the next file either.
                    if is_ours {
                        break;
                    }
                }
            }
            before += file.bytes;
            bar.set_position(before);
        }
        bar.finish_and_clear();
        taken.files = self.files.len();
        taken
    }
}

/// What became of the files.
#[derive(Debug, Default)]
pub struct Taken {
    /// How many there were.
    pub files: usize,
    /// What they held.
    pub captured: Captured,
    /// Why some could not be taken.
    pub failed: Vec<Error>,
}

/// Damaged lines that are named; the rest are counted.
const NAMED: usize = 10;

impl Taken {
    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        let failed: Vec<&str> = self.failed.iter().map(Error::message).collect();
        let mut value = json!(self.captured);
        if let serde_json::Value::Object(fields) = &mut value {
            fields.insert("files".to_owned(), self.files.into());
            fields.insert("failed".to_owned(), json!(failed));
        }
        value
    }

    /// For people.
    pub fn describe(&self, dry_run: bool) -> String {
        let captured = &self.captured;
        let mut lines = vec![format!(
            "{} {} in {} from {}",
            captured.messages,
            match (captured.messages, dry_run) {
                (1, true) => "message would be new",
                (_, true) => "messages would be new",
                (1, false) => "new message",
                (_, false) => "new messages",
            },
            count(captured.sessions, "new session"),
            count(self.files - captured.not_transcripts.len().min(self.files), "transcript"),
        )];
        if captured.delegates > 0 {
            lines.push(format!(
                "  {} among them: `oneiro session list --all` shows those too",
                count(captured.delegates, "delegate")
            ));
        }
        let there = captured.duplicates.saturating_sub(captured.copies);
        // How many, and the words for one and for more.
        let notes = [
            (there, ["there already"; 2]),
            (captured.copies, ["copy of the same line", "copies of the same lines"]),
            (captured.left_out, ["left out: a pattern matches, or the session was removed"; 2]),
            (captured.withheld, ["private span withheld", "private spans withheld"]),
            (
                captured.repaired,
                [
                    "line with bytes that are not UTF-8, replaced",
                    "lines with bytes that are not UTF-8, replaced",
                ],
            ),
            (
                captured.skipped.values().sum(),
                [
                    "line that says nothing of the conversation",
                    "lines that say nothing of the conversation",
                ],
            ),
        ];
        for (number, [one, more]) in notes.into_iter().filter(|(number, _)| *number > 0) {
            lines.push(format!("  {number} {}", if number == 1 { one } else { more }));
        }
        for line in captured.damaged.iter().take(NAMED) {
            lines.push(format!("  damaged: {} line {}: {}", line.path, line.line, line.problem));
        }
        if captured.damaged.len() > NAMED {
            let more = count(captured.damaged.len() - NAMED, "more damaged line");
            lines.push(format!("  and {more}"));
        }
        let strangers = &captured.not_transcripts;
        if !strangers.is_empty() {
            lines.push(format!(
                "  {} passed over, not transcripts:",
                count(strangers.len(), "file")
            ));
            lines.extend(strangers.iter().take(NAMED).map(|path| format!("    {path}")));
        }
        if strangers.len() > NAMED {
            lines.push(format!("    and {} more", strangers.len() - NAMED));
        }
        lines.extend(self.failed.iter().map(|error| format!("  not taken: {}", error.message())));
        plain(&lines.join("\n"))
    }
}

impl ImportArgs {
    /// A dry run stores nothing.
    pub fn space_use(&self) -> SpaceUse {
        if self.dry_run { SpaceUse::MustExist } else { SpaceUse::CreateMissing }
    }

    /// Imports.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        if self.agent == "hermes" {
            return self.run_hermes(context);
        }
        let Ok(agent) = Agent::parse(&self.agent) else { return self.run_export(context) };
        let is_one = self.path.as_ref().is_some_and(|path| !path.is_dir());
        let found = match self.path {
            Some(path) => Found::at(agent, path)?,
            None => Found::at_home(agent)?,
        };
        if found.files.is_empty() {
            let home = AgentRow::of(agent).and_then(AgentRow::home).unwrap_or_default();
            return Err(Error::not_found(format!(
                "there are no transcripts of {}",
                agent.as_str()
            ))
            .remedy(format!("name a file or a folder; looked in {}", home.display()))
            .into());
        }
        let scratch = Scratch::open(context, self.dry_run)?;
        let taken = found.capture(context, &scratch.oneiro, self.dry_run);
        if let Some(path) = taken.captured.not_transcripts.first().filter(|_| is_one) {
            return Err(not_a_transcript(path, agent).into());
        }
        match context.output.json {
            true => data(&taken.json().to_string())?,
            false => data(&taken.describe(self.dry_run))?,
        }
        if !self.dry_run && taken.captured.messages > 0 {
            context.index(&scratch.oneiro);
            context.after(&scratch.oneiro);
        }
        match taken.failed.into_iter().next() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

impl ImportArgs {
    /// Imports a file that `oneiro session export` wrote.
    fn run_export(self, context: &Context) -> anyhow::Result<()> {
        let file = PathBuf::from(&self.agent);
        if self.agent != "-" && !file.exists() {
            return Err(Error::field("agent", format!("{:?} is no agent and no file", self.agent))
                .remedy("write claude-code, codex, hermes, or the path of an export")
                .into());
        }
        if self.dry_run || self.path.is_some() {
            return Err(Error::invalid("an export is imported as a whole, without --dry-run")
                .remedy("write `oneiro import FILE`")
                .into());
        }
        session_import::ImportArgs::of(file).run(context)
    }

    fn run_hermes(self, context: &Context) -> anyhow::Result<()> {
        let path = match self.path {
            Some(path) if path.is_dir() => path.join("state.db"),
            Some(path) => path,
            None => hermes::at_home()?,
        };
        let scratch = Scratch::open(context, self.dry_run)?;
        let moved = hermes::import(context, &scratch.oneiro, (&path, self.dry_run))?;
        match context.output.json {
            true => data(&moved.json().to_string())?,
            false => data(&moved.describe())?,
        }
        if !self.dry_run && moved.done.messages > 0 {
            context.index(&scratch.oneiro);
        }
        if !self.dry_run {
            context.after(&scratch.oneiro);
        }
        match moved.check() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

/// Says that a file is not what it was given as, and what it is, if that can be told.
fn not_a_transcript(path: &str, agent: Agent) -> Error {
    let title = |agent| AgentRow::of(agent).map_or("the agent", |row| row.title);
    let error = Error::invalid(format!("{path} is not a transcript of {}", title(agent)));
    match Agent::of_transcript(path.as_ref()) {
        Some(other) if other != agent => error.remedy(format!(
            "it is one of {}: run `oneiro import {} {path}`",
            title(other),
            other.as_str()
        )),
        _ => error.remedy("name a transcript (.jsonl) or a folder of them"),
    }
}

/// An open space; for a dry run on a store that does not exist, one that is thrown away.
pub struct Scratch {
    /// The space.
    pub oneiro: Oneiro,
    _folder: Option<tempfile::TempDir>,
}

impl Scratch {
    /// Opens the space.
    pub fn open(context: &Context, dry_run: bool) -> anyhow::Result<Scratch> {
        if !dry_run {
            return Ok(Scratch { oneiro: context.open()?, _folder: None });
        }
        match context.open_existing() {
            Ok(oneiro) => Ok(Scratch { oneiro, _folder: None }),
            Err(error) => {
                let known = error.downcast_ref::<Error>().map(Error::kind);
                if known != Some(oneiro::ErrorKind::NotFound) {
                    return Err(error);
                }
                let folder = tempfile::tempdir()?;
                let target = oneiro::Target::parse(&folder.path().to_string_lossy(), None)?;
                let oneiro = Oneiro::open(&target, context.options())?;
                Ok(Scratch { oneiro, _folder: Some(folder) })
            }
        }
    }
}
