//! Edits of a note by entries: add, replace and remove. They change the lines of their entry and
//! nothing else, and are applied all or none.

use super::grammar::{DELIMITER, Entry, Grammar, detect, entries_as, line_end};
use oneiro_model::{EditAction, EntryStyle, Error, NoteEdit, Result};

/// Characters of an entry that an error shows.
const PREVIEW_CHARS: usize = 80;

/// Applies edits one after the other; `style` is used if the text does not show one.
pub(crate) fn apply(text: &str, edits: &[NoteEdit], style: Option<EntryStyle>) -> Result<String> {
    let mut text = text.to_owned();
    for (place, edit) in edits.iter().enumerate() {
        text = apply_one(&text, edit, style).map_err(|error| match edits.len() {
            1 => error,
            _ => error.at(format!("edits[{place}]")),
        })?;
    }
    Ok(text)
}

fn apply_one(text: &str, edit: &NoteEdit, style: Option<EntryStyle>) -> Result<String> {
    let grammar = grammar_of(text, style);
    let found = entries_as(text, grammar);
    let new = edit.text.as_deref().map(str::trim).unwrap_or_default();
    let new = if grammar == Grammar::Delimited { new } else { without_bullet(new) };
    let old = edit.old.as_deref().map(str::trim).unwrap_or_default();
    if edit.action != EditAction::Remove {
        check_text(new)?;
    }
    if edit.action != EditAction::Add && old.is_empty() {
        return Err(Error::field("old", "is empty").remedy("give a part of the entry's text"));
    }
    match edit.action {
        EditAction::Add => Ok(add(text, &found, new, style)),
        EditAction::Replace => {
            let entry = find(&found, old)?;
            let is_elsewhere = found.iter().any(|other| other.text == new && other != entry);
            if is_elsewhere {
                Ok(remove(text, entry, style))
            } else {
                Ok(replace(text, entry, new))
            }
        }
        EditAction::Remove => Ok(remove(text, find(&found, old)?, style)),
    }
}

/// The grammar by which a text is edited: as found, or the one asked for if nothing shows it.
pub(crate) fn grammar_of(text: &str, style: Option<EntryStyle>) -> Grammar {
    let found = detect(text);
    let shows_items = || entries_as(text, found).iter().any(|entry| entry.bullet.is_some());
    if style == Some(EntryStyle::Delimited) && !shows_items() { Grammar::Delimited } else { found }
}

/// The text of a list item that was given with its bullet. Its entry gets the bullet of the note.
fn without_bullet(new: &str) -> &str {
    let item = ["- ", "* ", "+ "].into_iter().find_map(|bullet| new.strip_prefix(bullet));
    item.map_or(new, str::trim_start)
}

fn check_text(new: &str) -> Result<()> {
    if new.is_empty() {
        return Err(Error::field("text", "is empty").remedy("give the text of the entry"));
    }
    if new.lines().any(|line| line.trim() == DELIMITER) {
        return Err(Error::field("text", "has a line with § alone, which delimits entries")
            .remedy("add the parts as entries of their own"));
    }
    Ok(())
}

/// The only entry whose text contains `old`. Of identical entries the first is meant.
fn find<'e>(found: &'e [Entry], old: &str) -> Result<&'e Entry> {
    if let Some(exact) = found.iter().find(|entry| entry.text == old) {
        return Ok(exact);
    }
    let mut matching = found.iter().filter(|entry| entry.text.contains(old));
    let Some(first) = matching.next() else {
        return Err(Error::conflict(format!(
            "old: no entry contains {:?}; the entries are: {}",
            preview(old),
            listed(found)
        ))
        .remedy("read the note, and give a part of an entry exactly as written"));
    };
    if matching.clone().any(|other| other.text != first.text) {
        let all: Vec<Entry> = std::iter::once(first).chain(matching).cloned().collect();
        return Err(Error::field(
            "old",
            format!("{} entries contain {:?}: {}", all.len(), preview(old), listed(&all)),
        )
        .remedy("give a longer part, which only one entry contains"));
    }
    Ok(first)
}

/// Entries for an error, each cut.
pub(crate) fn listed(found: &[Entry]) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> =
        found.iter().map(|entry| format!("{:?}", preview(&entry.text))).collect();
    quoted.join(", ")
}

fn preview(text: &str) -> String {
    let mut letters = text.chars();
    let cut: String = letters.by_ref().take(PREVIEW_CHARS).collect();
    if letters.next().is_some() { format!("{cut}…") } else { cut }
}

/// What lines end with.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

