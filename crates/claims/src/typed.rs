//! Finds the lines of a message that somebody typed as prose. Fences, quotes, tags, logs, code,
//! stack traces and pasted e-mails are left out.

use crate::patterns::{Phrases, SHARED};

/// A longer line is data, or was pasted.
const MAX_LINE_BYTES: usize = 4000;

/// A longer message was hardly typed: nothing in it is believed without review.
const MAX_TYPED_BYTES: usize = 6000;

/// More items than this are a list of something, not statements.
const MAX_ITEMS: usize = 12;

/// One line of prose, by its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypedLine {
    pub start: usize,
    pub end: usize,
    /// Whether it is surely the speaker's own.
    pub own: bool,
}

/// Calls `each` with the typed lines of a text, in order.
pub(crate) fn typed_lines(text: &str, mut each: impl FnMut(TypedLine)) {
    let mut reader = LineReader { fence: None, tag: None, ..LineReader::default() };
    let is_short = text.len() <= MAX_TYPED_BYTES;
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let start = at;
        at += line.len();
        if line.len() > MAX_LINE_BYTES {
            reader.after_introduction = false;
            continue;
        }
        match reader.read(line) {
            LineKind::Typed(skipped) => {
                let end = start + line.trim_end().len();
                let own = is_short && !reader.after_introduction;
                each(TypedLine { start: start + skipped, end, own });
                reader.note_introduction(line);
            }
            LineKind::Skipped => {}
            LineKind::RestIsPasted => {
                // "I'm a plumber. Here is the log:" begins with words of the speaker.
                let before = line.find(": ").or_else(|| line.rfind(':')).unwrap_or(0);
                let before = line.get(..before).unwrap_or_default();
                let ends = [". ", "! ", "? "].into_iter().filter_map(|mark| before.rfind(mark));
                if let Some(cut) = ends.max().filter(|_| !is_mail_header(line.trim())) {
                    let own = is_short && !reader.after_introduction;
                    each(TypedLine { start, end: start + cut + 1, own });
                }
                return;
            }
        }
    }
}

enum LineKind {
    /// Prose, after this many bytes of space and list marks.
    Typed(usize),
    Skipped,
    RestIsPasted,
}

#[derive(Default)]
struct LineReader {
    /// The mark of the open fence.
    fence: Option<&'static str>,
    /// The name of the open tag.
    tag: Option<String>,
    /// Whether a line that ends with a colon came before, so that this may be its example.
    after_introduction: bool,
    items: usize,
    headers: usize,
}

impl LineReader {
    fn read(&mut self, line: &str) -> LineKind {
        let trimmed = line.trim();
        if let Some(mark) = self.fence {
            if trimmed.starts_with(mark) {
                self.fence = None;
            }
            return LineKind::Skipped;
        }
        if let Some(name) = &self.tag {
            if closes(trimmed, name) {
                self.tag = None;
            }
            return LineKind::Skipped;
        }
        self.fence = ["```", "~~~", "\"\"\""].into_iter().find(|mark| trimmed.starts_with(mark));
        if self.fence.is_some() {
            // A fence that closes in its own line.
            let inside = trimmed.get(3..).unwrap_or_default();
            if self.fence.is_some_and(|mark| inside.contains(mark)) {
                self.fence = None;
            }
            return LineKind::Skipped;
        }
        if trimmed.is_empty() {
            return LineKind::Skipped;
        }
        if let Some(name) = open_tag(trimmed) {
            self.tag = Some(name);
            return LineKind::Skipped;
        }
        if is_mail_header(trimmed) {
            self.headers += 1;
            if self.headers >= 2 {
                return LineKind::RestIsPasted;
            }
            return LineKind::Skipped;
        }
        if is_mail_divider(trimmed) || SHARED.is_pasted_from_here(trimmed) {
            return LineKind::RestIsPasted;
        }
        let indent = line.len() - line.trim_start().len();
        let (marker, is_item) = list_marker(trimmed);
        self.items += usize::from(is_item);
        let is_data = line.starts_with('\t') || indent >= 4 && !is_item || self.items > MAX_ITEMS;
        if is_data || is_machine_made(trimmed) {
            return LineKind::Skipped;
        }
        LineKind::Typed(indent + marker)
    }

