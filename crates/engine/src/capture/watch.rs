//! Watches the files of agents: compares sizes and times with those of the last listing, and
//! captures what changed in projects that are switched on. One thread per process watches; of
//! several processes one reads at a time.

use super::decide::{self, Decisions, Transcript};
use super::lease::CaptureLease;
use super::projects::modified;
use super::{CaptureSource, CaptureTrigger};
use crate::Oneiro;
use crate::jobs::with_heartbeat;
use crate::transcripts::{
    Agent, CaptureRequest, ListedTranscript, ProjectFolder, is_read_to_end, list_transcripts,
    working_folder,
};
use crate::transfer::{ForeignStore, foreign_store};
use oneiro_model::{Actor, ActorKind, ActorSurface, ErrorKind, Result, Timestamp};
use oneiro_store::capture::Choices;
use oneiro_store::{capture, transcripts};
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often files are listed.
const LIST_INTERVAL: Duration = Duration::from_secs(1);

/// Listing files takes at most one part in this many of the time: after a slow listing the next
/// comes later. What is read of files that changed does not count, since it is read once.
const LIST_TIME_SHARE: u32 = 50;

/// How long one file is read before the choices are read again.
const READ_SLICE: Duration = Duration::from_millis(250);

/// How often the database of hermes is imported while it changes: each time takes a pass over it.
const HERMES_INTERVAL: Duration = Duration::from_secs(15);

/// Watches the files of agents for every space of a process.
pub(crate) struct Watcher {
    sources: Vec<CaptureSource>,
    /// By the place of the space.
    spaces: Mutex<HashMap<String, WatchedSpace>>,
}

/// What one space has seen of the files.
#[derive(Default)]
struct WatchedSpace {
    choices: Choices,
    decisions: Decisions,
    /// Files that need no reading until they change.
    seen: HashMap<PathBuf, Seen>,
    /// The working folders of transcripts, as they are named there. Finding one may take a long
    /// line.
    folders: HashMap<PathBuf, NamedFolder>,
    next_listing: Option<Instant>,
    next_hermes_import: Option<Instant>,
}

/// The working folder that a transcript names.
struct NamedFolder {
    inode: u64,
    name: String,
}

/// How a file was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    stamp: Stamp,
    /// Whether a later listing found it unchanged to its end. The times of files have steps of
    /// milliseconds, so a write right after the reading can leave the stamp as it was.
    is_checked: bool,
}

/// What tells that a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: Option<Timestamp>,
    /// The same of the log beside a database.
    log: Option<Box<Stamp>>,
}

impl Stamp {
    fn of(meta: &Metadata) -> Stamp {
        Stamp { inode: meta.ino(), bytes: meta.len(), modified: modified(meta), log: None }
    }

    fn of_database(file: &Path) -> Option<Stamp> {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        let log = std::fs::metadata(log).ok().map(|meta| Box::new(Stamp::of(&meta)));
        Some(Stamp { log, ..Stamp::of(&std::fs::metadata(file).ok()?) })
    }

    /// When the file or its log was last written to.
    fn last_modified(&self) -> Option<Timestamp> {
        self.modified.max(self.log.as_ref().and_then(|log| log.modified))
    }
}

/// A file that may have something new.
struct Changed {
    path: PathBuf,
    stamp: Stamp,
    kind: ChangedKind,
}

enum ChangedKind {
    Transcript { agent: Agent, is_subagent: bool },
    Hermes,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing more is to be read until it changes.
    Finished,
    /// There is more to read.
    Unfinished,
}

impl Watcher {
    pub(crate) fn new(sources: Vec<CaptureSource>) -> Watcher {
        Watcher { sources, spaces: Mutex::default() }
    }

    pub(crate) fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Lists the files if it is time, and captures what is new into a space.
    pub(crate) fn run(&self, oneiro: &Oneiro, is_enough: &dyn Fn() -> bool) -> Result<()> {
        let mut spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        let space = spaces.entry(oneiro.target().to_string()).or_default();
        let started = Instant::now();
        if space.next_listing.is_some_and(|next| started < next) {
            return Ok(());
        }
        space.next_listing = Some(started + LIST_INTERVAL);
        if !space.read_choices(oneiro)? {
            return Ok(());
        }
        let listing = Instant::now();
        let found = self.sources.iter().flat_map(files).collect();
        let pause = LIST_INTERVAL.max(listing.elapsed() * LIST_TIME_SHARE);
        space.next_listing = Some(Instant::now() + pause);
        let changed = space.changed_files(oneiro, found)?;
        if changed.is_empty() {
            return Ok(());
        }
        let actor = Actor::new(ActorKind::Import, ActorSurface::Background);
        space.capture(&oneiro.acting_as(actor), changed, is_enough)
    }
}

