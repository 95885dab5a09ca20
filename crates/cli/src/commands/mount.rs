//! `oneiro note mount`: folders whose files are kept in sync with the notes.

use crate::context::Context;
use crate::output::{count, plain, table};
use crate::request::request;
use anyhow::Context as _;
use clap::Args;
use oneiro::{MountNotes, MountState, SyncedMount, UnmountNotes};
use serde_json::json;

/// Keep the files of a folder and the notes in sync
///
/// What is saved in the folder becomes a revision of its note, and what is changed in a note is written
/// to its file. Where both were changed in the same place, the note gets the text of the file and the
/// other text is put beside it. For people.
#[derive(Debug, Args)]
pub struct MountArgs {
    /// The folder; it must exist
    dir: String,
    /// Which files are notes: plain, hermes, nanobot or openclaw
    #[arg(long, default_value = "plain")]
    layout: String,
}

/// Stop keeping a folder in sync
#[derive(Debug, Args)]
pub struct UnmountArgs {
    /// The folder, or the id of its mount
    dir: String,
}

impl MountArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let fields = json!({"path": absolute(&self.dir)?, "layout": self.layout});
        let (oneiro, mounted) = context.open_to_add(|oneiro| {
            let mount: MountNotes = request(oneiro, fields.clone())?;
            Ok(oneiro.notes().mount(&mount)?)
        })?;
        context.output.show(&mounted, |mounted| {
            let done = format!(
                "Mounted {} ({}): {} read, {} written.",
                plain(&mounted.mount.path),
                mounted.mount.layout.as_str(),
                count(mounted.taken.len(), "file"),
                mounted.written.len()
            );
            [vec![done], details(mounted)].concat().join("\n")
        })?;
        context.after(&oneiro);
        Ok(())
    }
}

impl UnmountArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let is_id = self.dir.starts_with("mnt_");
        let path = if is_id { self.dir } else { absolute(&self.dir)? };
        let unmount: UnmountNotes = request(&oneiro, json!({"path": path}))?;
        let mount = oneiro.notes().unmount(&unmount)?;
        context
            .output
            .show(&mount, |mount| format!("Unmounted {}. Its files stay.", plain(&mount.path)))
    }
}

/// Brings the mounts into sync and lists them.
pub fn list(context: &Context) -> anyhow::Result<()> {
    let page = oneiro::Page::from(context.open()?.notes().mounts()?);
    context.output.show(&page, |page| listed(&page.items))
}

fn absolute(dir: &str) -> anyhow::Result<String> {
    let path = std::path::absolute(dir).context("the folder cannot be found")?;
    Ok(path.to_string_lossy().into_owned())
}

fn listed(mounts: &[SyncedMount]) -> String {
    if mounts.is_empty() {
        return "No folder is mounted. `oneiro note mount DIR` mounts one.".to_owned();
    }
    let row = |synced: &SyncedMount| {
        let mount = &synced.mount;
        vec![
            plain(&mount.path),
            mount.layout.as_str().to_owned(),
            mount.state.as_str().to_owned(),
            mount.files.to_string(),
            synced.taken.len().to_string(),
            synced.written.len().to_string(),
        ]
    };
    let rows: Vec<_> = mounts.iter().map(row).collect();
    let mut lines = vec![table(&["folder", "layout", "state", "files", "taken", "written"], &rows)];
    lines.extend(mounts.iter().flat_map(details));
    lines.join("\n")
}

/// What a person should see to.
fn details(synced: &SyncedMount) -> Vec<String> {
    let mount = &synced.mount;
    let mut lines = Vec::new();
    if let Some(reason) = mount.reason.as_ref().filter(|_| mount.state != MountState::Active) {
        lines.push(format!("{}: {}", plain(&mount.path), plain(reason)));
    }
    for conflict in &synced.conflicts {
        lines.push(format!(
            "{} was changed in the store and in its file. It has the text of the file; the other one is in {}: \
             compare them, then remove that file.",
            plain(conflict.note.as_str()),
            plain(&conflict.copy)
        ));
    }
    for problem in &synced.problems {
        lines.push(format!("{}: {}", plain(&problem.file), plain(&problem.problem)));
    }
    lines
}
