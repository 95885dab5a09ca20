//! What an import stores for the next one: how far each session was read, the visibility of its
//! messages, and fingerprints of its fields, which tell changes of hermes from changes made here. A
//! checkpoint outlives its session, so that erased sessions are not imported again; therefore it
//! contains fingerprints and no text.

use oneiro_model::{Error, ErrorKind, Result, SlotName, Timestamp, Visibility};
use oneiro_store::slots::SlotValue;
use oneiro_store::{Tx, slots};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCOPE: &str = "hermes/import";

/// Consecutive messages of the same visibility: first id, last id, visibility, count. Stored as an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run(i64, i64, u8, i64);

/// The visibility of the messages of a session, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct VisibilityRuns(Vec<Run>);

impl VisibilityRuns {
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

    /// The visibility of a message.
    pub(super) fn at(&self, id: i64) -> Option<Visibility> {
        let place = self.0.partition_point(|run| run.1 < id);
        let run = self.0.get(place).filter(|run| run.0 <= id)?;
        Some(match run.2 {
            0 => Visibility::Live,
            1 => Visibility::Compacted,
            _ => Visibility::Rewound,
        })
    }

    /// The number of live, compacted and rewound messages.
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

/// The state of a session at the last import.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Checkpoint {
    /// The fingerprint of the row with its accounts.
    pub(super) row: i64,
    /// Fingerprints of the fields.
    pub(super) fields: BTreeMap<String, i64>,
    /// The fingerprint of the title in hermes.
    pub(super) title_told: i64,
    /// The fingerprint of the title that was stored.
    pub(super) title_given: i64,
    /// The usage of the session.
    pub(super) totals: [i64; 8],
    /// The usage of each account, by the fingerprint of its key.
    pub(super) accounts: BTreeMap<String, [i64; 8]>,
    /// The fingerprint of its parent and lineage.
    pub(super) link: i64,
    /// The last message that was stored. `None` rather than 0, because ids may be negative.
    pub(super) until: Option<i64>,
    /// The visibility of its messages.
    pub(super) runs: VisibilityRuns,
    /// Messages that could not be stored.
    pub(super) lost: Vec<i64>,
}

impl Checkpoint {
    /// The checkpoint of a session, by its id in the file.
    pub(super) fn read(tx: &Tx<'_>, id: &[u8]) -> Result<Option<Checkpoint>> {
        let Some(slot) = slots::get(tx, &name_of(id)?)? else { return Ok(None) };
        serde_json::from_value(slot.value).map(Some).map_err(|error| {
            Error::new(ErrorKind::Corrupt, "the state of an earlier import cannot be read")
                .remedy("restore the newest backup")
                .because(error)
        })
    }

    pub(super) fn write(&self, tx: &Tx<'_>, id: &[u8], now: Timestamp) -> Result<()> {
        put_slot(tx, &name_of(id)?, &json!(self), now)
    }
}

fn put_slot(tx: &Tx<'_>, slot: &SlotName, value: &Value, now: Timestamp) -> Result<()> {
    slots::put(tx, slot, SlotValue { value, session_key: None }, now)
}

fn name_of(id: &[u8]) -> Result<SlotName> {
    SlotName::new(SCOPE, blake3::hash(id).to_hex().as_str())
}

/// The last message that was read of a file.
pub(super) fn read_until(tx: &Tx<'_>, path: &str) -> Result<Option<i64>> {
    let slot = slots::get(tx, &file_name(path)?)?;
    Ok(slot.and_then(|slot| slot.value.as_i64()))
}

pub(super) fn write_until(tx: &Tx<'_>, path: &str, until: i64, now: Timestamp) -> Result<()> {
    put_slot(tx, &file_name(path)?, &Value::from(until), now)
}

fn file_name(path: &str) -> Result<SlotName> {
    SlotName::new(SCOPE, format!("file {}", blake3::hash(path.as_bytes()).to_hex()))
}

/// The fingerprints of the slots of a table.
pub(super) fn read_fingerprints(tx: &Tx<'_>, table: &str) -> Result<BTreeMap<String, i64>> {
    let slot = slots::get(tx, &SlotName::new(SCOPE, format!("table {table}"))?)?;
    Ok(slot.and_then(|slot| serde_json::from_value(slot.value).ok()).unwrap_or_default())
}

pub(super) fn write_fingerprints(
    tx: &Tx<'_>,
    table: &str,
    fingerprints: &BTreeMap<String, i64>,
    now: Timestamp,
) -> Result<()> {
    put_slot(tx, &SlotName::new(SCOPE, format!("table {table}"))?, &json!(fingerprints), now)
}

/// A hash that changes with the text; never 0.
pub(super) fn fingerprint(text: &str) -> i64 {
    let hash = blake3::hash(text.as_bytes());
    let mut first = [0; 8];
    first.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    // 0 means that there is no text.
    i64::from_le_bytes(first) | 1
}

/// The fingerprint of an optional text; 0 for `None`.
pub(super) fn fingerprint_of(value: Option<&str>) -> i64 {
    value.map_or(0, fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_return_the_visibility_of_each_message() {
        let mut runs = VisibilityRuns::default();
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
        let again: VisibilityRuns = serde_json::from_value(json!(runs)).unwrap();
        assert_eq!(again, runs);
    }
}