    /// What follows "the reviewer wrote:" is not surely the speaker's own; what follows "about me:"
    /// is.
    fn note_introduction(&mut self, line: &str) {
        let line = line.trim_end().trim_end_matches(['*', '_']);
        if line.ends_with(':') {
            self.after_introduction = !SHARED.introduces_own(line);
        }
    }
}

/// How many bytes a bullet, a number or hashes take, and whether it is an item.
fn list_marker(line: &str) -> (usize, bool) {
    let rest = line.trim_start_matches('#');
    if rest.len() < line.len() {
        return (line.len() - rest.trim_start().len(), false);
    }
    for bullet in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (line.len() - rest.trim_start().len(), true);
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or_default();
    // "3. Juni" begins a sentence; "3) " and "3. I" begin an item.
    match rest.strip_prefix(") ").or_else(|| rest.strip_prefix(". ")) {
        Some(rest) if (1..=2).contains(&digits) => (line.len() - rest.trim_start().len(), true),
        _ => (0, false),
    }
}

/// The name of a tag that opens in a line and does not close in it.
fn open_tag(line: &str) -> Option<String> {
    let mut rest = line;
    let mut open = None;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at + 1..).unwrap_or_default();
        let name: String = rest
            .chars()
            .take_while(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_'))
            .collect();
        let after = rest.get(name.len()..).unwrap_or_default();
        let is_tag = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && after.starts_with(['>', ' ', '/'])
            && after.contains('>')
            && !matches!(name.as_str(), "br" | "hr" | "img" | "input");
        let is_empty = after.split('>').next().is_some_and(|inside| inside.ends_with('/'));
        if is_tag && !is_empty && !closes(after, &name) && open.is_none() {
            open = Some(name);
        }
    }
    open
}

fn closes(line: &str, name: &str) -> bool {
    line.match_indices("</").any(|(at, mark)| {
        line.get(at + mark.len()..).is_some_and(|rest| {
            rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        })
    })
}

const MAIL_HEADERS: [&str; 22] = [
    "from:",
    "to:",
    "cc:",
    "bcc:",
    "subject:",
    "sent:",
    "date:",
    "reply-to:",
    "message-id:",
    "von:",
    "an:",
    "betreff:",
    "gesendet:",
    "datum:",
    "de:",
    "para:",
    "asunto:",
    "enviado:",
    "fecha:",
    "von ",
    "received:",
    "mime-version:",
];

fn is_mail_header(line: &str) -> bool {
    let colon = line.find(':').filter(|at| *at <= 14);
    let Some(name) = colon.and_then(|at| line.get(..=at)) else { return false };
    let name = name.trim_matches('*').to_ascii_lowercase();
    MAIL_HEADERS.contains(&name.as_str())
        && line.starts_with(|letter: char| letter.is_uppercase() || letter == '*')
}

/// What mail programs write above a quoted message.
fn is_mail_divider(line: &str) -> bool {
    let starts =
        ["-----", "_____", "=====", "Begin forwarded message", "Anfang der weitergeleiteten"];
    starts.iter().any(|start| line.starts_with(start))
        || (line.ends_with("wrote:") || line.ends_with("schrieb:") || line.ends_with("escribió:"))
}

/// Beginnings of lines that a program wrote: quotations, logs, code, commands and roles of chat
/// logs.
const MACHINE_LINE_PREFIXES: [&str; 57] = [
    ">",
    "|",
    "$ ",
    "% ",
    ">>>",
    "...",
    "//",
    "/*",
    "*/",
    "#!",
    "@@",
    "+++",
    "---",
    "[",
    "{",
    "}",
    "<",
    "at ",
    "File \"",
    "Traceback",
    "Exception",
    "Error:",
    "error:",
    "warning:",
    "INFO",
    "WARN",
    "ERROR",
    "DEBUG",
    "TRACE",
    "FATAL",
    "import ",
    "def ",
    "fn ",
    "let ",
    "const ",
    "var ",
    "class ",
    "public ",
    "SELECT ",
    "INSERT ",
    "CREATE ",
    "export ",
    "sudo ",
    "git ",
    "cargo ",
    "npm ",
    "pip ",
    "curl ",
    "docker ",
    "user:",
    "assistant:",
    "User:",
    "Assistant:",
    "Human:",
    "system:",
    "System:",
    "SYSTEM:",
];

