//! The mirror: folders whose files are kept in sync with the notes, both ways. Files are looked at before
//! notes are read or changed and after they are changed, and in the background of long-lived processes.

mod decision;
mod encoding;
mod exchange;
mod file_sync;
mod folder;
mod import_file;
mod layout;
mod marker;
mod mount_sync;

use crate::Oneiro;
use crate::operations::{is_person, needs_person};
use crate::views::Notes;
use folder::SyncError;
use mount_sync::{ACCESS_TIMEOUT, SyncRequest, mount_not_found, sync, sync_all};
use oneiro_model::contract::Request;
use oneiro_model::{
    EntryStyle, EraseTarget, Error, Layout, Mount, MountId, MountNotes, NoteName, Result,
    SyncedMount, UnmountNotes,
};
use oneiro_store::mounts::{self, MountedFile, StoredMount};
use oneiro_store::{Tx, notes};
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Notes<'_> {
    /// Mounts a folder, for a person: from now on its files and the notes are kept in sync. Where both
    /// exist and differ, both texts are kept. Mounting a folder again, as after its marker was lost,
    /// starts from scratch and deletes nothing.
    pub fn mount(&self, request: &MountNotes) -> Result<SyncedMount> {
        request.check()?;
        let root = folder_to_mount(&request.path)?;
        let path = root.to_string_lossy().into_owned();
        layout::names_in(request.layout, &root).map_err(|trouble| unusable(&path, trouble))?;
        let here = marker::host(self.oneiro.target());
        let markers = Markers::around(&root);
        let new = StoredMount {
            id: MountId::from_random(self.oneiro.ids.random()),
            host: here.clone(),
            path: path.clone(),
            layout: request.layout,
            created_at: self.oneiro.now(),
        };
        let mount = self.oneiro.store.write(move |tx| add(tx, &new, &markers))?;
        if marker::read(&root).as_deref() != Some(mount.id.as_str()) {
            marker::write(&root, &mount.id).map_err(|trouble| unusable(&path, trouble))?;
        }
        sync(self.oneiro, &mount, (&here, explicit()))
    }

    /// Unmounts a folder, for a person. Its files stay.
    pub fn unmount(&self, request: &UnmountNotes) -> Result<Mount> {
        request.check()?;
        let path = request.path.clone();
        let real =
            std::fs::canonicalize(&path).ok().map(|path| path.to_string_lossy().into_owned());
        let here = marker::host(self.oneiro.target());
        // What was saved last is taken in.
        self.oneiro.sync_mounts();
        let mount = self.oneiro.store.write(move |tx| {
            if !is_person(tx) {
                return Err(needs_person("unmount a folder"));
            }
            let is_meant = |mount: &StoredMount| {
                let is_path = mount.path == path || Some(&mount.path) == real.as_ref();
                mount.id.as_str() == path || (is_path && mount.host == here)
            };
            let mount = mounts::all(tx)?
                .into_iter()
                .find(is_meant)
                .ok_or_else(|| mount_not_found(&path))?;
            mounts::remove(tx, &mount.id)?;
            notes::remove_unused_texts(tx)?;
            Ok(mount)
        })?;
        remove_marker(&mount);
        Ok(mount_sync::report(
            &mount,
            oneiro_model::MountState::Paused,
            Some("unmounted".to_owned()),
        )
        .mount)
    }

    /// The mounts of all hosts, oldest first, after those of this one were brought into sync.
    pub fn mounts(&self) -> Result<Vec<SyncedMount>> {
        sync_all(self.oneiro, explicit())
    }

    /// The same, with a function that is called before every step and can end it there, as a crash
    /// would.
    #[doc(hidden)]
    pub fn sync_with_steps(
        &self,
        step: &dyn Fn(&'static str) -> Result<()>,
    ) -> Result<Vec<SyncedMount>> {
        sync_all(self.oneiro, SyncRequest { step, ..explicit() })
    }
}

impl Oneiro {
    /// Brings mounted files and notes into sync, before notes are read and after they are changed. What
    /// goes wrong with a mount is reported by [`Notes::mounts`] and never in the way of the notes.
    pub(crate) fn sync_mounts(&self) {
        self.sync_mounts_within(ACCESS_TIMEOUT);
    }

    /// The same in the background, unless another process does it right now.
    pub(crate) fn sync_mounts_in_background(&self) {
        self.sync_mounts_within(Duration::ZERO);
    }

    /// Removes the markers of mounted folders, when the space goes away.
    pub(crate) fn remove_mount_markers(&self) {
        match self.store.read(mounts::all) {
            Ok(all) => all.iter().for_each(remove_marker),
            Err(error) => tracing::debug!(%error, "markers of mounted folders may stay"),
        }
    }

    fn sync_mounts_within(&self, timeout: Duration) {
        let request = SyncRequest { timeout, lists_conflicts: false, step: &|_| Ok(()) };
        match sync_all(self, request) {
            Ok(mounts) => {
                for problem in mounts.iter().flat_map(|mount| &mount.problems) {
                    tracing::debug!(file = problem.file, "not in sync: {}", problem.problem);
                }
            }
            Err(error) => tracing::warn!(%error, "mounted files are not in sync"),
        }
    }
}

/// How a person's own request keeps mounts in sync.
fn explicit() -> SyncRequest<'static> {
    SyncRequest { timeout: ACCESS_TIMEOUT, lists_conflicts: true, step: &|_| Ok(()) }
}

/// The markers of mounts in a folder and in those around it.
struct Markers {
    /// The mount of the folder itself.
    own: Option<String>,
    /// A folder around it that is mounted.
    outer: Option<PathBuf>,
}

