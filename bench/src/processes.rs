//! Writer processes that append to one store concurrently.

use crate::raw::{Raw, RawRow};
use crate::text::Text;
use oneiro::{Error, NewMessage, NewSession, Oneiro, Options, Result, Role, SessionId, Target};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A process that appends one durable message at a time.
pub struct Writer {
    /// The store.
    pub file: PathBuf,
    /// Use the raw loop instead of the engine.
    pub raw: bool,
    /// The number of this process.
    pub number: usize,
    /// The number of messages it appends.
    pub messages: usize,
    /// How the engine opens the store.
    pub options: Options,
}

impl Writer {
    /// Waits for a line on standard input, so that all start together, then appends.
    pub fn run(self) -> Result<()> {
        let mut text = Text::new(1_000 + self.number as u64);
        let bodies: Vec<String> = (0..self.messages).map(|_| text.message()).collect();
        let id = format!("process-{}-{}", self.number, std::process::id());
        let wait = || {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map(|_| ()).map_err(io_failed)
        };
        if self.raw {
            let raw = Raw::open(&self.file)?;
            let session = raw.session(&id)?;
            wait()?;
            for (n, body) in bodies.iter().enumerate() {
                let external_id = format!("e{n}");
                let row = RawRow { session, external_id: Some(&external_id), body, tokens: None };
                raw.insert(&[row], 1)?;
            }
            return Ok(());
        }
        let oneiro = Oneiro::open(&target(&self.file)?, self.options)?;
        let session = SessionId::new(id)?;
        oneiro.sessions().create(NewSession::with_id(session.clone()))?;
        wait()?;
        for (n, body) in bodies.into_iter().enumerate() {
            let message = NewMessage::text(Role::User, body).external_id(format!("e{n}"));
            oneiro.messages().append(&session, vec![message])?;
        }
        Ok(())
    }
}

pub(crate) fn target(file: &Path) -> Result<Target> {
    Target::parse(&file.to_string_lossy(), None)
}

fn io_failed(error: std::io::Error) -> Error {
    Error::internal(format!("a process of the benchmark: {error}")).because(error)
}

/// Runs concurrent writers and returns messages per second over all of them.
pub(crate) fn run_writers(program: &Path, file: &Path, raw: bool, messages: usize) -> Result<f64> {
    const WRITER_COUNT: usize = 4;
    let start = |number: usize| -> Result<Child> {
        let mut command = Command::new(program);
        command.args(["bench", "writer", "--file"]).arg(file);
        command.args(["--number", &number.to_string(), "--messages", &messages.to_string()]);
        if raw {
            command.arg("--raw");
        }
        command.stdin(Stdio::piped()).spawn().map_err(io_failed)
    };
    let mut writers = (0..WRITER_COUNT).map(start).collect::<Result<Vec<_>>>()?;
    // Opening and generating text are not measured.
    std::thread::sleep(std::time::Duration::from_millis(400));
    let started = Instant::now();
    for writer in &mut writers {
        if let Some(mut input) = writer.stdin.take() {
            std::io::Write::write_all(&mut input, b"go\n").map_err(io_failed)?;
        }
    }
    for writer in &mut writers {
        let status = writer.wait().map_err(io_failed)?;
        if !status.success() {
            return Err(Error::internal(format!("a writer of the benchmark failed: {status}")));
        }
    }
    Ok((WRITER_COUNT * messages) as f64 / started.elapsed().as_secs_f64())
}
