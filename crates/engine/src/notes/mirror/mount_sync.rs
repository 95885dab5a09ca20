//! Keeps the files of mounted folders in sync with the notes: all mounts of this host, one after the
//! other, each under the lock of its marker.

use super::file_sync::{FileSync, Step, SyncOutcome};
use super::folder::{SyncError, resolve};
use super::layout::{self, file_of, names_in};
use super::marker::{self, Locking};
use crate::Oneiro;
use oneiro_model::{
    Actor, ActorKind, FileConflict, FileProblem, Mount, MountState, NoteName, Remedy, Result,
    SyncedMount,
};
use oneiro_store::mounts::{self, MountedFile, StoredMount};
use oneiro_store::notes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// How long an access waits while another process keeps a mount in sync.
pub(super) const ACCESS_TIMEOUT: Duration = Duration::from_secs(2);

/// How the mounts are kept in sync.
#[derive(Clone, Copy)]
pub(super) struct SyncRequest<'s> {
    /// How long another process is waited for.
    pub(super) timeout: Duration,
    /// Whether the copies of conflicts are listed.
    pub(super) lists_conflicts: bool,
    /// Called before every step.
    pub(super) step: Step<'s>,
}

/// Keeps every mount of this host in sync; those of others are only reported.
pub(super) fn sync_all(oneiro: &Oneiro, request: SyncRequest<'_>) -> Result<Vec<SyncedMount>> {
    let mounts = oneiro.store.read(mounts::all)?;
    if mounts.is_empty() {
        return Ok(Vec::new());
    }
    let here = marker::host(oneiro.target());
    mounts.iter().map(|mount| sync(oneiro, mount, (&here, request))).collect()
}

/// Keeps one mount in sync.
pub(super) fn sync(
    oneiro: &Oneiro,
    mount: &StoredMount,
    (here, request): (&str, SyncRequest<'_>),
) -> Result<SyncedMount> {
    if mount.host != here {
        let reason = "it belongs to another host, or to the store that this one is a copy of";
        return Ok(report(mount, MountState::Elsewhere, Some(reason.to_owned())));
    }
    let actor = Actor::new(ActorKind::File, oneiro.store.actor().surface);
    let oneiro = oneiro.acting_as(actor.with_client(&format!("{} files", mount.layout.as_str())));
    let root = Path::new(&mount.path);
    let mut report = match marker::lock(root, &mount.id, request.timeout) {
        Ok(Locking::Locked(lock)) => {
            let mut report = report(mount, MountState::Active, None);
            let synced = sync_files(&oneiro, mount, (request.step, &mut report));
            drop(lock);
            match synced {
                Ok(()) => report,
                Err(SyncError::Store(error)) => return Err(error),
                Err(SyncError::File(problem)) => with_problem(report, ".", problem),
            }
        }
        Ok(Locking::Busy) => report(mount, MountState::Active, None),
        Ok(Locking::Missing(reason)) => {
            let reason = format!("{reason}; put it back, or mount the folder again");
            report(mount, MountState::Paused, Some(reason))
        }
        Err(SyncError::Store(error)) => return Err(error),
        Err(SyncError::File(problem)) => report(mount, MountState::Paused, Some(problem)),
    };
    let known = oneiro.store.read(|tx| mounts::files(tx, &mount.id))?;
    report.mount.files = known.iter().filter(|file| file.base_hash.is_some()).count();
    if request.lists_conflicts && report.mount.state == MountState::Active {
        let names = known.into_iter().map(|file| file.name);
        report.conflicts = names.flat_map(|name| conflicts_of(mount, &name)).collect();
    }
    Ok(report)
}

/// A mount of which nothing was done.
pub(super) fn report(
    mount: &StoredMount,
    state: MountState,
    reason: Option<String>,
) -> SyncedMount {
    SyncedMount {
        mount: Mount {
            id: mount.id.clone(),
            path: mount.path.clone(),
            layout: mount.layout,
            state,
            reason,
            files: 0,
            created_at: mount.created_at,
        },
        taken: Vec::new(),
        written: Vec::new(),
        conflicts: Vec::new(),
        problems: Vec::new(),
    }
}

fn with_problem(mut report: SyncedMount, file: &str, problem: String) -> SyncedMount {
    report.problems.push(FileProblem { file: file.to_owned(), problem });
    report
}

fn sync_files(
    oneiro: &Oneiro,
    mount: &StoredMount,
    (step, report): (Step<'_>, &mut SyncedMount),
) -> Result<(), SyncError> {
    let (stored, known) =
        oneiro.store.read(|tx| Ok((notes::every(tx)?, mounts::files(tx, &mount.id)?)))?;
    let mut texts: BTreeMap<NoteName, String> = BTreeMap::new();
    for (state, is_deleted) in stored {
        if !is_deleted {
            texts.insert(NoteName::parse(&state.name)?, state.text);
        }
    }
    let known: BTreeMap<&NoteName, &MountedFile> =
        known.iter().map(|file| (&file.name, file)).collect();
    let mut names: BTreeSet<NoteName> = known.keys().copied().cloned().collect();
    names.extend(texts.keys().cloned());
    names.extend(names_in(mount.layout, Path::new(&mount.path))?);
    for name in names {
        let Some(file) = file_of(mount.layout, &name) else { continue };
        let states = (known.get(&name).copied(), texts.get(&name).map(String::as_str));
        match sync_note((oneiro, step), mount, (&name, &file), states) {
            Ok(done) => {
                report.taken.extend(done.is_taken.then(|| name.clone()));
                report.written.extend(done.is_written.then(|| name.clone()));
            }
            Err(SyncError::Store(error)) => return Err(SyncError::Store(error)),
            Err(SyncError::File(problem)) => report.problems.push(FileProblem { file, problem }),
        }
    }
    Ok(())
}

fn sync_note(
    with: (&Oneiro, Step<'_>),
    mount: &StoredMount,
    (name, file): (&NoteName, &str),
    (known, note): (Option<&MountedFile>, Option<&str>),
) -> Result<SyncOutcome, SyncError> {
    let sync = FileSync::new(with, mount, name, file)?;
    if sync.is_in_step(known, note) {
        return Ok(SyncOutcome::default());
    }
    sync.run()
}

/// The copies beside the file of a note.
fn conflicts_of(mount: &StoredMount, name: &NoteName) -> Vec<FileConflict> {
    let root = Path::new(&mount.path);
    let file = file_of(mount.layout, name).and_then(|file| resolve(root, &file).ok());
    let copies = file.and_then(|file| layout::copies_of(&file).ok()).unwrap_or_default();
    let relative =
        |copy: &Path| copy.strip_prefix(root).unwrap_or(copy).to_string_lossy().into_owned();
    let conflict =
        |copy: std::path::PathBuf| FileConflict { note: name.clone(), copy: relative(&copy) };
    copies.into_iter().map(conflict).collect()
}

/// What to do about a mount that does not exist.
pub(super) fn mount_not_found(path: &str) -> oneiro_model::Error {
    oneiro_model::Error::not_found(format!("{path:?} is not mounted")).remedy(Remedy::ListMounts)
}
