//! Printing: data on standard output, notes on standard error, JSON for programs, tables for
//! people. Stored text reaches a terminal only with its control characters taken out.

use crate::style::Style;
use oneiro::{ErrorKind, Remedy, Surface, Timestamp};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use unicode_width::UnicodeWidthStr;

/// How to print.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Print JSON.
    pub json: bool,
}

impl Output {
    /// Prints JSON or text.
    pub fn new(json: bool) -> Output {
        Output { json }
    }

    /// Prints `value` as JSON, or what `text` makes of it.
    pub fn show<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        if self.json {
            data(&serde_json::to_string(value)?)
        } else {
            data(text(value).trim_end_matches('\n'))
        }
    }

    /// Prints a note for people on standard error; none with `--json`.
    pub fn note(&self, text: &str) {
        if !self.json {
            to_stderr(&format!("{text}\n"));
        }
    }

    /// Asks whether something may be removed. Without a terminal, `--yes` must have been given.
    pub fn confirm_removal(&self, what: &str, yes: bool) -> anyhow::Result<bool> {
        if yes {
            return Ok(true);
        }
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            return Err(oneiro::Error::invalid(format!("this removes {what}"))
                .remedy(Remedy::Confirm)
                .into());
        }
        to_stderr(&format!("Remove {}? [y/N] ", plain(what)));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        let is_confirmed = matches!(answer.trim(), "y" | "Y" | "yes");
        if !is_confirmed {
            self.note("Nothing was removed.");
        }
        Ok(is_confirmed)
    }
}

/// Writes one line of data.
pub fn data(line: &str) -> anyhow::Result<()> {
    raw(&format!("{line}\n"))
}

/// Writes a text to standard output as it is, for a file or another program.
pub fn raw(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // The reader closed the pipe.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}

/// Writes a text for people to standard error. That nobody reads it, as in `oneiro note list 2>&1 |
/// head -1`, is no failure: the exit code tells how the command went.
pub fn to_stderr(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints an error and returns its exit code.
pub fn fail(error: &anyhow::Error, json: bool) -> ExitCode {
    let file = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    if file.is_some_and(|file| file.kind() == std::io::ErrorKind::BrokenPipe) {
        // The reader closed the pipe, as in `oneiro session export | head`.
        return ExitCode::SUCCESS;
    }
    let (kind, message, hint) = match (error.downcast_ref::<oneiro::Error>(), file) {
        (Some(known), _) => {
            (known.kind(), known.message().to_owned(), known.remedy_for(Surface::CommandLine))
        }
        (None, Some(file)) => {
            let denied = file.kind() == std::io::ErrorKind::PermissionDenied;
            let kind = if denied { ErrorKind::Forbidden } else { ErrorKind::Unavailable };
            (
                kind,
                format!("{error:#}"),
                Some("check the path, its permissions and the disk".into()),
            )
        }
        (None, None) => (ErrorKind::Internal, format!("{error:#}"), None),
    };
    if json {
        let problem =
            serde_json::json!({"error": {"kind": kind.name(), "message": message, "hint": hint}});
        to_stderr(&format!("{problem}\n"));
    } else {
        let style = Style::of_stream(&std::io::stderr());
        to_stderr(&format!("{} {}\n", style.error("error:"), plain(&message)));
        if let Some(hint) = hint {
            to_stderr(&format!("{} {}\n", style.hint("hint:"), plain(&hint)));
        }
    }
    ExitCode::from(kind.row().exit)
}

/// Text that cannot move the cursor, colour the screen or forge a line.
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\n' | '\t' => letter,
            letter if letter.is_control() => '\u{FFFD}',
            // Bidi controls make a line read as another.
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
            letter => letter,
        })
        .collect()
}

/// The same on one line, cut to `width` columns.
pub fn one_line(text: &str, width: usize) -> String {
    let text = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if text.width() <= width {
        return text;
    }
    let mut cut = String::new();
    for letter in text.chars() {
        if cut.width() + 1 >= width {
            break;
        }
        cut.push(letter);
    }
    cut.push('…');
    cut
}

/// Columns under headings.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|heading| heading.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).map(|(cell, width)| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut headings.iter().copied())];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// How long ago, rounded.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.micros().saturating_sub(then.micros()) / 1_000_000;
    match seconds {
        i64::MIN..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        172_800..5_184_000 => format!("{} days ago", seconds / 86_400),
        _ => then.date_text(),
    }
}

/// A size in bytes with a binary unit.
pub fn bytes(count: i64) -> String {
    let mut amount = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if amount < 1024.0 {
            return if unit == "B" { format!("{count} B") } else { format!("{amount:.1} {unit}") };
        }
        amount /= 1024.0;
    }
    format!("{amount:.1} TiB")
}

/// A number with its thousands apart: `61,204`.
pub fn thousands(number: usize) -> String {
    oneiro::thousands(number as u64)
}

/// A count with its noun: `1 message`, `2 messages`, `2 summaries`.
pub fn count(number: usize, noun: &str) -> String {
    let digits = thousands(number);
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("{digits} {noun}"),
        // A vowel before the y keeps it: day, days.
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{digits} {stem}ies"),
        _ => format!("{digits} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_cannot_reach_the_terminal_raw() {
        assert_eq!(plain("a\u{1b}[31mb\rc"), "a\u{FFFD}[31mb\u{FFFD}c");
        assert_eq!(one_line("a\n b\tc", 20), "a b c");
        assert_eq!(one_line("漢字漢字漢字", 7), "漢字漢…");
    }

    #[test]
    fn tables_line_up_by_columns_not_bytes() {
        let rows =
            vec![vec!["漢字".to_owned(), "1".to_owned()], vec!["ab".to_owned(), "2".to_owned()]];
        assert_eq!(table(&["id", "n"], &rows), "id    n\n漢字  1\nab    2");
    }

    #[test]
    fn sizes_and_times_read_well() {
        let now = Timestamp::from_micros(10_000_000_000_000);
        let before = |seconds: i64| Timestamp::from_micros(now.micros() - seconds * 1_000_000);
        assert_eq!(ago(before(5), now), "just now");
        assert_eq!(ago(before(-5), now), "just now");
        assert_eq!(ago(before(7_300), now), "2 h ago");
        assert_eq!(bytes(500), "500 B");
        assert_eq!(bytes(1_572_864), "1.5 MiB");
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
        for (number, noun, text) in [
            (0, "hit", "0 hits"),
            (1, "hit", "1 hit"),
            (1_200, "hit", "1,200 hits"),
            (1, "summary", "1 summary"),
            (2, "summary", "2 summaries"),
            (2, "day", "2 days"),
        ] {
            assert_eq!(count(number, noun), text);
        }
    }
}
