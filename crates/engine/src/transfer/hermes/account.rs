//! What an import of hermes did, and whether both sides hold the same.

use super::value::Repairs;
use serde::Serialize;
use std::collections::BTreeMap;

/// Sessions, and messages by where they stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HermesCounts {
    /// Sessions.
    pub sessions: i64,
    /// Messages of the conversation as it is.
    pub live: i64,
    /// Messages that a summary took the place of.
    pub compacted: i64,
    /// Messages that were taken back.
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

/// A row that could not be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotKept {
    /// Its table.
    pub table: &'static str,
    /// Its number in the table.
    pub id: i64,
    /// Why.
    pub reason: String,
}

/// A session of which the two sides hold different messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HermesDifference {
    /// The session.
    pub session: String,
    /// Messages of the file that are not stored.
    pub missing: usize,
    /// Messages that stand elsewhere here.
    pub elsewhere: usize,
}

/// What an import of hermes did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HermesImported {
    /// The version of the file.
    pub version: i64,
    /// Sessions that began, or would begin.
    pub sessions: usize,
    /// Messages that were stored, or would be.
    pub messages: usize,
    /// Known sessions that were brought up to date.
    pub sessions_changed: usize,
    /// Known messages that stand elsewhere now.
    pub messages_changed: usize,
    /// What the file holds.
    pub file: HermesCounts,
    /// What is stored of it.
    pub store: HermesCounts,
    /// Whether everything in the file is stored, or was and was changed here; a dry run does not
    /// tell.
    pub agrees: Option<bool>,
    /// Sessions that do not agree, the first hundred.
    pub differences: Vec<HermesDifference>,
    /// Rows that could not be kept.
    pub not_kept: Vec<NotKept>,
    /// Sessions of the file that are left out: removed here, or a pattern matches.
    pub left_out_sessions: usize,
    /// Messages of the file that are left out with them, or were removed here.
    pub left_out: usize,
    /// Changes of hermes that were not taken over, since the same was changed here.
    pub kept_here: usize,
    /// Messages that hermes has replaced, and that are taken back here.
    pub replaced: usize,
    /// Sessions whose parent is missing or descends from them: they have none here.
    pub detached: usize,
    /// Titles that more than one session had: they are numbered.
    pub retitled: usize,
    /// What had to be put right, by kind.
    pub repaired: BTreeMap<&'static str, usize>,
    /// `<private>` spans withheld.
    pub withheld: usize,
    /// Values of other tables, kept as slots.
    pub slots: usize,
    /// Tables that are not taken over, with the number of their rows.
    pub tables_left: BTreeMap<String, i64>,
    /// What else is worth knowing.
    pub warnings: Vec<String>,
}

impl HermesImported {
    pub(super) fn repaired(&mut self, repairs: &Repairs) {
        for (kind, count) in &repairs.0 {
            *self.repaired.entry(kind).or_default() += count;
        }
    }

    /// Adds what an attempt did before the file changed under it and it was begun anew.
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
