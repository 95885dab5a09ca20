//! What people chose to capture, the pauses, and the lease of the process that reads transcripts
//! now.

use crate::Tx;
use crate::aggregates::Table;
use crate::settings;
use oneiro_model::{CapturePause, CaptureProject, CaptureSwitch, Result, Span, Timestamp};
use serde::{Deserialize, Serialize};

statements! {
    PROJECTS = "SELECT folder, capture, chosen_at FROM capture_projects ORDER BY folder";
    CHOOSE = "INSERT INTO capture_projects (folder, capture, chosen_at) VALUES (?1, ?2, ?3) \
              ON CONFLICT (folder) DO UPDATE SET capture = excluded.capture, \
              chosen_at = excluded.chosen_at WHERE capture_projects.capture <> excluded.capture";
    FORGET = "DELETE FROM capture_projects WHERE folder = ?1";
    FORGET_ON = "DELETE FROM capture_projects WHERE folder = ?1 AND capture = ?2";
    PAUSES = "SELECT started_at, ended_at FROM capture_pauses ORDER BY started_at";
    PAUSE = "INSERT INTO capture_pauses (started_at, ended_at) VALUES (?1, ?2) \
             ON CONFLICT (started_at) DO UPDATE SET ended_at = excluded.ended_at";
    END_PAUSES = "UPDATE capture_pauses SET ended_at = ?1 \
                  WHERE ended_at IS NULL OR ended_at > CAST(?1 AS BIGINT)";
    // A lease much further off than leases last was taken before the clock stepped back.
    LEASE = "INSERT INTO capture_lease (id, holder, lease_until) VALUES (1, ?1, ?2) \
             ON CONFLICT (id) DO UPDATE SET holder = ?1, lease_until = ?2 \
             WHERE capture_lease.holder IS NULL OR capture_lease.holder = ?1 \
             OR capture_lease.lease_until <= CAST(?3 AS BIGINT) \
             OR capture_lease.lease_until > CAST(?4 AS BIGINT)";
    HOLDER = "SELECT holder FROM capture_lease WHERE holder IS NOT NULL";
    RELEASE = "UPDATE capture_lease SET holder = NULL, lease_until = NULL WHERE holder = ?1";
    FOLDERS = "SELECT folder FROM capture_projects";
}

pub(crate) const TABLES: &[Table] = &[
    Table { name: "capture_projects", columns: "folder, capture, chosen_at" },
    Table { name: "capture_pauses", columns: "started_at, ended_at" },
    Table { name: "capture_lease", columns: "id, holder, lease_until" },
];

/// Time after which a lease that is not renewed expires.
pub const LEASE_DURATION: Span = Span::seconds(90);

/// A lease that ends later was taken before the clock stepped back.
const LEASE_HORIZON: Span = Span::seconds(900);

/// The folder under which the choice for projects without one of their own is kept. No project has
/// an empty folder.
const OTHER_PROJECTS: &str = "";

/// The row of `settings` that holds the times in which folders were not captured.
const GAPS: &str = "capture_gaps";

/// A time in which a folder was off or excluded, before it was switched on again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureGap {
    /// The folder; empty for projects without a choice of their own.
    pub folder: String,
    /// Whether the folders below it are meant too.
    pub is_tree: bool,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
}

impl CaptureGap {
    /// The time.
    pub fn pause(&self) -> CapturePause {
        CapturePause { started_at: self.started_at, ended_at: Some(self.ended_at) }
    }
}

/// What people chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// By folder.
    pub projects: Vec<CaptureProject>,
    /// For projects without a choice of their own; its folder is empty.
    pub other_projects: Option<CaptureProject>,
    /// Those that are over included, the oldest first.
    pub pauses: Vec<CapturePause>,
    /// The times in which folders that are on now were not.
    pub gaps: Vec<CaptureGap>,
}

