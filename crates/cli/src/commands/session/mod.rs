//! `oneiro session`: conversations.

mod archive;
mod branch;
pub mod delete;
mod ending;
mod export;
mod history;
pub mod import;
mod list;
mod new;
mod pin;
mod prune;
mod rewind;
pub mod search;
pub mod show;
mod split;
mod summary;
mod title;
mod tree;
mod usage;

use crate::context::Context;
use crate::output::{count, one_line, plain};
use clap::Subcommand;
use oneiro::{Session, SpaceUse};

/// Manage sessions (conversations)
///
/// A session is given by its id, a unique prefix of the id, or its title.
// Each is described where its arguments are: a line here would hide its long description.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    New(new::NewArgs),
    List(list::ListArgs),
    #[command(hide = true)]
    Search(search::SearchArgs),
    Show(show::ShowArgs),
    End(ending::EndArgs),
    Reopen(ending::ReopenArgs),
    Title(title::TitleArgs),
    Archive(archive::ArchiveArgs),
    Rewind(rewind::RewindArgs),
    Restore(rewind::RestoreArgs),
    Branch(branch::BranchArgs),
    Split(split::SplitArgs),
    Tree(tree::TreeArgs),
    Pin(pin::PinArgs),
    Unpin(pin::UnpinArgs),
    Pins(pin::PinsArgs),
    History(history::HistoryArgs),
    Summary(summary::SummaryArgs),
    Usage(usage::UsageArgs),
    Export(export::ExportArgs),
    #[command(hide = true)]
    Import(import::ImportArgs),
    Delete(delete::DeleteArgs),
    #[command(hide = true)]
    Prune(prune::PruneArgs),
}

impl SessionCommand {
    /// What the command does with the space.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            SessionCommand::New(_) | SessionCommand::Import(_) => SpaceUse::CreateMissing,
            SessionCommand::List(_)
            | SessionCommand::Search(_)
            | SessionCommand::Show(_)
            | SessionCommand::End(_)
            | SessionCommand::Reopen(_)
            | SessionCommand::Title(_)
            | SessionCommand::Archive(_)
            | SessionCommand::Rewind(_)
            | SessionCommand::Restore(_)
            | SessionCommand::Branch(_)
            | SessionCommand::Split(_)
            | SessionCommand::Tree(_)
            | SessionCommand::Pin(_)
            | SessionCommand::Unpin(_)
            | SessionCommand::Pins(_)
            | SessionCommand::History(_)
            | SessionCommand::Summary(_)
            | SessionCommand::Usage(_)
            | SessionCommand::Export(_)
            | SessionCommand::Delete(_)
            | SessionCommand::Prune(_) => SpaceUse::MustExist,
        }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            SessionCommand::New(args) => args.run(context),
            SessionCommand::List(args) => args.run(context),
            SessionCommand::Search(args) => args.run(context),
            SessionCommand::Show(args) => args.run(context),
            SessionCommand::End(args) => args.run(context),
            SessionCommand::Reopen(args) => args.run(context),
            SessionCommand::Title(args) => args.run(context),
            SessionCommand::Archive(args) => args.run(context),
            SessionCommand::Rewind(args) => args.run(context),
            SessionCommand::Restore(args) => args.run(context),
            SessionCommand::Branch(args) => args.run(context),
            SessionCommand::Split(args) => args.run(context),
            SessionCommand::Tree(args) => args.run(context),
            SessionCommand::Pin(args) => args.run(context),
            SessionCommand::Unpin(args) => args.run(context),
            SessionCommand::Pins(args) => args.run(context),
            SessionCommand::History(args) => args.run(context),
            SessionCommand::Summary(args) => args.run(context),
            SessionCommand::Usage(args) => args.run(context),
            SessionCommand::Export(args) => args.run(context),
            SessionCommand::Import(args) => args.run(context),
            SessionCommand::Delete(args) => args.run(context),
            SessionCommand::Prune(args) => args.run(context),
        }
    }
}

/// A session as people read it: one field to a line, what is unset left out.
fn describe(session: &Session) -> String {
    let mut lines = vec![format!("session   {}", plain(session.id.as_str()))];
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.push(format!("{name:<9} {}", one_line(&value, 90)));
        }
    };
    add("title", session.title.clone());
    add("source", Some(session.source.clone()));
    add("user", session.user_id.clone());
    add("model", session.model.clone());
    add("project", session.project.clone());
    add("cwd", session.cwd.clone());
    let lineage = session.lineage.map_or("child", |lineage| lineage.as_str());
    add("parent", session.parent_id.as_ref().map(|parent| format!("{parent} ({lineage})")));
    add("started", Some(session.started_at.to_string()));
    let reason = session.end_reason.as_deref().unwrap_or("no reason given");
    add("ended", session.ended_at.map(|at| format!("{at} ({reason})")));
    add("archived", session.archived.then(|| "yes".to_owned()));
    add(
        "messages",
        Some(format!(
            "{} ({})",
            session.message_count,
            count(usize::try_from(session.tool_call_count).unwrap_or(0), "tool call")
        )),
    );
    let tokens = session.input_tokens + session.output_tokens;
    add(
        "tokens",
        (tokens > 0).then(|| format!("{} in, {} out", session.input_tokens, session.output_tokens)),
    );
    lines.join("\n")
}