impl WatchedSpace {
    /// Reads what people chose; false when there is nothing to look for.
    fn read_choices(&mut self, oneiro: &Oneiro) -> Result<bool> {
        let choices = oneiro.store.read(capture::choices)?;
        if choices != self.choices {
            self.seen.clear();
            self.decisions = Decisions::of(choices.clone());
            self.choices = choices;
        }
        Ok(!self.decisions.is_idle(oneiro.now()))
    }

    /// The files that changed since they were last seen and are wanted, sessions before their
    /// subagents. Those that are not wanted, or were read to their end by another process, count as
    /// seen.
    fn changed_files(&mut self, oneiro: &Oneiro, found: Vec<Changed>) -> Result<Vec<Changed>> {
        let Some(first) = self.decisions.switched_on_first() else { return Ok(Vec::new()) };
        let hermes_waits = self.next_hermes_import.is_some_and(|next| Instant::now() < next);
        let mut changed = Vec::new();
        for found in found {
            let is_old = !found.stamp.last_modified().is_some_and(|at| decide::is_since(at, first));
            let is_waiting = hermes_waits && matches!(found.kind, ChangedKind::Hermes);
            if !is_old && !is_waiting && !self.is_unchanged(&found) {
                changed.push(found);
            }
        }
        let mut wanted = Vec::new();
        for found in changed {
            if self.is_wanted(&found) {
                wanted.push(found);
            } else {
                self.seen.insert(found.path, Seen { stamp: found.stamp, is_checked: true });
            }
        }
        let reached = oneiro.store.read(|tx| {
            let reached = |found: &Changed| match found.kind {
                ChangedKind::Hermes => Ok(None),
                ChangedKind::Transcript { agent, .. } => {
                    transcripts::reached(tx, agent.as_str(), &found.path.to_string_lossy())
                }
            };
            wanted.iter().map(reached).collect::<Result<Vec<_>>>()
        })?;
        let mut left = Vec::new();
        for (found, reached) in wanted.into_iter().zip(reached) {
            if reached.is_some_and(|reached| is_read_to_end(&found.path, &reached)) {
                self.mark_seen(found);
            } else {
                left.push(found);
            }
        }
        left.sort_by(|one, other| one.order().cmp(&other.order()));
        Ok(left)
    }

    /// Records that a file was read. The second time with the same stamp is the check; a database
    /// is not checked, because it is imported as a whole.
    fn mark_seen(&mut self, found: Changed) {
        let earlier = self.seen.get(&found.path);
        let is_checked = matches!(found.kind, ChangedKind::Hermes)
            || earlier.is_some_and(|earlier| earlier.stamp == found.stamp);
        self.seen.insert(found.path, Seen { stamp: found.stamp, is_checked });
    }

    fn is_unchanged(&self, found: &Changed) -> bool {
        let seen = self.seen.get(&found.path);
        seen.is_some_and(|seen| seen.is_checked && seen.stamp == found.stamp)
    }

    fn is_wanted(&mut self, found: &Changed) -> bool {
        let project = self.project(found);
        let modified = found.stamp.last_modified();
        let transcript = Transcript { project: project.as_ref(), modified };
        self.decisions.is_captured(&transcript, CaptureTrigger::Watcher)
    }

    fn project(&mut self, found: &Changed) -> Option<ProjectFolder> {
        let ChangedKind::Transcript { agent, .. } = found.kind else {
            return Some(ProjectFolder::resolve(&found.path));
        };
        let inode = found.stamp.inode;
        let known = self.folders.get(&found.path).filter(|known| known.inode == inode);
        if let Some(known) = known {
            return Some(ProjectFolder::resolve(&known.name));
        }
        // A file that cannot be read has no project; the reader reports it if it is wanted.
        let name = working_folder(&found.path, agent).unwrap_or_default()?;
        let project = ProjectFolder::resolve(&name);
        self.folders.insert(found.path.clone(), NamedFolder { inode, name });
        Some(project)
    }

    fn capture(
        &mut self,
        oneiro: &Oneiro,
        changed: Vec<Changed>,
        is_enough: &dyn Fn() -> bool,
    ) -> Result<()> {
        let Some(lease) = CaptureLease::take(oneiro)? else { return Ok(()) };
        for found in changed {
            loop {
                // A pause or an exclusion holds at once.
                let before = self.choices.clone();
                if is_enough() || !self.read_choices(oneiro)? || self.choices != before {
                    self.next_listing = None;
                    return Ok(());
                }
                let outcome = match found.kind {
                    ChangedKind::Transcript { agent, .. } => {
                        let project = self.project(&found);
                        let excluded = self.decisions.excluded_elsewhere(project.as_ref());
                        let gaps = self.decisions.gaps(project.as_ref());
                        let request = CaptureRequest {
                            limit: Some(READ_SLICE),
                            pauses: Some(&self.decisions.pauses),
                            gaps: &gaps,
                            excluded: &excluded,
                            ..CaptureRequest::new(&found.path, agent)
                        };
                        read_transcript(oneiro, &request)?
                    }
                    ChangedKind::Hermes => self.import_hermes(oneiro, &found.path, &lease)?,
                };
                if outcome == Outcome::Finished {
                    break;
                }
            }
            self.mark_seen(found);
        }
        Ok(())
    }

