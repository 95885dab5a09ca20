//! Check a space: what the engine finds, and whether counters match rows.

use crate::Oneiro;
use oneiro_model::{Result, SessionId};
use oneiro_store::sessions;
use serde::Serialize;

/// What a check found.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What the engine finds wrong with its files.
    pub integrity: Vec<String>,
    /// Sessions whose counters do not match their rows.
    pub miscounted: Vec<SessionId>,
}

impl Oneiro {
    /// Checks the space and changes nothing.
    pub fn check(&self) -> Result<Checked> {
        let integrity = self.store.integrity()?;
        let miscounted = self.store.read(sessions::miscounted)?;
        Ok(Checked { ok: integrity.is_empty() && miscounted.is_empty(), integrity, miscounted })
    }
}
