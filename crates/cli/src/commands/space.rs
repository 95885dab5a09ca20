//! `oneiro space`: the isolated memories of a store.

use crate::actor;
use crate::context::Context;
use crate::output::{bytes, count, plain, table};
use clap::{Args, Subcommand};
use oneiro::{
    DeletedSpace, ErrorKind, Oneiro, Options, Page, SpaceInfo, SpaceName, Target, list_spaces,
};

/// List and delete spaces
///
/// A space is an isolated memory with its own sessions, settings and access tokens. Commands that
/// add something create the space that --space names if it does not exist; all others need one that
/// does.
#[derive(Debug, Subcommand)]
pub enum SpaceCommand {
    List(ListArgs),
    Delete(DeleteArgs),
}

/// List the spaces of the store
#[derive(Debug, Args)]
pub struct ListArgs {}

/// Delete a space with all its sessions
///
/// Refused while another process uses the space. Backups are kept, and the answer names them. A
/// damaged space can be deleted, too.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Name of the space
    name: String,
    /// Skip confirmation; required when not at a terminal
    #[arg(long, short)]
    yes: bool,
}

impl SpaceCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            SpaceCommand::List(ListArgs {}) => list(context),
            SpaceCommand::Delete(args) => args.run(context),
        }
    }
}

fn list(context: &Context) -> anyhow::Result<()> {
    let spaces: Page<SpaceInfo> = list_spaces(&context.config.store, &context.options())?.into();
    let current = context.config.space.clone().unwrap_or_default();
    context.output.show(&spaces, |spaces| describe_list(&spaces.items, &current))
}

fn describe_list(spaces: &[SpaceInfo], current: &SpaceName) -> String {
    if spaces.is_empty() {
        return "No spaces.".to_owned();
    }
    let row = |space: &SpaceInfo| {
        let size = bytes(i64::try_from(space.bytes).unwrap_or(i64::MAX));
        let is_current = space.name == *current;
        let notes = [(is_current, "current"), (space.damaged, "damaged")];
        let notes: Vec<&str> = notes.iter().filter(|note| note.0).map(|note| note.1).collect();
        vec![space.name.to_string(), size, notes.join(", ")]
    };
    table(&["space", "size", ""], &spaces.iter().map(row).collect::<Vec<_>>())
}

impl DeleteArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let name = SpaceName::new(&self.name)?;
        let target = Target::parse(&context.config.store, Some(&name))?;
        let what = what_goes(&target, context.options())?;
        if !context.output.confirm_removal(&what, self.yes)? {
            return Ok(());
        }
        let deleted = Oneiro::delete_space(&target, &context.options(), &actor::current())?;
        context.output.show(&deleted, describe_deleted)
    }
}

/// The space in words, with what is in it as far as that can be read.
fn what_goes(target: &Target, options: Options) -> oneiro::Result<String> {
    let options = Options { must_exist: true, ..options };
    let counts = match Oneiro::open(target, options).and_then(|oneiro| oneiro.stats()) {
        Ok(stats) => {
            let number = |number: i64| usize::try_from(number).unwrap_or(0);
            let sessions = count(number(stats.sessions), "session");
            format!(" with {sessions} and {}", count(number(stats.messages), "message"))
        }
        Err(error) if error.kind() == ErrorKind::NewerSchema => String::new(),
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            ", which is damaged: its sessions and the list of its backups cannot be read".to_owned()
        }
        Err(error) => return Err(error),
    };
    Ok(format!("space {} ({target}){counts}", target.space()))
}

fn describe_deleted(deleted: &DeletedSpace) -> String {
    let mut lines = vec![format!("Deleted space {}.", deleted.name)];
    if !deleted.backups.is_empty() {
        lines.push("Backups that still contain it:".to_owned());
        lines.extend(deleted.backups.iter().map(|path| format!("  {}", plain(path))));
    }
    lines.join("\n")
}
