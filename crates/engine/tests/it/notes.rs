//! Notes: read, write, edit by entries, budgets, merging of stale writes, and the text for a
//! prompt.

use crate::memories::{agent, person};
use crate::support::open;
use oneiro::{
    ChangedNote, DeleteNote, EditAction, EditNote, ErrorKind, ListNotes, ListOperations,
    ListRevisions, NoteEdit, NoteName, NotePromptRequest, Oneiro, Result, SubjectKind, WriteNote,
};
use oneiro_testkit::on_both_backends;
use serde_json::json;

pub fn name(text: &str) -> NoteName {
    NoteName::parse(text).unwrap()
}

pub fn write(oneiro: &Oneiro, note: &str, text: &str) -> ChangedNote {
    write_from(oneiro, note, text, None).unwrap()
}

pub fn write_from(
    oneiro: &Oneiro,
    note: &str,
    text: &str,
    base: Option<&str>,
) -> Result<ChangedNote> {
    let request =
        WriteNote { content: text.to_owned(), base: base.map(str::to_owned), message: None };
    oneiro.notes().write(&name(note), request)
}

pub fn text(oneiro: &Oneiro, note: &str) -> String {
    oneiro.notes().get(&name(note)).unwrap().content
}

pub fn add(text: &str) -> NoteEdit {
    NoteEdit { action: EditAction::Add, text: Some(text.to_owned()), old: None }
}

pub fn replace(old: &str, text: &str) -> NoteEdit {
    NoteEdit { action: EditAction::Replace, text: Some(text.to_owned()), old: Some(old.to_owned()) }
}

pub fn remove(old: &str) -> NoteEdit {
    NoteEdit { action: EditAction::Remove, text: None, old: Some(old.to_owned()) }
}

pub fn try_edit(oneiro: &Oneiro, note: &str, edits: Vec<NoteEdit>) -> Result<ChangedNote> {
    oneiro.notes().edit(&name(note), EditNote { edits, style: None, message: None })
}

pub fn edit(oneiro: &Oneiro, note: &str, edits: Vec<NoteEdit>) -> ChangedNote {
    try_edit(oneiro, note, edits).unwrap()
}

pub fn revision_count(oneiro: &Oneiro) -> usize {
    let all = ListRevisions { limit: 500, ..ListRevisions::default() };
    oneiro.notes().log(&all).unwrap().items.len()
}

