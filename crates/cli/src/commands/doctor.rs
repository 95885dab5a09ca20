//! `oneiro doctor`: check the store for damage.

use crate::context::Context;
use crate::output::{count, plain};
use crate::progress;
use clap::Args;
use oneiro::{Checked, Error, ErrorKind};

/// Check the store for damage
///
/// Asks the engine to check its files, whether newer writes were lost, whether every counter matches
/// its rows, whether the summaries of every session cover each message once and windows show the
/// right ones, and whether the text index holds every message.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Count anew what is counted wrong, make contexts of messages and sound summaries anew, build
    /// a damaged text index anew beside the old one while others write, and remove unfinished
    /// backups whose process is gone; damaged files are never touched
    #[arg(long)]
    fix: bool,
}

impl DoctorArgs {
    /// Checks; damage is an error.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open_existing()?;
        if self.fix {
            for path in oneiro.transfer().remove_abandoned_backups()? {
                context.output.say(&format!("Removed the unfinished backup {}.", plain(&path)));
            }
        }
        let mut checked = oneiro.check()?;
        if self.fix && checked.integrity.is_empty() && !checked.lost_writes.is_empty() {
            oneiro.raise_counters()?;
            context.output.say(
                "Raised the counters, so that no id is given twice. What was lost is not brought \
                 back: restore the newest backup if you need it.",
            );
            checked = oneiro.check()?;
        }
        if self.fix && checked.integrity.is_empty() && !checked.miscounted.is_empty() {
            let mended = oneiro.recount_sessions(&checked.miscounted)?;
            context.output.say(&format!("Counted {} anew.", count(mended, "session")));
            checked = oneiro.check()?;
        }
        if self.fix && checked.integrity.is_empty() && !checked.contexts.is_empty() {
            let problems = checked.contexts.len();
            let mended = oneiro.context().repair_all()?;
            checked = oneiro.check()?;
            let gone = problems.saturating_sub(checked.contexts.len());
            context.output.say(&format!(
                "Made the contexts of {} anew, {gone} of {} gone.",
                count(mended, "session"),
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
            context.output.say("Built the text index anew.");
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
        match (checked.ok, checked.integrity.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => {
                let what = match (checked.miscounted.is_empty(), checked.contexts.is_empty()) {
                    (false, _) => "counters do not match their rows",
                    (true, false) => "contexts do not match their messages and summaries",
                    (true, true) => "the text index is not sound",
                };
                Err(Error::new(ErrorKind::Corrupt, what)
                    .remedy("nothing is lost: `oneiro doctor --fix` mends it from the messages")
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
        return "The store is sound.".to_owned();
    }
    let mut lines = checked.integrity.clone();
    lines.extend(checked.lost_writes.iter().map(|sign| format!("lost writes: {sign}")));
    lines.extend(
        checked.miscounted.iter().map(|id| format!("session {id}: counters do not match its rows")),
    );
    lines.extend(checked.contexts.iter().map(|problem| format!("context: {}", plain(problem))));
    lines.extend(checked.index.iter().map(|problem| format!("text index: {problem}")));
    lines.join("\n")
}
