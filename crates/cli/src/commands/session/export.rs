//! `oneiro session export`.

use crate::context::Context;
use crate::output::count;
use crate::progress;
use clap::Args;
use oneiro::{ExportRequest, TransferProgress};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Write everything as JSONL, or some sessions
///
/// One session per line, oldest first, with rewound and compacted messages. Then one line for each
/// project, fact, distrusted source, memory, operation and signal. `oneiro import FILE` restores all of
/// it, as often as you like, and merges several stores.
///
/// A selection, by session or by --source, is exported without memories, operations and state.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Sessions to export [default: all]
    sessions: Vec<String>,
    /// Only this source
    #[arg(long)]
    source: Option<String>,
    /// Write to this file, which must not exist, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let sessions = self.sessions.iter().map(|text| oneiro.sessions().resolve(text));
        let request = ExportRequest {
            sessions: sessions.collect::<oneiro::Result<_>>()?,
            source: self.source,
        };
        let bar = progress::counter("lines", context.output.json);
        let export = |out: &mut dyn Write| {
            let mut show_progress =
                |at: TransferProgress| bar.set_position(at.sessions + at.records);
            let done = oneiro.transfer().export(&request, out, &mut show_progress);
            bar.finish_and_clear();
            done
        };
        let Some(path) = self.output else {
            export(&mut BufWriter::with_capacity(1 << 20, std::io::stdout().lock()))?;
            return Ok(());
        };
        if path.exists() {
            return Err(oneiro::Error::conflict(format!("{} exists already", path.display()))
                .remedy("name a file that does not exist")
                .into());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let part = tempfile::NamedTempFile::new_in(folder.unwrap_or(std::path::Path::new(".")))?;
        let mut out = BufWriter::with_capacity(1 << 20, part);
        let done = export(&mut out)?;
        let part = out.into_inner().map_err(|error| error.into_error())?;
        part.as_file().sync_all()?;
        part.persist_noclobber(&path)?;
        let is_selection = request.is_selection();
        let answer = serde_json::json!({
            "path": path,
            "sessions": done.sessions,
            "messages": done.messages,
            "records": done.records,
        });
        context.output.show(&answer, |_| {
            let mut text = format!(
                "{}: {}, {}",
                path.display(),
                count(done.sessions as usize, "session"),
                count(done.messages as usize, "message")
            );
            if is_selection {
                text.push_str("; a selection has no memories, operations and state");
            } else if done.records > 0 {
                let lines = count(done.records as usize, "line");
                text.push_str(&format!(", {lines} of memories, operations and state"));
            }
            text
        })
    }
}
