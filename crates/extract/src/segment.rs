//! Splits texts into sentences, in any script. Rules, fences, list markers and encoded data are
//! removed.

use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::LazyLock;

use oneiro_text::{entries, is_time_word, normalise};

use crate::blob::blobs;

/// Bytes after which a sentence without an end is cut all the same.
const MAX_SENTENCE_BYTES: usize = 320;

/// Bytes after a stop that decide whether it ends a sentence.
const LOOK_AHEAD_BYTES: usize = 64;

/// How a sentence stood in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Running text.
    Prose,
    /// An item of a list, or a row of a table.
    Item,
    /// A heading.
    Heading,
    /// A line between fences.
    Code,
}

/// One sentence, by its place in the text. Without the space around it, and never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub start: usize,
    pub end: usize,
    /// The number of its line. Between sentences of one line there is nothing but space, or a blob.
    pub line: u32,
    pub shape: Shape,
    /// Whether its line began with space.
    pub indented: bool,
}

/// Words before a full stop that does not end a sentence.
static ABBREVIATIONS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| entries(include_str!("../assets/abbreviations.txt")).collect());

/// The sentences of a text, in order, without the space around them.
pub fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    sentences(text, &mut found);
    found.into_iter().map(|sentence| sentence.start..sentence.end).collect()
}

/// Cuts a text into sentences, in order.
pub(crate) fn sentences(text: &str, into: &mut Vec<Sentence>) {
    let mut fenced = false;
    let mut number = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let length = rest.bytes().position(|byte| byte < b' ' && byte != b'\t');
        let end = at + length.unwrap_or(rest.len());
        let mut line = Line { text, start: at, end, number, shape: Shape::Prose, indented: false };
        at = end + 1;
        number += 1;
        line.indented = line.text_range().starts_with([' ', '\t']);
        line.trim();
        let shown = line.text_range();
        if shown.starts_with("```") || shown.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            line.shape = Shape::Code;
        } else {
            line.strip_markers();
        }
        line.read(into);
    }
}

struct Line<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    number: u32,
    shape: Shape,
    indented: bool,
}

impl Line<'_> {
    fn text_range(&self) -> &str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    fn trim(&mut self) {
        (self.start, self.end) = trimmed(self.text, (self.start, self.end));
    }

    /// Leaves out what only says how the line is set: bullets, numbers, quotes, bars, hashes.
    fn strip_markers(&mut self) {
        for _ in 0..4 {
            let shown = self.text_range();
            let (length, shape) = marker(shown);
            if length == 0 {
                return;
            }
            self.start += length;
            self.shape = shape;
            if shape == Shape::Item {
                self.end -= self.text_range().len() - self.text_range().trim_end_matches('|').len();
            }
            self.trim();
        }
    }

    fn read(&self, into: &mut Vec<Sentence>) {
        if !self.text_range().contains(char::is_alphanumeric) {
            return;
        }
        let mut from = self.start;
        blobs(self.text_range(), |blob| {
            self.split((from, self.start + blob.start), into);
            from = self.start + blob.end;
        });
        self.split((from, self.end), into);
    }

    /// Sentences of a stretch of the line.
    fn split(&self, (mut from, to): (usize, usize), into: &mut Vec<Sentence>) {
        let stretch = self.text.get(..to).unwrap_or_default();
        let mut soft = from;
        let mut at = from;
        while let Some(&byte) = stretch.as_bytes().get(at) {
            let letter = match byte {
                0x80.. => stretch.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' '),
                _ => char::from(byte),
            };
            let next = at + letter.len_utf8();
            if self.shape != Shape::Code
                && let Some((end, start)) = boundary(stretch, (from, at), letter)
            {
                self.push((from, end), into);
                (from, soft, at) = (start, start, start);
                continue;
            }
            if letter.is_whitespace() || matches!(byte, b',' | b';' | b'}' | b'|') {
                soft = next;
            }
            if next - from > MAX_SENTENCE_BYTES
                && !joins_previous(stretch.get(next..).unwrap_or_default())
            {
                let cut = if soft > from + MAX_SENTENCE_BYTES / 2 { soft } else { next };
                self.push((from, cut), into);
                (from, soft) = (cut, cut);
            }
            at = next;
        }
        self.push((from, to), into);
    }

    fn push(&self, range: (usize, usize), into: &mut Vec<Sentence>) {
        let (start, end) = trimmed(self.text, range);
        let shown = self.text.get(start..end).unwrap_or_default();
        if shown.contains(char::is_alphanumeric) {
            let (line, shape, indented) = (self.number, self.shape, self.indented);
            into.push(Sentence { start, end, line, shape, indented });
        }
    }
}

