//! `oneiro import`: sessions of another agent, imported and counted.

pub mod hermes;

use super::session::import as session_import;
use crate::agents::AgentRow;
use crate::context::Context;
use crate::output::{count, data, plain};
use crate::progress;
use clap::Args;
use oneiro::{
    Agent, CaptureRequest, CaptureTrigger, Captured, Error, ImportLimits, Oneiro, ReadFrom,
    ScratchSpace, SpaceUse, TranscriptFile, find_transcripts,
};
use serde_json::json;
use std::path::PathBuf;

/// Import the sessions of another agent: transcripts, or the state.db of hermes
///
/// Each line or message is stored once, however often this is run. Lines of transcripts whose messages
/// were erased do not come back; an export brings back a session that was erased since. Files and lines that cannot be read are named, and the rest is imported.
///
/// The state.db of hermes is only read, and may be in use. Re-running picks up changes made in
/// hermes; changes made here stay. Both sides are counted, and the exit code is 4 when they differ.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// claude-code, codex or hermes; or a file that `oneiro session export` wrote (- for standard
    /// input)
    #[arg(value_name = "AGENT|FILE")]
    agent: String,
    /// A transcript, a folder of transcripts, or a state.db [default: where the agent keeps them]
    path: Option<PathBuf>,
    /// Count new messages without storing anything
    #[arg(long)]
    dry_run: bool,
    /// Read transcripts from their start, not from where they were last read to
    ///
    /// Also imports lines that were written during a pause or in an excluded folder. Lines that are
    /// stored already are not stored again. hermes is always read from its start.
    #[arg(long)]
    from_start: bool,
    /// Refuse an export with more sessions
    #[arg(long, value_name = "N")]
    max_sessions: Option<usize>,
    /// Refuse an export with a session of more messages
    #[arg(long, value_name = "N")]
    max_messages: Option<usize>,
    /// Refuse an export with a session of more bytes
    #[arg(long, value_name = "N")]
    max_session_bytes: Option<usize>,
    /// Refuse an export with more bytes
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
}

/// How files are imported.
#[derive(Debug, Clone, Copy)]
pub struct ImportMode {
    /// Whether choices for projects and pauses hold.
    pub choices: ImportChoices,
    /// Where each file is read from.
    pub from: ReadFrom,
    /// Count, and store nothing.
    pub dry_run: bool,
}

/// Whether an import keeps to what people chose to capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportChoices {
    /// Everything is imported: somebody asked for all of it.
    Ignore,
    /// Excluded folders and lines that were written during a pause are left out.
    Keep,
}

/// The files to import, each with the folder it must stay in.
pub struct TranscriptSet {
    /// Whose they are.
    pub agent: Agent,
    /// The files.
    pub files: Vec<(TranscriptFile, Option<PathBuf>)>,
    /// Folders that could not be listed.
    unreadable: Vec<Error>,
}

impl TranscriptSet {
    /// The transcripts where an agent keeps them.
    pub fn of_agent(agent: Agent) -> oneiro::Result<TranscriptSet> {
        let folders = AgentRow::of(agent).map(AgentRow::session_folders).unwrap_or_default();
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for folder in folders {
            let found = find_transcripts(&folder, agent)?;
            files.extend(found.files.into_iter().map(|file| (file, Some(folder.clone()))));
            unreadable.extend(found.unreadable);
        }
        // Subagents come after all sessions, of whichever folder.
        files.sort_by_key(|(file, _)| file.is_subagent);
        Ok(TranscriptSet { agent, files, unreadable })
    }

