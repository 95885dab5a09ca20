//! The `oneiro` binary: read the arguments and the one configuration, run one command, and turn
//! its error into a message and an exit code. Commands are in `commands/`, one file each.

mod args;
mod commands;
mod config;
mod context;
mod input;
mod output;
mod progress;
mod reference;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A reader that goes away (`oneiro session list | head`) ends us quietly, as it does `cat`.
    let cli = args::Cli::parse();
    let json = cli.global.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fail(&error, json),
    }
}

fn run(cli: args::Cli) -> anyhow::Result<()> {
    let context = context::Context::new(&cli.global)?;
    context.start_logging();
    cli.command.run(&context)
}
