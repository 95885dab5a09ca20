//! The `state.db` of hermes, imported and counted on both sides.

use crate::agents::AgentRow;
use crate::context::Context;
use crate::output::{count, plain, thousands};
use crate::progress;
use oneiro::{Error, HermesCounts, HermesImported, Oneiro};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where hermes keeps its sessions.
pub fn at_home() -> oneiro::Result<PathBuf> {
    let row = AgentRow::named("hermes");
    row.and_then(AgentRow::database).ok_or_else(|| {
        let home = row.and_then(AgentRow::home).unwrap_or_default();
        Error::not_found("there is no state.db of hermes")
            .remedy(format!("name the file; looked in {}", home.display()))
    })
}

/// What became of the file.
pub struct Moved {
    path: PathBuf,
    dry_run: bool,
    /// What was imported, or would be.
    pub done: HermesImported,
}

/// Imports a file, or counts what an import would bring.
pub fn import(
    context: &Context,
    oneiro: &Oneiro,
    (path, dry_run): (&Path, bool),
) -> oneiro::Result<Moved> {
    let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
    let bar = progress::bar(bytes, "import", context.output.json);
    let mut progress = |at: oneiro::TransferProgress| bar.set_position(at.bytes);
    let done = match dry_run {
        true => oneiro.transfer().preview_hermes(path, &mut progress),
        false => oneiro.transfer().import_hermes(path, &mut progress),
    };
    bar.finish_and_clear();
    Ok(Moved { path: path.to_owned(), dry_run, done: done? })
}

/// Rows and sessions that are named; the rest are counted.
const NAMED: usize = 10;

impl Moved {
    /// As JSON.
    pub fn json(&self) -> Value {
        let mut value = json!(self.done);
        if let Value::Object(fields) = &mut value {
            fields.insert("path".to_owned(), json!(self.path));
            fields.insert("dry_run".to_owned(), json!(self.dry_run));
        }
        value
    }

    /// An error when the two sides do not hold the same.
    pub fn check(&self) -> Option<Error> {
        let lost = self.done.not_kept.len();
        let differ = self.done.differences.len();
        (self.done.agrees == Some(false)).then(|| {
            Error::conflict(format!(
                "the file and the store do not agree: {} not kept, {} with other messages",
                count(lost, "row"),
                count(differ, "session")
            ))
            .remedy("what is stored stays; see which they are, and run it again")
        })
    }

    /// For people.
    pub fn describe(&self) -> String {
        let done = &self.done;
        let (messages, sessions) = (done.messages, count(done.sessions, "new session"));
        let mut lines = vec![match self.dry_run {
            true => format!("{} would be new, in {sessions}", count(messages, "message")),
            false => format!("{}, {sessions}", count(messages, "new message")),
        }];
        lines.push(format!("  in the file:  {}", counts(&done.file)));
        lines.push(format!("  in the store: {}", counts(&done.store)));
        match done.agrees {
            Some(true) => lines.push("  both sides agree".to_owned()),
            Some(false) => lines.push("  the two sides do NOT agree:".to_owned()),
            None => {}
        }
        for differs in done.differences.iter().take(NAMED) {
            lines.push(format!(
                "    session {}: {} missing, {} elsewhere",
                differs.session,
                count(differs.missing, "message"),
                differs.elsewhere
            ));
        }
        for row in done.not_kept.iter().take(NAMED) {
            lines.push(format!("    not kept: {} {}: {}", row.table, row.id, row.reason));
        }
        let more = done.not_kept.len().saturating_sub(NAMED)
            + done.differences.len().saturating_sub(NAMED);
        if more > 0 {
            lines.push(format!("    and {more} more; --json names all"));
        }
        lines.extend(self.notes());
        lines.extend(done.warnings.iter().map(|warning| format!("  note: {warning}")));
        plain(&lines.join("\n"))
    }

    /// What else happened, where it did.
    fn notes(&self) -> Vec<String> {
        let done = &self.done;
        let repaired = done.repaired.values().sum();
        let kinds: Vec<String> =
            done.repaired.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let repairs = format!("put right ({})", kinds.join(", "));
        let left = format!("left out: {} removed here", count(done.left_out_sessions, "session"));
        let notes: [(usize, [&str; 2]); 10] = [
            (
                done.sessions_changed,
                ["known session brought up to date", "known sessions brought up to date"],
            ),
            (
                done.messages_changed,
                [
                    "known message hidden or shown as in hermes",
                    "known messages hidden or shown as in hermes",
                ],
            ),
            (
                done.replaced,
                [
                    "message that hermes replaced is taken back",
                    "messages that hermes replaced are taken back",
                ],
            ),
            (
                done.kept_here,
                [
                    "change of hermes not taken over: the same was changed here",
                    "changes of hermes not taken over: the same was changed here",
                ],
            ),
            (
                done.left_out,
                [
                    "message left out: it was removed here",
                    "messages left out: they were removed here",
                ],
            ),
            (done.left_out_sessions, [&left, &left]),
            (
                done.detached,
                [
                    "session whose parent is missing or its own descendant",
                    "sessions whose parents are missing or their own descendants",
                ],
            ),
            (done.retitled, ["title that was taken, numbered", "titles that were taken, numbered"]),
            (repaired, [&repairs, &repairs]),
            (done.withheld, ["private span withheld", "private spans withheld"]),
        ];
        let mut lines: Vec<String> = notes
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, [one, more])| {
                format!("  {number} {}", if number == 1 { one } else { more })
            })
            .collect();
        if !done.tables_left.is_empty() {
            let left = done.tables_left.iter().map(|(table, rows)| format!("{table} {rows}"));
            let left: Vec<String> = left.collect();
            lines.push(format!("  tables not taken over, with their rows: {}", left.join(", ")));
        }
        lines
    }
}

fn counts(counts: &HermesCounts) -> String {
    let size = |number: i64| usize::try_from(number).unwrap_or(0);
    let number = |number: i64| thousands(size(number));
    let counted = |number: i64, noun: &str| count(size(number), noun);
    format!(
        "{}, {} ({} live, {} compacted, {} rewound)",
        counted(counts.sessions, "session"),
        counted(counts.messages(), "message"),
        number(counts.live),
        number(counts.compacted),
        number(counts.rewound)
    )
}
