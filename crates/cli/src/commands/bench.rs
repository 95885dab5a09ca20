//! `oneiro bench`: measure this machine.

use crate::context::Context;
use clap::{Args, Subcommand};
use oneiro_bench::load;
use std::path::PathBuf;

/// Measure this machine, each figure beside raw SQLite
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Append, read, list and open, each beside the barest raw SQLite loop doing the same
    Load(LoadArgs),
    /// One of several processes of `bench load`
    #[command(hide = true)]
    Writer(WriterArgs),
}

/// Append, read, list and open, each beside the barest raw SQLite loop doing the same
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// How many messages the store holds in the end
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Rounds of each measurement; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where to put the stores; a temporary folder when absent
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// One of several processes of `bench load`.
#[derive(Debug, Args)]
pub struct WriterArgs {
    #[arg(long)]
    file: PathBuf,
    #[arg(long)]
    raw: bool,
    #[arg(long)]
    number: usize,
    #[arg(long)]
    messages: usize,
}

impl BenchCommand {
    /// Measures.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            BenchCommand::Load(args) => {
                let request = load::LoadRequest {
                    messages: args.messages,
                    rounds: args.rounds,
                    folder: args.dir,
                    program: std::env::current_exe()?,
                    options: context.options(),
                };
                let measured = load::run(&request, &mut |step| context.output.say(step))?;
                context.output.show(&measured, load::describe)
            }
            BenchCommand::Writer(args) => {
                let writer = load::Writer {
                    file: args.file,
                    raw: args.raw,
                    number: args.number,
                    messages: args.messages,
                    options: context.options(),
                };
                Ok(writer.run()?)
            }
        }
    }
}
