//! `oneiro show`, `diff`, `restore` and `blame`: the history of the notes.

use crate::context::Context;
use crate::output::{ago, count, data, one_line, plain, table};
use crate::request::request;
use clap::Args;
use oneiro::{
    BlameLine, DiffNotes, NoteDiff, NoteName, Page, RestoreNotes, Revision, ShowRevision, Timestamp,
};
use serde_json::json;
use std::io::{IsTerminal, Write};

/// Columns of a message in a list.
const MESSAGE_COLUMNS: usize = 60;

/// How a long text is printed at a terminal.
#[derive(Debug, Args)]
pub struct PagerArgs {
    /// Print everything at once: no pager ($ONEIRO_PAGER, $PAGER or less) at a terminal
    #[arg(long)]
    no_pager: bool,
}

/// Show a revision of the notes and what it changed
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Id of a revision (rev_...), or a unique prefix of it
    id: String,
    /// Show changed words instead of changed lines
    #[arg(long)]
    words: bool,
    #[command(flatten)]
    pager: PagerArgs,
}

impl ShowArgs {
    /// Shows it.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let show: ShowRevision = request(&oneiro, json!({"words": self.words}))?;
        let found = oneiro.notes().revision(&self.id, &show)?;
        if context.output.json {
            return data(&serde_json::to_string(&found)?);
        }
        let head = header(&found.revision, context);
        self.pager.print(&format!("{head}\n{}", diffs(&found.diffs, context, self.words)))
    }
}

/// Compare two revisions of the notes
///
/// Without ids, the newest revision with the one before it; with one id, that revision with the newest.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The older revision
    old: Option<String>,
    /// The newer revision; the newest one by default
    new: Option<String>,
    /// Only this note
    #[arg(long, value_name = "NAME")]
    note: Option<String>,
    /// Show changed words instead of changed lines
    #[arg(long)]
    words: bool,
    #[command(flatten)]
    pager: PagerArgs,
}

impl DiffArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let fields =
            json!({"old": self.old, "new": self.new, "note": self.note, "words": self.words});
        let diff: DiffNotes = request(&oneiro, fields)?;
        let found = oneiro.notes().diff(&diff)?;
        if context.output.json {
            return data(&serde_json::to_string(&found)?);
        }
        if found.diffs.is_empty() {
            context.output.note("Nothing differs.");
            return Ok(());
        }
        self.pager.print(&diffs(&found.diffs, context, self.words))
    }
}

/// Restore the notes to a revision
///
/// All notes become what they were after that revision. The restore is a revision too: `oneiro undo`
/// takes it back. To take back one change and keep later ones, use `oneiro undo`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// Id of a revision (rev_...), or a unique prefix of it
    id: String,
    /// Only this note
    #[arg(long, value_name = "NAME")]
    note: Option<String>,
    /// What the new revision says about itself
    #[arg(long, short)]
    message: Option<String>,
}

impl RestoreArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let restore: RestoreNotes =
            request(&oneiro, json!({"note": self.note, "message": self.message}))?;
        let made = oneiro.notes().restore(&self.id, restore)?;
        context.output.show(&made, |made| {
            let head = header(&made.revision, context);
            format!("{head}\n{}", diffs(&made.diffs, context, false))
        })
    }
}

/// Tell for each line of a note who wrote it, when, and in which revision
#[derive(Debug, Args)]
pub struct BlameArgs {
    /// Name of the note
    note: String,
    #[command(flatten)]
    pager: PagerArgs,
}

impl BlameArgs {
    /// Explains the lines.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let lines = Page::from(oneiro.notes().blame(&NoteName::parse(&self.note)?)?);
        if context.output.json {
            return data(&serde_json::to_string(&lines)?);
        }
        self.pager.print(&blame_table(&lines.items))
    }
}

fn blame_table(lines: &[BlameLine]) -> String {
    let row = |line: &BlameLine| {
        let by = match &line.dream_id {
            Some(dream) => format!("dream {dream}"),
            None => format!("{} ({})", line.author_kind.as_str(), plain(&line.author)),
        };
        vec![
            line.revision.to_string(),
            by,
            count(usize::try_from(line.age_days).unwrap_or(0), "day"),
            line.line.to_string(),
            plain(&line.text),
        ]
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    table(&["revision", "by", "age", "line", "text"], &rows)
}

/// A table of revisions.
pub fn revision_table(revisions: &[Revision], now: Timestamp) -> String {
    if revisions.is_empty() {
        return "No revisions match.".to_owned();
    }
    let row = |revision: &Revision| {
        let names: Vec<&str> = revision.notes.iter().map(NoteName::as_str).collect();
        let undone = if revision.undone_by.is_some() { "(undone) " } else { "" };
        vec![
            revision.id.to_string(),
            format!("{} ({})", revision.author_kind.as_str(), plain(&revision.author)),
            ago(revision.at, now),
            one_line(&names.join(", "), MESSAGE_COLUMNS / 2),
            one_line(&format!("{undone}{}", revision.message), MESSAGE_COLUMNS),
        ]
    };
    let rows: Vec<_> = revisions.iter().map(row).collect();
    table(&["revision", "by", "when", "notes", "message"], &rows)
}

fn header(revision: &Revision, context: &Context) -> String {
    let undone = revision.undone_by.as_ref().map(|by| format!("\nUndone by: {by}"));
    format!(
        "{}\nAuthor: {} ({})\nDate:   {}{}\n\n    {}\n",
        context.style.bold(&format!("revision {}", revision.id)),
        revision.author_kind.as_str(),
        plain(&revision.author),
        revision.at,
        undone.unwrap_or_default(),
        plain(&revision.message)
    )
}

fn diffs(diffs: &[NoteDiff], context: &Context, by_words: bool) -> String {
    let one = |diff: &NoteDiff| {
        let text = plain(&diff.text);
        if by_words { context.style.word_diff(&text) } else { context.style.diff(&text) }
    };
    let changed = |diff: &NoteDiff| {
        format!("{}: +{} -{}", plain(diff.name.as_str()), diff.added, diff.removed)
    };
    let summary: Vec<String> = diffs.iter().map(changed).collect();
    let texts: Vec<String> = diffs.iter().map(one).collect();
    format!("{}\n\n{}", summary.join("\n"), texts.join("\n"))
}

impl PagerArgs {
    /// Prints text; at a terminal through the pager, if it is longer than a screen.
    pub fn print(&self, text: &str) -> anyhow::Result<()> {
        /// Lines that fit every terminal.
        const SCREEN_LINES: usize = 24;
        let text = text.trim_end_matches('\n');
        if self.no_pager || !std::io::stdout().is_terminal() || text.lines().count() < SCREEN_LINES
        {
            return data(text);
        }
        let pager = crate::config::pager();
        let mut words = pager.split_whitespace();
        let Some(program) = words.next() else { return data(text) };
        let child = std::process::Command::new(program)
            .args(words)
            .env("LESS", "FRX")
            .stdin(std::process::Stdio::piped())
            .spawn();
        let Ok(mut child) = child else { return data(text) };
        if let Some(mut input) = child.stdin.take() {
            // The reader may leave before the end.
            let _ = writeln!(input, "{text}");
        }
        child.wait()?;
        Ok(())
    }
}