impl Markers {
    fn around(root: &Path) -> Markers {
        let mut outer = root.ancestors().skip(1);
        let outer = outer.find(|folder| marker::read(folder).is_some());
        Markers { own: marker::read(root), outer: outer.map(Path::to_path_buf) }
    }
}

fn remove_marker(mount: &StoredMount) {
    let root = Path::new(&mount.path);
    if marker::read(root).as_deref() == Some(mount.id.as_str()) {
        marker::remove(root);
    }
}

/// Adds a mount, or resets the one that is there.
fn add(tx: &Tx<'_>, new: &StoredMount, markers: &Markers) -> Result<StoredMount> {
    if !is_person(tx) {
        return Err(needs_person("mount a folder"));
    }
    let all = mounts::all(tx)?;
    let is_here = |mount: &&StoredMount| mount.host == new.host && mount.path == new.path;
    if let Some(known) = all.iter().find(is_here) {
        if known.layout != new.layout {
            return Err(Error::conflict(format!(
                "{} is mounted with the layout {}",
                known.path,
                known.layout.as_str()
            ))
            .remedy("unmount it first"));
        }
        if markers.own.as_deref() != Some(known.id.as_str()) {
            mounts::forget_files(tx, &known.id)?;
        }
        return Ok(known.clone());
    }
    let holds = |outer: &str, inner: &str| Path::new(inner).starts_with(outer);
    let overlaps = |mount: &&StoredMount| {
        mount.host == new.host && (holds(&mount.path, &new.path) || holds(&new.path, &mount.path))
    };
    if let Some(other) = all.iter().find(overlaps) {
        return Err(Error::conflict(format!(
            "{} overlaps {}, which is mounted",
            new.path, other.path
        ))
        .remedy("unmount the other folder first, or choose one beside it"));
    }
    if let Some(outer) = &markers.outer {
        let outer = outer.display();
        return Err(Error::conflict(format!("{} lies in {outer}, which is mounted", new.path))
            .remedy("unmount the outer folder first, or choose one beside it"));
    }
    if let Some(id) = &markers.own {
        return Err(Error::conflict(format!("{} is mounted by another space ({id})", new.path))
            .remedy("unmount it there, or remove .oneiro/mount from the folder"));
    }
    mounts::add(tx, new)?;
    Ok(new.clone())
}

/// The real path of a folder that may be mounted.
fn folder_to_mount(path: &str) -> Result<PathBuf> {
    let wrong = |problem: String| {
        Error::field("path", problem).remedy("give the absolute path of an existing folder")
    };
    if !Path::new(path).is_absolute() {
        return Err(wrong(format!("{path:?} is not absolute")));
    }
    let real = std::fs::canonicalize(path).map_err(|error| wrong(format!("{path:?}: {error}")))?;
    if !real.is_dir() {
        return Err(wrong(format!("{path:?} is not a folder")));
    }
    if real.to_str().is_none() || real.parent().is_none() {
        return Err(wrong(format!("{path:?} cannot be mounted")));
    }
    Ok(real)
}

fn unusable(path: &str, trouble: SyncError) -> Error {
    match trouble {
        SyncError::Store(error) => error,
        SyncError::File(problem) => Error::field("path", format!("{path:?}: {problem}")),
    }
}

/// How new entries of a note are written, if a mounted layout asks for it.
pub(super) fn entry_style(tx: &Tx<'_>, name: &NoteName) -> Result<Option<EntryStyle>> {
    let has_file = |layout: &Layout| layout::file_of(*layout, name).is_some();
    let layouts = mounts::all(tx)?.into_iter().map(|mount| mount.layout).filter(has_file);
    Ok(layouts.filter_map(layout::entry_style).next())
}

/// Marks the files of an erased note, so that they are erased as soon as their folder is in reach.
pub(super) fn erase_files(tx: &Tx<'_>, name: &NoteName) -> Result<()> {
    for mount in mounts::all(tx)? {
        if layout::file_of(mount.layout, name).is_some() {
            let file = MountedFile { is_erased: true, ..MountedFile::new(name.clone()) };
            mounts::put_file(tx, &mount.id, &file)?;
        }
    }
    Ok(())
}

/// Removes the files of erased notes, and names what is not in reach: files in folders that are missing
/// or elsewhere, and what version control may have kept.
pub(crate) fn erase_mounted_files(oneiro: &Oneiro, targets: &[EraseTarget]) -> Result<Vec<String>> {
    let name = |target: &EraseTarget| match target {
        EraseTarget::Note(name) => Some(name.clone()),
        _ => None,
    };
    let erased: Vec<NoteName> = targets.iter().filter_map(name).collect();
    if erased.is_empty() {
        return Ok(Vec::new());
    }
    oneiro.sync_mounts();
    let (waiting, all) = oneiro.store.read(|tx| Ok((mounts::erased(tx)?, mounts::all(tx)?)))?;
    let mut unreached: Vec<String> = waiting
        .into_iter()
        .map(|(path, name)| {
            format!("the file of {name} in {path}, which is erased when the folder is in reach")
        })
        .collect();
    for mount in all {
        let has_files = erased.iter().any(|name| layout::file_of(mount.layout, name).is_some());
        let mut folders = Path::new(&mount.path).ancestors().filter(|_| has_files);
        if let Some(found) = folders.find(|folder| folder.join(".git").exists()) {
            let found = found.display();
            unreached.push(format!("the git repository {found}, if the file was committed"));
        }
    }
    Ok(unreached)
}
