//! Three-way merge of notes: what two sides changed of a base. Delimited notes are merged by entries,
//! all others by lines. Changes that touch different places are both applied, and so are insertions at
//! one place.

use super::grammar::{DELIMITER, Grammar, detect, line_end};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::time::{Duration, Instant};

/// How long a merge looks for the smallest difference; other writers wait for it.
const MERGE_DIFF_TIMEOUT: Duration = Duration::from_millis(200);

/// A place where both sides changed the same lines differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The lines before both changes.
    pub(crate) base: Vec<String>,
    /// What the first side made of them.
    pub(crate) ours: Vec<String>,
    /// What the second side made of them.
    pub(crate) theirs: Vec<String>,
}

/// The three texts of a merge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'t> {
    pub(crate) base: &'t str,
    pub(crate) ours: &'t str,
    pub(crate) theirs: &'t str,
}

/// What one side makes of lines `start..end` of the base.
struct Hunk<'t> {
    start: usize,
    end: usize,
    new: Vec<&'t str>,
}

/// Merges both changes, or returns the places where they contradict each other.
pub(crate) fn merge(sides: Sides<'_>) -> Result<String, Vec<Conflict>> {
    let Sides { base, ours, theirs } = sides;
    if ours == theirs || theirs == base {
        return Ok(ours.to_owned());
    }
    if ours == base {
        return Ok(theirs.to_owned());
    }
    let texts = [base, ours, theirs];
    let is_delimited = texts.iter().any(|text| detect(text) == Grammar::Delimited);
    let end = line_end(ours);
    let separator = if is_delimited { format!("{end}{DELIMITER}{end}") } else { end.to_owned() };
    let parts = texts.map(|text| split(text, is_delimited));
    let [base_parts, our_parts, their_parts] = &parts;
    let merged = merge_parts(base_parts, our_parts, their_parts)?;
    if merged.is_empty() {
        return Ok(String::new());
    }
    let ends = texts.map(|text| text.ends_with('\n'));
    let has_end = match ends {
        [_, ours, theirs] if ours == theirs => ours,
        // Only one side changed it; a side that is empty shows nothing.
        [_, true, _] if theirs.is_empty() => true,
        [_, _, true] if ours.is_empty() => true,
        [base, ..] => !base,
    };
    let mut text = merged.join(&separator);
    if has_end {
        text.push_str(end);
    }
    Ok(text)
}

/// The entries or lines of a text, without what separates them.
fn split(text: &str, is_delimited: bool) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    if !is_delimited {
        return text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((at, after)) = next_delimiter(rest) {
        parts.extend(rest.get(..at).map(str::trim_end));
        rest = rest.get(after..).unwrap_or_default();
    }
    parts.push(rest.trim_end());
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Where the next delimiter line starts and ends.
fn next_delimiter(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == DELIMITER {
            return Some((at, at + line.len()));
        }
        at += line.len();
    }
    None
}

