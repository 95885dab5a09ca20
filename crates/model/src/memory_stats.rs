//! How memory does: what packs cost, what became of their lines, and which memories are muted.

use crate::contract::Request;
use crate::{MemoryId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Days by default.
const DAYS: usize = 7;
/// The most days: packs are kept no longer.
const DAYS_MAX: usize = 30;
/// Maximum characters of a name.
const NAME_CHARS_MAX: usize = 500;

/// Which packs to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryStatsRequest {
    /// Number of days until now.
    #[schemars(range(min = 1, max = DAYS_MAX))]
    pub days: usize,
    /// Only packs of this project, by name, alias or folder.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub project: Option<String>,
}

impl Default for MemoryStatsRequest {
    fn default() -> MemoryStatsRequest {
        MemoryStatsRequest { days: DAYS, project: None }
    }
}

impl Request for MemoryStatsRequest {}

/// What packs gave, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryStats {
    /// Packs since this time are counted.
    pub since: Timestamp,
    /// Packs with lines.
    pub packs: i64,
    /// Packs without a line, because nothing was relevant.
    pub empty_packs: i64,
    /// Tokens of the packs.
    pub tokens: i64,
    /// Lines of the packs.
    pub lines: i64,
    /// Lines that are memories.
    pub memory_lines: i64,
    /// Memory lines on which an answer rested within a day.
    pub used: i64,
    /// The share of memory lines that were used; absent if there were none.
    pub used_share: Option<f64>,
    /// Memory lines that were contradicted since.
    pub contradicted: i64,
    /// Memory lines that were corrected since: rewritten, replaced, or refused by a person.
    pub corrected: i64,
    /// Memories that packs leave out, because they were never used; the last served first, at most 500.
    pub muted: Vec<MutedMemory>,
}

/// A memory that packs of a project leave out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MutedMemory {
    /// The memory.
    pub id: MemoryId,
    /// What it states.
    pub content: String,
    /// The project.
    pub project: String,
    /// When it was served last.
    pub served_at: Timestamp,
}

/// Where a memory is shown again.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UnmuteRequest {
    /// Only in this project, by name, alias or folder; in every project when absent.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub project: Option<String>,
}

impl Request for UnmuteRequest {}
