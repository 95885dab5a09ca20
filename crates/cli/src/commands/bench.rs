//! `oneiro bench`: measure this machine.

use crate::context::Context;
use clap::{Args, Subcommand};
use oneiro::{Oneiro, Timestamp};
use oneiro_bench::{
    context as windows, dreams, evidence, http, kept, load, memory, notes, recall, report,
};
use std::path::PathBuf;

/// The end of the month of the demonstration that `bench context --work` reads.
const DEMO_END: &str = "2026-06-30T12:00:00Z";

/// Measure this machine, each figure beside raw SQLite
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Append, read, list and open, each beside the barest raw SQLite loop doing the same
    Load(LoadArgs),
    /// How many answers a search finds: questions about conversations or transcripts of agents
    Recall(RecallArgs),
    /// What the way over HTTP costs: appends by many clients, searches, memory of an idle server
    Http(HttpArgs),
    /// Windows, compaction and the ways back: small sessions and long ones, on disk and durable
    Context(ContextArgs),
    /// What is learnt from conversations, and how much of the evidence packs show
    Memory(MemoryArgs),
    /// Log, blame, restore, undo and edit of a note with a long history
    Notes(NotesArgs),
    /// What dreams promote in a simulated year, beside simpler rules
    Dreams(DreamsArgs),
    /// The process of `bench dreams --load` that dreams
    #[command(hide = true)]
    Dreamer(DreamerArgs),
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

/// How many answers a search finds: questions about conversations or transcripts of agents
#[derive(Debug, Args)]
pub struct RecallArgs {
    /// File of conversations or transcripts with questions: locomo10.json, or
    /// crates/testkit/assets/agents.json of the source
    #[arg(long)]
    data: PathBuf,
    /// Questions to ask: `dev` (for tuning: LoCoMo's even conversations, or the half `tune`),
    /// `test` (the others), or `all`
    #[arg(long, value_enum, default_value_t = SplitArg::All)]
    split: SplitArg,
    /// The model of words: `static`, built in, or `none`
    #[arg(long, value_enum, default_value_t = EmbedderArg::Static)]
    embedder: EmbedderArg,
    /// Where to put the spaces, a folder or postgres://..; a temporary folder when absent
    #[arg(long)]
    into: Option<String>,
    /// Score everything that matches, to see what the limits on candidates cost
    #[arg(long)]
    exhaustive: bool,
    /// LoCoMo only: generated messages to add; with any, all conversations share one space
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
    /// With `--data` or `--work`: a conversation is compacted to one part in this many of its
    /// tokens
    #[arg(long, default_value_t = 8, value_parser = 1..=1_000)]
    part: i64,
    /// Measure instead what 8 writers notice while sessions are compacted in the background
    #[arg(long)]
    storm: bool,
    /// With `--storm`: how many sessions are compacted
    #[arg(long, default_value_t = 500, requires = "storm")]
    sessions: usize,
}

/// What is learnt from conversations, and how much of the evidence packs show
#[derive(Debug, Args)]
pub struct MemoryArgs {
    /// The file of conversations with questions, locomo10.json
    #[arg(long)]
    data: PathBuf,
    /// Where to put the spaces, a folder or postgres://..; a temporary folder when absent
    #[arg(long)]
    into: Option<String>,
}

/// Log, blame, restore, undo and edit of a note with a long history
#[derive(Debug, Args)]
pub struct NotesArgs {
    /// How many revisions the note has
    #[arg(long, default_value_t = 10_000)]
    revisions: usize,
    /// How often each operation is measured
    #[arg(long, default_value_t = 50)]
    rounds: usize,
    /// Where to put the store, which is used again; a temporary folder when absent
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// What dreams promote in a simulated year, beside simpler rules
#[derive(Debug, Args)]
pub struct DreamsArgs {
    /// Seed of the year; given several times, the metrics are over all these years
    #[arg(long, default_values_t = [1])]
    seed: Vec<u64>,
    /// How many days each year has
    #[arg(long, default_value_t = 365, value_parser = 1..=3_650)]
    days: i64,
    /// How many people talk
    #[arg(long, default_value_t = 3, value_parser = 1..=8)]
    people: i64,
    /// Believe the person's own words at once, as a space does by default; then only a line in
    /// MEMORY.md counts as a promotion
    #[arg(long)]
    own_words: bool,
    /// Where to put the spaces, a folder or postgres://..; a temporary folder when absent
    #[arg(long)]
    into: Option<String>,
    /// Measure instead how long a dream over many candidates takes
    #[arg(long, conflicts_with_all = ["seed", "days", "people", "own_words"])]
    load: bool,
    /// With `--load`: how many candidates
    #[arg(long, default_value_t = 100_000, requires = "load")]
    candidates: usize,
    /// With `--load`: how many signals
    #[arg(long, default_value_t = 1_000_000, requires = "load")]
    signals: usize,
}

/// The process of `bench dreams --load` that dreams.
#[derive(Debug, Args)]
pub struct DreamerArgs {
    #[arg(long)]
    file: PathBuf,
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
    /// Runs the command.
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
            BenchCommand::Memory(args) => {
                let (data, store) = (args.data, args.into);
                let request = memory::MemoryRequest { data, store, options: context.options() };
                let measured = memory::run(&request, &mut |step| context.output.note(step))?;
                context.output.show(&measured, memory::describe)
            }
            BenchCommand::Notes(args) => {
                let request = notes::NotesRequest {
                    revisions: args.revisions,
                    rounds: args.rounds,
                    folder: args.dir,
                    options: context.options(),
                };
                let measured = notes::run(&request, &mut |step| context.output.note(step))?;
                context.output.show(&measured, notes::describe)
            }
            BenchCommand::Dreams(args) => args.run(context),
            BenchCommand::Dreamer(args) => {
                let measured = dreams::dream_once(&args.file, &context.options())?;
                serde_json::to_writer(std::io::stdout(), &measured)?;
                Ok(())
            }
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

impl DreamsArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let say = &mut |step: &str| context.output.note(step);
        if self.load {
            let request = dreams::DreamLoadRequest {
                candidates: self.candidates,
                signals: self.signals,
                folder: self.into.map(PathBuf::from),
                program: std::env::current_exe()?,
                options: context.options(),
            };
            let measured = dreams::run_load(&request, say)?;
            return context.output.show(&measured, dreams::describe_load);
        }
        let request = dreams::DreamsRequest {
            seeds: self.seed,
            days: usize::try_from(self.days)?,
            people: usize::try_from(self.people)?,
            own_words: self.own_words,
            store: self.into,
            options: context.options(),
        };
        context.output.show(&dreams::run(&request, say)?, dreams::describe)
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
