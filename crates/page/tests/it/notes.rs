//! Notes on the page: how full they are, what changed, who wrote a line, and what forms carry.

use crate::states::notes::{TEXT, blame, conflict, detail, editor, list, one};
use oneiro_page::note::{self, NoteView, TextMode};
use oneiro_page::{Frame, note_editor, notes, revisions};

#[test]
fn a_budget_is_shown_as_a_gauge_and_in_words() {
    let html = notes::page(&list("Add"));
    assert!(html.contains("67% full: 1,474 of 2,200 characters"), "{html}");
    assert_eq!(html.matches("<meter").count(), 1, "a note without a budget has no gauge");
    assert!(html.contains("href=\"/notes/memory%2F2026-01-31.md\""));
}

#[test]
fn a_note_is_rendered_as_source_and_with_the_origin_of_lines() {
    let rendered = note::page(&one(TEXT, TextMode::Rendered, "Add"));
    assert!(rendered.contains("<li>Mira runs in the evening.</li>"), "{rendered}");
    let source = note::page(&one("tea\n§\ntin", TextMode::Source, "Add"));
    assert!(source.contains("tea\n§\ntin</pre>"), "{source}");
    let delimited = note::page(&one("tea\n§\ntin", TextMode::Rendered, "Add"));
    assert!(delimited.contains("<p>tea</p><hr><p>tin</p>"), "{delimited}");
    let lines = note::page(&one(TEXT, blame(TEXT, "claude-code"), "Add"));
    for part in ["3 days", "data-author=\"agent\"", "claude-code", "- The bathroom costs 9,000 €."]
    {
        assert!(lines.contains(part), "{part}: {lines}");
    }
}

#[test]
fn lines_of_a_difference_are_marked() {
    let html = revisions::page(&detail("Mira runs."));
    assert!(html.contains("<ins>+Mira runs.</ins>"), "{html}");
    assert!(html.contains("<del>-old Mira runs.</del>"), "{html}");
    assert!(!html.contains("+++ b/x"), "the heading names the note");
}

#[test]
fn a_revision_is_undone_or_restored_and_the_newest_one_only_undone() {
    let html = note::page(&one(TEXT, TextMode::Rendered, "Add"));
    // Four revisions: one is undone, one is the empty beginning.
    assert_eq!(html.matches("Undo this change").count(), 2);
    assert_eq!(html.matches("Restore the note to this").count(), 3);
}

#[test]
fn a_conflict_shows_both_texts_and_keeps_what_was_typed() {
    let mut view = conflict("mine");
    view.theirs = Some("theirs".to_owned());
    let html = note_editor::page(&view);
    assert!(html.contains("Somebody else changed this note in the same place."));
    assert!(html.contains("theirs</pre>"), "{html}");
    assert!(html.contains(">\nmine</textarea>"), "{html}");
    assert!(html.contains("name=\"base\" value=\"0123\""));
}

#[test]
fn readers_get_no_forms() {
    let frame = |frame: &Frame| Frame { form_token: None, ..frame.clone() };
    let view = one(TEXT, TextMode::Rendered, "Add");
    let html = note::page(&NoteView { frame: frame(&view.frame), ..view });
    let mut view = editor(TEXT);
    view.frame = frame(&view.frame);
    for html in [html, note_editor::page(&view)] {
        assert!(!html.contains("method=\"post\""), "{html}");
    }
}
