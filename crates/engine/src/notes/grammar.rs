//! The grammar of a note: where its entries stand. It is found in the text and kept as found. A line
//! with `§` alone delimits entries; otherwise list items and paragraphs are entries, with the markers
//! that openclaw writes before an item.

use std::ops::Range;

/// The line that delimits entries.
pub(crate) const DELIMITER: &str = "§";

/// How the marker of an entry begins that openclaw promoted.
const ENTRY_MARKER: &str = "<!-- openclaw-memory-";

/// How the entries of a note are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// Entries are separated by a delimiter.
    Delimited,
    /// Entries are list items and paragraphs.
    Markdown,
}

/// An entry of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What is removed with it: its markers, its lines and the end of the last one.
    pub(crate) block: Range<usize>,
    /// What is replaced: its text without markers, bullet, annotations and the last line end.
    pub(crate) body: Range<usize>,
    /// Its text, without the indentation of further lines.
    pub(crate) text: String,
    /// The bullet of a list item, such as `-`; a paragraph has none.
    pub(crate) bullet: Option<String>,
}

/// The grammar of a text.
pub(crate) fn detect(text: &str) -> Grammar {
    if text.lines().any(|line| line.trim() == DELIMITER) {
        Grammar::Delimited
    } else {
        Grammar::Markdown
    }
}

/// The line end that a text uses.
pub(crate) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The entries of a text, in order.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    entries_as(text, detect(text))
}

/// The entries of a text that is read in one grammar.
pub(crate) fn entries_as(text: &str, grammar: Grammar) -> Vec<Entry> {
    match grammar {
        Grammar::Delimited => delimited(text),
        Grammar::Markdown => markdown(text),
    }
}

/// Lines with where they start, including their ends.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    })
}

fn delimited(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, line) in lines(text) {
        if line.trim() == DELIMITER {
            found.extend(chunk(text, start..at));
            start = at + line.len();
        }
    }
    found.extend(chunk(text, start..text.len()));
    found
}

/// The entry between two delimiters, unless it is blank.
fn chunk(text: &str, range: Range<usize>) -> Option<Entry> {
    let raw = text.get(range.clone())?;
    let body = raw.trim();
    let start = range.start + (raw.len() - raw.trim_start().len());
    (!body.is_empty()).then(|| Entry {
        block: range,
        body: start..start + body.len(),
        text: body.lines().collect::<Vec<_>>().join("\n"),
        bullet: None,
    })
}

/// A list item or paragraph whose lines are being read.
struct Open {
    block: usize,
    body: usize,
    /// The end of the last line that belongs to its text.
    body_end: usize,
    bullet: Option<String>,
}

fn markdown(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut open: Option<Open> = None;
    // Where the markers before the next item start.
    let mut marker: Option<usize> = None;
    let mut fence: Option<&str> = None;
    for (at, line) in lines(text) {
        let end = at + line.trim_end().len();
        let is_fence_line = fence_of(line);
        if let Some(mark) = fence {
            if is_fence_line.is_some_and(|other| other == mark) {
                fence = None;
            }
            extend(&mut open, at, end);
            continue;
        }
        let bare = line.trim();
        if bare.is_empty() || is_heading(line) || is_break(bare) {
            found.extend(close(text, open.take(), at));
            marker = None;
        } else if bare.starts_with(ENTRY_MARKER) {
            let keeps_marker = marker.is_some() && open.is_none();
            found.extend(close(text, open.take(), at));
            if !keeps_marker {
                marker = Some(at);
            }
        } else if let Some(bullet) = bullet_of(line) {
            found.extend(close(text, open.take(), at));
            let body = at + bullet.len() + blanks_after(line, bullet.len());
            open = Some(Open {
                block: marker.take().unwrap_or(at),
                body: body.min(end.max(at)),
                body_end: end,
                bullet: Some(bullet.to_owned()),
            });
        } else if is_comment(bare) {
            // An annotation belongs to the entry before it, and is none of its text.
            if open.is_none() {
                marker = None;
            }
        } else {
            marker = None;
            fence = is_fence_line;
            extend(&mut open, at, end);
        }
    }
    found.extend(close(text, open, text.len()));
    found
}

/// Adds a line to the open entry, or opens a paragraph with it.
fn extend(open: &mut Option<Open>, at: usize, end: usize) {
    match open {
        Some(open) => open.body_end = end.max(open.body_end),
        None => *open = Some(Open { block: at, body: at, body_end: end, bullet: None }),
    }
}

