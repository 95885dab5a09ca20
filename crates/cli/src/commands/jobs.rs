//! `oneiro jobs`: background work.

use crate::commands::search::show::when;
use crate::context::Context;
use crate::output::{one_line, table};
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{Job, JobState, Page, PageOf};
use serde_json::json;
use std::time::Duration;

/// List background jobs, or run those that are due
#[derive(Debug, Args)]
pub struct JobsArgs {
    #[command(subcommand)]
    command: Option<JobsCommand>,
    /// Maximum number of jobs
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Continue after the previous page: its `next`
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
enum JobsCommand {
    /// Run every job that is due, then stop
    Run {
        /// Start no new jobs after this many seconds
        #[arg(long, default_value_t = 3600)]
        seconds: u64,
    },
}

impl JobsArgs {
    /// Lists or runs jobs.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        if let Some(JobsCommand::Run { seconds }) = self.command {
            let ran = oneiro.jobs().run(Duration::from_secs(seconds))?;
            return context
                .output
                .show(&ran, |ran| format!("{} done, {} failed", ran.done, ran.failed));
        }
        let page: PageOf = request(&oneiro, json!({"limit": self.limit, "cursor": self.cursor}))?;
        context.output.show(&oneiro.jobs().list(page.cursor, page.limit)?, describe)
    }
}

fn describe(page: &Page<Job>) -> String {
    if page.items.is_empty() {
        return "No jobs.".to_owned();
    }
    let row = |job: &Job| {
        let error = job.last_error.as_deref().unwrap_or_default();
        vec![
            job.id.to_string(),
            job.kind.clone(),
            job.state.as_str().to_owned(),
            job.attempts.to_string(),
            match job.state {
                JobState::Queued => when(job.next_run_at),
                JobState::Running | JobState::Done | JobState::Failed => String::new(),
            },
            one_line(error, 60),
        ]
    };
    let rows: Vec<_> = page.items.iter().map(row).collect();
    table(&["id", "kind", "state", "attempts", "next run", "last error"], &rows)
}
