//! Made-up notes and revisions, and the pages they become, from none at all to hostile and huge.

use super::hostile::EVIL;
use super::made::{ago, frame};
use oneiro::{
    ActorKind, BlameLine, Cursor, Error, GroupId, Note, NoteDiff, NoteInfo, NoteName, Page,
    Revision, RevisionDetail, RevisionId,
};
use oneiro_page::note::{self, NoteView, TextMode};
use oneiro_page::note_editor::{self, EditorView};
use oneiro_page::notes::{self, NotesView};
use oneiro_page::revisions::{self, Changed, RevisionView};

pub fn name(text: &str) -> NoteName {
    NoteName::parse(text).unwrap()
}

fn revision(seed: u8, message: &str, kind: ActorKind) -> Revision {
    Revision {
        id: RevisionId::of_group(&GroupId::from_random([seed; 10])),
        parent: (seed > 0).then(|| RevisionId::of_group(&GroupId::from_random([seed - 1; 10]))),
        at: ago(60 * i64::from(seed)),
        author: message.to_owned(),
        author_kind: kind,
        message: message.to_owned(),
        notes: if seed == 0 {
            vec![]
        } else {
            vec![name("MEMORY.md"), name("memory/2026-01-31.md")]
        },
        dream_id: None,
        undone_by: (seed == 3).then(|| RevisionId::of_group(&GroupId::from_random([4; 10]))),
    }
}

fn revisions_of(message: &str) -> Vec<Revision> {
    let kinds = [ActorKind::Person, ActorKind::Agent, ActorKind::Person, ActorKind::Agent];
    let seeds = (0..4).rev();
    seeds.zip(kinds).map(|(seed, kind)| revision(seed, message, kind)).collect()
}

pub fn list(message: &str) -> NotesView {
    let info = |text: &str, limit| NoteInfo {
        name: name(text),
        chars: 1_474,
        limit,
        etag: "0123".to_owned(),
        updated_at: ago(300),
    };
    let revisions = revisions_of(message);
    NotesView {
        frame: frame(),
        notes: vec![info("MEMORY.md", Some(2_200)), info("memory/2026-01-31.md", None)],
        changed: revisions.first().map(|it| Changed { revision: it.clone(), merged: true }),
        revisions,
    }
}

pub fn no_notes() -> NotesView {
    NotesView { notes: vec![], revisions: vec![], changed: None, ..list("") }
}

pub fn note_of(content: &str) -> Note {
    Note {
        name: name("MEMORY.md"),
        content: content.to_owned(),
        chars: content.chars().count(),
        limit: Some(2_200),
        etag: "0123".to_owned(),
        updated_at: ago(300),
        revision: None,
    }
}

pub fn one(content: &str, shown: TextMode, message: &str) -> NoteView {
    NoteView {
        frame: frame(),
        name: name("MEMORY.md"),
        note: Some(note_of(content)),
        shown,
        whole: false,
        revisions: Page { items: revisions_of(message), next: Some(Cursor { order: 1, key: 1 }) },
        changed: None,
    }
}

pub fn blame(content: &str, author: &str) -> TextMode {
    let line = |(at, text): (usize, &str)| BlameLine {
        line: at + 1,
        text: text.to_owned(),
        revision: RevisionId::of_group(&GroupId::from_random([at as u8; 10])),
        at: ago(1_440 * at as i64),
        author: author.to_owned(),
        author_kind: ActorKind::Agent,
        dream_id: None,
        age_days: at as i64,
    };
    TextMode::Blame(content.lines().enumerate().map(line).collect())
}

pub fn detail(text: &str) -> RevisionView {
    let first = text.lines().next().unwrap_or_default();
    let lines: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
    let diff = NoteDiff {
        name: name("MEMORY.md"),
        added: lines.len(),
        removed: 1,
        text: format!(
            "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old {text}\n same\n{}\n",
            lines.join("\n")
        ),
    };
    RevisionView {
        frame: frame(),
        detail: RevisionDetail {
            revision: revision(2, first, ActorKind::Agent),
            diffs: vec![diff],
        },
        whole: false,
        changed: None,
    }
}

pub fn editor(text: &str) -> EditorView {
    EditorView {
        frame: frame(),
        name: Some(name("MEMORY.md")),
        typed_name: String::new(),
        text: text.to_owned(),
        base: Some("0123".to_owned()),
        message: text.lines().next().unwrap_or_default().to_owned(),
        refused: None,
        theirs: None,
    }
}

pub fn conflict(text: &str) -> EditorView {
    let error = Error::conflict(format!("MEMORY.md was changed in the same place: {text}"))
        .remedy("read the note again, and make the change in the text as it is now");
    EditorView { refused: Some(error), theirs: Some(text.to_owned()), ..editor(text) }
}

pub const TEXT: &str = "# Memory\n\n- Mira runs in the evening.\n- The bathroom costs 9,000 €.\n";

/// As much as a note may hold.
fn huge() -> String {
    "- a line that is <as> long as \"most\" of them are & a little longer still\n".repeat(14_000)
}

pub fn all() -> Vec<(&'static str, String)> {
    let large = huge();
    let deleted = NoteView { note: None, ..one(TEXT, TextMode::Rendered, "Delete MEMORY.md") };
    let new = EditorView { name: None, base: None, ..editor("") };
    vec![
        ("notes-empty", notes::page(&no_notes())),
        ("notes", notes::page(&list("Put headings in"))),
        ("note", note::page(&one(TEXT, TextMode::Rendered, "Put headings in"))),
        ("note-source", note::page(&one("one\n§\ntwo", TextMode::Source, "Add"))),
        ("note-blame", note::page(&one(TEXT, blame(TEXT, "claude-code"), "Add"))),
        ("note-deleted", note::page(&deleted)),
        ("note-huge", note::page(&one(&large, TextMode::Rendered, "Add"))),
        ("note-huge-source", note::page(&one(&large, TextMode::Source, "Add"))),
        ("note-huge-blame", note::page(&one(&large, blame(&large, "mcp"), "Add"))),
        ("note-new", note_editor::page(&new)),
        ("note-editor", note_editor::page(&editor(TEXT))),
        ("note-conflict", note_editor::page(&conflict(TEXT))),
        ("revision", revisions::page(&detail("Mira runs in the evening."))),
        ("revision-huge", revisions::page(&detail(&large))),
        ("hostile-notes", notes::page(&list(EVIL))),
        ("hostile-note", note::page(&one(EVIL, TextMode::Rendered, EVIL))),
        ("hostile-note-source", note::page(&one(EVIL, TextMode::Source, EVIL))),
        ("hostile-note-blame", note::page(&one(EVIL, blame(EVIL, EVIL), EVIL))),
        ("hostile-editor", note_editor::page(&conflict(EVIL))),
        ("hostile-revision", revisions::page(&detail(EVIL))),
    ]
}
