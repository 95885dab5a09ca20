//! What became of the lines of packs: how many there were, what followed, and which memories were served
//! to a project so often without a use that its packs leave them out.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{MemoryId, Result, SignalKind, Timestamp};

/// Memory lines of packs since a time, of a project or of all.
macro_rules! memory_lines {
    ($rest:expr) => {
        concat!(
            "SELECT COUNT(*) FROM pack_items i JOIN packs p ON p.key = i.pack_key \
             WHERE i.kind = 'memory' AND p.created_at >= ?1 \
             AND (CAST(?2 AS TEXT) IS NULL OR p.project = ?2)",
            $rest
        )
    };
}

statements! {
    PACKS = "SELECT COUNT(*), COALESCE(CAST(SUM(tokens) AS BIGINT), 0), \
             COALESCE(CAST(SUM(CASE WHEN text = '' THEN 1 ELSE 0 END) AS BIGINT), 0) FROM packs \
             WHERE created_at >= ?1 AND (CAST(?2 AS TEXT) IS NULL OR project = ?2)";
    LINES = "SELECT COUNT(*) FROM pack_items i JOIN packs p ON p.key = i.pack_key \
             WHERE p.created_at >= ?1 AND (CAST(?2 AS TEXT) IS NULL OR p.project = ?2)";
    MEMORY_LINES = memory_lines!("");
    WITH_SIGNAL = memory_lines!(" AND EXISTS (SELECT 1 FROM signals s \
                  JOIN memories m ON m.key = s.memory_key WHERE m.id = i.item_id AND s.kind = ?3 \
                  AND s.at >= p.created_at AND s.at < p.created_at + CAST(?4 AS BIGINT))");
    CORRECTED = memory_lines!(" AND EXISTS (SELECT 1 FROM operations o WHERE o.subject = i.item_id \
                AND o.at >= p.created_at AND o.undone_by IS NULL \
                AND (o.kind IN ('memory.edit', 'memory.supersede') OR (o.actor_kind = 'person' \
                AND o.kind IN ('memory.forget', 'memory.reject'))))");
    SERVED = "SELECT p.created_at FROM pack_items i JOIN packs p ON p.key = i.pack_key \
              WHERE i.item_id = ?1 AND i.kind = 'memory' AND p.project = ?2 \
              ORDER BY i.pack_key DESC LIMIT CAST(?3 AS BIGINT)";
    RESET = "SELECT m.last_referenced_at, m.confirmed_at, u.at FROM memories m \
             LEFT JOIN unmutes u ON u.memory_key = m.key AND u.project = ?2 WHERE m.id = ?1";
    OFTEN_SERVED = "SELECT i.item_id, p.project FROM pack_items i JOIN packs p ON p.key = i.pack_key \
                    WHERE i.kind = 'memory' AND p.project IS NOT NULL \
                    GROUP BY i.item_id, p.project HAVING COUNT(*) >= CAST(?1 AS BIGINT) \
                    ORDER BY MAX(i.pack_key) DESC";
    PROJECTS_SERVED = "SELECT DISTINCT p.project FROM pack_items i JOIN packs p ON p.key = i.pack_key \
                       WHERE i.item_id = ?1 AND i.kind = 'memory' AND p.project IS NOT NULL \
                       ORDER BY p.project";
    UNMUTE = "INSERT INTO unmutes (memory_key, project, at) \
              SELECT m.key, CAST(?2 AS TEXT), CAST(?3 AS BIGINT) FROM memories m WHERE m.id = ?1 \
              ON CONFLICT (memory_key, project) DO UPDATE SET at = excluded.at";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "unmutes", columns: "memory_key, project, at" }];

/// How often a memory is served to a project without a use before its packs leave it out.
const SERVED_UNUSED_MAX: usize = 8;

/// How long after a pack a signal counts for its lines.
#[derive(Debug, Clone, Copy)]
pub enum Within {
    /// A day: an answer rests on what was just shown.
    Day,
    /// Any time.
    Ever,
}

impl Within {
    fn micros(self) -> i64 {
        match self {
            Within::Day => 24 * 60 * 60 * 1_000_000,
            // Added to a time, it stays in range.
            Within::Ever => i64::MAX / 2,
        }
    }
}

