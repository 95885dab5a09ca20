//! `oneiro doctor`: check the store for damage.

use crate::context::Context;
use crate::output::{count, plain};
use crate::progress;
use clap::Args;
use oneiro::{Checked, DreamIssue, Error, ErrorKind, Severity};

/// Check the store for damage
///
/// Checks the database files, lost writes, counters, the references of memories, the summaries and
/// windows of every session, and the text index.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Recompute wrong counters, rebuild wrong contexts and a damaged text index, and remove
    /// unfinished backups whose process has ended; damaged database files are never changed
    #[arg(long)]
    fix: bool,
}

impl DoctorArgs {
    /// Checks; damage is an error.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        if self.fix {
            for path in oneiro.transfer().remove_abandoned_backups()? {
                context.output.note(&format!("Removed the unfinished backup {}.", plain(&path)));
            }
        }
        let mut checked = oneiro.check()?;
        if self.fix && checked.integrity.is_empty() && !checked.lost_writes.is_empty() {
            oneiro.raise_counters()?;
            context.output.note(
                "Raised the counters, so that no id is used twice. Lost messages are not restored: \
                 restore the newest backup if you need them.",
            );
            checked = oneiro.check()?;
        }
        if self.fix && checked.integrity.is_empty() && !checked.miscounted.is_empty() {
            let recounted = oneiro.recount_sessions(&checked.miscounted)?;
            context
                .output
                .note(&format!("Recomputed the counters of {}.", count(recounted, "session")));
            checked = oneiro.check()?;
        }
        if self.fix && checked.integrity.is_empty() && !checked.contexts.is_empty() {
            let problems = checked.contexts.len();
            let repaired = oneiro.context().repair_all()?;
            checked = oneiro.check()?;
            let fixed = problems.saturating_sub(checked.contexts.len());
            context.output.note(&format!(
                "Rebuilt the contexts of {}; fixed {fixed} of {}.",
                count(repaired, "session"),
                count(problems, "problem")
            ));
        }
        if self.fix && checked.integrity.is_empty() && !checked.index.is_empty() {
            let bar = progress::bar(0, "Indexing", context.output.json);
            oneiro.index().rebuild(&mut |done, last| {
                bar.set_length(last.max(0) as u64);
                bar.set_position(done.max(0) as u64);
            })?;
            bar.finish_and_clear();
            context.output.note("Rebuilt the text index.");
            checked = oneiro.check()?;
        }
        if self.fix && checked.integrity.is_empty() {
            for done in oneiro.repair_dreams()? {
                context.output.note(&format!("Dreams: {done}."));
            }
            checked = oneiro.check()?;
        }
        context.output.show(&checked, describe)?;
        if !checked.lost_writes.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, "newer writes of this store were lost")
                .remedy(
                    "its log (the file ending in -wal) was cut, replaced or left behind: put the \
                     right one back or restore the newest backup; `oneiro doctor --fix` goes on \
                     with what is left",
                )
                .into());
        }
        let is_sound = checked.integrity.is_empty()
            && checked.miscounted.is_empty()
            && checked.contexts.is_empty()
            && checked.index.is_empty();
        if is_sound && !checked.notes.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, "texts of notes are missing")
                .remedy("restore the newest backup, or write the notes again")
                .into());
        }
        if is_sound && !checked.memories.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, "memories refer to memories that are gone")
                .remedy("confirm or forget each of them")
                .into());
        }
        match (checked.ok, checked.integrity.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => {
                let what = match (checked.miscounted.is_empty(), checked.contexts.is_empty()) {
                    _ if checked.index.is_empty() && is_sound => "what dreams store is not sound",
                    (false, _) => "counters do not match their rows",
                    (true, false) => "contexts do not match their messages and summaries",
                    (true, true) => "the text index is not sound",
                };
                Err(Error::new(ErrorKind::Corrupt, what)
                    .remedy("nothing is lost: `oneiro doctor --fix` repairs it from the messages")
                    .into())
            }
            (false, false) => Err(Error::new(ErrorKind::Corrupt, "the store is damaged")
                .remedy("stop writing to it and restore the newest backup")
                .into()),
        }
    }
}

fn describe(checked: &Checked) -> String {
    if checked.ok {
        let issues = checked.dreams.iter().map(dream_issue);
        let lines = std::iter::once("No problems found.".to_owned()).chain(issues);
        return lines.collect::<Vec<_>>().join("\n");
    }
    let mut lines = checked.integrity.clone();
    lines.extend(checked.lost_writes.iter().map(|sign| format!("lost writes: {sign}")));
    lines.extend(
        checked.miscounted.iter().map(|id| format!("session {id}: counters do not match its rows")),
    );
    lines.extend(checked.notes.iter().map(|problem| format!("note: {problem}")));
    lines.extend(checked.memories.iter().map(|id| {
        format!("memory {id}: it is superseded or suspended by one that is removed or erased")
    }));
    lines.extend(checked.contexts.iter().map(|problem| format!("context: {}", plain(problem))));
    lines.extend(checked.index.iter().map(|problem| format!("text index: {problem}")));
    lines.extend(checked.dreams.iter().map(dream_issue));
    lines.join("\n")
}

fn dream_issue(issue: &DreamIssue) -> String {
    let severity = match issue.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let fixable = if issue.fixable { " (fixable: --fix)" } else { "" };
    format!("{severity} {}: {}{fixable}", issue.code, plain(&issue.message))
}