fn add(text: &str, found: &[Entry], new: &str, style: Option<EntryStyle>) -> String {
    if found.iter().any(|entry| entry.text == new) {
        return text.to_owned();
    }
    let end = line_end(text);
    if grammar_of(text, style) == Grammar::Delimited {
        let new = with_line_ends(new, end);
        let Some(last) = found.last() else { return new };
        let (before, after) = split(text, last.body.end);
        let tail = if after.trim().is_empty() { after } else { "" };
        return format!("{}{end}{DELIMITER}{end}{new}{tail}", before.trim_end());
    }
    let last_item = found.iter().rev().find(|entry| entry.bullet.is_some());
    let bullet = last_item.and_then(|entry| next_bullet(entry.bullet.as_deref()?));
    let item = item(&bullet.unwrap_or_else(|| "-".to_owned()), new, end);
    match last_item {
        Some(last) => {
            let (before, after) = split(text, last.block.end);
            let gap = if before.ends_with('\n') { "" } else { end };
            format!("{before}{gap}{item}{end}{after}")
        }
        None if text.trim().is_empty() => format!("{item}{end}"),
        None => format!("{}{end}{end}{item}{end}", text.trim_end_matches(LINE_ENDS)),
    }
}

fn replace(text: &str, entry: &Entry, new: &str) -> String {
    let end = line_end(text);
    let body = match &entry.bullet {
        Some(_) => further_lines(new, end),
        None => with_line_ends(new, end),
    };
    let (before, after) = (split(text, entry.body.start).0, split(text, entry.body.end).1);
    format!("{before}{body}{after}")
}

fn remove(text: &str, entry: &Entry, style: Option<EntryStyle>) -> String {
    let (before, after) = (split(text, entry.block.start).0, split(text, entry.block.end).1);
    if grammar_of(text, style) == Grammar::Delimited {
        return remove_chunk(before, after);
    }
    // A paragraph leaves the blank line before it or the one after it, not both.
    let stands_free = before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n");
    let after = match after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')) {
        Some(rest) if stands_free => rest,
        _ => after,
    };
    format!("{before}{after}")
}

/// Removes an entry together with one of the delimiters beside it.
fn remove_chunk(before: &str, after: &str) -> String {
    if let Some((_, rest)) = after.split_once('\n').filter(|(line, _)| line.trim() == DELIMITER) {
        return format!("{before}{rest}");
    }
    let before = before.trim_end();
    before.strip_suffix(DELIMITER).unwrap_or(before).trim_end().to_owned()
}

/// The bullet after this one: numbers count on.
fn next_bullet(bullet: &str) -> Option<String> {
    let digits = bullet.trim_end_matches(['.', ')']);
    match digits.parse::<u32>() {
        Ok(number) => Some(format!("{}{}", number.checked_add(1)?, bullet.get(digits.len()..)?)),
        Err(_) => Some(bullet.to_owned()),
    }
}

fn item(bullet: &str, new: &str, end: &str) -> String {
    format!("{bullet} {}", further_lines(new, end))
}

/// Text of a list item: further lines are indented, and blank ones are left out, because they would
/// end the item.
fn further_lines(new: &str, end: &str) -> String {
    let lines = new.lines().filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join(&format!("{end}  "))
}

fn with_line_ends(new: &str, end: &str) -> String {
    new.lines().collect::<Vec<_>>().join(end)
}

fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::super::grammar::entries;
    use super::*;
    use oneiro_model::ErrorKind;

    fn add_edit(text: &str) -> NoteEdit {
        NoteEdit { action: EditAction::Add, text: Some(text.to_owned()), old: None }
    }

    fn replace_edit(old: &str, text: &str) -> NoteEdit {
        NoteEdit {
            action: EditAction::Replace,
            text: Some(text.to_owned()),
            old: Some(old.to_owned()),
        }
    }

    fn remove_edit(old: &str) -> NoteEdit {
        NoteEdit { action: EditAction::Remove, text: None, old: Some(old.to_owned()) }
    }

    #[test]
    fn edits_keep_the_grammar_and_everything_else() {
        let cases = [
            ("", add_edit("tea"), "- tea\n"),
            ("- a\n", add_edit("b"), "- a\n- b\n"),
            ("- a\n", add_edit("- b"), "- a\n- b\n"),
            ("- a\n", add_edit("* a"), "- a\n"),
            ("- a\n", replace_edit("a", "- b"), "- b\n"),
            ("a\n§\nb", add_edit("- c"), "a\n§\nb\n§\n- c"),
            ("- a", add_edit("b"), "- a\n- b\n"),
            ("* a\n\n## End\n\ntext\n", add_edit("b"), "* a\n* b\n\n## End\n\ntext\n"),
            ("1. a\n2. b\n", add_edit("c"), "1. a\n2. b\n3. c\n"),
            ("Prose.\n", add_edit("b"), "Prose.\n\n- b\n"),
            ("- a\r\n", add_edit("b\nmore"), "- a\r\n- b\r\n  more\r\n"),
            ("- a\n- b\n", add_edit("a"), "- a\n- b\n"),
            ("a\n§\nb", add_edit("c"), "a\n§\nb\n§\nc"),
            ("a\n§\nb\n", add_edit("c"), "a\n§\nb\n§\nc\n"),
            ("a\n§\nb", remove_edit("a"), "b"),
            ("a\n§\nb", remove_edit("b"), "a"),
            ("a\n§\nb\n§\nc", remove_edit("b"), "a\n§\nc"),
            ("a\n§\nb", replace_edit("b", "B\nbb"), "a\n§\nB\nbb"),
            ("# H\n\n- a\n- b\n", remove_edit("a"), "# H\n\n- b\n"),
            ("# H\n\none\n\ntwo\n", remove_edit("one"), "# H\n\ntwo\n"),
            ("- a\n- b\n", replace_edit("b", "c\nd"), "- a\n- c\n  d\n"),
            ("- a\n  more\n- b\n", replace_edit("more", "A"), "- A\n- b\n"),
            ("- a\n- b\n", replace_edit("a", "b"), "- b\n"),
            (
                "<!-- openclaw-memory-promotion:k -->\n- fact\n",
                replace_edit("fact", "new"),
                "<!-- openclaw-memory-promotion:k -->\n- new\n",
            ),
            (
                "<!-- openclaw-memory-promotion:k -->\n- fact\n- own\n",
                remove_edit("fact"),
                "- own\n",
            ),
            ("- same\n- same\n", remove_edit("sam"), "- same\n"),
            ("- tea\n- green tea\n", remove_edit("tea"), "- green tea\n"),
        ];
        for (text, edit, expected) in cases {
            assert_eq!(
                apply(text, std::slice::from_ref(&edit), None).unwrap(),
                expected,
                "{text:?} {edit:?}"
            );
        }
    }

    #[test]
    fn a_note_in_the_style_of_hermes_starts_with_a_delimiter_if_asked_for() {
        let style = Some(EntryStyle::Delimited);
        let text = apply("", &[add_edit("a"), add_edit("b")], style).unwrap();
        assert_eq!(text, "a\n§\nb");
        assert_eq!(apply("- a\n", &[add_edit("b")], style).unwrap(), "- a\n- b\n");
        assert_eq!(apply("only one", &[remove_edit("one")], style).unwrap(), "");
    }

    #[test]
    fn what_cannot_be_applied_says_why_and_lists_entries() {
        let text = "- green tea\n- black tea\n";
        let none = apply(text, &[remove_edit("coffee")], None).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::Conflict);
        assert!(none.message().contains("\"green tea\", \"black tea\""), "{none}");
        let several = apply(text, &[remove_edit("tea")], None).unwrap_err();
        assert!(several.message().contains("2 entries contain \"tea\""), "{several}");
        let batch = apply(text, &[add_edit("c"), remove_edit("x")], None).unwrap_err();
        assert!(batch.message().starts_with("edits[1]: "), "{batch}");
        assert!(apply(text, &[add_edit(" ")], None).is_err());
        assert!(apply(text, &[add_edit("a\n§\nb")], None).is_err());
    }

    proptest::proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]
        #[test]
        fn an_added_entry_is_found_and_removing_it_gives_the_other_entries(
            text in "(- |\\* |1\\. |# |§\n|word|\n|\r\n|<!-- openclaw-memory-promotion:k -->\n| ){0,30}",
            new in "[a-z]{9,12}( [a-z]{3}){0,3}(\n[a-z]{3})?"
        ) {
            let texts = |text: &str| -> Vec<String> {
                entries(text).into_iter().map(|entry| entry.text).collect()
            };
            let mut expected = texts(&text);
            let added = apply(&text, &[add_edit(&new)], None).unwrap();
            let found = texts(&added);
            proptest::prop_assert!(found.contains(&new), "{:?}", added);
            proptest::prop_assert_eq!(found.len(), expected.len() + 1, "{:?}", added);
            let removed = apply(&added, &[remove_edit(&new)], None).unwrap();
            // Without a second entry, no delimiter shows the grammar.
            proptest::prop_assume!(detect(&removed) == detect(&text));
            let mut left = texts(&removed);
            left.sort();
            expected.sort();
            proptest::prop_assert_eq!(left, expected, "{:?} -> {:?}", added, removed);
        }
    }
}