    fn at_path(agent: Agent, path: PathBuf) -> oneiro::Result<TranscriptSet> {
        if path.is_dir() {
            let found = find_transcripts(&path, agent)?;
            let files = found.files.into_iter().map(|file| (file, Some(path.clone()))).collect();
            return Ok(TranscriptSet { agent, files, unreadable: found.unreadable });
        }
        let bytes = std::fs::metadata(&path).map(|meta| meta.len()).map_err(|error| {
            Error::not_found(format!("{}: {error}", path.display()))
                .remedy("name a transcript (.jsonl) or a folder of them")
        })?;
        let file = TranscriptFile { path, bytes, is_subagent: false };
        Ok(TranscriptSet { agent, files: vec![(file, None)], unreadable: Vec::new() })
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(file, _)| file.bytes).sum()
    }

    /// Imports every file. One that cannot be read is named and the others are imported.
    pub fn import(&self, context: &Context, oneiro: &Oneiro, mode: ImportMode) -> ImportReport {
        let bar = progress::bar(self.bytes(), "import", context.output.json);
        let mut report =
            ImportReport { failed: self.unreadable.clone(), ..ImportReport::default() };
        report.captured.finished = true;
        let mut before = 0;
        for (file, within) in &self.files {
            let request = CaptureRequest {
                within: within.as_deref(),
                from: mode.from,
                dry_run: mode.dry_run,
                ..CaptureRequest::new(&file.path, self.agent)
            };
            let captured = match mode.choices {
                ImportChoices::Ignore => oneiro
                    .transfer()
                    .capture_transcript(&request, &mut |at| bar.set_position(before + at))
                    .map(Some),
                ImportChoices::Keep => {
                    oneiro.capture().transcript(&request, CaptureTrigger::Import)
                }
            };
            match captured {
                Ok(Some(captured)) => report.captured.add(captured),
                Ok(None) => report.excluded += 1,
                Err(error) => {
                    let is_ours = !matches!(
                        error.kind(),
                        oneiro::ErrorKind::NotFound
                            | oneiro::ErrorKind::Forbidden
                            | oneiro::ErrorKind::Invalid
                    );
                    report.failed.push(error);
                    // A store that cannot be written to will refuse the next file too.
                    if is_ours {
                        break;
                    }
                }
            }
            before += file.bytes;
            bar.set_position(before);
        }
        bar.finish_and_clear();
        report.files = self.files.len() - report.excluded;
        report
    }
}

/// What was imported.
#[derive(Debug, Default)]
pub struct ImportReport {
    /// How many were read.
    pub files: usize,
    /// How many were not, because their projects are excluded.
    pub excluded: usize,
    /// What they held.
    pub captured: Captured,
    /// Why some could not be imported.
    pub failed: Vec<Error>,
}

/// Damaged lines that are named; the rest are counted.
const NAMED_ROWS: usize = 10;

impl ImportReport {
    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        let failed: Vec<&str> = self.failed.iter().map(Error::message).collect();
        let mut value = json!(self.captured);
        if let serde_json::Value::Object(fields) = &mut value {
            fields.insert("files".to_owned(), self.files.into());
            fields.insert("excluded".to_owned(), self.excluded.into());
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
                (1, true) => "message to import",
                (_, true) => "messages to import",
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
        if self.excluded > 0 {
            let files = count(self.excluded, "transcript");
            lines.push(format!(
                "  {files} skipped: the project is excluded (--from-start imports it)"
            ));
        }
        let there = captured.duplicates.saturating_sub(captured.copies);
        // How many, and the words for one and for more.
        let notes = [
            (there, ["already imported"; 2]),
            (
                captured.copies,
                ["copy of a line of another session", "copies of lines of other sessions"],
            ),
            (
                captured.left_out,
                ["skipped: erased, written while capture was off, of a removed session, or ignored";
                    2],
            ),
            (captured.withheld, ["private span withheld", "private spans withheld"]),
            (
                captured.repaired,
                [
                    "line with bytes that are not UTF-8, replaced",
                    "lines with bytes that are not UTF-8, replaced",
                ],
            ),
            (captured.skipped.values().sum(), ["metadata line skipped", "metadata lines skipped"]),
        ];
        for (number, [one, more]) in notes.into_iter().filter(|(number, _)| *number > 0) {
            lines.push(format!("  {number} {}", if number == 1 { one } else { more }));
        }
        for line in captured.damaged.iter().take(NAMED_ROWS) {
            lines.push(format!("  damaged: {} line {}: {}", line.path, line.line, line.problem));
        }
        if captured.damaged.len() > NAMED_ROWS {
            let more = count(captured.damaged.len() - NAMED_ROWS, "more damaged line");
            lines.push(format!("  and {more}"));
        }
        let strangers = &captured.not_transcripts;
        if !strangers.is_empty() {
            lines.push(format!("  {} skipped, not transcripts:", count(strangers.len(), "file")));
            lines.extend(strangers.iter().take(NAMED_ROWS).map(|path| format!("    {path}")));
        }
        if strangers.len() > NAMED_ROWS {
            lines.push(format!("    and {} more", strangers.len() - NAMED_ROWS));
        }
        lines
            .extend(self.failed.iter().map(|error| format!("  not imported: {}", error.message())));
        plain(&lines.join("\n"))
    }
}