fn close(text: &str, open: Option<Open>, block_end: usize) -> Option<Entry> {
    let open = open?;
    let raw = text.get(open.body..open.body_end)?;
    let mut lines = raw.lines();
    let mut joined = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        joined.push('\n');
        joined.push_str(line.strip_prefix("  ").unwrap_or(line));
    }
    let is_blank = joined.trim().is_empty();
    (!is_blank).then(|| Entry {
        block: open.block..block_end,
        body: open.body..open.body_end,
        text: joined.trim().to_owned(),
        bullet: open.bullet,
    })
}

/// The bullet of a list item at the start of a line.
fn bullet_of(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let length = match line.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let rest = line.get(length..)?;
    let is_item = rest.trim().is_empty() || rest.starts_with([' ', '\t']);
    is_item.then(|| line.get(..length)).flatten()
}

fn blanks_after(line: &str, start: usize) -> usize {
    let rest = line.get(start..).unwrap_or_default();
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

fn is_heading(line: &str) -> bool {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&marks)
        && line.get(marks..).is_some_and(|rest| rest.trim().is_empty() || rest.starts_with(' '))
}

/// Whether a line is a thematic break.
fn is_break(bare: &str) -> bool {
    let of = |mark: char| bare.chars().all(|letter| letter == mark || letter == ' ');
    bare.chars().filter(|letter| !letter.is_whitespace()).count() >= 3
        && (of('-') || of('*') || of('_'))
}

fn is_comment(bare: &str) -> bool {
    bare.starts_with("<!--") && bare.ends_with("-->")
}

/// The mark of a line that opens or closes a code block.
fn fence_of(line: &str) -> Option<&'static str> {
    let bare = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        entries(text).into_iter().map(|entry| entry.text).collect()
    }

    #[test]
    fn entries_are_found_in_each_grammar() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("\n\n", &[]),
            ("- a\n- b\n", &["a", "b"]),
            ("* a\n+ b\n1. c\n12) d", &["a", "b", "c", "d"]),
            ("- a\n  more\n- b", &["a\nmore", "b"]),
            (
                "# Head\n\nA paragraph\nof two lines.\n\n- item\n",
                &["A paragraph\nof two lines.", "item"],
            ),
            ("- a\n## Next\n- b\n", &["a", "b"]),
            ("- a\n\n---\n\n- b\n", &["a", "b"]),
            ("- \n- b\n", &["b"]),
            ("-not an item\n", &["-not an item"]),
            ("```\n- code\n\n# no head\n```\n", &["```\n- code\n\n# no head\n```"]),
            ("one\n§\ntwo\nlines\n§\nthree", &["one", "two\nlines", "three"]),
            ("§\n\n§\nonly\n", &["only"]),
            ("one\r\n§\r\ntwo\r\n", &["one", "two"]),
            ("price in § 5 of the law\n", &["price in § 5 of the law"]),
            (
                "## Promoted\n\n<!-- openclaw-memory-promotion:k1 -->\n- fact [score=0.8]\n\
                 <!-- trigger: tea -->\n<!-- openclaw-memory-promotion:k2 -->\n- other\n",
                &["fact [score=0.8]", "other"],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(texts(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_marked_entry_includes_its_marker_and_annotations() {
        let text = "<!-- openclaw-memory-lineage:a -->\n<!-- openclaw-memory-promotion:k -->\n- fact\n<!-- importance: 7 -->\n\n- own\n";
        let found = entries_as(text, Grammar::Markdown);
        let block = |at: usize| text.get(found[at].block.clone()).unwrap();
        assert!(block(0).starts_with("<!-- openclaw-memory-lineage:a"), "{:?}", block(0));
        assert!(block(0).ends_with("<!-- importance: 7 -->\n"), "{:?}", block(0));
        assert_eq!(block(1), "- own\n");
    }

    proptest::proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]
        #[test]
        fn entries_stand_in_order_and_inside_the_text(
            text in "(- |\\* |# |§|a|b|\n|\r\n|```|<!-- x -->|<!-- openclaw-memory-promotion:k -->| ){0,40}"
        ) {
            let mut last = 0;
            for entry in entries(&text) {
                proptest::prop_assert!(entry.block.start >= last);
                proptest::prop_assert!(entry.body.start >= entry.block.start);
                proptest::prop_assert!(entry.body.end <= entry.block.end);
                proptest::prop_assert!(text.get(entry.body.clone()).is_some());
                proptest::prop_assert!(!entry.text.is_empty());
                last = entry.block.end;
            }
            proptest::prop_assert!(last <= text.len());
        }
    }
}