/// A range without the space at its ends.
pub(crate) fn trimmed(text: &str, (start, end): (usize, usize)) -> (usize, usize) {
    let shown = text.get(start..end).unwrap_or_default();
    let start = start + shown.len() - shown.trim_start().len();
    (start, start + shown.trim().len())
}

/// How long the marker at the start of a line is, and what it makes of the line.
fn marker(line: &str) -> (usize, Shape) {
    let bytes = line.as_bytes();
    let spaced = |length: usize| bytes.get(length).is_none_or(|byte| byte.is_ascii_whitespace());
    match bytes {
        [b'#', ..] => {
            let length = bytes.iter().take_while(|byte| **byte == b'#').count();
            if spaced(length) { (length, Shape::Heading) } else { (0, Shape::Prose) }
        }
        [b'-' | b'*' | b'+', ..] if spaced(1) => (1, Shape::Item),
        [b'|', ..] => (1, Shape::Item),
        [b'>', ..] => (1, Shape::Prose),
        [b'[', b' ' | b'x' | b'X', b']', ..] => (3, Shape::Item),
        [b'0'..=b'9', ..] => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let closed = matches!(bytes.get(digits), Some(b'.' | b')'));
            if digits <= 3 && closed && spaced(digits + 1) {
                (digits + 1, Shape::Item)
            } else {
                (0, Shape::Prose)
            }
        }
        _ => match line.chars().next() {
            Some(bullet @ ('•' | '‣' | '◦' | '▪' | '●' | '・' | '…')) => {
                (bullet.len_utf8(), Shape::Item)
            }
            _ => (0, Shape::Prose),
        },
    }
}

/// Where a sentence ends and the next begins, if the letter at this place ends one.
fn boundary(text: &str, (from, at): (usize, usize), letter: char) -> Option<(usize, usize)> {
    let after = at + letter.len_utf8();
    // No more than what may follow an end: a run of stops is not read again at each of them.
    let rest = text.get(after..).unwrap_or_default();
    let rest = rest.get(..rest.floor_char_boundary(LOOK_AHEAD_BYTES)).unwrap_or_default();
    match letter {
        '.' | '!' | '?' => {
            let ending = rest.trim_start_matches(['.', '!', '?']);
            let closed = ending.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '*', '_']);
            let next = closed.chars().next();
            // Emoji and letters of scripts without spaces follow at once; a name or a number does not.
            let parted = next.is_none_or(|next| next.is_whitespace() || is_wide(next));
            let lower = closed.trim_start().starts_with(char::is_lowercase);
            let before = text.get(from..at)?;
            let dots = letter == '.' && (rest.starts_with('.') || before.ends_with('.'));
            let alone = letter == '.' && ending.len() == rest.len();
            let goes_on = (dots && lower)
                || (alone && (is_abbreviated(before) || is_ordinal(before, closed)));
            let end = after + (rest.len() - closed.len());
            (parted && !goes_on).then_some((end, end))
        }
        // What an earlier extract left out.
        '…' if text.get(from..at)?.ends_with(' ') && rest.starts_with(' ') => Some((at, after)),
        '。' | '！' | '？' | '｡' | '؟' | '۔' | '।' | '॥' | '։' | '።' | '။' | '។' | '\u{2028}'
        | '\u{2029}' => {
            let closed = rest.trim_start_matches([
                '。', '！', '？', '」', '』', '）', '”', '’', '؟', '!', '?', '"', ')',
            ]);
            let end = after + (rest.len() - closed.len());
            Some((end, end))
        }
        _ => None,
    }
}

/// Whether the full stop after this text belongs to its last word.
fn is_abbreviated(before: &str) -> bool {
    let breaks = |letter: char| letter.is_whitespace() || matches!(letter, '(' | '[' | '"' | '„');
    let word = before.rsplit(breaks).next().unwrap_or_default();
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (None, _) => true,
        // An initial, but not the pronoun, nor a single digit.
        (Some(only), None) => only.is_alphabetic() && only != 'I' && !is_wide(only),
        // Of several letters with stops between them, e.g or z.B or a.m.
        _ if word.contains('.') => word.split('.').all(|part| part.chars().count() == 1),
        _ if word.len() > 10 => false,
        _ => {
            let word = word.to_lowercase();
            ABBREVIATIONS.contains(word.as_str())
        }
    }
}