impl ImportArgs {
    /// A dry run stores nothing.
    pub fn space_use(&self) -> SpaceUse {
        if self.dry_run { SpaceUse::MustExist } else { SpaceUse::CreateMissing }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        if self.agent == "hermes" {
            return self.run_hermes(context);
        }
        let Ok(agent) = Agent::parse(&self.agent) else { return self.run_export(context) };
        let is_one = self.path.as_ref().is_some_and(|path| !path.is_dir());
        let found = match self.path {
            Some(path) => TranscriptSet::at_path(agent, path)?,
            None => TranscriptSet::of_agent(agent)?,
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
        let (from, choices) = if self.from_start {
            (ReadFrom::Start, ImportChoices::Ignore)
        } else {
            (ReadFrom::Reached, ImportChoices::Keep)
        };
        let run = |oneiro: &Oneiro, dry_run: bool| {
            let mode = ImportMode { choices, from, dry_run };
            let report = found.import(context, oneiro, mode);
            match report.captured.not_transcripts.first().filter(|_| is_one) {
                Some(path) => Err(not_a_transcript(path, agent)),
                None => Ok(report),
            }
        };
        let space = ImportSpace::open_to_add(context, self.dry_run, |scratch| {
            // Several files are imported as far as they can be read.
            if is_one { run(scratch, true).map(|_| ()) } else { Ok(()) }
        })?;
        let report = run(&space.oneiro, self.dry_run)?;
        if context.output.json {
            data(&report.json().to_string())?;
        } else {
            data(&report.describe(self.dry_run))?;
        }
        if !self.dry_run && report.captured.messages > 0 {
            context.index(&space.oneiro);
            context.after(&space.oneiro);
        }
        match report.failed.into_iter().next() {
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
            return Err(Error::field(
                "agent",
                format!("{:?} is neither an agent nor a file", self.agent),
            )
            .remedy("write claude-code, codex, hermes, or the path of an export")
            .into());
        }
        if self.dry_run || self.from_start || self.path.is_some() {
            return Err(Error::invalid(
                "an export is imported as a whole, without PATH, --dry-run or --from-start",
            )
            .remedy(
                "write `oneiro import FILE`, or `oneiro import claude-code FILE` for a transcript",
            )
            .into());
        }
        let usual = ImportLimits::default();
        let limits = ImportLimits {
            sessions: self.max_sessions.unwrap_or(usual.sessions),
            messages: self.max_messages.unwrap_or(usual.messages),
            session_bytes: self.max_session_bytes.unwrap_or(usual.session_bytes),
            bytes: self.max_bytes.unwrap_or(usual.bytes),
        };
        session_import::import_file(context, &file, limits)
    }

    fn run_hermes(self, context: &Context) -> anyhow::Result<()> {
        let path = match self.path {
            Some(path) if path.is_dir() => path.join("state.db"),
            Some(path) => path,
            None => hermes::default_file()?,
        };
        let space = ImportSpace::open_to_add(context, self.dry_run, |scratch| {
            hermes::import(context, scratch, (&path, true)).map(|_| ())
        })?;
        let report = hermes::import(context, &space.oneiro, (&path, self.dry_run))?;
        if context.output.json {
            data(&report.json().to_string())?;
        } else {
            data(&report.describe())?;
        }
        if !self.dry_run && report.done.messages > 0 {
            context.index(&space.oneiro);
        }
        if !self.dry_run {
            context.after(&space.oneiro);
        }
        match report.check() {
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
pub struct ImportSpace {
    /// The space.
    pub oneiro: Oneiro,
    // Removed when it is dropped.
    _scratch: Option<ScratchSpace>,
}

impl ImportSpace {
    /// Opens the space.
    pub fn open(context: &Context, dry_run: bool) -> anyhow::Result<ImportSpace> {
        ImportSpace::open_to_add(context, dry_run, |_| Ok(()))
    }

    /// Opens the space. One that does not exist is created only if a dry run on an empty one succeeds.
    fn open_to_add(
        context: &Context,
        dry_run: bool,
        check: impl FnOnce(&Oneiro) -> oneiro::Result<()>,
    ) -> anyhow::Result<ImportSpace> {
        if let Some(oneiro) = context.open_if_exists()? {
            return Ok(ImportSpace { oneiro, _scratch: None });
        }
        let scratch = ScratchSpace::new(context.options())?;
        if dry_run {
            return Ok(ImportSpace { oneiro: scratch.clone(), _scratch: Some(scratch) });
        }
        check(&scratch)?;
        Ok(ImportSpace { oneiro: context.open()?, _scratch: None })
    }
}
