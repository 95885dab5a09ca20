//! `oneiro session import`.

use crate::context::Context;
use crate::output::count;
use crate::progress;
use clap::Args;
use oneiro::{Error, ImportFile, ImportLimits, Imported, Remedy, TransferProgress};
use std::path::{Path, PathBuf};

/// Import an export from JSONL; same as `oneiro import FILE`
///
/// Either the complete file is imported, or nothing. Sessions that exist are skipped. A missing parent
/// is left out; a title that is in use gets the next number.
///
/// Memories, projects and state come with their operations and are merged with those that are here. That
/// needs a person at a terminal, because a file can claim anything: from others the memories arrive as
/// candidates, and nothing else but sessions.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file, or - for standard input; a pipe is read to its end before the import begins
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
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let limits = ImportLimits {
            sessions: self.max_sessions,
            messages: self.max_messages,
            session_bytes: self.max_session_bytes,
            bytes: self.max_bytes,
        };
        import_file(context, &self.file, limits)
    }
}

/// Refuses a SQLite file, which is not an export.
fn refuse_store(file: &ImportFile, path: &Path) -> oneiro::Result<()> {
    if !file.is_sqlite()? {
        return Ok(());
    }
    let what = format!("{} is a database, not an export", path.display());
    Err(Error::invalid(what).remedy(Remedy::OwnStore))
}

/// A line without an id is likely one message, which `oneiro append` reads.
fn explain(error: Error) -> Error {
    if error.field_name() == Some("id") {
        error.remedy("each line of an export is a session; `oneiro append SESSION` reads messages")
    } else {
        error
    }
}

/// Imports an export, or standard input for `-`.
pub fn import_file(context: &Context, path: &Path, limits: ImportLimits) -> anyhow::Result<()> {
    let file = if path.as_os_str() == "-" {
        ImportFile::spool(std::io::stdin().lock(), limits)?
    } else {
        ImportFile::open(path, limits)?
    };
    refuse_store(&file, path)?;
    let bar = progress::bar(file.bytes(), "import", context.output.json);
    let imported = context.open_to_add(|oneiro| {
        let mut show_progress = |at: TransferProgress| bar.set_position(at.bytes);
        Ok(oneiro.transfer().import_file(&file, limits, &mut show_progress).map_err(explain)?)
    });
    bar.finish_and_clear();
    let (oneiro, imported) = imported?;
    context.output.show(&imported, describe)?;
    context.index(&oneiro);
    context.after(&oneiro);
    Ok(())
}

fn describe(imported: &Imported) -> String {
    let mut text = if imported.sessions == 0 && imported.messages == 0 {
        "No new messages".to_owned()
    } else {
        format!(
            "{} with {} imported",
            count(imported.sessions, "session"),
            count(imported.messages, "message")
        )
    };
    let memories = imported.memories + imported.operations + imported.signals + imported.state;
    if memories > 0 {
        text.push_str(&format!(
            "; {} with {} imported",
            count(imported.memories, "memory"),
            count(imported.operations, "operation")
        ));
    }
    let notes = [
        (imported.skipped, "already stored"),
        (imported.duplicates, "left out: same external_id"),
        (imported.detached, "without their missing parent"),
        (imported.state, "projects, facts and distrusted sources added or changed"),
        (imported.merged, "merged with a memory that states the same"),
        (imported.suspended, "suspended because another memory contradicts them"),
        (imported.refused, "not believed because a person refused the statement"),
        (imported.erased, "left out: erased here"),
    ];
    for (number, what) in notes.into_iter().filter(|(number, _)| *number > 0) {
        text.push_str(&format!("; {number} {what}"));
    }
    if imported.withheld > 0 {
        text.push_str(&format!(
            "; {} left out: operations, projects and state count only if a person imports them at a \
             terminal",
            count(imported.withheld, "line")
        ));
    }
    text
}
