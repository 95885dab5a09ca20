//! Audits what dreams store: rows that cannot be read, candidates and decisions that point to nothing, too many
//! candidates, leases of dead processes, notes over their budget and mounted files that were changed. Repairs are
//! idempotent; all but the search for rows that cannot be read run before each dream.

use super::ledger::is_held;
use crate::Oneiro;
use crate::notes::{dream_notes, note_chars};
use oneiro_model::{DreamId, Result, Timestamp};
use oneiro_store::dreams::DreamLease;
use oneiro_store::{Tx, dream_candidates, dreams, mounts, notes};
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
    let mut issues = unreadable_rows(tx)?;
    if !issues.is_empty() {
        // What cannot be read cannot be checked further.
        return Ok(issues);
    }
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
    for (place, count) in drifted(tx)? {
        let message = format!(
            "{count} notes and their files in {place} differ; listing the mounts syncs them"
        );
        add("mirror-drift", message, false);
    }
    Ok(issues)
}

/// Mounted folders with the number of notes that were changed since they and their files were the same.
fn drifted(tx: &Tx<'_>) -> Result<Vec<(String, usize)>> {
    let mut found = Vec::new();
    for mount in mounts::all(tx)? {
        let mut count = 0;
        for file in mounts::files(tx, &mount.id)?.iter().filter(|file| !file.is_erased) {
            let note = notes::get(tx, &file.name)?.map(|note| note.hash);
            count += usize::from(file.pending.is_some() || note != file.base_hash);
        }
        if count > 0 {
            found.push((mount.path.clone(), count));
        }
    }
    Ok(found)
}

/// Rows that cannot be read, which stop every dream.
fn unreadable_rows(tx: &Tx<'_>) -> Result<Vec<DreamIssue>> {
    let issue = |code, id: &str, problem: &str| DreamIssue {
        code,
        severity: Severity::Error,
        message: format!("{id}: {problem}"),
        fixable: true,
    };
    let rows = dreams::unreadable(tx)?;
    let mut issues: Vec<DreamIssue> =
        rows.iter().map(|(id, problem)| issue("dream-row-invalid", id, problem)).collect();
    let rows = dream_candidates::unreadable(tx)?;
    issues.extend(rows.iter().map(|(id, it)| issue("dream-candidate-invalid", id, it)));
    Ok(issues)
}

/// Removes rows that cannot be read. A candidate is found again as long as its memory speaks for it.
fn remove_unreadable(tx: &Tx<'_>) -> Result<Vec<String>> {
    let mut done = Vec::new();
    for (id, _) in dreams::unreadable(tx)? {
        dreams::remove_unreadable(tx, &id)?;
        done.push(format!("removed the dream {id}, which could not be read"));
    }
    for (id, _) in dream_candidates::unreadable(tx)? {
        dream_candidates::remove_unreadable(tx, &id)?;
        done.push(format!("removed the candidate {id}, which could not be read"));
    }
    Ok(done)
}

fn stale_leases(tx: &Tx<'_>, now: Timestamp) -> Result<Vec<(DreamId, DreamLease)>> {
    let running = dreams::running(tx)?.into_iter();
    Ok(running.filter(|(_, lease)| !is_held(lease, now)).collect())
}

impl Oneiro {
    /// Repairs what dreams store; returns what it did.
    pub fn repair_dreams(&self) -> Result<Vec<String>> {
        let is_readable = self.store.read(|tx| Ok(unreadable_rows(tx)?.is_empty()))?;
        let mut done =
            if is_readable { Vec::new() } else { self.store.write(remove_unreadable)? };
        done.extend(self.repair_before_dream()?);
        Ok(done)
    }

    /// The repairs that cost little.
    pub(super) fn repair_before_dream(&self) -> Result<Vec<String>> {
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
