//! `oneiro dream`: consolidate what was learnt, and look at what dreams decided.

mod explain;

use crate::context::Context;
use crate::output::{ago, count, one_line, plain};
use crate::request::request;
use clap::{Args, Subcommand};
use oneiro::{
    Dream, DreamCandidate, DreamCounts, DreamDecision, DreamDetail, DreamMode, DreamOutcome,
    DreamRequest, DreamRun, DreamStatus, ListCandidates, Page, PageOf, ReplayedDream,
    ScheduleDreams, Timestamp, UndoDream, UndoneDream,
};
use serde_json::json;

/// Columns of a claim.
const CLAIM_COLUMNS: usize = 60;

/// Consolidate what was learnt into MEMORY.md
///
/// A dream gathers the evidence for claims (recalls by people, later statements, confirmations), and
/// promotes what has earned it, retires what no longer holds, and writes a diary. Each change can be
/// undone. Without a subcommand it dreams now and applies the result.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  oneiro dream --dry-run
  oneiro dream schedule --preset core --apply
  oneiro dream explain peanuts
  oneiro dream explain cnd_f3q5c2k7lnmab6dr"
)]
pub struct DreamArgs {
    #[command(subcommand)]
    command: Option<DreamCommand>,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Dream only if the schedule says so, and as the settings say
    #[arg(long)]
    if_due: bool,
    /// Thresholds: core, deep, rem or custom
    #[arg(long, value_name = "PRESET")]
    preset: Option<String>,
}

/// What to do with dreams.
#[derive(Debug, Subcommand)]
pub enum DreamCommand {
    /// Show whether the space dreams, when next, and what was last
    Status,
    /// List the candidates, the best first
    Candidates(CandidatesArgs),
    /// Explain what was decided about a candidate, and what it is missing
    Explain(ExplainArgs),
    /// List the dreams, newest first
    Log(LogArgs),
    /// Show a dream with its decisions
    Show(IdArgs),
    /// Undo a whole dream, and keep what was changed later
    Undo(UndoArgs),
    /// Decide again what a dream decided, and compare
    Replay(IdArgs),
    /// Set whether and when the space dreams by itself
    Schedule(ScheduleArgs),
}

/// Name one of them
#[derive(Debug, Args)]
pub struct IdArgs {
    /// Its id, or the beginning of it
    id: String,
}

/// Name a candidate
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Its id or the beginning of it, the id of its memory, or words of its claim
    #[arg(required = true)]
    candidate: Vec<String>,
}

