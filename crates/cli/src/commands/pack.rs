//! `oneiro pack`: the lines of memory for a prompt.

use crate::context::Context;
use crate::output::{ago, count, one_line};
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{GivenPack, PACK_BUDGET, Pack, PackRequest, Page, Timestamp};
use serde_json::json;

/// Columns of the name of a project.
const NAME_COLUMNS: usize = 40;

/// Show the lines of memory that a prompt needs
///
/// Prints them within a budget of tokens, the most trusted first: the state of the project, the person,
/// the project, what happened, messages. Prints nothing if nothing is relevant. Without a prompt, the
/// lines are for the start of a task. A pack is kept for 30 days.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  oneiro pack 'book a flight to Bern' --budget 300
  oneiro pack --project atlas
  oneiro pack show pck_f3q5c2k7lnmab6dr --json"
)]
pub struct PackArgs {
    #[command(subcommand)]
    command: Option<PackCommand>,
    /// The prompt; several arguments are one prompt
    prompt: Vec<String>,
    /// Only this project, by name, alias or folder, and what belongs to none
    #[arg(long)]
    project: Option<String>,
    /// The session that asks; its own messages are left out
    #[arg(long)]
    session: Option<String>,
    /// The program that asks
    #[arg(long)]
    client: Option<String>,
    /// Maximum number of tokens
    #[arg(long, value_name = "N", default_value_t = PACK_BUDGET)]
    budget: usize,
    /// The moment it is asked for; now by default
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Leave out lines that the session was shown already
    #[arg(long, requires = "session")]
    new_only: bool,
}

/// What to do with packs.
#[derive(Debug, Subcommand)]
pub enum PackCommand {
    /// Show a pack again
    Show(ShowArgs),
    /// List the packs of the last 30 days, newest first
    List(ListArgs),
}

/// Show a pack again
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Its id
    id: String,
}

/// List the packs of the last 30 days, newest first
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only of this session
    #[arg(long)]
    session: Option<String>,
    /// Only of this project, by name, alias or folder
    #[arg(long)]
    project: Option<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

impl ListArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let fields = json!({"session": self.session, "project": self.project, "limit": self.limit});
        let packs = oneiro.packs().list(&request(&oneiro, fields)?)?;
        context.output.show(&Page::from(packs), |page| {
            page.items.iter().map(|pack| line(pack, oneiro.now())).collect::<Vec<_>>().join("\n")
        })
    }
}

fn line(pack: &GivenPack, now: Timestamp) -> String {
    let by = pack.project.as_deref().or(pack.client.as_deref()).unwrap_or_default();
    format!(
        "{}  {:>4} tokens  {}, {} left out  {}  {}",
        pack.id,
        pack.tokens,
        count(pack.lines, "line"),
        pack.omitted,
        ago(pack.created_at, now),
        one_line(by, NAME_COLUMNS)
    )
}

impl PackArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let pack = match self.command {
            Some(PackCommand::List(args)) => return args.run(context),
            Some(PackCommand::Show(args)) => oneiro.packs().show(&args.id)?,
            None => {
                let prompt = (!self.prompt.is_empty()).then(|| self.prompt.join(" "));
                let fields = json!({
                    "prompt": prompt, "project": self.project, "session": self.session,
                    "client": self.client, "budget": self.budget, "at": self.at,
                    "new_only": self.new_only,
                });
                oneiro.packs().make(&request::<PackRequest>(&oneiro, fields)?)?
            }
        };
        if pack.text.is_empty() {
            context.output.note("Nothing in memory is relevant.");
        }
        context.output.show(&pack, |pack: &Pack| pack.text.clone())
    }
}
