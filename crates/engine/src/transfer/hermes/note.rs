//! What an import leaves behind for the next one: how far a session was read, where each message
//! stood, and marks of what its fields were, so that what hermes changed is told from what was
//! changed here. Marks and not words: a note outlives the session, so that what was erased does not
//! come back, and must tell nothing of it.

use oneiro_model::{Error, ErrorKind, Result, SlotName, Timestamp, Visibility};
use oneiro_store::{Tx, slots};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCOPE: &str = "hermes/import";

/// Messages that follow each other in a session and stand alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run(i64, i64, u8, i64);

/// Where the messages of a session stood, in order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    /// Adds the next message.
    pub(super) fn push(&mut self, id: i64, visibility: Visibility) {
        let code = code(visibility);
        match self.0.last_mut() {
            Some(run) if run.2 == code => {
                run.1 = id;
                run.3 += 1;
            }
            _ => self.0.push(Run(id, id, code, 1)),
        }
    }

    /// Where a message stood.
    pub(super) fn at(&self, id: i64) -> Option<Visibility> {
        let place = self.0.partition_point(|run| run.1 < id);
        let run = self.0.get(place).filter(|run| run.0 <= id)?;
        Some(match run.2 {
            0 => Visibility::Live,
            1 => Visibility::Compacted,
            _ => Visibility::Rewound,
        })
    }

    /// How many messages stood where: live, compacted, rewound.
    pub(super) fn counts(&self) -> [i64; 3] {
        let mut counts = [0; 3];
        for run in &self.0 {
            if let Some(count) = counts.get_mut(usize::from(run.2.min(2))) {
                *count += run.3;
            }
        }
        counts
    }
}

fn code(visibility: Visibility) -> u8 {
    match visibility {
        Visibility::Live => 0,
        Visibility::Compacted => 1,
        Visibility::Rewound => 2,
    }
}

/// What the last import knew of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Note {
    /// The mark of the whole row with its accounts.
    pub(super) row: i64,
    /// Marks of the fields as they were stored.
    pub(super) fields: BTreeMap<String, i64>,
    /// The mark of the title that hermes had.
    pub(super) title_told: i64,
    /// The mark of the title that was given here.
    pub(super) title_given: i64,
    /// What the session had used.
    pub(super) totals: [i64; 8],
    /// What each account had used, by the mark of its name.
    pub(super) accounts: BTreeMap<String, [i64; 8]>,
    /// The mark of its parent and how it descends.
    pub(super) link: i64,
    /// The last message that was taken; ids may be anything, so nothing is not 0.
    pub(super) until: Option<i64>,
    /// Where its messages stood.
    pub(super) runs: Runs,
    /// Messages that could not be kept.
    pub(super) lost: Vec<i64>,
}

impl Note {
    /// The note of a session, by the id it has in the file.
    pub(super) fn read(tx: &Tx<'_>, id: &[u8]) -> Result<Option<Note>> {
        let Some(slot) = slots::get(tx, &name_of(id)?)? else { return Ok(None) };
        serde_json::from_value(slot.value).map(Some).map_err(|error| {
            Error::new(ErrorKind::Corrupt, "the note of an earlier import cannot be read")
                .remedy("restore the newest backup")
                .because(error)
        })
    }

    pub(super) fn write(&self, tx: &Tx<'_>, id: &[u8], now: Timestamp) -> Result<()> {
        slots::put(tx, &name_of(id)?, (&json!(self), None), now)
    }
}

fn name_of(id: &[u8]) -> Result<SlotName> {
    SlotName::new(SCOPE, blake3::hash(id).to_hex().as_str())
}

/// How far a whole file was read, so that the next import reads less of it.
pub(super) fn read_until(tx: &Tx<'_>, path: &str) -> Result<Option<i64>> {
    let slot = slots::get(tx, &file_name(path)?)?;
    Ok(slot.and_then(|slot| slot.value.as_i64()))
}

pub(super) fn write_until(tx: &Tx<'_>, path: &str, (until, now): (i64, Timestamp)) -> Result<()> {
    slots::put(tx, &file_name(path)?, (&Value::from(until), None), now)
}

fn file_name(path: &str) -> Result<SlotName> {
    SlotName::new(SCOPE, format!("file {}", blake3::hash(path.as_bytes()).to_hex()))
}

/// The marks of the values that one table left in slots.
pub(super) fn read_marks(tx: &Tx<'_>, table: &str) -> Result<BTreeMap<String, i64>> {
    let slot = slots::get(tx, &SlotName::new(SCOPE, format!("table {table}"))?)?;
    Ok(slot.and_then(|slot| serde_json::from_value(slot.value).ok()).unwrap_or_default())
}

pub(super) fn write_marks(
    tx: &Tx<'_>,
    table: &str,
    (marks, now): (&BTreeMap<String, i64>, Timestamp),
) -> Result<()> {
    slots::put(tx, &SlotName::new(SCOPE, format!("table {table}"))?, (&json!(marks), None), now)
}

/// The mark of a text: enough to tell whether it changed.
pub(super) fn mark(text: &str) -> i64 {
    let hash = blake3::hash(text.as_bytes());
    let mut first = [0; 8];
    first.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    // One of them means that there is nothing.
    i64::from_le_bytes(first) | 1
}

/// The mark of a value that may be absent; 0 when it is.
pub(super) fn mark_of(value: Option<&str>) -> i64 {
    value.map_or(0, mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_tell_where_each_message_stood() {
        let mut runs = Runs::default();
        for (id, visibility) in [
            (2, Visibility::Compacted),
            (5, Visibility::Compacted),
            (6, Visibility::Live),
            (9, Visibility::Rewound),
        ] {
            runs.push(id, visibility);
        }
        assert_eq!(runs.counts(), [1, 2, 1]);
        assert_eq!(runs.at(5), Some(Visibility::Compacted));
        assert_eq!(runs.at(9), Some(Visibility::Rewound));
        assert_eq!(runs.at(7), None);
        let again: Runs = serde_json::from_value(json!(runs)).unwrap();
        assert_eq!(again, runs);
    }
}