/// List the candidates
#[derive(Debug, Args)]
pub struct CandidatesArgs {
    /// Only with this decision: promoted, merged, superseded, retired, waiting or rejected
    #[arg(long)]
    decision: Option<String>,
    /// Only about this person or thing
    #[arg(long)]
    subject: Option<String>,
    /// Only of this project
    #[arg(long)]
    project: Option<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

/// List the dreams
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Maximum number of results
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

/// Undo a whole dream
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Its id, or the beginning of it
    id: String,
    /// Undo everything or nothing
    #[arg(long)]
    strict: bool,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Set whether and when the space dreams by itself
#[derive(Debug, Args)]
pub struct ScheduleArgs {
    /// off, core (every night), deep (every twelve hours) or rem (every six hours)
    #[arg(long, value_name = "PRESET")]
    preset: Option<String>,
    /// Let dreams by schedule change MEMORY.md
    #[arg(long, conflicts_with = "dry_run")]
    apply: bool,
    /// Let dreams by schedule only show what they would change
    #[arg(long)]
    dry_run: bool,
    /// A cron expression in place of the preset's
    #[arg(long)]
    cron: Option<String>,
    /// The time zone of the schedule, such as Europe/Berlin
    #[arg(long)]
    timezone: Option<String>,
}

impl DreamArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let dreams = oneiro.dreams();
        match self.command {
            None => {
                let trigger = if self.if_due { "cron" } else { "manual" };
                let apply = self.dry_run.then_some(false);
                let fields = json!({"trigger": trigger, "preset": self.preset, "apply": apply});
                let run = dreams.run(&request::<DreamRequest>(&oneiro, fields)?)?;
                context.output.show(&run, described)
            }
            Some(DreamCommand::Status) => {
                context.output.show(&dreams.status()?, |status| status_text(status, oneiro.now()))
            }
            Some(DreamCommand::Candidates(args)) => {
                let fields = json!({
                    "decision": args.decision, "subject": args.subject, "project": args.project,
                    "limit": args.limit,
                });
                let page = dreams.candidates(&request::<ListCandidates>(&oneiro, fields)?)?;
                context.output.show(&page, candidates_text)
            }
            Some(DreamCommand::Explain(args)) => {
                context.output.show(&dreams.explain(&args.candidate.join(" "))?, explain::text)
            }
            Some(DreamCommand::Log(args)) => {
                let fields = json!({"limit": args.limit});
                let page = dreams.list(&request::<PageOf>(&oneiro, fields)?)?;
                context.output.show(&page, |page| log_text(page, oneiro.now()))
            }
            Some(DreamCommand::Show(args)) => {
                context.output.show(&dreams.show(&args.id)?, detail_text)
            }
            Some(DreamCommand::Undo(args)) => {
                let fields = json!({"strict": args.strict, "reason": args.reason});
                let undone = dreams.undo(&args.id, &request::<UndoDream>(&oneiro, fields)?)?;
                context.output.show(&undone, undone_text)
            }
            Some(DreamCommand::Replay(args)) => {
                context.output.show(&dreams.replay(&args.id)?, replay_text)
            }
            Some(DreamCommand::Schedule(args)) => {
                let apply = if args.apply { Some(true) } else { args.dry_run.then_some(false) };
                let fields = json!({
                    "mode": args.preset, "apply": apply, "cron": args.cron,
                    "timezone": args.timezone,
                });
                let status = dreams.schedule(&request::<ScheduleDreams>(&oneiro, fields)?)?;
                context.output.show(&status, |status| status_text(status, oneiro.now()))
            }
        }
    }
}

fn described(run: &DreamRun) -> String {
    match &run.dream {
        Some(detail) => detail_text(detail),
        None => format!("{}: {}.", outcome_words(run.outcome), run.reason),
    }
}

/// What became of a dream, in words.
fn outcome_words(outcome: DreamOutcome) -> &'static str {
    match outcome {
        DreamOutcome::Running => "Running",
        DreamOutcome::Processed => "Done",
        DreamOutcome::Missed => "Missed",
        DreamOutcome::Disabled | DreamOutcome::DisabledByLimit => "Off",
        DreamOutcome::MissingWorkspace => "No workspace",
        DreamOutcome::NotDue => "Not due",
        DreamOutcome::Busy => "Busy",
        DreamOutcome::Failed => "Failed",
    }
}

pub(super) fn detail_text(detail: &DreamDetail) -> String {
    let note = if detail.dream.apply { "" } else { "\nNothing was changed: a dry run.\n" };
    let (held, news): (Vec<_>, Vec<_>) =
        detail.decisions.iter().partition(|decision| decision.holds_still());
    let mut rows: Vec<String> = news.iter().map(|decision| decision_line(decision)).collect();
    if !held.is_empty() {
        let verb = if held.len() == 1 { "holds" } else { "hold" };
        rows.push(format!("{} still {verb}.", count(held.len(), "earlier promotion")));
    }
    rows.extend(counts_line(&detail.dream.counts));
    format!("{}{note}\n{}", detail.diary, rows.join("\n"))
}

fn decision_line(decision: &DreamDecision) -> String {
    format!(
        "{}  {:<10} {:.3}  {}  ({}{})",
        decision.candidate_id,
        decision.decision.as_str(),
        decision.score,
        one_line(&decision.claim, CLAIM_COLUMNS),
        about(decision.subject.as_deref(), decision.project.as_deref()),
        decision.reason
    )
}

/// The subject and the project of a claim, to stand before a reason.
fn about(subject: Option<&str>, project: Option<&str>) -> String {
    let project = project.map(|project| format!("project {project}"));
    let named: Vec<String> =
        subject.map(str::to_owned).into_iter().chain(project).map(|it| plain(&it)).collect();
    if named.is_empty() { String::new() } else { format!("{}: ", named.join(", ")) }
}

