//! The `state.db` of hermes, imported and counted on both sides.

use crate::agents::AgentRow;
use crate::context::Context;
use crate::output::{count, plain, thousands};
use crate::progress;
use oneiro::{Error, HermesCounts, HermesImported, Oneiro};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where hermes keeps its sessions.
pub fn default_file() -> oneiro::Result<PathBuf> {
    let row = AgentRow::named("hermes");
    row.and_then(AgentRow::database).ok_or_else(|| {
        let home = row.and_then(AgentRow::home).unwrap_or_default();
        Error::not_found("there is no state.db of hermes")
            .remedy(format!("name the file; looked in {}", home.display()))
    })
}

/// What was imported.
pub struct HermesReport {
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
) -> oneiro::Result<HermesReport> {
    let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
    let bar = progress::bar(bytes, "import", context.output.json);
    let mut progress = |at: oneiro::TransferProgress| bar.set_position(at.bytes);
    let done = if dry_run {
        oneiro.transfer().preview_hermes(path, &mut progress)
    } else {
        oneiro.transfer().import_hermes(path, &mut progress)
    };
    bar.finish_and_clear();
    Ok(HermesReport { path: path.to_owned(), dry_run, done: done? })
}

/// Rows and sessions that are named; the rest are counted.
const NAMED_ROWS: usize = 10;

impl HermesReport {
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
                "the file and the store differ: {} not imported, {} with other messages",
                count(lost, "row"),
                count(differ, "session")
            ))
            .remedy("what was imported stays; the output names the differences; run it again")
        })
    }

    /// For people.
    pub fn describe(&self) -> String {
        let done = &self.done;
        let (messages, sessions) = (done.messages, count(done.sessions, "new session"));
        let mut lines = vec![if self.dry_run {
            format!("{} to import in {sessions}", count(messages, "message"))
        } else {
            format!("{}, {sessions}", count(messages, "new message"))
        }];
        lines.push(format!("  in the file:  {}", counts(&done.file)));
        lines.push(format!("  in the store: {}", counts(&done.store)));
        match done.agrees {
            Some(true) => lines.push("  both sides are equal".to_owned()),
            Some(false) => lines.push("  the two sides DIFFER:".to_owned()),
            None => {}
        }
        for differs in done.differences.iter().take(NAMED_ROWS) {
            lines.push(format!(
                "    session {}: {} missing, {} elsewhere",
                differs.session,
                count(differs.missing, "message"),
                differs.elsewhere
            ));
        }
        for row in done.not_kept.iter().take(NAMED_ROWS) {
            lines.push(format!("    not imported: {} {}: {}", row.table, row.id, row.reason));
        }
        let more = done.not_kept.len().saturating_sub(NAMED_ROWS)
            + done.differences.len().saturating_sub(NAMED_ROWS);
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
        let repairs = format!("repaired ({})", kinds.join(", "));
        let left = format!("skipped: {} removed here", count(done.left_out_sessions, "session"));
        let notes: [(usize, [&str; 2]); 10] = [
            (done.sessions_changed, ["session updated", "sessions updated"]),
            (
                done.messages_changed,
                [
                    "message hidden or shown again as in hermes",
                    "messages hidden or shown again as in hermes",
                ],
            ),
            (
                done.replaced,
                [
                    "message hidden because hermes replaced it",
                    "messages hidden because hermes replaced them",
                ],
            ),
            (
                done.kept_here,
                [
                    "change of hermes ignored: the same was changed here",
                    "changes of hermes ignored: the same was changed here",
                ],
            ),
            (
                done.left_out,
                [
                    "message skipped: it was removed here",
                    "messages skipped: they were removed here",
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
            (done.retitled, ["duplicate title, numbered", "duplicate titles, numbered"]),
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
            lines.push(format!("  tables not imported, with their rows: {}", left.join(", ")));
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
