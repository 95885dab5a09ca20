//! Differences between two texts of a note: unified, by lines or by words.

use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// How long a comparison that is shown looks for the smallest difference; only its reader waits.
const SHOWN_DIFF_TIMEOUT: Duration = Duration::from_millis(500);

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// A difference as text, and how many lines were added and removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) text: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// The difference between two texts of a note; `None` stands for a note that does not exist.
pub(crate) fn difference(
    name: &str,
    (old, new): (Option<&str>, Option<&str>),
    by_words: bool,
) -> Difference {
    let (from, to) = (old.unwrap_or_default(), new.unwrap_or_default());
    let lines = TextDiff::configure().timeout(SHOWN_DIFF_TIMEOUT).diff_lines(from, to);
    let count =
        |tag: ChangeTag| lines.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let side = |text: Option<&str>, mark: &str| match text {
        Some(_) => format!("{mark}/{name}"),
        None => "/dev/null".to_owned(),
    };
    let (old_name, new_name) = (side(old, "a"), side(new, "b"));
    let text = if by_words {
        format!("--- {old_name}\n+++ {new_name}\n{}", words(from, to))
    } else {
        let mut unified = lines.unified_diff();
        unified.context_radius(CONTEXT_LINES).header(&old_name, &new_name).to_string()
    };
    Difference { text, added, removed }
}

/// The new text with what was removed in `[-..-]` and what was added in `{+..+}`; only changed
/// lines.
fn words(from: &str, to: &str) -> String {
    let diff = TextDiff::configure().timeout(SHOWN_DIFF_TIMEOUT).diff_words(from, to);
    let mut all = String::new();
    let mut open = ChangeTag::Equal;
    for change in diff.iter_all_changes() {
        // Marks do not run over the end of a line, so that each line can be read alone.
        for piece in change.value().split_inclusive('\n') {
            let (piece, end) = match piece.strip_suffix('\n') {
                Some(piece) => (piece, "\n"),
                None => (piece, ""),
            };
            if open != change.tag() {
                all.push_str(mark_end(open));
                open = change.tag();
                all.push_str(mark_start(open));
            }
            all.push_str(piece);
            if !end.is_empty() {
                all.push_str(mark_end(open));
                all.push('\n');
                all.push_str(mark_start(open));
            }
        }
    }
    all.push_str(mark_end(open));
    let is_changed = |line: &&str| line.contains("[-") || line.contains("{+");
    let mut shown = String::new();
    for line in all.lines().filter(is_changed) {
        let line = line.replace("[--]", "").replace("{++}", "");
        if !line.is_empty() {
            shown.push_str(&line);
            shown.push('\n');
        }
    }
    shown
}

fn mark_start(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "[-",
        ChangeTag::Insert => "{+",
    }
}

fn mark_end(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "-]",
        ChangeTag::Insert => "+}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_unified_and_counted() {
        let found = difference("M.md", (Some("- a\n- b\n"), Some("- a\n- c\n- d\n")), false);
        assert_eq!((found.added, found.removed), (2, 1));
        assert!(
            found.text.starts_with("--- a/M.md\n+++ b/M.md\n@@ -1,2 +1,3 @@\n"),
            "{}",
            found.text
        );
        let created = difference("M.md", (None, Some("- a\n")), false);
        assert!(created.text.starts_with("--- /dev/null\n+++ b/M.md\n"), "{}", created.text);
    }

    #[test]
    fn a_difference_by_words_marks_words() {
        let found =
            difference("M.md", (Some("- green tea\n- x\n"), Some("- black tea\n- x\n")), true);
        assert!(found.text.ends_with("- [-green-]{+black+} tea\n"), "{}", found.text);
        assert!(!found.text.contains("- x"), "{}", found.text);
    }
}
