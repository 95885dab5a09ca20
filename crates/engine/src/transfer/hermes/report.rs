//! The report of an import from hermes.

use super::value::Repairs;
use serde::Serialize;
use std::collections::BTreeMap;

/// Sessions, and messages by visibility.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HermesCounts {
    /// Sessions.
    pub sessions: i64,
    /// Live messages.
    pub live: i64,
    /// Messages that were replaced by a summary.
    pub compacted: i64,
    /// Rewound messages.
    pub rewound: i64,
}

impl HermesCounts {
    /// All messages.
    pub fn messages(&self) -> i64 {
        self.live + self.compacted + self.rewound
    }

    pub(super) fn add(&mut self, [live, compacted, rewound]: [i64; 3]) {
        self.sessions += 1;
        self.live += live;
        self.compacted += compacted;
        self.rewound += rewound;
    }
}

/// A row that could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotKept {
    /// Its table.
    pub table: &'static str,
    /// Its number in the table.
    pub id: i64,
    /// Why.
    pub reason: String,
}

/// A session with different messages in the file and in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HermesDifference {
    /// The session.
    pub session: String,
    /// Messages of the file that are not stored.
    pub missing: usize,
    /// Messages with another visibility.
    pub elsewhere: usize,
}

/// The report of an import.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HermesImported {
    /// The version of the file.
    pub version: i64,
    /// Sessions that were created, or would be.
    pub sessions: usize,
    /// Messages that were stored, or would be.
    pub messages: usize,
    /// Known sessions that were updated.
    pub sessions_changed: usize,
    /// Known messages whose visibility changed.
    pub messages_changed: usize,
    /// What is in the file.
    pub file: HermesCounts,
    /// What is stored of it.
    pub store: HermesCounts,
    /// Whether everything in the file is stored, or was changed here after it was stored; `None` in a
    /// dry run.
    pub agrees: Option<bool>,
    /// The first hundred sessions that differ.
    pub differences: Vec<HermesDifference>,
    /// Rows that could not be imported.
    pub not_kept: Vec<NotKept>,
    /// Sessions of the file that were skipped: deleted here, or excluded by a pattern.
    pub left_out_sessions: usize,
    /// Messages of skipped sessions, or deleted here.
    pub left_out: usize,
    /// Changes of hermes that were not applied, because the same was changed here.
    pub kept_here: usize,
    /// Messages that hermes replaced, and that are rewound here.
    pub replaced: usize,
    /// Sessions whose parent was not set, because it is missing or descends from them.
    pub detached: usize,
    /// Duplicate titles that got a number.
    pub retitled: usize,
    /// Repaired values by kind.
    pub repaired: BTreeMap<&'static str, usize>,
    /// `<private>` spans that were removed.
    pub withheld: usize,
    /// Values of other tables, stored as slots.
    pub slots: usize,
    /// Tables that are not imported, with their numbers of rows.
    pub tables_left: BTreeMap<String, i64>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl HermesImported {
    pub(super) fn repaired(&mut self, repairs: &Repairs) {
        for (kind, count) in &repairs.0 {
            *self.repaired.entry(kind).or_default() += count;
        }
    }

    /// Adds the report of an earlier attempt, which stopped when the file changed.
    pub(super) fn after(mut self, before: HermesImported) -> HermesImported {
        self.sessions += before.sessions;
        self.messages += before.messages;
        self.sessions_changed += before.sessions_changed;
        self.messages_changed += before.messages_changed;
        self.kept_here += before.kept_here;
        self.retitled += before.retitled;
        self
    }
}
