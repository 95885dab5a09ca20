//! `oneiro session`: conversations.

mod archive;
mod branch;
mod delete;
mod ending;
mod export;
mod history;
mod import;
mod list;
mod new;
mod pin;
mod prune;
mod rewind;
mod search;
pub mod show;
mod split;
mod summary;
mod title;
mod tree;
mod usage;

use crate::context::Context;
use crate::output::{one_line, plain};
use clap::Subcommand;
use oneiro::Session;

/// Work with conversations
///
/// A session is named by its id, by the beginning of an id that no other has, or by its title.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Begin a session, or fill in what is unset of one that exists
    New(new::NewArgs),
    /// List conversations, newest first
    List(list::ListArgs),
    /// Find conversations, scroll in one, read one, or see which were active lately
    Search(search::SearchArgs),
    /// Show a session and its messages
    Show(show::ShowArgs),
    /// End a session; the first reason wins
    End(ending::EndArgs),
    /// Take back the end of a session
    Reopen(ending::ReopenArgs),
    /// Give a session a title, or take it away
    Title(title::TitleArgs),
    /// Put a whole conversation away, or take it out again
    Archive(archive::ArchiveArgs),
    /// Take back a user message and everything after it
    Rewind(rewind::RewindArgs),
    /// Show again what was rewound
    Restore(rewind::RestoreArgs),
    /// Begin a new session with the conversation so far
    Branch(branch::BranchArgs),
    /// End a session and go on in another that carries its compacted context
    Split(split::SplitArgs),
    /// Show the tree of a session's summaries, down to those that cover messages
    Tree(tree::TreeArgs),
    /// Pin a message into every window of its session
    Pin(pin::PinArgs),
    /// Unpin a message
    Unpin(pin::UnpinArgs),
    /// List the pinned messages of a session
    Pins(pin::PinsArgs),
    /// Show, set or shorten what a session shows; nothing is deleted
    History(history::HistoryArgs),
    /// Show the summary of a session, or write one by hand
    Summary(summary::SummaryArgs),
    /// Show, add to or set the token and cost accounts of a session
    Usage(usage::UsageArgs),
    /// Write sessions with all their messages as JSONL
    Export(export::ExportArgs),
    /// Read sessions from JSONL, all of a file or nothing
    Import(import::ImportArgs),
    /// Delete a session and its delegates
    Delete(delete::DeleteArgs),
    /// Delete ended sessions by age and filters
    Prune(prune::PruneArgs),
}

impl SessionCommand {
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
        Some(format!("{} ({} tool calls)", session.message_count, session.tool_call_count)),
    );
    let tokens = session.input_tokens + session.output_tokens;
    add(
        "tokens",
        (tokens > 0).then(|| format!("{} in, {} out", session.input_tokens, session.output_tokens)),
    );
    lines.join("\n")
}
