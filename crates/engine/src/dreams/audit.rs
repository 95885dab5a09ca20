//! Audits what dreams store: candidates whose memory is gone, too many of them, leases of dead processes and
//! notes over their budget. Repairs are idempotent, and run before each dream.

use super::ledger::is_held;
use crate::Oneiro;
use crate::notes::{dream_notes, note_chars};
use oneiro_model::{DreamId, Result, Timestamp};
use oneiro_store::dreams::DreamLease;
use oneiro_store::{Tx, dream_candidates, dreams};
use serde::Serialize;

/// Candidates that are kept, at most.
const CANDIDATES_MAX: i64 = 200_000;

/// How bad an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It costs room or time.
    Warning,
    /// Something is wrong.
    Error,
}

/// One issue of what dreams store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DreamIssue {
    /// What it is, for programs.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, for people.
    pub message: String,
    /// Whether a repair removes it.
    pub fixable: bool,
}

/// The issues of a space.
pub(crate) fn audit(oneiro: &Oneiro, tx: &Tx<'_>, now: Timestamp) -> Result<Vec<DreamIssue>> {
    let mut issues = Vec::new();
    let mut add = |code, message: String, fixable| {
        issues.push(DreamIssue { code, severity: Severity::Warning, message, fixable });
    };
    for id in dream_candidates::dangling(tx)? {
        add("dream-candidate-dangling", format!("the memory of {id} is removed"), true);
    }
    let count = dream_candidates::count(tx)?;
    if count > CANDIDATES_MAX {
        let message = format!("{count} candidates are stored, and {CANDIDATES_MAX} are kept");
        add("dream-candidates-over-limit", message, true);
    }
    for (id, _) in stale_leases(tx, now)? {
        let message = format!("the process of {id} died; nothing of it was applied");
        add("dream-lease-stale", message, true);
    }
    let settings = oneiro.settings_in(tx)?;
    let notes = dream_notes(tx, &settings)?;
    for (name, note) in notes.iter() {
        let chars = note_chars(&note.text);
        if let Some(limit) = notes.budget(name).filter(|limit| chars > *limit) {
            let message = format!("{name} has {chars} of {limit} characters");
            add("note-over-budget", message, false);
        }
    }
    Ok(issues)
}

fn stale_leases(tx: &Tx<'_>, now: Timestamp) -> Result<Vec<(DreamId, DreamLease)>> {
    let running = dreams::running(tx)?.into_iter();
    Ok(running.filter(|(_, lease)| !is_held(lease, now)).collect())
}

impl Oneiro {
    /// Repairs what dreams store; returns what it did.
    pub fn repair_dreams(&self) -> Result<Vec<String>> {
        let now = self.now();
        let is_needed = self.store.read(|tx| {
            Ok(!dream_candidates::dangling(tx)?.is_empty()
                || dream_candidates::count(tx)? > CANDIDATES_MAX
                || !stale_leases(tx, now)?.is_empty())
        })?;
        if !is_needed {
            return Ok(Vec::new());
        }
        self.store.write(move |tx| {
            let mut done = Vec::new();
            let removed = dream_candidates::remove_dangling(tx)?;
            if removed > 0 {
                done.push(format!("removed {removed} candidates whose memory is removed"));
            }
            let over = dream_candidates::count(tx)? - CANDIDATES_MAX;
            if over > 0 {
                let removed = dream_candidates::remove_worst(tx, over)?;
                done.push(format!("removed the {removed} worst candidates"));
            }
            for (id, _) in stale_leases(tx, now)? {
                dreams::abandon(tx, &id, now, "its process died; nothing was applied")?;
                done.push(format!("ended {id}, whose process died"));
            }
            Ok(done)
        })
    }
}
