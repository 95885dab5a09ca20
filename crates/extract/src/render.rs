//! Writes selected clauses as lines: `8 May 2023 Ana: text`.

use std::borrow::Cow;

use jiff::civil::Date;
use oneiro_text::DatedText;

use crate::connectives::without_join;
use crate::conversation::{Clause, Conversation};
use crate::dates;
use crate::lines::Lines;
use crate::segment::joins_previous;
use crate::utterance::Utterance;

/// Bytes on either side of a sentence that show its language.
const DATE_CONTEXT_BYTES: usize = 160;

/// What bold type is marked with.
const BOLD: &str = "**";

/// Between clauses where something was left out.
const GAP: &str = " … ";

/// Bytes between two clauses of a line, at most, that are written as they stand: marks, and a word
/// that only leads on. A blob is longer.
const MIN_WORD_CUT_BYTES: usize = 32;

/// Characters of a name that are shown.
const MAX_NAME_CHARS: usize = 32;

/// A conversation, and how its clauses are written.
pub(crate) struct Page<'a> {
    pub conversation: &'a Conversation,
    pub utterances: &'a [Utterance<'a>],
    pub lines: &'a Lines,
}

impl<'a> Page<'a> {
    /// Writes the clauses for which `is_kept` holds, line by line.
    pub fn lines(&self, is_kept: impl Fn(u32) -> bool) -> String {
        let mut kept: Vec<(usize, u32, &Clause)> = (0_u32..)
            .zip(&self.conversation.clauses)
            .filter(|(number, _)| is_kept(*number))
            .filter_map(|(number, clause)| {
                let utterance = self.conversation.sentence_of(clause)?.utterance;
                Some((self.lines.of_utterance(utterance)?, number, clause))
            })
            .collect();
        kept.sort_unstable_by_key(|(line, number, _)| (*line, *number));
        let mut out = String::new();
        let mut open_line = None;
        // Of the clause before: its number, its utterance and line, and where it ends.
        let mut last: Option<(u32, u32, u32, usize)> = None;
        for (_, number, clause) in kept {
            let Some(sentence) = self.conversation.sentence_of(clause) else { continue };
            let Some(said) = self.utterances.get(sentence.utterance as usize) else { continue };
            let mut from = clause.start;
            // Lines of one speaker that meet because what was between them is left out are one.
            let key = (said.speaker, said.day);
            if open_line != Some(key) {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(&line_start(said.day, said.speaker));
                open_line = Some(key);
            } else if let Some((before, utterance, line, end)) = last {
                let follows = before + 1 == number && utterance == sentence.utterance;
                let between = clause.start.saturating_sub(end);
                match (follows, line == sentence.line) {
                    (true, true) if between <= MIN_WORD_CUT_BYTES => from = end,
                    (true, false) => out.push(' '),
                    // Also where a blob was between two sentences of a line.
                    _ => out.push_str(GAP),
                }
            }
            if from < clause.start {
                out.push_str(said.text.get(from..clause.start).unwrap_or_default());
                out.push_str(&self.text(clause));
            } else {
                out.push_str(without_join(&self.text(clause)));
            }
            last = Some((number, sentence.utterance, sentence.line, clause.end));
        }
        out
    }

    /// A clause with what its relative dates meant.
    pub fn text(&self, clause: &Clause) -> Cow<'a, str> {
        let Some(sentence) = self.conversation.sentence_of(clause) else {
            return Cow::Borrowed("");
        };
        let Some(said) = self.utterances.get(sentence.utterance as usize) else {
            return Cow::Borrowed("");
        };
        let shown = said.text.get(clause.start..clause.end).unwrap_or_default();
        let Some(day) = said.day.filter(|_| clause.names_time) else {
            return without_bold(Cow::Borrowed(shown));
        };
        let text = said.text.get(sentence.start..sentence.end).unwrap_or_default();
        let from = said.text.floor_char_boundary(sentence.start.saturating_sub(DATE_CONTEXT_BYTES));
        let to =
            said.text.ceil_char_boundary((sentence.end + DATE_CONTEXT_BYTES).min(said.text.len()));
        let around = said.text.get(from..to).unwrap_or_default();
        let dated = DatedText { text, around, written_on: day };
        let (start, end) = (clause.start - sentence.start, clause.end - sentence.start);
        let mut text = shown.to_owned();
        for (at, meaning) in dates::meanings(&dated, (start, end)).iter().rev() {
            text.insert_str(at - start, meaning);
        }
        without_bold(Cow::Owned(text))
    }
}

/// A text without the marks of bold type, which a clause may have lost one of.
fn without_bold(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(BOLD) { Cow::Owned(text.replace(BOLD, "")) } else { text }
}

/// What a line begins with: `8 May 2023 Ana: `, as far as it is known.
pub(crate) fn line_start(day: Option<Date>, speaker: &str) -> String {
    let mut out = day.map(dates::day).unwrap_or_default();
    if !out.is_empty() {
        out.push_str(if speaker.is_empty() { ": " } else { " " });
    }
    write_speaker(&mut out, speaker);
    out
}

/// The name of a speaker and a colon; nothing where there is no name.
fn write_speaker(out: &mut String, speaker: &str) {
    if speaker.is_empty() {
        return;
    }
    match speaker.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => {
            out.push_str(speaker.get(..end).unwrap_or_default().trim_end());
            out.push('…');
        }
        None => out.push_str(speaker),
    }
    out.push_str(": ");
}

/// Everything that was said, a line for each message.
pub(crate) fn all_lines(utterances: &[Utterance<'_>]) -> String {
    let mut out = String::new();
    for said in utterances.iter().filter(|said| !said.text.trim().is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&line_start(said.day, said.speaker));
        let text = said.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let text = text.collect::<Vec<_>>().join(" ");
        out.push_str(&dates::resolved(&text, said.day));
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
