//! `oneiro bench`: measure this machine.

use crate::context::Context;
use clap::{Args, Subcommand};
use oneiro::{Oneiro, Timestamp};
use oneiro_bench::{context as windows, evidence, http, kept, load, recall, report};
use std::path::PathBuf;

/// The end of the month of the demonstration that `bench context --work` reads.
const DEMO_END: &str = "2026-06-30T12:00:00Z";

/// Measure this machine, each figure beside raw SQLite
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Append, read, list and open, each beside the barest raw SQLite loop doing the same
    Load(LoadArgs),
    /// How much of the evidence a search finds: LoCoMo's questions, asked through the normal search
    Recall(RecallArgs),
    /// What the way over HTTP costs: appends by many clients, searches, memory of an idle server
    Http(HttpArgs),
    /// Windows, compaction and the ways back: small sessions and long ones, on disk and durable
    Context(ContextArgs),
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
    /// Measure searches alone
    #[arg(long)]
    only_search: bool,
    /// A store for the searches, a folder or postgres://..; beside the others when absent
    #[arg(long)]
    into: Option<String>,
}

/// How much of the evidence a search finds: LoCoMo's questions, asked through the normal search
#[derive(Debug, Args)]
pub struct RecallArgs {
    /// The file locomo10.json
    #[arg(long)]
    data: PathBuf,
    /// Which conversations: `dev` (0, 2, 4, 6, 8, for tuning), `test` (the others), or `all`
    #[arg(long, value_enum, default_value_t = SplitArg::All)]
    split: SplitArg,
    /// The model of words: `static`, built in, or `none`
    #[arg(long, value_enum, default_value_t = EmbedderArg::Static)]
    embedder: EmbedderArg,
    /// Where to put the spaces, a folder or postgres://..; a temporary folder when absent
    #[arg(long)]
    into: Option<String>,
    /// Score everything that matches, to see what the plan leaves out
    #[arg(long)]
    exhaustive: bool,
    /// Made-up messages to put in the way; with any, all conversations share one space
    #[arg(long, default_value_t = 0)]
    distractors: usize,
}

/// What the way over HTTP costs: appends by many clients, searches, memory of an idle server
#[derive(Debug, Args)]
pub struct HttpArgs {
    /// Clients that append at once
    #[arg(long, default_value_t = 32)]
    clients: usize,
    /// Messages that each client appends in a round
    #[arg(long, default_value_t = 500)]
    each: usize,
    /// Messages in the store that is searched
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Questions that are asked in a round, up to 200
    #[arg(long, default_value_t = 200)]
    questions: usize,
    /// Rounds of each measurement; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where to put the stores; a temporary folder when absent
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// Windows, compaction and the ways back: small sessions and long ones, on disk and durable
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// How many messages the longest session has
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Where to put the stores; a temporary folder when absent
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The file locomo10.json: measure instead whether the evidence of its questions is still in
    /// reach after compaction
    #[arg(long, conflicts_with = "storm")]
    data: Option<PathBuf>,
    /// A file of transcripts and of what their summaries should keep: measure instead how much of
    /// it is kept, and how much of the summaries is junk
    #[arg(long, conflicts_with_all = ["storm", "data"])]
    work: Option<PathBuf>,
    /// With `--data` or `--work`: a conversation is compacted to one part in so many of its tokens
    #[arg(long, default_value_t = 8, value_parser = 1..=1_000)]
    part: i64,
    /// Measure instead what 8 writers notice while sessions are compacted in the background
    #[arg(long)]
    storm: bool,
    /// With `--storm`: how many sessions are compacted
    #[arg(long, default_value_t = 500, requires = "storm")]
    sessions: usize,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SplitArg {
    Dev,
    Test,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum EmbedderArg {
    Static,
    None,
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
                    into: args.into,
                    program: std::env::current_exe()?,
                    options: context.options(),
                };
                let say = &mut |step: &str| context.output.note(step);
                if args.only_search {
                    let measured = load::search_alone(&request, say)?;
                    return context.output.show(&measured, report::describe_search);
                }
                context.output.show(&load::run(&request, say)?, report::describe)
            }
            BenchCommand::Recall(args) => {
                let mut options = context.options();
                if args.embedder == EmbedderArg::None {
                    options.words = None;
                }
                let request = recall::RecallRequest {
                    data: args.data,
                    split: match args.split {
                        SplitArg::Dev => recall::Split::Dev,
                        SplitArg::Test => recall::Split::Test,
                        SplitArg::All => recall::Split::All,
                    },
                    store: args.into,
                    exhaustive: args.exhaustive,
                    distractors: args.distractors,
                    options,
                };
                let measured = recall::run(&request, &mut |step| context.output.note(step))?;
                context.output.show(&measured, recall::describe)
            }
            BenchCommand::Http(args) => {
                let request = http::HttpRequest {
                    clients: args.clients,
                    each: args.each,
                    messages: args.messages,
                    questions: args.questions,
                    rounds: args.rounds,
                    folder: args.dir,
                    program: std::env::current_exe()?,
                    options: context.options(),
                };
                let measured = http::run(&request, &mut |step| context.output.note(step))?;
                context.output.show(&measured, http::describe)
            }
            BenchCommand::Context(args) => args.run(context),
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

impl ContextArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let say = &mut |step: &str| context.output.note(step);
        let options = context.options();
        let part = usize::try_from(self.part)?;
        if let Some(data) = self.work {
            let month = oneiro_demo::Request::new(Timestamp::parse(DEMO_END)?);
            let fill_demo =
                &|oneiro: &Oneiro| oneiro_demo::fill(oneiro, month, &mut |_| {}).map(|_| ());
            let request = kept::KeptRequest { data, part, options, fill_demo };
            return context.output.show(&kept::run(&request, say)?, kept::describe);
        }
        if let Some(data) = self.data {
            let request = evidence::EvidenceRequest { data, part, options };
            return context.output.show(&evidence::run(&request, say)?, evidence::describe);
        }
        if self.storm {
            let sessions = self.sessions;
            let request = windows::StormRequest { sessions, folder: self.dir, options };
            return context.output.show(&windows::storm(&request, say)?, windows::describe_storm);
        }
        let request =
            windows::ContextRequest { messages: self.messages, folder: self.dir, options };
        context.output.show(&windows::run(&request, say)?, windows::describe)
    }
}
