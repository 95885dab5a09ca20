//! What `stats` answers.

use crate::contract::Request;
use crate::{Error, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a space.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stats {
    /// The space.
    pub space: String,
    /// Where it is kept, without secrets.
    pub store: String,
    /// The engine: sqlite or postgres.
    #[schemars(extend("enum" = ["sqlite", "postgres"]))]
    pub engine: String,
    /// The version of its schema.
    pub schema: i64,
    /// Sessions.
    pub sessions: i64,
    /// Sessions that have not ended.
    pub open_sessions: i64,
    /// Sessions by source, the largest group first.
    pub sources: Vec<SessionGroup>,
    /// Sessions by project, the largest group first.
    pub projects: Vec<SessionGroup>,
    /// Messages that are not rewound.
    pub messages: i64,
    /// Messages that are rewound.
    pub rewound: i64,
    /// Payloads kept apart, each once.
    pub payloads: i64,
    /// Lone surrogates replaced since the beginning.
    pub repaired: i64,
    /// Notes.
    pub notes: i64,
    /// Revisions of the notes.
    pub revisions: i64,
    /// Jobs that wait or run.
    pub jobs: i64,
    /// Bytes on disk, the write-ahead log included.
    pub bytes: i64,
    /// The text index.
    pub index: IndexStats,
    /// When the earliest session started.
    pub first_active_at: Option<Timestamp>,
    /// When the latest message was stored.
    pub last_active_at: Option<Timestamp>,
    /// Known copies of the store.
    pub backups: Vec<BackupRecord>,
}

/// Sessions that have something in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionGroup {
    /// The source, or the project.
    pub name: String,
    /// How many sessions have it.
    pub sessions: i64,
}

/// Figures of the text index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IndexStats {
    /// Segments that answer.
    pub segments: usize,
    /// Documents in them: a message has one to each chunk.
    pub docs: i64,
    /// Messages after the last segment, which searches read as they are.
    pub tail: i64,
    /// The model of the vectors, if all segments have those of one.
    pub vectors: Option<String>,
}

/// A copy of the store that was made and may still be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackupRecord {
    /// Where it was written.
    pub path: String,
    /// When.
    pub at: Timestamp,
    /// Why: backup or migration.
    pub reason: String,
}

/// How many days of activity are answered.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ActivityRequest {
    /// Number of days, today included.
    #[schemars(range(min = 1, max = ACTIVITY_DAYS_MAX))]
    pub days: usize,
}

/// The most days of activity: ten years.
const ACTIVITY_DAYS_MAX: usize = 3_660;

impl Default for ActivityRequest {
    fn default() -> ActivityRequest {
        ActivityRequest { days: 30 }
    }
}

impl Request for ActivityRequest {}

/// A copy of the space to make.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupRequest {
    /// A plain file name that ends in `.db`; one is made from the time when absent.
    #[schemars(length(max = COPY_NAME_MAX), regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*\\.db$"))]
    pub name: Option<String>,
}

/// The most characters of the name of a copy.
const COPY_NAME_MAX: usize = 84;

impl Request for BackupRequest {
    /// A name is no path: permission to ask for a copy is no permission to choose where it goes.
    fn check(&self) -> Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let good = name.bytes().all(is_plain)
            && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
            && name.ends_with(".db");
        if good {
            return Ok(());
        }
        Err(Error::field("name", "is not a plain file name that ends in .db")
            .remedy("use letters, digits, `.`, `-` and `_`, as in monday.db"))
    }
}

/// A copy of the space that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackupMade {
    /// Where it is.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// How much was said, day by day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Activity {
    /// Days in UTC, oldest first, those without a word included.
    pub days: Vec<DayActivity>,
}

/// How much was said on one day: messages with words in them, by who spoke.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayActivity {
    /// The day, as `2026-01-31`.
    pub date: String,
    /// By people.
    pub user: u64,
    /// By agents.
    pub assistant: u64,
    /// By tools.
    pub tool: u64,
    /// By anybody else.
    pub other: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_copy_is_no_path() {
        let named = |name: &str| BackupRequest { name: Some(name.to_owned()) }.check();
        for good in ["monday.db", "a.db", "2026-01-31_default.db"] {
            assert!(named(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".db",
            "x",
            "../x.db",
            "a/b.db",
            "/x.db",
            "..\\x.db",
            "-x.db",
            "x.db\n",
            "\u{e9}.db",
        ] {
            assert_eq!(named(bad).unwrap_err().field_name(), Some("name"), "{bad:?}");
        }
    }
}
