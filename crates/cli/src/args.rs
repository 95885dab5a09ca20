//! What can be typed: the global options and the table of commands.

use crate::commands::{
    append, backup, bench, capture, compact, completions, config, context, demo, distrust, doctor,
    dream, erase, expand, extract, forget, hook, import, jobs, log, mcp, memory, note, pack, pause,
    project, recall, remember, review, revisions, search, secrets, serve, session, setup, space,
    state, stats, status, summary, token, why,
};
use crate::context::Context;
use crate::reference;
use clap::{Args, Parser, Subcommand};
use oneiro::SpaceUse;

/// The memory of AI agents: keeps every word, searchable and reversible.
#[derive(Debug, Parser)]
#[command(
    name = "oneiro",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Start with `oneiro setup`, which connects your agents, or with `oneiro serve --demo`, \
                  which shows a month of sample conversations.\n\nExit codes: 0 done, 1 internal, 2 invalid, 3 not found, 4 conflict, 5 busy or \
                  unavailable, 6 not allowed, 7 store damaged or too new."
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Store location: a folder of spaces, a single .db file, or postgres://user@host/database
    /// [env: ONEIRO_STORE]
    #[arg(long, global = true, value_name = "PATH|URL", help_heading = "Global options")]
    pub store: Option<String>,
    /// Space to use; spaces are isolated from each other [env: ONEIRO_SPACE]
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global options")]
    pub space: Option<String>,
    /// Configuration file [env: ONEIRO_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<std::path::PathBuf>,
    /// Print JSON; errors too, on standard error
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
}

