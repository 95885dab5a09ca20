//! Statistics of packs, and unmuting of memories that packs served without a use. A memory that was
//! served to a project eight times without a use is muted there; that follows from the stored packs.

use super::resolve;
use crate::views::Memories;
use oneiro_model::{
    MemoryStats, MemoryStatsRequest, MemoryStatus, MemoryView, MutedMemory, Result, ShowMemory,
    SignalKind, Span, UnmuteRequest,
};
use oneiro_store::Tx;
use oneiro_store::pack_outcomes::{self, Measured, Within};

/// Muted memories that are listed.
const MUTED_MAX: usize = 500;

impl Memories<'_> {
    /// What packs cost in the last days, what became of their lines, and what is muted now.
    pub fn stats(&self, request: &MemoryStatsRequest) -> Result<MemoryStats> {
        let since = self.oneiro.now().minus(Span::days(request.days as i64));
        let project = self.oneiro.project_of(request.project.as_deref())?;
        self.oneiro.store.read(|tx| {
            let measured = Measured { since, project: project.as_deref() };
            let counts = pack_outcomes::counts(tx, measured)?;
            let followed_by =
                |kind, within| pack_outcomes::count_with_signal(tx, measured, kind, within);
            let used = followed_by(SignalKind::Used, Within::Day)?;
            let share = || used as f64 / counts.memory_lines as f64;
            Ok(MemoryStats {
                since,
                packs: counts.packs - counts.empty,
                empty_packs: counts.empty,
                tokens: counts.tokens,
                lines: counts.lines,
                memory_lines: counts.memory_lines,
                used,
                used_share: (counts.memory_lines > 0).then(share),
                contradicted: followed_by(SignalKind::Contradicted, Within::Ever)?,
                corrected: counts.corrected,
                muted: muted(tx, project.as_deref())?,
            })
        })
    }

    /// Lets packs show a memory again, in one project or in all. It may be muted again after more
    /// servings without a use.
    pub fn unmute(&self, id: &str, request: &UnmuteRequest) -> Result<MemoryView> {
        let now = self.oneiro.now();
        let project = self.oneiro.project_of(request.project.as_deref())?;
        let given = id.to_owned();
        let id = self.oneiro.store.write(move |tx| {
            let memory = resolve(tx, &given)?;
            let projects = match &project {
                Some(project) => vec![project.clone()],
                None => pack_outcomes::muted_in(tx, &memory.id)?,
            };
            for project in projects {
                pack_outcomes::unmute(tx, &memory.id, &project, now)?;
            }
            Ok(memory.id)
        })?;
        self.show(id.as_str(), &ShowMemory::default())
    }
}

/// Active memories that are muted in a project, or in any.
fn muted(tx: &Tx<'_>, project: Option<&str>) -> Result<Vec<MutedMemory>> {
    let mut found = Vec::new();
    for one in pack_outcomes::all_muted(tx)? {
        if project.is_some_and(|project| project != one.project) || found.len() == MUTED_MAX {
            continue;
        }
        let Ok(memory) = resolve(tx, one.id.as_str()) else { continue };
        if memory.status == MemoryStatus::Active {
            found.push(MutedMemory {
                id: one.id,
                content: memory.content,
                project: one.project,
                served_at: one.served_at,
            });
        }
    }
    Ok(found)
}