/// Ends of lines of code and of mark-up.
const MACHINE_LINE_SUFFIXES: [&str; 11] =
    ["{", "}", ";", "=>", "->", "\\", "()", ");", "*/", "/>", "];"];

/// Whether a program wrote the line, or a person for one.
fn is_machine_made(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_stamped = bytes.first().is_some_and(u8::is_ascii_digit)
        && (bytes.get(4) == Some(&b'-') || bytes.get(2) == Some(&b':'))
        && bytes.get(3).is_some_and(u8::is_ascii_digit);
    // "let me" and "let us" are for people.
    let is_let = line.starts_with("let ") && !line.contains('=');
    let is_json = line.starts_with('"') && line.contains("\":");
    let signs = bytes.iter().filter(|byte| b"{}=<>|\\;_$#@/".contains(byte)).count();
    is_stamped
        || is_json
        || MACHINE_LINE_PREFIXES.iter().any(|start| line.starts_with(start)) && !is_let
        || MACHINE_LINE_SUFFIXES.iter().any(|end| line.ends_with(end))
        || signs * 8 > bytes.len() && signs > 2
        || is_speaker_line(line)
}

/// A line of a chat log or a transcript: `[12:03] Ana: hello`, `Ana: hello` is left alone.
fn is_speaker_line(line: &str) -> bool {
    let after = line.split_once(['>', ']']).map(|(before, _)| before.len());
    matches!(line.as_bytes().first(), Some(b'<' | b'[')) && after.is_some_and(|at| at < 40)
}

/// Phrases that decide about lines, of all languages.
pub(crate) struct LinePhrases {
    /// What follows was written by somebody else: "here is the text".
    pub pasted: Phrases,
    /// What follows is about the speaker: "about me".
    pub own: Phrases,
}

impl LinePhrases {
    fn is_pasted_from_here(&self, line: &str) -> bool {
        let line = line.trim_end_matches(['*', '_', ' ']);
        // The text may follow in the same line: "Translate: my name is Anna".
        let Some(at) = line.find(": ").or_else(|| line.strip_suffix(':').map(str::len)) else {
            return false;
        };
        let before = line.get(..at).unwrap_or_default();
        before.len() <= 160 && self.pasted.matches(&fold_line(before))
    }

    fn introduces_own(&self, line: &str) -> bool {
        self.own.matches(&fold_line(line))
    }
}

/// A line for phrases: folded, words between single spaces.
fn fold_line(line: &str) -> String {
    let folded = crate::sentence::fold(line);
    let words = folded.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(&str, bool)> {
        let mut all = Vec::new();
        typed_lines(text, |line| all.push((&text[line.start..line.end], line.own)));
        all
    }

    #[test]
    fn only_typed_lines_are_left() {
        for (text, expected) in [
            ("One.\n\nTwo.", vec![("One.", true), ("Two.", true)]),
            ("Look:\n```\ncode\n```\nEnd.", vec![("Look:", true), ("End.", false)]),
            ("About me:\n- I am Ana.", vec![("About me:", true), ("I am Ana.", true)]),
            ("> quoted\nmine", vec![("mine", true)]),
            ("<note>\nI am Ana.\n</note>\nmine", vec![("mine", true)]),
            (
                "A <b>word</b> within a sentence of some length",
                vec![("A <b>word</b> within a sentence of some length", true)],
            ),
            ("From: Ana\nSubject: x\n\nI live here.", vec![]),
            ("Here is the text:\nI live here.", vec![]),
            ("    indented", vec![]),
            ("2023-05-08 12:00:01 INFO up\nlet me see", vec![("let me see", true)]),
        ] {
            assert_eq!(lines(text), expected, "{text}");
        }
    }
}
