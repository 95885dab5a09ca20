//! Imports the `state.db` of hermes. An import can be repeated while hermes keeps writing: it adds
//! every message once. The file is only read.

mod checkpoint;
mod compare;
mod layout;
mod links;
mod message_row;
mod pass;
mod preview;
mod reconcile;
mod report;
mod session_row;
mod store_messages;
mod store_sessions;
mod store_titles;
mod tables;
mod usage_row;
mod value;

pub use report::{HermesCounts, HermesDifference, HermesImported, NotKept};

use super::TransferProgress;
use crate::views::Transfer;
use oneiro_model::{Error, ErrorKind, Remedy, Result};
use oneiro_store::{FileKind, ForeignFile, ForeignLocking, Target, kind_of_file};
use serde::Serialize;
use std::path::Path;

/// A program whose database a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignStore {
    /// The `state.db` of hermes.
    Hermes,
    /// Any other SQLite database.
    Sqlite,
}

impl ForeignStore {
    /// The program as text.
    pub fn as_str(self) -> &'static str {
        match self {
            ForeignStore::Hermes => "hermes",
            ForeignStore::Sqlite => "sqlite",
        }
    }
}

/// The program that a database file belongs to, unless it is a store of Oneiro. Writes nothing, neither
/// to the file nor beside it.
pub fn foreign_store(path: &Path) -> Option<ForeignStore> {
    match kind_of_file(path) {
        FileKind::Sqlite(tables) if layout::is_hermes_schema(&tables) => Some(ForeignStore::Hermes),
        FileKind::Sqlite(_) => Some(ForeignStore::Sqlite),
        FileKind::Nothing | FileKind::Ours | FileKind::Damaged | FileKind::Other => None,
    }
}

/// Replaces the error for a file that is not a store if the file belongs to hermes.
pub(crate) fn name_foreign(target: &Target, error: Error) -> Error {
    let Target::File { path, .. } = target else { return error };
    if error.kind() != ErrorKind::Invalid || foreign_store(path) != Some(ForeignStore::Hermes) {
        return error;
    }
    let place = path.display();
    Error::invalid(format!("{place} is the state.db of hermes, not a store of Oneiro"))
        .remedy(Remedy::ImportHermes { place: place.to_string() })
}

/// Attempts to read the file without SQLite's locks, before they are used.
const LOCK_FREE_ATTEMPTS: usize = 2;

impl Transfer<'_> {
    /// Imports the `state.db` of hermes, in one snapshot. A repeated import adds what is new and
    /// applies the changes of hermes, except to what was changed here.
    pub fn import_hermes(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<HermesImported> {
        let mut done = HermesImported::default();
        for attempt in 0.. {
            let is_lock_free = attempt < LOCK_FREE_ATTEMPTS;
            let locking =
                if is_lock_free { ForeignLocking::IfInUse } else { ForeignLocking::Always };
            let file = open(path, locking)?;
            let pass = pass::Pass::new(self.oneiro, path, &file)?;
            let outcome = pass.run(file, progress)?;
            // An attempt counts what it stored even if the file changed during it.
            let is_complete = outcome.is_complete;
            done = outcome.done.after(done);
            if is_complete {
                break;
            }
        }
        Ok(done)
    }

    /// What [`Transfer::import_hermes`] would do. Nothing is stored.
    pub fn preview_hermes(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<HermesImported> {
        let file = open(path, ForeignLocking::IfInUse)?;
        preview::preview(self.oneiro, path, &file, progress)
    }
}

fn open(path: &Path, locking: ForeignLocking) -> Result<ForeignFile> {
    let remedy =
        "name the state.db of hermes; it is in ~/.hermes unless HERMES_HOME says otherwise";
    if kind_of_file(path) == FileKind::Ours {
        return Err(Error::invalid(format!("{} is a store of Oneiro itself", path.display()))
            .remedy(Remedy::OwnStore));
    }
    ForeignFile::open(path, locking).map_err(|error| match error.remedy_text() {
        Some(_) => error,
        None => error.remedy(remedy),
    })
}
