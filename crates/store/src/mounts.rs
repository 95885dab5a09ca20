//! Mounts: folders whose files are kept in sync with the notes, and what is known of each file since the
//! last time. They belong to one host and are not exported.

use crate::Tx;
use crate::aggregates::Table;
use crate::backend::{Row, Value};
use oneiro_model::{Layout, MountId, NoteName, Result, Timestamp};

statements! {
    ADD = "INSERT INTO mounts (id, host, path, layout, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    REMOVE = "DELETE FROM mounts WHERE id = ?1";
    ALL = "SELECT id, host, path, layout, created_at FROM mounts ORDER BY created_at, id";
    FILES = "SELECT name, base_hash, file_hash, stamp, pending_hash, pending_file, temp, erased \
             FROM mount_files WHERE mount = ?1 ORDER BY name";
    FILE = "SELECT name, base_hash, file_hash, stamp, pending_hash, pending_file, temp, erased \
            FROM mount_files WHERE mount = ?1 AND name = ?2";
    PUT_FILE = "INSERT INTO mount_files (mount, name, base_hash, file_hash, stamp, pending_hash, \
                pending_file, temp, erased) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
                ON CONFLICT (mount, name) DO UPDATE SET base_hash = excluded.base_hash, \
                file_hash = excluded.file_hash, stamp = excluded.stamp, \
                pending_hash = excluded.pending_hash, pending_file = excluded.pending_file, \
                temp = excluded.temp, erased = excluded.erased";
    FORGET_FILE = "DELETE FROM mount_files WHERE mount = ?1 AND name = ?2";
    FORGET_FILES = "DELETE FROM mount_files WHERE mount = ?1 AND erased = 0";
    ERASED = "SELECT m.path, f.name FROM mount_files f JOIN mounts m ON m.id = f.mount \
              WHERE f.erased <> 0 ORDER BY m.path, f.name";
}

pub(crate) const TABLES: &[Table] = &[
    Table { name: "mounts", columns: "id, host, path, layout, created_at" },
    Table {
        name: "mount_files",
        columns: "mount, name, base_hash, file_hash, stamp, pending_hash, pending_file, temp, erased",
    },
];

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMount {
    /// Its id.
    pub id: MountId,
    /// The host it belongs to.
    pub host: String,
    /// The folder.
    pub path: String,
    /// Which files are notes.
    pub layout: Layout,
    /// When it was mounted.
    pub created_at: Timestamp,
}

/// What is known of the file of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedFile {
    /// The note.
    pub name: NoteName,
    /// The hash of the note's text when file and note were last in sync.
    pub base_hash: Option<String>,
    /// The hash of the file's bytes then.
    pub file_hash: Option<String>,
    /// What tells without reading the file that it did not change; empty if nothing does.
    pub stamp: String,
    /// A write of the file that was begun and is not known to be finished.
    pub pending: Option<PendingWrite>,
    /// The note is erased, and the file must be.
    pub is_erased: bool,
}

/// A write of a file that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingWrite {
    /// The file beside it that is exchanged with it.
    pub temp: String,
    /// What is written; `None` if the file is deleted.
    pub content: Option<PendingContent>,
}

/// The content of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingContent {
    /// The hash of the note's text.
    pub base_hash: String,
    /// The hash of the file's bytes.
    pub file_hash: String,
}

impl MountedFile {
    /// A file of which nothing is known.
    pub fn new(name: NoteName) -> MountedFile {
        MountedFile {
            name,
            base_hash: None,
            file_hash: None,
            stamp: String::new(),
            pending: None,
            is_erased: false,
        }
    }
}

/// Adds a mount.
pub fn add(tx: &Tx<'_>, mount: &StoredMount) -> Result<()> {
    let values = [
        mount.id.as_str().into(),
        (&mount.host).into(),
        (&mount.path).into(),
        mount.layout.as_str().into(),
        mount.created_at.micros().into(),
    ];
    tx.execute(ADD, &values).map(|_| ())
}

/// Removes a mount with what is known of its files.
pub fn remove(tx: &Tx<'_>, id: &MountId) -> Result<()> {
    tx.execute(REMOVE, &[id.as_str().into()]).map(|_| ())
}

/// Every mount, of all hosts, oldest first.
pub fn all(tx: &Tx<'_>) -> Result<Vec<StoredMount>> {
    tx.all(ALL, &[], |row| {
        Ok(StoredMount {
            id: MountId::parse(row.text(0)?)?,
            host: row.text(1)?.to_owned(),
            path: row.text(2)?.to_owned(),
            layout: Layout::parse(row.text(3)?)?,
            created_at: Timestamp::from_micros(row.int(4)?),
        })
    })
}

/// What is known of the files of a mount, by the names of their notes.
pub fn files(tx: &Tx<'_>, id: &MountId) -> Result<Vec<MountedFile>> {
    tx.all(FILES, &[id.as_str().into()], read)
}

/// What is known of the file of a note.
pub fn file(tx: &Tx<'_>, id: &MountId, name: &NoteName) -> Result<Option<MountedFile>> {
    tx.first(FILE, &[id.as_str().into(), name.as_str().into()], read)
}

/// Records what is known of a file.
pub fn put_file(tx: &Tx<'_>, id: &MountId, file: &MountedFile) -> Result<()> {
    let content = file.pending.as_ref().and_then(|pending| pending.content.as_ref());
    let values: [Value<'_>; 9] = [
        id.as_str().into(),
        file.name.as_str().into(),
        file.base_hash.as_deref().into(),
        file.file_hash.as_deref().into(),
        file.stamp.as_str().into(),
        content.map(|content| content.base_hash.as_str()).into(),
        content.map(|content| content.file_hash.as_str()).into(),
        file.pending.as_ref().map(|pending| pending.temp.as_str()).into(),
        i64::from(file.is_erased).into(),
    ];
    tx.execute(PUT_FILE, &values).map(|_| ())
}

/// Forgets the file of a note.
pub fn forget_file(tx: &Tx<'_>, id: &MountId, name: &NoteName) -> Result<()> {
    tx.execute(FORGET_FILE, &[id.as_str().into(), name.as_str().into()]).map(|_| ())
}

/// Forgets all files of a mount but those that must be erased.
pub fn forget_files(tx: &Tx<'_>, id: &MountId) -> Result<()> {
    tx.execute(FORGET_FILES, &[id.as_str().into()]).map(|_| ())
}

/// Files that must be erased: the folder and the note.
pub fn erased(tx: &Tx<'_>) -> Result<Vec<(String, NoteName)>> {
    tx.all(ERASED, &[], |row| Ok((row.text(0)?.to_owned(), NoteName::parse(row.text(1)?)?)))
}

fn read(row: &dyn Row) -> Result<MountedFile> {
    let content = match (row.opt_string(4)?, row.opt_string(5)?) {
        (Some(base_hash), Some(file_hash)) => Some(PendingContent { base_hash, file_hash }),
        _ => None,
    };
    Ok(MountedFile {
        name: NoteName::parse(row.text(0)?)?,
        base_hash: row.opt_string(1)?,
        file_hash: row.opt_string(2)?,
        stamp: row.text(3)?.to_owned(),
        pending: row.opt_string(6)?.map(|temp| PendingWrite { temp, content }),
        is_erased: row.int(7)? != 0,
    })
}