/// What a dream did to notes; nothing if it did nothing.
fn counts_line(counts: &DreamCounts) -> Option<String> {
    let (added, removed) = (counts.lines_added, counts.lines_removed);
    let told = format!("Notes: {} added, {removed} removed.", count(added, "line"));
    (added + removed > 0).then_some(told)
}

fn candidates_text(page: &Page<DreamCandidate>) -> String {
    let line = |candidate: &DreamCandidate| {
        format!(
            "{}  {:<10} {:.3}  {}  ({}{})",
            candidate.id,
            candidate.decision.as_str(),
            candidate.score,
            one_line(&candidate.claim, CLAIM_COLUMNS),
            about(candidate.subject.as_deref(), candidate.project.as_deref()),
            candidate.reason
        )
    };
    page.items.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn log_text(page: &Page<Dream>, now: Timestamp) -> String {
    page.items.iter().map(|dream| dream_line(dream, now)).collect::<Vec<_>>().join("\n")
}

fn dream_line(dream: &Dream, now: Timestamp) -> String {
    if dream.outcome == DreamOutcome::Missed {
        let night = dream.period.unwrap_or(dream.started_at).minute_text();
        let noticed = ago(dream.started_at, now);
        return format!("{}  Missed    the dream of {night} UTC  noticed {noticed}", dream.id);
    }
    let counts = &dream.counts;
    let applied = match (dream.undone_at, dream.apply) {
        (Some(_), _) => "undone",
        (None, true) => "applied",
        (None, false) => "dry run",
    };
    format!(
        "{}  {:<9} {:<7} {}  {} promoted, {} superseded, {} retired, {} waiting{}",
        dream.id,
        outcome_words(dream.outcome),
        applied,
        ago(dream.started_at, now),
        counts.promoted,
        counts.superseded,
        counts.retired,
        counts.waiting,
        lines_text(counts)
    )
}

/// Lines that came into notes and left them, at the end of a line.
fn lines_text(counts: &DreamCounts) -> String {
    let told = [(counts.lines_added, "added"), (counts.lines_removed, "removed")];
    let told = told.iter().filter(|(number, _)| *number > 0);
    told.map(|(number, word)| format!(", {} {word}", count(*number, "line"))).collect()
}

fn undone_text(undone: &UndoneDream) -> String {
    let mut text =
        format!("Undid {} of {}.", count(undone.undone.len(), "change"), undone.dream.id);
    for left in &undone.left {
        text.push_str(&format!("\nLeft {} of {}: {}", left.operation, left.subject, left.reason));
    }
    text
}

fn replay_text(replayed: &ReplayedDream) -> String {
    if replayed.same {
        return format!("{} came out the same.", count(replayed.decisions, "decision"));
    }
    format!("Different:\n{}", replayed.differences.join("\n"))
}

pub(super) fn status_text(status: &DreamStatus, now: Timestamp) -> String {
    let last =
        status.last.as_ref().map_or("No dream yet.".to_owned(), |dream| dream_line(dream, now));
    let counts: Vec<String> = status
        .candidates
        .iter()
        .map(|one| format!("{} {}", one.count, one.decision.as_str()))
        .collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    format!("{}\n{last}\nCandidates: {counts}", schedule_text(status))
}

/// Whether and when the space dreams by itself.
fn schedule_text(status: &DreamStatus) -> String {
    if status.mode == DreamMode::Off {
        return "Scheduled dreams are off; `oneiro dream schedule --preset core` turns them on."
            .to_owned();
    }
    let next =
        status.next_at.map_or("without a next time".to_owned(), |at| format!("next at {at}"));
    let effect = if status.apply {
        "change memories and notes"
    } else {
        "only report what they would change"
    };
    format!(
        "Scheduled dreams use preset {} ({} {}), {next}, and {effect}.",
        status.mode.as_str(),
        status.cron,
        status.timezone
    )
}