    fn import_hermes(
        &mut self,
        oneiro: &Oneiro,
        file: &Path,
        lease: &CaptureLease<'_>,
    ) -> Result<Outcome> {
        let started = Instant::now();
        // It may be any file until hermes has made its tables.
        if foreign_store(file) != Some(ForeignStore::Hermes) {
            return Ok(Outcome::Finished);
        }
        let import = || oneiro.transfer().import_hermes(file, &mut |_| {});
        let imported = with_heartbeat(|| lease.extend().map(|_| ()), import);
        let pause = HERMES_INTERVAL.max(started.elapsed() * LIST_TIME_SHARE);
        self.next_hermes_import = Some(Instant::now() + pause);
        imported.map(|_| Outcome::Finished)
    }
}

impl Changed {
    fn order(&self) -> (bool, Option<Timestamp>, &Path) {
        let is_subagent = matches!(self.kind, ChangedKind::Transcript { is_subagent: true, .. });
        (is_subagent, self.stamp.modified, &self.path)
    }
}

/// The files of a source by their real names, which is how the store knows them. A source that is
/// not there has none.
fn files(source: &CaptureSource) -> Vec<Changed> {
    match source {
        CaptureSource::Hermes { file } => {
            let stamp = Stamp::of_database(file);
            let found =
                stamp.map(|stamp| Changed { path: file.clone(), stamp, kind: ChangedKind::Hermes });
            found.into_iter().collect()
        }
        CaptureSource::Transcripts { agent, folder } => {
            let real = std::fs::canonicalize(folder);
            let listed = real.ok().and_then(|folder| list_transcripts(&folder, *agent).ok());
            let listed = listed.map(|(listed, _)| listed).unwrap_or_default();
            let change = |listed: ListedTranscript| Changed {
                stamp: Stamp::of(&listed.meta),
                kind: ChangedKind::Transcript {
                    agent: *agent,
                    is_subagent: listed.file.is_subagent,
                },
                path: listed.file.path,
            };
            listed.into_iter().map(change).collect()
        }
    }
}

fn read_transcript(oneiro: &Oneiro, request: &CaptureRequest<'_>) -> Result<Outcome> {
    match oneiro.transfer().capture_transcript(request, &mut |_| {}) {
        Ok(captured) => {
            for line in &captured.damaged {
                tracing::warn!(path = line.path, line = line.line, "{}", line.problem);
            }
            Ok(if captured.finished { Outcome::Finished } else { Outcome::Unfinished })
        }
        // A file that went away or may not be read is looked at again when it changes.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::Forbidden | ErrorKind::Invalid
            ) =>
        {
            tracing::info!(%error, "a transcript was not captured");
            Ok(Outcome::Finished)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_read_once_more_after_it_was_read_and_then_only_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("garden.jsonl");
        let found = || Changed {
            path: path.clone(),
            stamp: Stamp::of(&std::fs::metadata(&path).unwrap()),
            kind: ChangedKind::Transcript { agent: Agent::ClaudeCode, is_subagent: false },
        };
        std::fs::write(&path, "one").unwrap();
        let mut space = WatchedSpace::default();
        space.mark_seen(found());
        assert!(!space.is_unchanged(&found()), "a write may have followed within the same tick");
        space.mark_seen(found());
        assert!(space.is_unchanged(&found()));
        std::fs::write(&path, "longer").unwrap();
        assert!(!space.is_unchanged(&found()));
    }

    #[test]
    fn a_database_has_changed_when_its_log_has() {
        let folder = tempfile::tempdir().unwrap();
        let (file, log) = (folder.path().join("state.db"), folder.path().join("state.db-wal"));
        assert_eq!(Stamp::of_database(&file), None);
        std::fs::write(&file, "rows").unwrap();
        let without = Stamp::of_database(&file);
        std::fs::write(&log, "more").unwrap();
        let with = Stamp::of_database(&file);
        assert_ne!(without, with);
        assert_eq!(with, Stamp::of_database(&file));
        std::fs::write(&log, "more rows").unwrap();
        assert_ne!(with, Stamp::of_database(&file));
    }
}