/// Packs that are measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'m> {
    /// Only from this time on.
    pub since: Timestamp,
    /// Only of this project.
    pub project: Option<&'m str>,
}

/// Counts of packs.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackCounts {
    /// Packs, those without lines included.
    pub packs: i64,
    /// Packs without lines.
    pub empty: i64,
    /// Tokens.
    pub tokens: i64,
    /// Lines.
    pub lines: i64,
    /// Lines that are memories.
    pub memory_lines: i64,
    /// Memory lines that were corrected since.
    pub corrected: i64,
}

/// Counts packs and their lines.
pub fn counts(tx: &Tx<'_>, measured: Measured<'_>) -> Result<PackCounts> {
    let values = [measured.since.micros().into(), measured.project.into()];
    let one = |sql| Ok(tx.first(sql, &values, |row| row.int(0))?.unwrap_or_default());
    let packs = tx.first(PACKS, &values, |row| Ok((row.int(0)?, row.int(1)?, row.int(2)?)))?;
    let (packs, tokens, empty) = packs.unwrap_or_default();
    Ok(PackCounts {
        packs,
        empty,
        tokens,
        lines: one(LINES)?,
        memory_lines: one(MEMORY_LINES)?,
        corrected: one(CORRECTED)?,
    })
}

/// Memory lines that a signal followed.
pub fn count_with_signal(
    tx: &Tx<'_>,
    measured: Measured<'_>,
    kind: SignalKind,
    within: Within,
) -> Result<i64> {
    let values = [
        measured.since.micros().into(),
        measured.project.into(),
        kind.as_str().into(),
        within.micros().into(),
    ];
    Ok(tx.first(WITH_SIGNAL, &values, |row| row.int(0))?.unwrap_or_default())
}

/// When a memory was served last, if it is muted in a project: served eight times in packs that are
/// still stored, all after its last use, confirmation and unmuting.
pub fn muted(tx: &Tx<'_>, id: &str, project: &str) -> Result<Option<Timestamp>> {
    let values = [id.into(), project.into(), (SERVED_UNUSED_MAX as i64).into()];
    let served = tx.all(SERVED, &values, |row| row.int(0))?;
    if served.len() < SERVED_UNUSED_MAX {
        return Ok(None);
    }
    let reset = tx.first(RESET, &[id.into(), project.into()], |row| {
        Ok([row.opt_int(0)?, row.opt_int(1)?, row.opt_int(2)?].into_iter().flatten().max())
    })?;
    let is_since = |reset: i64| served.iter().all(|at| *at > reset);
    let is_muted = reset.is_some_and(|reset| reset.is_none_or(is_since));
    Ok(served.into_iter().max().filter(|_| is_muted).map(Timestamp::from_micros))
}

/// A memory that is muted in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Muted {
    /// The memory.
    pub id: MemoryId,
    /// The project.
    pub project: String,
    /// When it was served last.
    pub served_at: Timestamp,
}

/// Every memory that is muted, the last served first.
pub fn all_muted(tx: &Tx<'_>) -> Result<Vec<Muted>> {
    let often = tx.all(OFTEN_SERVED, &[(SERVED_UNUSED_MAX as i64).into()], |row| {
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
    })?;
    let mut found = Vec::new();
    for (id, project) in often {
        if let Some(served_at) = muted(tx, &id, &project)? {
            found.push(Muted { id: MemoryId::parse(&id)?, project, served_at });
        }
    }
    Ok(found)
}

/// The projects in which a memory is muted.
pub fn muted_in(tx: &Tx<'_>, id: &MemoryId) -> Result<Vec<String>> {
    let projects =
        tx.all(PROJECTS_SERVED, &[id.as_str().into()], |row| Ok(row.text(0)?.to_owned()))?;
    let mut found = Vec::new();
    for project in projects {
        if muted(tx, id.as_str(), &project)?.is_some() {
            found.push(project);
        }
    }
    Ok(found)
}

/// Lets packs of a project show a memory again: servings until now do not count.
pub fn unmute(tx: &Tx<'_>, id: &MemoryId, project: &str, now: Timestamp) -> Result<()> {
    tx.execute(UNMUTE, &[id.as_str().into(), project.into(), now.micros().into()]).map(|_| ())
}
