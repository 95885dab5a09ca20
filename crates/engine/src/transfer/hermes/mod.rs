//! Moving in from hermes: the sessions of a `state.db` become sessions here, each message once,
//! however often it is run and while hermes goes on writing. The file is only read.

mod account;
mod compare;
mod layout;
mod links;
mod message_row;
mod note;
mod pass;
mod preview;
mod reconcile;
mod session_row;
mod store_messages;
mod store_sessions;
mod store_titles;
mod tables;
mod usage_row;
mod value;

pub use account::{HermesCounts, HermesDifference, HermesImported, NotKept};

use super::TransferProgress;
use crate::views::Transfer;
use oneiro_model::{Error, ErrorKind, Remedy, Result};
use oneiro_store::{FileKind, ForeignFile, Target, kind_of_file};
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

/// Whose database a file is, if it is one and not a store of Oneiro. Nothing is written, neither to
/// the file nor beside it.
pub fn foreign_store(path: &Path) -> Option<ForeignStore> {
    match kind_of_file(path) {
        FileKind::Sqlite(tables) if layout::are_of_hermes(&tables) => Some(ForeignStore::Hermes),
        FileKind::Sqlite(_) => Some(ForeignStore::Sqlite),
        FileKind::Nothing | FileKind::Ours | FileKind::Damaged | FileKind::Other => None,
    }
}

/// Says of a file that cannot be opened as a store whose it is, where that can be told.
pub(crate) fn name_foreign(target: &Target, error: Error) -> Error {
    let Target::File { path, .. } = target else { return error };
    if error.kind() != ErrorKind::Invalid || foreign_store(path) != Some(ForeignStore::Hermes) {
        return error;
    }
    let place = path.display();
    Error::invalid(format!("{place} is the state.db of hermes, not a store of Oneiro"))
        .remedy(Remedy::ImportHermes { place: place.to_string() })
}

/// How often a file that nobody had open is read as it lies before SQLite's own locks are used.
const QUIET_TRIES: usize = 2;

impl Transfer<'_> {
    /// Imports the `state.db` of hermes. It is read in one snapshot; run again, it adds what is new
    /// and brings up to date what hermes changed, and leaves what was changed here.
    pub fn import_hermes(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<HermesImported> {
        let mut done = HermesImported::default();
        for attempt in 0.. {
            let file = open(path, attempt < QUIET_TRIES)?;
            let pass = pass::Pass::new(self.oneiro, (path, &file))?;
            let outcome = pass.run(file, progress)?;
            // What an attempt stored before the file changed under it counts as well.
            let is_whole = outcome.is_whole;
            done = outcome.done.after(done);
            if is_whole {
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
        let file = open(path, true)?;
        preview::preview(self.oneiro, (path, &file), progress)
    }
}

fn open(path: &Path, may_read_as_it_lies: bool) -> Result<ForeignFile> {
    let remedy =
        "name the state.db of hermes; it is in ~/.hermes unless HERMES_HOME says otherwise";
    if kind_of_file(path) == FileKind::Ours {
        return Err(Error::invalid(format!("{} is a store of Oneiro itself", path.display()))
            .remedy(Remedy::OwnStore));
    }
    ForeignFile::open(path, may_read_as_it_lies).map_err(|error| match error.remedy_text() {
        Some(_) => error,
        None => error.remedy(remedy),
    })
}
