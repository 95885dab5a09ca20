//! What `stats` answers.

use crate::Timestamp;
use serde::Serialize;

/// Figures of a space.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    /// The space.
    pub space: String,
    /// Where it is kept, without secrets.
    pub store: String,
    /// The engine: sqlite or postgres.
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
    /// Jobs that wait or run.
    pub jobs: i64,
    /// Bytes on disk, the write-ahead log included.
    pub bytes: i64,
    /// The text index.
    pub index: IndexStats,
    /// When something was last said.
    pub last_active_at: Option<Timestamp>,
    /// Known copies of the store.
    pub backups: Vec<BackupRecord>,
}

/// Sessions that have something in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionGroup {
    /// The source, or the project.
    pub name: String,
    /// How many sessions have it.
    pub sessions: i64,
}

/// Figures of the text index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupRecord {
    /// Where it was written.
    pub path: String,
    /// When.
    pub at: Timestamp,
    /// Why: backup or migration.
    pub reason: String,
}

/// How much was said, day by day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// Days in UTC, oldest first, those without a word included.
    pub days: Vec<DayActivity>,
}

/// How much was said on one day: messages with words in them, by who spoke.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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