on_both_backends! {
    fn a_note_is_written_read_listed_and_deleted(space) {
        let oneiro = open(space);
        let written = write(&oneiro, "memory/2026-01-31.md", "# Day\n\n- tea at nine\n");
        assert!(written.changed);
        assert_eq!(written.note.chars, 20);
        assert_eq!(written.note.limit, None);
        write(&oneiro, "MEMORY.md", "- a\n");
        let names = |prefix: Option<&str>| -> Vec<String> {
            let request = ListNotes { prefix: prefix.map(str::to_owned) };
            let found = oneiro.notes().list(&request).unwrap();
            found.into_iter().map(|note| note.name.to_string()).collect()
        };
        assert_eq!(names(None), ["MEMORY.md", "memory/2026-01-31.md"]);
        assert_eq!(names(Some("memory/")), ["memory/2026-01-31.md"]);
        let note = oneiro.notes().get(&name("MEMORY.md")).unwrap();
        assert_eq!((note.content.as_str(), note.limit), ("- a\n", Some(2_200)));
        assert!(note.revision.is_some());
        oneiro.notes().delete(&name("MEMORY.md"), DeleteNote::default()).unwrap();
        let gone = oneiro.notes().get(&name("MEMORY.md")).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
        assert_eq!(names(None), ["memory/2026-01-31.md"]);
    }

    fn writing_the_same_text_makes_no_revision(space) {
        let oneiro = open(space);
        let first = write(&oneiro, "MEMORY.md", "- a\n");
        assert_eq!(revision_count(&oneiro), 2, "the base and the first change");
        let again = write(&oneiro, "MEMORY.md", "- a\n");
        assert!(!again.changed);
        assert_eq!(again.note, first.note);
        let same = edit(&oneiro, "MEMORY.md", vec![add("a")]);
        assert!(!same.changed);
        assert_eq!(revision_count(&oneiro), 2);
    }

    fn entries_are_added_replaced_and_removed_in_atomic_batches(space) {
        let oneiro = open(space);
        edit(&oneiro, "MEMORY.md", vec![add("likes tea"), add("lives in Rome")]);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- likes tea\n- lives in Rome\n");
        edit(&oneiro, "MEMORY.md", vec![replace("Rome", "lives in Oslo"), remove("tea")]);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- lives in Oslo\n");
        let failed = try_edit(&oneiro, "MEMORY.md", vec![add("new"), remove("nothing")]);
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- lives in Oslo\n", "all or none");
    }

    fn a_budget_counts_characters_and_lists_what_is_there(space) {
        let oneiro = open(space);
        oneiro.settings().set("user_char_limit", Some(json!(30))).unwrap();
        edit(&oneiro, "USER.md", vec![add("ääääääääää")]);
        let full = try_edit(&oneiro, "USER.md", vec![add(&"b".repeat(20))]).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::TooLarge);
        assert!(full.message().contains("[40% — 12/30 chars]: \"ääääääääää\""), "{full}");
        // Only the final state of a batch is checked.
        edit(&oneiro, "USER.md", vec![add(&"b".repeat(20)), remove("ä")]);
        assert_eq!(text(&oneiro, "USER.md"), format!("- {}\n", "b".repeat(20)));
        // A note over a lowered budget may still shrink.
        oneiro.settings().set("user_char_limit", Some(json!(5))).unwrap();
        edit(&oneiro, "USER.md", vec![replace("bbb", "cccccccc")]);
        assert!(try_edit(&oneiro, "USER.md", vec![add("d")]).is_err());
    }

    fn a_note_of_24_megabytes_is_refused_with_the_limit(space) {
        let oneiro = open(space);
        let large = "x".repeat(24 << 20);
        let refused = write_from(&oneiro, "USER.md", &large, None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TooLarge);
        assert!(refused.message().contains("at most 1048576"), "{refused}");
        assert!(write_from(&oneiro, "a.md", "a\0b", None).is_err());
    }

    fn secrets_and_private_spans_are_left_out(space) {
        let oneiro = open(space);
        edit(&oneiro, "MEMORY.md", vec![add("the door code is <private>4711</private>")]);
        assert!(!text(&oneiro, "MEMORY.md").contains("4711"));
    }

    fn a_stale_write_is_merged_where_lines_differ_and_refused_where_they_do_not(space) {
        let oneiro = open(space);
        let base = write(&oneiro, "a.md", "- one\n- two\n- three\n").note.etag;
        write(&oneiro, "a.md", "- ONE\n- two\n- three\n");
        let merged = write_from(&oneiro, "a.md", "- one\n- two\n- THREE\n", Some(&base)).unwrap();
        assert!(merged.merged && merged.changed);
        assert_eq!(merged.note.content, "- ONE\n- two\n- THREE\n");
        let refused = write_from(&oneiro, "a.md", "- uno\n- two\n- three\n", Some(&base));
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.message().contains("it was \"- one\", is now \"- ONE\""), "{refused}");
        let unknown = write_from(&oneiro, "a.md", "x", Some("0000")).unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::Conflict);
        let stale = DeleteNote { base: Some(base), message: None };
        assert_eq!(
            oneiro.notes().delete(&name("a.md"), stale).unwrap_err().kind(),
            ErrorKind::Conflict
        );
    }

    fn writers_in_parallel_all_succeed_when_their_entries_differ(space) {
        let first = open(space);
        edit(&first, "a.md", vec![add("start")]);
        let writers: Vec<_> = (0..4).map(|_| open(space)).collect();
        std::thread::scope(|threads| {
            for (number, writer) in writers.iter().enumerate() {
                threads.spawn(move || {
                    for turn in 0..10 {
                        edit(writer, "a.md", vec![add(&format!("entry {number}-{turn}"))]);
                    }
                });
            }
        });
        let text = text(&first, "a.md");
        assert_eq!(text.lines().count(), 41, "{text}");
        assert_eq!(revision_count(&first), 42);
        // Of two who replace one entry, the second gets the error that it has changed.
        edit(&writers[0], "a.md", vec![replace("start", "begin")]);
        let second = try_edit(&writers[1], "a.md", vec![replace("start", "go")]).unwrap_err();
        assert_eq!(second.kind(), ErrorKind::Conflict);
    }

    fn the_prompt_shows_how_full_notes_are_and_stays_frozen(space) {
        let oneiro = open(space);
        let prompt = |revision: Option<String>| {
            oneiro.notes().prompt(&NotePromptRequest { revision }).unwrap()
        };
        assert_eq!(prompt(None).text, "");
        write(&oneiro, "MEMORY.md", "likes tea\n§\nlives in Rome");
        write(&oneiro, "USER.md", "# About the user\n");
        let templates = json!({"USER.md": "# About the user"});
        oneiro.settings().set("note_templates", Some(templates)).unwrap();
        let frozen = prompt(None);
        let rule = "═".repeat(46);
        assert_eq!(
            frozen.text,
            format!(
                "{rule}\nMEMORY (your personal notes) [1% — 25/2,200 chars]\n{rule}\n\
                 likes tea\n§\nlives in Rome"
            )
        );
        edit(&oneiro, "MEMORY.md", vec![add("has a cat")]);
        edit(&oneiro, "USER.md", vec![add("Ann")]);
        let revision = frozen.revision.as_ref().map(ToString::to_string);
        assert_eq!(prompt(revision).text, frozen.text);
        let now = prompt(None);
        assert!(now.text.contains("has a cat"));
        assert!(now.text.contains("USER PROFILE (who the user is) ["), "{}", now.text);
    }

    fn every_change_is_an_operation_in_the_group_of_its_revision(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let made = edit(&ann, "MEMORY.md", vec![add("likes tea")]);
        edit(&agent(&oneiro), "MEMORY.md", vec![add("lives in Rome")]);
        let request = ListOperations {
            subject_kind: Some(SubjectKind::Note),
            ..ListOperations::default()
        };
        let operations = oneiro.operations().list(&request).unwrap().items;
        let kinds: Vec<&str> = operations.iter().map(|it| it.kind.as_str()).collect();
        assert_eq!(kinds, ["note.edit", "note.create"]);
        assert_eq!(operations[1].group, made.note.revision.map(|revision| revision.group()));
        let log = oneiro.notes().log(&ListRevisions::default()).unwrap().items;
        let authors: Vec<&str> = log.iter().map(|it| it.author_kind.as_str()).collect();
        assert_eq!(authors, ["agent", "person", "person"]);
        assert_eq!(log[0].message, "Add an entry to MEMORY.md");
        assert_eq!((log[0].parent.as_ref(), log[2].parent.as_ref()), (Some(&log[1].id), None));
    }
}
