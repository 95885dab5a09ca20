//! The one-row counters of a space: message ids, internal keys, and the generation of the
//! settings. Taken inside the write transaction, so commit order is sequence order and nothing is
//! ever used twice.

use crate::Tx;
use oneiro_model::Result;

statements! {
    TAKE_MESSAGES =
        "UPDATE sequence SET message = message + CAST(?1 AS BIGINT) WHERE id = 1 RETURNING message, settings";
    TAKE_KEY = "UPDATE sequence SET key = key + 1 WHERE id = 1 RETURNING key";
    CHANGE_SETTINGS = "UPDATE sequence SET settings = CAST(?1 AS BIGINT) WHERE id = 1";
    SETTINGS = "SELECT settings FROM sequence WHERE id = 1";
}

/// Message ids taken from the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// The first of them; the others follow without a gap.
    pub first: i64,
    /// The generation of the settings, read for free.
    pub settings: i64,
}

/// Takes `count` message ids.
pub fn take_messages(tx: &Tx<'_>, count: usize) -> Result<Taken> {
    let count = count as i64;
    tx.one(TAKE_MESSAGES, &[count.into()], |row| {
        Ok(Taken { first: row.int(0)? - count + 1, settings: row.int(1)? })
    })
}

/// Takes one internal key.
pub fn take_key(tx: &Tx<'_>) -> Result<i64> {
    tx.one(TAKE_KEY, &[], |row| row.int(0))
}

/// Says that the settings changed. Generations are random: one that was rolled back after
/// somebody had read it must not come again with other settings.
pub(crate) fn change_settings(tx: &Tx<'_>) -> Result<()> {
    tx.execute(CHANGE_SETTINGS, &[fastrand::i64(1..).into()]).map(|_| ())
}

/// The generation of the settings.
pub fn settings_generation(tx: &Tx<'_>) -> Result<i64> {
    tx.one(SETTINGS, &[], |row| row.int(0))
}
