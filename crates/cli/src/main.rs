//! The `oneiro` binary: read the arguments and the one configuration, run one command, and turn
//! its error into a message and an exit code. Commands are in `commands/`, one file each.

mod actor;
mod agents;
mod args;
mod commands;
mod config;
mod context;
mod input;
mod output;
mod places;
mod progress;
mod reference;
mod request;
mod style;
mod tokens;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        // An agent that calls a hook must not notice it, not even when it calls it wrongly.
        Err(error) if error.use_stderr() && std::env::args_os().any(|arg| arg == "hook") => {
            commands::hook::print_error(&usage(&error));
            return ExitCode::SUCCESS;
        }
        Err(error) if error.use_stderr() && std::env::args_os().any(|arg| arg == "--json") => {
            return output::fail(&usage(&error).into(), true);
        }
        Err(error) => error.exit(),
    };
    let json = cli.global.json;
    if matches!(cli.command, args::Command::Hook(_)) {
        return commands::hook::run_and_exit_zero(|| run(cli));
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fail(&error, json),
    }
}

/// What clap found wrong with the arguments, for a program that reads JSON.
fn usage(error: &clap::Error) -> oneiro::Error {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    oneiro::Error::invalid(what).remedy("see --help")
}

fn run(cli: args::Cli) -> anyhow::Result<()> {
    let context = context::Context::new(&cli.global, cli.command.space_use())?;
    context.start_logging();
    cli.command.run(&context)
}
