//! `oneiro backup`: an online copy.

use crate::context::Context;
use crate::progress;
use clap::Args;
use std::path::PathBuf;

/// Copy the space into a new file; the space may be in use
///
/// The copy is itself a store: `oneiro --store COPY session list` reads it. A space on PostgreSQL is
/// copied into a SQLite file too.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// File to write; it must not exist
    path: PathBuf,
}

impl BackupArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let bar = progress::bar(0, "backup", context.output.json);
        oneiro.transfer().backup(&self.path, &mut |at| {
            bar.set_length(at.total);
            bar.set_position(at.done);
        })?;
        bar.finish_and_clear();
        let bytes = std::fs::metadata(&self.path)?.len();
        let done = serde_json::json!({"path": self.path, "bytes": bytes});
        context.output.show(&done, |_| {
            format!("{} ({})", self.path.display(), crate::output::bytes(bytes as i64))
        })
    }
}
