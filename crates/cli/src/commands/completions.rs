//! `oneiro completions`: a completion script.

use crate::args::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print a completion script for a shell
///
/// For bash: oneiro completions bash > ~/.local/share/bash-completion/completions/oneiro
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the script.
    pub fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "oneiro", &mut script);
        crate::output::data(String::from_utf8_lossy(&script).trim_end())
    }
}
