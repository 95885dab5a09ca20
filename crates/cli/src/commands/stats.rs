//! `oneiro stats`: counts and sizes of the space.

use crate::context::Context;
use crate::output::{ago, bytes, count, one_line};
use crate::request::request;
use clap::Args;
use oneiro::{MemoryStats, Stats, Timestamp};
use serde_json::json;

/// Columns of a muted statement.
const STATEMENT_COLUMNS: usize = 60;

/// Show statistics of the space
///
/// With --memory: what packs cost in the last days, what became of their lines, and which memories are
/// muted because a project was shown them eight times and never used them.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// Measure memory: packs, their tokens and lines, and muted memories
    #[arg(long)]
    memory: bool,
    /// Number of days, at most 30
    #[arg(long, value_name = "N", default_value_t = 7, requires = "memory")]
    days: usize,
    /// Only packs of this project, by name, alias or folder
    #[arg(long, requires = "memory")]
    project: Option<String>,
}

impl StatsArgs {
    /// Prints the statistics.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let now = oneiro.now();
        if self.memory {
            let fields = json!({"days": self.days, "project": self.project});
            let stats = oneiro.memories().stats(&request(&oneiro, fields)?)?;
            return context.output.show(&stats, |stats| describe_memory(stats, self.days, now));
        }
        context.output.show(&oneiro.stats()?, |stats| describe(stats, now))
    }
}

fn describe(stats: &Stats, now: Timestamp) -> String {
    let active = stats.last_active_at.map_or("never".to_owned(), |at| ago(at, now));
    let mut lines = vec![
        format!("space      {} ({})", stats.space, stats.engine),
        format!("store      {}", stats.store),
        format!("size       {}, schema {}", bytes(stats.bytes), stats.schema),
        format!("sessions   {} ({} open)", stats.sessions, stats.open_sessions),
        format!("messages   {} ({} rewound)", stats.messages, stats.rewound),
        format!("payloads   {}", stats.payloads),
        format!("notes      {} ({} revisions)", stats.notes, stats.revisions),
        format!("active     {active}"),
        format!(
            "index      {}, {} not yet indexed{}",
            count(stats.index.segments, "segment"),
            count(usize::try_from(stats.index.tail).unwrap_or(0), "text"),
            stats.index.vectors.as_ref().map_or(String::new(), |model| format!(", {model}"))
        ),
        format!("jobs       {}", stats.jobs),
    ];
    if stats.repaired > 0 {
        lines.push(format!(
            "repaired   {}",
            count(usize::try_from(stats.repaired).unwrap_or(0), "lone surrogate")
        ));
    }
    for backup in &stats.backups {
        lines.push(format!("backup     {} ({})", backup.path, ago(backup.at, now)));
    }
    lines.join("\n")
}

fn describe_memory(stats: &MemoryStats, days: usize, now: Timestamp) -> String {
    let share =
        stats.used_share.map_or(String::new(), |share| format!(" ({:.0} %)", share * 100.0));
    let mut lines = vec![
        format!("period        the last {}", count(days, "day")),
        format!("packs         {} ({} more were empty)", stats.packs, stats.empty_packs),
        format!("tokens        {}", stats.tokens),
        format!("lines         {} ({} of them memories)", stats.lines, stats.memory_lines),
        format!("used          {}{share}", stats.used),
        format!("contradicted  {}", stats.contradicted),
        format!("corrected     {}", stats.corrected),
        format!("muted         {}", stats.muted.len()),
    ];
    for muted in &stats.muted {
        lines.push(format!(
            "  {}  {}  in {}, served last {}",
            muted.id,
            one_line(&muted.content, STATEMENT_COLUMNS),
            one_line(&muted.project, STATEMENT_COLUMNS),
            ago(muted.served_at, now)
        ));
    }
    lines.join("\n")
}
