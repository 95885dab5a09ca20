//! Chosen clauses as lines: `speaker: text`. It owns how an extract is written; it must not know
//! why a clause was chosen.

use crate::Said;
use crate::reading::Reading;
use crate::segment::joins_previous;
use crate::utterance::{Utterance, first_line};

/// Between clauses where something was left out.
const GAP: &str = " … ";

/// Bytes between two clauses of a line, at most, that are written as they stand: marks, and a word
/// that only leads on. A blob is longer.
const CLOSEST: usize = 32;

/// Characters of a name that are shown.
const LONGEST_NAME: usize = 32;

/// Writes the clauses for which `is_kept` holds, in order.
pub(crate) fn lines(
    reading: &Reading,
    utterances: &[Utterance<'_>],
    is_kept: impl Fn(u32) -> bool,
) -> String {
    let mut out = String::new();
    let mut speaker = None;
    // Of the clause before: its number, its utterance and line, and where it ends.
    let mut last: Option<(u32, u32, u32, usize)> = None;
    for (number, clause) in (0_u32..).zip(&reading.clauses) {
        if !is_kept(number) {
            continue;
        }
        let Some(sentence) = reading.sentence_of(clause) else { continue };
        let Some(said) = utterances.get(sentence.utterance as usize) else { continue };
        let mut from = clause.start;
        if speaker != Some(said.speaker) {
            if !out.is_empty() {
                out.push('\n');
            }
            write_speaker(&mut out, said.speaker);
            speaker = Some(said.speaker);
        } else if let Some((before, utterance, line, end)) = last {
            let follows = before + 1 == number && utterance == sentence.utterance;
            let between = clause.start.saturating_sub(end);
            match (follows, line == sentence.line) {
                (true, true) if between <= CLOSEST => from = end,
                (true, false) => out.push(' '),
                // Also where a blob was between two sentences of a line.
                _ => out.push_str(GAP),
            }
        }
        let shown = said.text.get(from..clause.end).unwrap_or_default();
        out.push_str(if from == clause.start { without_join(shown) } else { shown });
        last = Some((number, sentence.utterance, sentence.line, clause.end));
    }
    out
}

/// A clause without the word that joins it to one that was left out.
fn without_join(clause: &str) -> &str {
    match clause.split_once(' ') {
        Some(("and" | "so" | "und" | "et" | "y" | "e" | "и", rest)) => rest,
        _ => clause,
    }
}

/// The name of a speaker and a colon; nothing where there is no name.
pub(crate) fn write_speaker(out: &mut String, speaker: &str) {
    if speaker.is_empty() {
        return;
    }
    match speaker.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => {
            out.push_str(speaker.get(..end).unwrap_or_default().trim_end());
            out.push('…');
        }
        None => out.push_str(speaker),
    }
    out.push_str(": ");
}

/// Everything that was said, as an extract writes it.
pub(crate) fn whole(said: &[Said<'_>]) -> String {
    let mut out = String::new();
    for said in said.iter().filter(|said| !said.text.trim().is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        write_speaker(&mut out, first_line(said.speaker));
        out.push_str(said.text.trim());
    }
    out
}

/// As much of the start of a text as fits, ending between words where it can.
pub(crate) fn clipped(text: &str, fits: impl Fn(&str) -> bool) -> String {
    let mut ends: Vec<usize> = text
        .char_indices()
        .filter(|(at, letter)| letter.is_whitespace() && *at > 0)
        .map(|(at, _)| at)
        .collect();
    if ends.is_empty() {
        ends = text
            .char_indices()
            .map(|(at, _)| at)
            .filter(|at| *at > 0 && !joins_previous(text.get(*at..).unwrap_or_default()))
            .collect();
    }
    let cut = |end: &usize| format!("{}…", text.get(..*end).unwrap_or_default().trim_end());
    let count = ends.partition_point(|end| fits(&cut(end)));
    count.checked_sub(1).and_then(|last| ends.get(last)).map(cut).unwrap_or_default()
}
