//! `oneiro hook`: called by an agent. After a turn it captures the new lines of the transcript; when a
//! session starts and for a prompt it prints the lines of memory that these need. It never fails: the
//! agent must not notice it.

mod inject;

pub use inject::project_of_folder;

use crate::agents::AgentRow;
use crate::config::HookUse;
use crate::context::{Context, machine_timezone};
use clap::Subcommand;
use inject::Moment;
use oneiro::{
    Agent, CaptureRequest, CaptureTrigger, Error, ErrorKind, Oneiro, Options, Result,
    find_transcripts,
};
use serde_json::Value;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Capture new turns and recall; called by an agent's hook with the event on standard input
///
/// When a session starts and for a prompt, prints the lines of memory that are relevant, as additional
/// context, and nothing if none is. After a turn it captures, and prints nothing. It does neither while
/// capture is paused, for a project that is switched off, and with ONEIRO_HOOK=off in the environment.
/// Always exits with 0; an error is one line on standard error. `oneiro setup --hooks` installs it.
#[derive(Debug, Subcommand)]
pub enum HookCommand {
    /// Read an event of Claude Code, and capture its transcript or print what is relevant
    ClaudeCode,
}

/// The longest event that is read.
const EVENT_BYTES: u64 = 4 << 20;

/// How long the event is waited for.
const EVENT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a hook reads a backlog; the rest is read next time.
const TIME_LIMIT: Duration = Duration::from_millis(25);

/// The same when the session ends, since there may be no next time.
const LAST_TIME_LIMIT: Duration = Duration::from_secs(2);

/// How long a hook waits for other writers. The lines stay in the file.
const BUSY_TIMEOUT: Duration = Duration::from_millis(250);

impl HookCommand {
    /// Captures, whatever happens.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let HookCommand::ClaudeCode = self;
        if let Err(error) = answer(context) {
            print_error(&error);
        }
        Ok(())
    }
}

/// Runs a hook, reports its errors and panics, and answers success.
pub fn run_and_exit_zero(hook: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => print_error(&match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::internal(format!("{error:#}")),
        }),
        Err(_) => print_error(&Error::internal("internal error")),
    }
    ExitCode::SUCCESS
}

/// One line on standard error, which agents show only to people who look for it.
pub fn print_error(error: &Error) {
    let line = crate::output::one_line(error.message(), 400);
    crate::output::to_stderr(&format!("oneiro hook: {line}\n"));
}

/// Captures, or prints what is to be added to the prompt.
#[expect(clippy::print_stdout, reason = "the agent reads one JSON object from here")]
fn answer(context: &Context) -> Result<()> {
    let event = read_event()?;
    let Some(moment) = Moment::of(&event) else {
        return if context.config.hook == HookUse::Off { Ok(()) } else { capture(context, &event) };
    };
    if context.config.hook == HookUse::On
        && let Some(added) = inject::additional_context(context, moment, &event)?
    {
        println!("{added}");
    }
    Ok(())
}

fn capture(context: &Context, event: &Value) -> Result<()> {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    let is_end = text("hook_event_name") == Some("SessionEnd");
    let named = |name: &str| text(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let main = named("transcript_path");
    let agent = named("agent_transcript_path").or_else(|| {
        let agent = text("agent_id")?;
        Some(subagents_folder(main.as_deref()?).join(format!("agent-{agent}.jsonl")))
    });
    let mut files: Vec<PathBuf> = main.iter().cloned().chain(agent).collect();
    if let Some(main) = main.filter(|_| is_end) {
        // There may be no next time for the subagents either.
        let found =
            find_transcripts(&subagents_folder(&main), Agent::ClaudeCode).unwrap_or_default();
        files.extend(found.files.into_iter().map(|file| file.path));
    }
    if files.is_empty() {
        return Err(Error::field("transcript_path", "is missing from the event"));
    }
    let limit = if is_end { LAST_TIME_LIMIT } else { TIME_LIMIT };
    let folder = AgentRow::of(Agent::ClaudeCode).and_then(AgentRow::home);
    let oneiro = open(context)?;
    let mut outcome = Ok(());
    for file in &files {
        // An event may name any file; only transcripts of the agent are read.
        let within = folder.as_deref().filter(|folder| folder.is_dir());
        let request = CaptureRequest {
            within,
            limit: Some(limit),
            ..CaptureRequest::new(file, Agent::ClaudeCode)
        };
        match oneiro.capture().transcript(&request, CaptureTrigger::Hook) {
            Ok(captured) => {
                for line in captured.iter().flat_map(|captured| &captured.damaged) {
                    tracing::warn!(path = line.path, line = line.line, "{}", line.problem);
                }
            }
            // A transcript that nothing was written to yet is not there, and nothing is lost.
            Err(error) if error.kind() == ErrorKind::NotFound => tracing::info!(%error, "no file"),
            Err(error) => outcome = Err(error),
        }
    }
    outcome
}

/// The folder with the transcripts of a session's subagents.
fn subagents_folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// Opens the space without any model: a hook stores rows and leaves the index to others.
fn open(context: &Context) -> Result<Oneiro> {
    let target = oneiro::Target::parse(&context.config.store, context.config.space.as_ref())?;
    let options = Options {
        durability: context.config.durability,
        busy_timeout: context.config.busy_timeout.min(BUSY_TIMEOUT),
        readers: 1,
        timezone: machine_timezone(),
        ..Options::default()
    };
    Oneiro::open(&target, options)
}

/// Opens the space with the words' vectors, to search; `None` if there is none yet.
fn open_for_reading(context: &Context) -> Result<Option<Oneiro>> {
    let target = oneiro::Target::parse(&context.config.store, context.config.space.as_ref())?;
    let options = Options {
        busy_timeout: context.config.busy_timeout.min(BUSY_TIMEOUT),
        readers: 1,
        must_exist: true,
        words: Some(oneiro_inference::static_words()),
        ..Options::default()
    };
    match Oneiro::open(&target, options) {
        Ok(oneiro) => Ok(Some(oneiro)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the event from a thread of its own: somebody who never closes the other end must not keep
/// the agent waiting.
fn read_event() -> Result<Value> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(EVENT_BYTES + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let unavailable = |why: String| Error::new(ErrorKind::Unavailable, why);
    let bytes = receiver
        .recv_timeout(EVENT_TIMEOUT)
        .map_err(|_| unavailable("no event came on standard input".to_owned()))?
        .map_err(|error| unavailable(format!("the event cannot be read: {error}")))?;
    if bytes.len() as u64 > EVENT_BYTES {
        return Err(Error::too_large(format!("the event is longer than {EVENT_BYTES} bytes")));
    }
    let event = oneiro::json::parse(&bytes).map_err(|error| error.at("the event"))?;
    Ok(event.value)
}
