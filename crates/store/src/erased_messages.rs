//! Messages that were erased and have an external id. Transcripts still hold them: they must not be
//! captured again.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{Result, SessionId};

statements! {
    ADD = "INSERT INTO erased_messages (id_hash) VALUES (?1) ON CONFLICT (id_hash) DO NOTHING";
    IS_ERASED = "SELECT id_hash FROM erased_messages WHERE id_hash = ?1";
    ANY = "SELECT id_hash FROM erased_messages LIMIT 1";
}

pub(crate) const TABLES: &[Table] = &[Table { name: "erased_messages", columns: "id_hash" }];

/// Remembers that a message was erased.
pub fn add(tx: &Tx<'_>, session: &SessionId, external_id: &str) -> Result<()> {
    tx.execute(ADD, &[(&id_hash(session, external_id)).into()]).map(|_| ())
}

/// Whether a message was erased.
pub fn is_erased(tx: &Tx<'_>, session: &SessionId, external_id: &str) -> Result<bool> {
    Ok(tx.first(IS_ERASED, &[(&id_hash(session, external_id)).into()], |_| Ok(()))?.is_some())
}

/// Whether any message was erased.
pub fn any(tx: &Tx<'_>) -> Result<bool> {
    Ok(tx.first(ANY, &[], |_| Ok(()))?.is_some())
}

/// A hash, because the row outlives the erasure, and the ids themselves may be text of somebody. A
/// UUID is the same message in every session, since agents copy lines into other transcripts; another
/// id is one in its session.
fn id_hash(session: &SessionId, external_id: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    if !begins_with_uuid(external_id) {
        hasher.update(session.as_str().as_bytes());
    }
    hasher.update(b"\0").update(external_id.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// Whether an id is a UUID, or one with the number of a message in its line: `UUID#2`.
fn begins_with_uuid(id: &str) -> bool {
    let line = id.split_once('#').map_or(id, |(line, _)| line);
    let groups = line.split('-').map(str::len);
    groups.eq([8, 4, 4, 4, 12]) && line.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}