/// The commands. Each is described where its arguments are: a line here would hide its long
/// description.
#[derive(Debug, Subcommand)]
pub enum Command {
    Setup(setup::SetupArgs),
    Demo(demo::DemoArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    #[command(subcommand)]
    Session(session::SessionCommand),
    Append(append::AppendArgs),
    Import(import::ImportArgs),
    #[command(subcommand)]
    Hook(hook::HookCommand),
    #[command(subcommand)]
    Project(project::ProjectCommand),
    Pause(pause::PauseArgs),
    Resume(pause::ResumeArgs),
    Secrets(secrets::SecretsArgs),
    Search(search::SearchArgs),
    Recall(recall::RecallArgs),
    Pack(pack::PackArgs),
    Context(context::ContextArgs),
    Compact(compact::CompactArgs),
    Expand(expand::ExpandArgs),
    Summary(summary::SummaryArgs),
    Remember(remember::RememberArgs),
    Capture(capture::CaptureArgs),
    Extract(extract::ExtractArgs),
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    Review(review::ReviewArgs),
    #[command(subcommand)]
    Note(note::NoteCommand),
    Dream(dream::DreamArgs),
    Show(revisions::ShowArgs),
    Diff(revisions::DiffArgs),
    Restore(revisions::RestoreArgs),
    Blame(revisions::BlameArgs),
    Why(why::WhyArgs),
    Log(log::LogArgs),
    Undo(log::UndoArgs),
    Forget(forget::ForgetArgs),
    Distrust(distrust::DistrustArgs),
    #[command(subcommand)]
    State(state::StateCommand),
    Erase(erase::EraseArgs),
    #[command(subcommand)]
    Space(space::SpaceCommand),
    Status(status::StatusArgs),
    Stats(stats::StatsArgs),
    Backup(backup::BackupArgs),
    Doctor(doctor::DoctorArgs),
    #[command(subcommand)]
    Token(token::TokenCommand),
    Jobs(jobs::JobsArgs),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    #[command(subcommand, hide = true)]
    Bench(bench::BenchCommand),
    Completions(completions::CompletionsArgs),
    /// Print a generated reference, as kept in docs/reference
    #[command(hide = true)]
    Reference(reference::ReferenceArgs),
}

impl Command {
    /// What the command does with the space.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            Command::Setup(_)
            | Command::Demo(_)
            | Command::Serve(_)
            | Command::Hook(_)
            | Command::Remember(_)
            | Command::Pause(_) => SpaceUse::CreateMissing,
            Command::Capture(args) => args.space_use(),
            Command::Memory(command) => command.space_use(),
            Command::Note(command) => command.space_use(),
            Command::State(command) => command.space_use(),
            Command::Project(command) => command.space_use(),
            Command::Import(args) => args.space_use(),
            Command::Mcp(args) => args.space_use(),
            Command::Session(command) => command.space_use(),
            Command::Append(args) => args.space_use(),
            Command::Token(command) => command.space_use(),
            Command::Config(command) => command.space_use(),
            Command::Search(_)
            | Command::Recall(_)
            | Command::Extract(_)
            | Command::Pack(_)
            | Command::Context(_)
            | Command::Compact(_)
            | Command::Expand(_)
            | Command::Summary(_)
            | Command::Review(_)
            | Command::Dream(_)
            | Command::Show(_)
            | Command::Diff(_)
            | Command::Restore(_)
            | Command::Blame(_)
            | Command::Why(_)
            | Command::Log(_)
            | Command::Undo(_)
            | Command::Forget(_)
            | Command::Distrust(_)
            | Command::Erase(_)
            | Command::Space(_)
            | Command::Secrets(_)
            | Command::Resume(_)
            | Command::Status(_)
            | Command::Stats(_)
            | Command::Backup(_)
            | Command::Doctor(_)
            | Command::Jobs(_)
            | Command::Bench(_)
            | Command::Completions(_)
            | Command::Reference(_) => SpaceUse::MustExist,
        }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            Command::Setup(args) => args.run(context),
            Command::Import(args) => args.run(context),
            Command::Hook(command) => command.run(context),
            Command::Project(command) => command.run(context),
            Command::Pause(args) => args.run(context),
            Command::Resume(args) => args.run(context),
            Command::Secrets(args) => args.run(context),
            Command::Serve(args) => args.run(context),
            Command::Mcp(args) => args.run(context),
            Command::Session(command) => command.run(context),
            Command::Append(args) => args.run(context),
            Command::Search(args) => args.run(context),
            Command::Recall(args) => args.run(context),
            Command::Pack(args) => args.run(context),
            Command::Context(args) => args.run(context),
            Command::Compact(args) => args.run(context),
            Command::Expand(args) => args.run(context),
            Command::Summary(args) => args.run(context),
            Command::Remember(args) => args.run(context),
            Command::Capture(args) => args.run(context),
            Command::Extract(args) => args.run(context),
            Command::Memory(command) => command.run(context),
            Command::Review(args) => args.run(context),
            Command::Note(command) => command.run(context),
            Command::Dream(args) => args.run(context),
            Command::Show(args) => args.run(context),
            Command::Diff(args) => args.run(context),
            Command::Restore(args) => args.run(context),
            Command::Blame(args) => args.run(context),
            Command::Why(args) => args.run(context),
            Command::Log(args) => args.run(context),
            Command::Undo(args) => args.run(context),
            Command::Forget(args) => args.run(context),
            Command::Distrust(args) => args.run(context),
            Command::State(command) => command.run(context),
            Command::Erase(args) => args.run(context),
            Command::Space(command) => command.run(context),
            Command::Status(args) => args.run(context),
            Command::Stats(args) => args.run(context),
            Command::Backup(args) => args.run(context),
            Command::Doctor(args) => args.run(context),
            Command::Token(command) => command.run(context),
            Command::Jobs(args) => args.run(context),
            Command::Config(command) => command.run(context),
            Command::Demo(args) => args.run(context),
            Command::Bench(command) => command.run(context),
            Command::Completions(args) => args.run(),
            Command::Reference(args) => args.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_capability_that_names_a_command_has_it() {
        let cli = Cli::command();
        for capability in oneiro::CAPABILITIES {
            let Some(command) = capability.command else { continue };
            let found = command.split(' ').try_fold(&cli, |at, name| at.find_subcommand(name));
            assert!(found.is_some(), "{}: there is no command {command:?}", capability.name);
        }
    }
}