/// Whether a number before a full stop says which: "am 14. August".
fn is_ordinal(before: &str, after: &str) -> bool {
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let next = after.split_whitespace().next().unwrap_or_default();
    let next = next.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    (1..=2).contains(&digits) && next.len() > 2 && is_time_word(&normalise(next))
}

/// Whether a letter is of a script that is written without spaces, or an emoji.
pub(crate) fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2600}'..='\u{27bf}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{1f000}'..='\u{1faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a text begins with what belongs to the letter before it.
pub(crate) fn joins_previous(text: &str) -> bool {
    text.starts_with(|letter: char| {
        matches!(letter, '\u{0300}'..='\u{036f}' | '\u{0591}'..='\u{05c7}' | '\u{064b}'..='\u{065f}'
            | '\u{0900}'..='\u{0903}' | '\u{093a}'..='\u{094f}' | '\u{0e31}' | '\u{0e34}'..='\u{0e3a}'
            | '\u{0e47}'..='\u{0e4e}' | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        sentences(text, &mut found);
        found.iter().map(|sentence| &text[sentence.start..sentence.end]).collect()
    }

    #[test]
    fn sentences_end_in_any_script() {
        for (text, expected) in [
            ("One. Two! Three? Four", vec!["One.", "Two!", "Three?", "Four"]),
            ("i went home. then i slept.", vec!["i went home.", "then i slept."]),
            ("He said \"no.\" Then he left.", vec!["He said \"no.\"", "Then he left."]),
            ("Really?! Yes...maybe.", vec!["Really?!", "Yes...maybe."]),
            ("Well... maybe not. Wait... No.", vec!["Well... maybe not.", "Wait...", "No."]),
            ("今天下雨。我们不去了！你呢？好", vec!["今天下雨。", "我们不去了！", "你呢？", "好"]),
            ("「行こう。」と言った。", vec!["「行こう。」", "と言った。"]),
            ("هل تأتي غدا؟ نعم۔ حسنا", vec!["هل تأتي غدا؟", "نعم۔", "حسنا"]),
            ("वह गया। वह आया।", vec!["वह गया।", "वह आया।"]),
            ("Привет! Как дела? Хорошо.", vec!["Привет!", "Как дела?", "Хорошо."]),
            ("Great!🎉 See you", vec!["Great!", "🎉 See you"]),
            ("first … second part … third", vec!["first", "second part", "third"]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn stops_inside_words_end_nothing() {
        for text in [
            "It is 3.14 or v1.2.3 today.",
            "See https://example.com/a.b?c=1 for src/main.rs and a.m. hours.",
            "Dr. Meyer met Mrs. Jones at 5 p.m. sharp.",
            "J. R. R. Tolkien wrote it.",
            "Das kostet ca. 20 Euro bzw. etwas mehr.",
            "Use e.g. the first one.",
            "Der Umzug ist am 14. August.",
        ] {
            assert_eq!(cut(text), [text]);
        }
    }

    #[test]
    fn lines_are_their_own_and_markers_go() {
        let text = "# Plan\n- first thing. Really\n  2) second\n> quoted\n| a | b |\n|---|---|\n\
            ```sh\ncargo test. Now\n```\n---\n• last";
        assert_eq!(
            cut(text),
            [
                "Plan",
                "first thing.",
                "Really",
                "second",
                "quoted",
                "a | b",
                "cargo test. Now",
                "last"
            ]
        );
    }

    #[test]
    fn what_never_ends_is_cut_at_a_space_or_between_letters() {
        let words = "word ".repeat(1000);
        assert!(cut(&words).iter().all(|piece| piece.len() <= MAX_SENTENCE_BYTES + 8));
        assert!(cut(&words).iter().all(|piece| piece.starts_with('w') && piece.ends_with('d')));
        let chinese = "字".repeat(1000);
        assert_eq!(cut(&chinese).concat(), chinese);
        let family = "👩\u{200d}".repeat(1000);
        assert!(cut(&family).is_empty());
        let marks = format!("a{}", "\u{301}".repeat(10_000));
        assert_eq!(cut(&marks), [marks.as_str()]);
    }

    #[test]
    fn blobs_are_left_out() {
        let text = format!("key {} is old", "aGVsbG8gd29ybGQhIQZm9vYmFy0".repeat(4));
        assert_eq!(cut(&text), ["key", "is old"]);
    }
}