/// Every choice and every pause.
pub fn choices(tx: &Tx<'_>) -> Result<Choices> {
    let mut projects = tx.all(PROJECTS, &[], |row| {
        Ok(CaptureProject {
            folder: row.text(0)?.to_owned(),
            capture: CaptureSwitch::parse(row.text(1)?)?,
            chosen_at: Timestamp::from_micros(row.int(2)?),
        })
    })?;
    let other = projects.iter().position(|project| project.folder == OTHER_PROJECTS);
    let other_projects = other.map(|at| projects.remove(at));
    Ok(Choices { projects, other_projects, pauses: pauses(tx)?, gaps: gaps(tx)? })
}

/// Every pause, those that are over included, the oldest first.
pub fn pauses(tx: &Tx<'_>) -> Result<Vec<CapturePause>> {
    tx.all(PAUSES, &[], |row| {
        Ok(CapturePause {
            started_at: Timestamp::from_micros(row.int(0)?),
            ended_at: row.opt_int(1)?.map(Timestamp::from_micros),
        })
    })
}

fn gaps(tx: &Tx<'_>) -> Result<Vec<CaptureGap>> {
    let stored = settings::get(tx, GAPS)?;
    Ok(stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Stores that a folder was not captured for a time.
pub fn add_gap(tx: &Tx<'_>, gap: CaptureGap, now: Timestamp) -> Result<()> {
    let mut gaps = gaps(tx)?;
    gaps.push(gap);
    settings::put(tx, GAPS, serde_json::to_string(&gaps).ok().as_deref(), now)
}

/// Stores a choice for a project, or with `None` for those without one. A choice that was made
/// before keeps its time.
pub fn choose(
    tx: &Tx<'_>,
    folder: Option<&str>,
    capture: CaptureSwitch,
    now: Timestamp,
) -> Result<()> {
    let folder = folder.unwrap_or(OTHER_PROJECTS);
    tx.execute(CHOOSE, &[folder.into(), capture.as_str().into(), now.micros().into()]).map(|_| ())
}

/// Removes the choice for a project.
pub fn forget(tx: &Tx<'_>, folder: &str) -> Result<()> {
    tx.execute(FORGET, &[folder.into()]).map(|_| ())
}

/// Removes the choice for a project, or with `None` for those without one, if it is `on`. Returns
/// whether it was.
pub fn forget_on(tx: &Tx<'_>, folder: Option<&str>) -> Result<bool> {
    let folder = folder.unwrap_or(OTHER_PROJECTS);
    Ok(tx.execute(FORGET_ON, &[folder.into(), CaptureSwitch::On.as_str().into()])? > 0)
}

/// Ends the pauses that are not over, and begins one if it is given.
pub fn set_pause(tx: &Tx<'_>, pause: Option<CapturePause>, now: Timestamp) -> Result<()> {
    tx.execute(END_PAUSES, &[now.micros().into()])?;
    let Some(pause) = pause else { return Ok(()) };
    let ended_at = pause.ended_at.map(|at| at.micros());
    tx.execute(PAUSE, &[pause.started_at.micros().into(), ended_at.into()]).map(|_| ())
}

/// Takes the lease, or extends it; false when somebody else holds it.
pub fn lease(tx: &Tx<'_>, holder: &str, now: Timestamp) -> Result<bool> {
    let until = now.plus(LEASE_DURATION).micros();
    let horizon = now.plus(LEASE_HORIZON).micros();
    let values = [holder.into(), until.into(), now.micros().into(), horizon.into()];
    Ok(tx.execute(LEASE, &values)? > 0)
}

/// Who holds the lease, or held it last and did not give it back.
pub fn holder(tx: &Tx<'_>) -> Result<Option<String>> {
    tx.first(HOLDER, &[], |row| row.text(0).map(str::to_owned))
}

/// Gives the lease back.
pub fn release(tx: &Tx<'_>, holder: &str) -> Result<()> {
    tx.execute(RELEASE, &[holder.into()]).map(|_| ())
}

/// Hands over every folder.
pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(FOLDERS, &[], |row| row.text(0).map(|folder| each(folder.as_bytes())))?;
    gaps(tx)?.iter().for_each(|gap| each(gap.folder.as_bytes()));
    Ok(())
}
