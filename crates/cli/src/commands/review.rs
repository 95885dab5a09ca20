//! `oneiro review`: decide about candidates, one after another or by filter.

use super::forget::show_many;
use super::memory::{FilterArgs, text};
use crate::context::Context;
use crate::output::{count, one_line};
use crate::request::request;
use clap::Args;
use oneiro::{
    ListMemories, Memory, MemoryPatch, MemoryStatus, MergeRequest, Oneiro, Remedy, ReviewRequest,
    ShowMemory, WhyRequest,
};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Review candidates
///
/// Shows one candidate after another with its sources, near-duplicates and contradictions, and asks
/// what to do. With --json the candidates are listed. With --promote or --reject every candidate that
/// the filters select is decided at once; try it with --dry-run first.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Promote every candidate that the filters select
    #[arg(long, conflicts_with = "reject")]
    promote: bool,
    /// Reject every candidate that the filters select
    #[arg(long)]
    reject: bool,
    /// List what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Why
    #[arg(long)]
    reason: Option<String>,
    /// Maximum number of candidates
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

/// What the reviewer decides.
enum Answer {
    Done,
    Again,
    Quit,
}

impl ReviewArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let mut fields = self.filter.fields();
        if self.promote || self.reject {
            let action = if self.promote { "promote" } else { "reject" };
            let others = json!({"action": action, "dry_run": self.dry_run, "reason": self.reason});
            fields.extend(others.as_object().cloned().unwrap_or_default());
            let review: ReviewRequest = request(&oneiro, Value::Object(fields))?;
            let changed = oneiro.memories().review_many(review)?;
            return show_many(
                context,
                &changed,
                &format!("{action}d").replace("rejectd", "rejected"),
            );
        }
        fields.insert("status".to_owned(), json!(MemoryStatus::Candidate));
        fields.insert("limit".to_owned(), json!(self.limit));
        let list: ListMemories = request(&oneiro, Value::Object(fields))?;
        let page = oneiro.memories().list(&list)?;
        let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if context.output.json || !at_terminal {
            return context.output.show(&page, |page| text::list(&page.items, oneiro.now()));
        }
        if page.items.is_empty() {
            context.output.note("Nothing waits for review.");
        }
        let total = page.items.len();
        for (index, memory) in page.items.iter().enumerate() {
            context.output.note(&format!("\n{} of {}", index + 1, count(total, "candidate")));
            if !review_one(context, &oneiro, memory)? {
                break;
            }
        }
        Ok(())
    }
}

/// Asks about one candidate until it is decided; false to stop.
fn review_one(context: &Context, oneiro: &Oneiro, memory: &Memory) -> anyhow::Result<bool> {
    let explain = ShowMemory { explain: true, known_at: None };
    let view = oneiro.memories().show(memory.id.as_str(), &explain)?;
    context.output.show(&view, |view| text::candidate(view, oneiro.now()))?;
    loop {
        let Some(key) = read_answer("[p]romote [r]eject [e]dit [m]erge [w]hy [s]kip [q]uit")?
        else {
            return Ok(false);
        };
        match decide(context, oneiro, memory, &key) {
            Ok(Answer::Done) => return Ok(true),
            Ok(Answer::Again) => {}
            Ok(Answer::Quit) => return Ok(false),
            // Another reviewer may have been faster: say so, and go on.
            Err(error) => context.output.note(&format!("{error}")),
        }
    }
}

fn decide(
    context: &Context,
    oneiro: &Oneiro,
    memory: &Memory,
    key: &str,
) -> anyhow::Result<Answer> {
    let (memories, id) = (oneiro.memories(), memory.id.as_str());
    let changed = match key {
        "p" => memories.promote(id, None)?,
        "r" => memories.reject(id, None)?,
        "e" => {
            let content = prompt("New statement")?;
            if !content.is_empty() {
                let patch: MemoryPatch = request(oneiro, json!({"content": content}))?;
                memories.edit(id, patch)?;
                context.output.note(&format!("Changed to: {}", one_line(&content, 80)));
            }
            return Ok(Answer::Again);
        }
        "m" => {
            let into = prompt("Merge into the memory with id")?;
            let into = memories.show(&into, &ShowMemory::default())?.memory.id;
            memories.merge(id, MergeRequest { into, reason: None })?
        }
        "w" => {
            context.output.show(&memories.why(id, &WhyRequest::default())?, |why| {
                text::why(why, oneiro.now())
            })?;
            return Ok(Answer::Again);
        }
        "s" => return Ok(Answer::Done),
        "q" => return Ok(Answer::Quit),
        _ => {
            context.output.note("Type p, r, e, m, w, s or q, then Enter.");
            return Ok(Answer::Again);
        }
    };
    if let Some(group) = &changed.group {
        let status = changed.memory.status.as_str();
        context.output.note(&format!("Now {status}. `oneiro undo {group}` undoes this."));
    }
    Ok(Answer::Done)
}

/// Asks a question; an error at the end of the input.
pub fn prompt(question: &str) -> anyhow::Result<String> {
    let ended = || oneiro::Error::invalid("the input ended").remedy(Remedy::ListMemories);
    Ok(read_answer(question)?.ok_or_else(ended)?)
}

/// Asks a question; `None` at the end of the input.
fn read_answer(question: &str) -> anyhow::Result<Option<String>> {
    crate::output::to_stderr(&format!("{question}: "));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_owned()))
}
