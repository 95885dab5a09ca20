//! `oneiro session import`.

use crate::context::Context;
use crate::output::count;
use crate::progress;
use anyhow::Context as _;
use clap::Args;
use oneiro::{ImportLimits, Imported};
use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::PathBuf;

/// Read sessions from JSONL, all of a file or nothing
///
/// Sessions that exist are skipped, so an import can be repeated. A parent that is missing is let
/// go; a title that is taken gets the next number.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file, or - for standard input
    file: PathBuf,
    /// Refuse a file with more sessions
    #[arg(long, value_name = "N", default_value_t = ImportLimits::default().sessions)]
    max_sessions: usize,
    /// Refuse a session with more messages
    #[arg(long, value_name = "N", default_value_t = ImportLimits::default().messages)]
    max_messages: usize,
    /// Refuse a session with more bytes
    #[arg(long, value_name = "N", default_value_t = ImportLimits::default().session_bytes)]
    max_session_bytes: usize,
    /// Refuse a file with more bytes
    #[arg(long, value_name = "N", default_value_t = ImportLimits::default().bytes)]
    max_bytes: u64,
}

impl ImportArgs {
    /// Imports.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let limits = ImportLimits {
            sessions: self.max_sessions,
            messages: self.max_messages,
            session_bytes: self.max_session_bytes,
            bytes: self.max_bytes,
        };
        let file = self.file()?;
        let bar = progress::bar(file.metadata()?.len(), "import", context.output.json);
        let mut input = BufReader::with_capacity(1 << 20, file);
        let imported = oneiro.import(&mut input, limits, &mut |at| bar.set_position(at.bytes));
        bar.finish_and_clear();
        context.output.show(&imported?, describe)?;
        context.index(&oneiro);
        context.after(&oneiro);
        Ok(())
    }

    /// Standard input is kept in a file first: an import is one transaction, and a slow pipe would
    /// hold up every other writer.
    fn file(&self) -> anyhow::Result<File> {
        if self.file.as_os_str() != "-" {
            return File::open(&self.file).map_err(|error| {
                oneiro::Error::not_found(format!("{}: {error}", self.file.display())).into()
            });
        }
        let mut kept = tempfile::tempfile().context("no temporary file for standard input")?;
        std::io::copy(&mut std::io::stdin().lock(), &mut kept)?;
        kept.rewind()?;
        Ok(kept)
    }
}

fn describe(imported: &Imported) -> String {
    let mut text = format!(
        "{} with {} imported",
        count(imported.sessions, "session"),
        count(imported.messages, "message")
    );
    if imported.skipped > 0 {
        text.push_str(&format!("; {} there already", imported.skipped));
    }
    if imported.duplicates > 0 {
        text.push_str(&format!("; {} left out: same external_id", imported.duplicates));
    }
    if imported.detached > 0 {
        text.push_str(&format!("; {} without their missing parent", imported.detached));
    }
    text
}
