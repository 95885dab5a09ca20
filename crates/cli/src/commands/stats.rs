//! `oneiro stats`: counts and sizes of the space.

use crate::context::Context;
use crate::output::{ago, bytes, count};
use clap::Args;
use oneiro::Stats;

/// Show statistics of the space
#[derive(Debug, Args)]
pub struct StatsArgs {}

impl StatsArgs {
    /// Prints the statistics.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let now = oneiro.now();
        context.output.show(&oneiro.stats()?, |stats| describe(stats, now))
    }
}

fn describe(stats: &Stats, now: oneiro::Timestamp) -> String {
    let active = stats.last_active_at.map_or("never".to_owned(), |at| ago(at, now));
    let mut lines = vec![
        format!("space      {} ({})", stats.space, stats.engine),
        format!("store      {}", stats.store),
        format!("size       {}, schema {}", bytes(stats.bytes), stats.schema),
        format!("sessions   {} ({} open)", stats.sessions, stats.open_sessions),
        format!("messages   {} ({} rewound)", stats.messages, stats.rewound),
        format!("payloads   {}", stats.payloads),
        format!("active     {active}"),
        format!(
            "index      {}, {} not yet indexed{}",
            count(stats.index.segments, "segment"),
            count(usize::try_from(stats.index.tail).unwrap_or(0), "message"),
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