fn merge_parts<'t>(
    base: &[&'t str],
    ours: &[&'t str],
    theirs: &[&'t str],
) -> Result<Vec<&'t str>, Vec<Conflict>> {
    let (our_hunks, their_hunks) = (hunks(base, ours), hunks(base, theirs));
    let conflicts = conflicts(base, &our_hunks, &their_hunks);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let mut all: Vec<(u8, Hunk<'t>)> = Vec::new();
    all.extend(our_hunks.into_iter().map(|hunk| (0, hunk)));
    for hunk in their_hunks {
        let is_same = |(_, ours): &(u8, Hunk<'_>)| {
            (ours.start, ours.end, &ours.new) == (hunk.start, hunk.end, &hunk.new)
        };
        if !all.iter().any(is_same) {
            all.push((1, hunk));
        }
    }
    // Insertions come before a change that starts at the same place.
    all.sort_by_key(|(side, hunk)| (hunk.start, hunk.end != hunk.start, *side));
    let mut merged = Vec::with_capacity(ours.len() + theirs.len());
    let mut at = 0;
    for (_, hunk) in all {
        merged.extend(base.get(at..hunk.start).unwrap_or_default());
        merged.extend(hunk.new);
        at = hunk.end.max(at);
    }
    merged.extend(base.get(at..).unwrap_or_default());
    Ok(merged)
}

fn hunks<'t>(base: &[&'t str], new: &[&'t str]) -> Vec<Hunk<'t>> {
    let deadline = Some(Instant::now() + MERGE_DIFF_TIMEOUT);
    let operations = capture_diff_slices_deadline(Algorithm::Myers, base, new, deadline);
    let changes = operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    let mut found: Vec<Hunk<'t>> = Vec::new();
    for change in changes {
        let (old, new_range) = (change.old_range(), change.new_range());
        let lines = new.get(new_range).unwrap_or_default();
        match found.last_mut() {
            Some(last) if last.end == old.start => {
                last.end = old.end;
                last.new.extend(lines);
            }
            _ => found.push(Hunk { start: old.start, end: old.end, new: lines.to_vec() }),
        }
    }
    found
}

fn conflicts(base: &[&str], ours: &[Hunk<'_>], theirs: &[Hunk<'_>]) -> Vec<Conflict> {
    let mut found = Vec::new();
    for our in ours {
        for their in theirs.iter().filter(|their| contradict(our, their)) {
            let (start, end) = (our.start.min(their.start), our.end.max(their.end));
            let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
            found.push(Conflict {
                base: owned(base.get(start..end).unwrap_or_default()),
                ours: owned(&our.new),
                theirs: owned(&their.new),
            });
        }
    }
    found
}

/// Whether two hunks change the same lines of the base, and differently.
fn contradict(our: &Hunk<'_>, their: &Hunk<'_>) -> bool {
    let is_same = (our.start, our.end, &our.new) == (their.start, their.end, &their.new);
    let inserts = |hunk: &Hunk<'_>| hunk.start == hunk.end;
    let overlap = match (inserts(our), inserts(their)) {
        (true, true) => false,
        (true, false) => their.start < our.start && our.start < their.end,
        (false, true) => our.start < their.start && their.start < our.end,
        (false, false) => our.start < their.end && their.start < our.end,
    };
    overlap && !is_same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<Conflict>> {
        merge(Sides { base, ours, theirs })
    }

    #[test]
    fn changes_of_different_lines_are_both_applied() {
        let cases = [
            ("- a\n- b\n", "- A\n- b\n", "- a\n- B\n", "- A\n- B\n"),
            ("- a\n", "- a\n- b\n", "- a\n- c\n", "- a\n- b\n- c\n"),
            ("- a\n", "- a\n- b\n", "- a\n- b\n", "- a\n- b\n"),
            ("- x\n- a\n", "- x\n- a\n- b\n", "- x\n", "- x\n- b\n"),
            ("- a\n", "- a\n- b\n", "", "- b\n"),
            ("", "- a\n", "- b\n", "- a\n- b\n"),
            ("a\n§\nb", "a\n§\nb\n§\nc", "a", "a\n§\nc"),
            ("a", "a\n§\nb", "", "b"),
            ("a\n§\nb", "A\n§\nb", "a\n§\nb\n§\nc", "A\n§\nb\n§\nc"),
            ("- a\r\n- b\r\n", "- A\r\n- b\r\n", "- a\r\n- B\r\n", "- A\r\n- B\r\n"),
            ("- a", "- a\n", "- b", "- b\n"),
        ];
        for (base, ours, theirs, expected) in cases {
            assert_eq!(
                merged(base, ours, theirs).unwrap(),
                expected,
                "{base:?} {ours:?} {theirs:?}"
            );
        }
    }

    #[test]
    fn different_changes_of_one_line_are_a_conflict_that_shows_all_three() {
        let conflicts = merged("- a\n- b\n", "- a\n- x\n", "- a\n- y\n").unwrap_err();
        assert_eq!(
            conflicts,
            [Conflict {
                base: vec!["- b".to_owned()],
                ours: vec!["- x".to_owned()],
                theirs: vec!["- y".to_owned()],
            }]
        );
        assert!(merged("- a\n", "- A\n", "").is_err());
    }

    proptest::proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]
        #[test]
        fn one_sided_and_equal_changes_merge_to_the_change(
            base in "(- [a-d]\n|§\n){0,8}", other in "(- [a-d]\n|§\n){0,8}"
        ) {
            for sides in [(&base, &other, &base), (&base, &base, &other), (&base, &other, &other)] {
                let (base, ours, theirs) = sides;
                proptest::prop_assert_eq!(&merged(base, ours, theirs).unwrap(), &other);
            }
        }

        #[test]
        fn an_insertion_elsewhere_survives_any_change(
            head in "(- [a-d]\n){1,5}", changed in "(- [e-h]\n){0,5}", tail in "(- [i-l]\n){2,4}"
        ) {
            let base = format!("{head}{tail}");
            let ours = format!("{base}- new\n");
            let theirs = format!("{changed}{tail}");
            proptest::prop_assert_eq!(
                merged(&base, &ours, &theirs).unwrap(),
                format!("{changed}{tail}- new\n")
            );
        }
    }
}
