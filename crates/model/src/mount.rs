//! Mounts: folders whose files are kept in sync with the notes, both ways.

use crate::contract::Request;
use crate::contract::schema::WITHOUT_NUL;
use crate::{Error, MountId, NoteName, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum characters of the path of a folder.
const PATH_CHARS_MAX: usize = 4_096;

json_name! {
    /// Which files of a folder are notes, and what the notes are called.
    #[derive(Default)]
    Layout "layout" {
        /// Every note, and every Markdown file of the folder, under the same name.
        #[default]
        Plain "plain",
        /// `memories/MEMORY.md` and `memories/USER.md`, entries delimited by lines with a section sign.
        Hermes "hermes",
        /// `SOUL.md`, `USER.md` and `memory/MEMORY.md`.
        Nanobot "nanobot",
        /// `MEMORY.md`, `USER.md`, `DREAMS.md` and dated notes in `memory/`.
        Openclaw "openclaw",
    }
}

json_name! {
    /// Whether a mount is kept in sync.
    MountState "state" {
        /// Its files are kept in sync.
        Active "active",
        /// Its folder or marker is missing: nothing is read, written or deleted.
        Paused "paused",
        /// It belongs to another host, or to another store from which this one was copied.
        Elsewhere "elsewhere",
    }
}

/// A folder to mount.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MountNotes {
    /// Absolute path of an existing folder on the host of the store's process.
    #[schemars(length(min = 1, max = PATH_CHARS_MAX), regex(pattern = WITHOUT_NUL))]
    pub path: String,
    /// Which of its files are notes.
    #[serde(default)]
    pub layout: Layout,
}

impl Request for MountNotes {
    fn check(&self) -> Result<()> {
        check_path(&self.path)
    }
}

/// The folder to unmount. Its files stay.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnmountNotes {
    /// The path of the folder as mounted, or the id of the mount.
    #[schemars(length(min = 1, max = PATH_CHARS_MAX), regex(pattern = WITHOUT_NUL))]
    pub path: String,
}

impl Request for UnmountNotes {
    fn check(&self) -> Result<()> {
        check_path(&self.path)
    }
}

fn check_path(path: &str) -> Result<()> {
    if path.is_empty() || path.contains('\0') || path.chars().count() > PATH_CHARS_MAX {
        return Err(Error::field("path", "is empty, too long or has a NUL character")
            .remedy("give the path of a folder"));
    }
    Ok(())
}

/// A mounted folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mount {
    /// Its id, which its marker file `.oneiro/mount` has too.
    pub id: MountId,
    /// The folder.
    pub path: String,
    /// Which of its files are notes.
    pub layout: Layout,
    /// Whether its files are kept in sync.
    pub state: MountState,
    /// Why they are not.
    pub reason: Option<String>,
    /// How many of its files are in sync.
    pub files: usize,
    /// When it was mounted.
    pub created_at: Timestamp,
}

/// A file that is not kept in sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileProblem {
    /// The file, relative to the folder.
    pub file: String,
    /// Why, and what to do.
    pub problem: String,
}

/// A note that was changed in the store and in its file in the same place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileConflict {
    /// The note, which has the text of the file.
    pub note: NoteName,
    /// The file with the other text, relative to the folder. Remove it when it is dealt with.
    pub copy: String,
}

/// What keeping a mount in sync did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SyncedMount {
    /// The mount.
    #[serde(flatten)]
    pub mount: Mount,
    /// Notes that got the text of their file, or were deleted with it.
    pub taken: Vec<NoteName>,
    /// Notes whose file was written or deleted.
    pub written: Vec<NoteName>,
    /// Notes of which both texts were kept; those whose copy is still there.
    pub conflicts: Vec<FileConflict>,
    /// Files that are not kept in sync.
    pub problems: Vec<FileProblem>,
}
