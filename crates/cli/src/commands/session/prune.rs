//! `oneiro session prune`: the older name of `oneiro session delete --older-than`.

use super::delete::{EndedFilters, Removal};
use crate::context::Context;
use clap::Args;

/// Delete ended sessions by age and filters; same as `oneiro session delete --older-than AGE`
#[derive(Debug, Args)]
pub struct PruneArgs {
    /// Delete sessions that ended at least this long ago: 90d, 12h, 2w
    #[arg(long, value_name = "AGE", default_value = "90d")]
    older_than: String,
    #[command(flatten)]
    filters: EndedFilters,
    /// List the sessions that would be deleted, and delete none
    #[arg(long)]
    dry_run: bool,
    /// Skip confirmation; required when not at a terminal
    #[arg(long, short)]
    yes: bool,
}

impl PruneArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        self.filters.delete(context, &self.older_than, Removal::new(self.dry_run, self.yes))
    }
}
