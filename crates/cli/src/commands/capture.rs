//! `oneiro capture`: store a prompt with its response.

use crate::context::Context;
use crate::output::{ago, one_line, plain};
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{
    CapturedInteraction, Error, Interaction, ListInteractions, NewInteraction, Page, SpaceUse,
    Timestamp,
};
use serde_json::{Value, json};
use std::io::Read;

/// The longest interaction that is read from standard input.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// Columns of a prompt in a list.
const PROMPT_COLUMNS: usize = 72;

/// Store a prompt with its response
///
/// Memories that the response rests on are reinforced. With --extract, statements in it become
/// candidates. Without --prompt, a JSON object is read from standard input.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  oneiro capture --prompt 'when do we deploy?' --response 'On Tuesdays.' --client my-agent
  echo '{\"prompt\":\"hello\",\"response\":\"hi\"}' | oneiro capture
  oneiro capture list --session monday"
)]
pub struct CaptureArgs {
    #[command(subcommand)]
    command: Option<CaptureCommand>,
    /// What was asked
    #[arg(long)]
    prompt: Option<String>,
    /// What was answered
    #[arg(long)]
    response: Option<String>,
    /// A summary of the response
    #[arg(long)]
    summary: Option<String>,
    /// The program that reports it
    #[arg(long)]
    client: Option<String>,
    /// Its session
    #[arg(long)]
    session: Option<String>,
    /// Its project, by name or alias
    #[arg(long)]
    project: Option<String>,
    /// Do not reinforce memories
    #[arg(long)]
    no_reinforce: bool,
    /// Extract candidates
    #[arg(long)]
    extract: bool,
}

/// What to do with interactions.
#[derive(Debug, Subcommand)]
pub enum CaptureCommand {
    /// List interactions, newest first
    List(ListArgs),
    /// Show an interaction with its response
    Show(ShowArgs),
}

/// List interactions, newest first
///
/// Prompts that clients reported, and the turns of sessions: what a person typed and the answers until
/// the next prompt or the end of the session.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only this project, by name or alias
    #[arg(long)]
    project: Option<String>,
    /// Only this session
    #[arg(long)]
    session: Option<String>,
    /// Only this client; for turns, the source of the session
    #[arg(long)]
    client: Option<String>,
    /// Only from this time on: a date, a time, or an age such as 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Maximum number of results, at most 500
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

/// Show an interaction with its response
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Id of the interaction, or a unique prefix of it
    id: String,
}

impl ListArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let fields = json!({
            "project": self.project, "session": self.session, "client": self.client,
            "since": self.since, "limit": self.limit,
        });
        let list: ListInteractions = request(&oneiro, fields)?;
        let page = Page::from(oneiro.learning().interactions(&list)?);
        context.output.show(&page, |page| {
            page.items.iter().map(|one| line(one, oneiro.now())).collect::<Vec<_>>().join("\n")
        })
    }
}

fn line(one: &Interaction, now: Timestamp) -> String {
    let prompt = one_line(&one.prompt, PROMPT_COLUMNS);
    format!("{}  {prompt}  {}", one.id, ago(one.created_at, now))
}

fn describe_whole(one: &Interaction) -> String {
    let answer = one.response.as_deref().or(one.response_summary.as_deref());
    format!("{}\n\n{}", plain(&one.prompt), plain(answer.unwrap_or("(no response)")))
}

impl CaptureArgs {
    /// Whether it stores anything.
    pub fn space_use(&self) -> SpaceUse {
        if self.command.is_some() { SpaceUse::MustExist } else { SpaceUse::CreateMissing }
    }

    /// Stores it, or lists and shows what is stored.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self.command {
            Some(CaptureCommand::List(args)) => return args.run(context),
            Some(CaptureCommand::Show(args)) => {
                let shown = context.open()?.learning().interaction(&args.id)?;
                return context.output.show(&shown, describe_whole);
            }
            None => {}
        }
        let fields = match &self.prompt {
            Some(prompt) => json!({
                "prompt": prompt, "response": self.response, "response_summary": self.summary,
                "client": self.client, "session_id": self.session, "project": self.project,
                "reinforce": !self.no_reinforce, "extract": self.extract,
            }),
            None => read_input()?,
        };
        let (_, captured) = context.open_to_add(|oneiro| {
            let new: NewInteraction = request(oneiro, fields.clone())?;
            Ok(oneiro.learning().capture(new)?)
        })?;
        context.output.show(&captured, describe)
    }
}

fn read_input() -> anyhow::Result<Value> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    let read: Value = serde_json::from_slice(&bytes).map_err(|error| {
        Error::invalid(format!("standard input is not a JSON object: {error}"))
            .remedy("give --prompt and --response, or an object with `prompt`")
    })?;
    Ok(read)
}

fn describe(captured: &CapturedInteraction) -> String {
    let mut lines = vec![format!("Stored {}", captured.interaction.id)];
    let reinforced = captured.reinforced.iter().map(|one| {
        format!("{}: confidence {:.2} to {:.2}", one.id, one.old_confidence, one.new_confidence)
    });
    lines.extend(reinforced);
    lines.extend(captured.extracted.iter().map(|id| format!("{id} waits for review")));
    lines.extend(captured.problems.iter().cloned());
    lines.join("\n")
}
