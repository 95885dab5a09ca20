//! The history of notes: log, compare, restore to a revision, undo one change, blame.

use crate::memories::{agent, person};
use crate::notes::{add, edit, name, remove, replace, revision_count, text, write};
use crate::support::{Fixed, export, open};
use crate::transfer_memories::import_by_person;
use oneiro::{
    ActorKind, DeleteNote, DiffNotes, EraseTarget, ErrorKind, ListOperations, ListRevisions,
    Oneiro, RestoreNotes, Revision, RevisionDetail, ShowRevision, Timestamp,
};
use oneiro_store::note_origins;
use oneiro_testkit::{TestSpace, on_both_backends};

const DAY: i64 = 24 * 60 * 60;

fn log(oneiro: &Oneiro) -> Vec<Revision> {
    let all = ListRevisions { limit: 500, ..ListRevisions::default() };
    oneiro.notes().log(&all).unwrap().items
}

fn newest(oneiro: &Oneiro) -> String {
    log(oneiro)[0].id.to_string()
}

fn undo(oneiro: &Oneiro, id: &str) -> RevisionDetail {
    oneiro.notes().undo(id, None).unwrap()
}

fn restore(oneiro: &Oneiro, id: &str) -> RevisionDetail {
    oneiro.notes().restore(id, RestoreNotes::default()).unwrap()
}

/// Three changes of one note on three days, each in a line of its own.
fn three_days(space: &TestSpace) -> (Fixed, Vec<String>) {
    let oneiro = open(space);
    let mut ids = Vec::new();
    for (day, entry) in ["one", "two", "three"].into_iter().enumerate() {
        oneiro.clock.set(day as i64 * DAY);
        edit(&oneiro, "MEMORY.md", vec![add(entry)]);
        ids.push(newest(&oneiro));
    }
    (oneiro, ids)
}

on_both_backends! {
    fn one_change_is_undone_alone_and_redone(space) {
        let (oneiro, ids) = three_days(space);
        let undone = undo(&oneiro, &ids[1]);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n- three\n");
        assert_eq!((undone.diffs[0].added, undone.diffs[0].removed), (0, 1));
        let shown = oneiro.notes().revision(&ids[1], &ShowRevision::default()).unwrap();
        assert_eq!(shown.revision.undone_by, Some(undone.revision.id.clone()));
        let again = oneiro.notes().undo(&ids[1], None).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Conflict);
        undo(&oneiro, undone.revision.id.as_str());
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n- two\n- three\n");
        // What was redone can be undone again.
        undo(&oneiro, &ids[1]);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n- three\n");
    }

    fn the_first_change_can_be_undone(space) {
        let oneiro = open(space);
        edit(&oneiro, "MEMORY.md", vec![add("one")]);
        let first = newest(&oneiro);
        undo(&oneiro, &first);
        assert!(oneiro.notes().get(&name("MEMORY.md")).is_err());
        undo(&oneiro, &newest(&oneiro));
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n");
        edit(&oneiro, "MEMORY.md", vec![add("two")]);
        undo(&oneiro, &first);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- two\n");
    }

    fn an_operation_its_group_and_its_revision_are_undone_by_the_same_act(space) {
        for by in ["operation", "group", "revision"] {
            let oneiro = open(space);
            let note = format!("{by}.md");
            edit(&oneiro, &note, vec![add("one")]);
            let revision = newest(&oneiro);
            let operation = oneiro.operations().list(&ListOperations::default()).unwrap();
            let operation = operation.items[0].clone();
            let id = match by {
                "operation" => operation.id.to_string(),
                "group" => operation.group.unwrap().to_string(),
                _ => revision.clone(),
            };
            let undone = oneiro.operations().undo(&id, None).unwrap();
            assert_eq!(undone.operations.len(), 1);
            assert_eq!(undone.revision.unwrap().to_string(), newest(&oneiro));
            assert!(oneiro.notes().get(&name(&note)).is_err(), "{by}");
        }
    }

    fn an_undo_that_would_change_later_lines_is_refused_and_explained(space) {
        let oneiro = open(space);
        edit(&oneiro, "MEMORY.md", vec![add("lives in Rome")]);
        let first = newest(&oneiro);
        edit(&oneiro, "MEMORY.md", vec![replace("Rome", "lives in Oslo")]);
        let refused = oneiro.notes().undo(&first, None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.message().contains("is now \"- lives in Oslo\""), "{refused}");
        assert_eq!(text(&oneiro, "MEMORY.md"), "- lives in Oslo\n");
        undo(&oneiro, &newest(&oneiro));
        undo(&oneiro, &first);
        assert!(oneiro.notes().get(&name("MEMORY.md")).is_err());
    }

    fn a_restore_goes_back_to_a_point_and_can_be_undone(space) {
        let (oneiro, ids) = three_days(space);
        write(&oneiro, "other.md", "text\n");
        let restored = restore(&oneiro, &ids[0]);
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n");
        assert!(oneiro.notes().get(&name("other.md")).is_err());
        let names: Vec<String> =
            restored.revision.notes.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["MEMORY.md", "other.md"]);
        let count = revision_count(&oneiro);
        restore(&oneiro, &ids[0]);
        assert_eq!(revision_count(&oneiro), count, "nothing differs");
        undo(&oneiro, restored.revision.id.as_str());
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n- two\n- three\n");
        assert_eq!(text(&oneiro, "other.md"), "text\n");
        let base = log(&oneiro).pop().unwrap();
        restore(&oneiro, base.id.as_str());
        assert!(oneiro.notes().get(&name("MEMORY.md")).is_err());
        let one = RestoreNotes { note: Some(name("MEMORY.md")), message: None };
        oneiro.notes().restore(&ids[1], one).unwrap();
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n- two\n");
        assert!(oneiro.notes().get(&name("other.md")).is_err());
    }

    fn a_deleted_note_comes_back_by_undo(space) {
        let oneiro = open(space);
        write(&oneiro, "a.md", "§\nkept\n");
        oneiro.notes().delete(&name("a.md"), DeleteNote::default()).unwrap();
        undo(&oneiro, &newest(&oneiro));
        assert_eq!(text(&oneiro, "a.md"), "§\nkept\n");
    }

    fn any_two_revisions_are_compared(space) {
        let (oneiro, ids) = three_days(space);
        let diff = |from: Option<&str>, to: Option<&str>| {
            let request = DiffNotes {
                old: from.map(str::to_owned),
                new: to.map(str::to_owned),
                ..DiffNotes::default()
            };
            oneiro.notes().diff(&request).unwrap()
        };
        let found = diff(Some(&ids[0]), None);
        assert_eq!((found.diffs[0].added, found.diffs[0].removed), (2, 0));
        let back = diff(Some(&ids[2]), Some(&ids[0]));
        assert_eq!((back.diffs[0].added, back.diffs[0].removed), (0, 2));
        assert!(diff(None, None).diffs[0].text.contains("+- three\n"));
        assert!(diff(Some(&ids[1]), Some(&ids[1])).diffs.is_empty());
        let words = DiffNotes { words: true, ..DiffNotes::default() };
        assert!(oneiro.notes().diff(&words).unwrap().diffs[0].text.contains("{+- three+}"));
    }

    fn each_line_tells_who_wrote_it_and_how_old_it_is(space) {
        let (oneiro, ids) = three_days(space);
        oneiro.clock.set(10 * DAY);
        edit(&person(&oneiro), "MEMORY.md", vec![replace("two", "zwei")]);
        oneiro.clock.set(12 * DAY);
        let blame = oneiro.notes().blame(&name("MEMORY.md")).unwrap();
        let ages: Vec<(&str, i64)> =
            blame.iter().map(|line| (line.text.as_str(), line.age_days)).collect();
        assert_eq!(ages, [("- one", 12), ("- zwei", 2), ("- three", 10)]);
        assert_eq!(blame[0].revision.as_str(), ids[0]);
        assert_eq!(blame[1].author_kind, ActorKind::Person);
        assert_eq!(blame[1].author, "cli");
    }

    fn the_log_is_filtered_by_author_note_text_and_dates(space) {
        let (oneiro, ids) = three_days(space);
        oneiro.clock.set(5 * DAY);
        write(&person(&oneiro), "other.md", "saffron\n");
        let found = |request: ListRevisions| -> Vec<String> {
            let page = oneiro.notes().log(&request).unwrap();
            page.items.iter().map(|it| it.id.to_string()).collect()
        };
        let other = newest(&oneiro);
        let request = ListRevisions::default;
        let by_person = ListRevisions { author_kind: Some(ActorKind::Person), ..request() };
        assert_eq!(found(by_person), [other.as_str()]);
        let of_note = ListRevisions { note: Some(name("other.md")), ..request() };
        assert_eq!(found(of_note), [other.as_str()]);
        let with_text = ListRevisions { text: Some("saffron".to_owned()), ..request() };
        assert_eq!(found(with_text), [other.as_str()]);
        let at = |day: i64| Timestamp::from_micros(crate::support::NOW.micros() + day * DAY * 1_000_000);
        let between = ListRevisions { since: Some(at(1)), until: Some(at(2)), ..request() };
        assert_eq!(found(between), [ids[1].as_str()]);
        let mut paged = Vec::new();
        let mut cursor = None;
        loop {
            let page = oneiro.notes().log(&ListRevisions { limit: 2, cursor, ..request() }).unwrap();
            paged.extend(page.items.iter().map(|it| it.id.to_string()));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(paged, found(request()));
    }

    fn ids_are_found_by_a_unique_prefix_and_ambiguity_is_said(space) {
        let (oneiro, ids) = three_days(space);
        let show = |id: &str| oneiro.notes().revision(id, &ShowRevision::default());
        let prefix = &ids[0][..ids[0].len() - 1];
        let shown = show(prefix);
        let is_unique = ids.iter().filter(|id| id.starts_with(prefix)).count() == 1;
        assert_eq!(shown.is_ok(), is_unique);
        assert_eq!(show("rev_zzz").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(show("").unwrap_err().kind(), ErrorKind::NotFound);
        for number in 0..40 {
            edit(&oneiro, "a.md", vec![add(&format!("entry {number}"))]);
        }
        // There are 32 letters.
        let letter = log(&oneiro).iter().map(|it| it.id.as_str()[..5].to_owned()).fold(
            std::collections::BTreeMap::<String, usize>::new(),
            |mut counts, prefix| {
                *counts.entry(prefix).or_default() += 1;
                counts
            },
        );
        let (several, _) = letter.iter().find(|(_, count)| **count > 1).unwrap();
        let ambiguous = show(several).unwrap_err();
        assert!(ambiguous.message().contains("several revision ids begin"), "{ambiguous}");
    }

    fn an_agent_cannot_undo_what_a_person_wrote(space) {
        let oneiro = open(space);
        edit(&person(&oneiro), "MEMORY.md", vec![add("one")]);
        let by_person = newest(&oneiro);
        let refused = agent(&oneiro).notes().undo(&by_person, None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden);
        edit(&agent(&oneiro), "MEMORY.md", vec![add("two")]);
        undo(&agent(&oneiro), &newest(&oneiro));
        assert_eq!(text(&oneiro, "MEMORY.md"), "- one\n");
    }

    fn a_clock_that_goes_back_does_not_reorder_the_history(space) {
        let (oneiro, ids) = three_days(space);
        oneiro.clock.set(-30 * DAY);
        edit(&oneiro, "MEMORY.md", vec![remove("one")]);
        let log = log(&oneiro);
        assert_eq!(log[1].id.as_str(), ids[2]);
        assert!(log[0].at >= log[1].at);
        assert_eq!(oneiro.notes().blame(&name("MEMORY.md")).unwrap()[0].age_days, 0);
    }

    /// More revisions than are followed at once: the origins of lines are stored on the way, and are the
    /// same as if all texts were read, also after an import and after an erasure of the note.
    fn the_lines_of_a_long_history_keep_their_origins(space) {
        const REVISIONS: usize = 600;
        let oneiro = open(space);
        let ann = person(&oneiro);
        let mut wrote: Vec<(String, String)> = Vec::new();
        for number in 0..REVISIONS {
            let line = format!("- entry {}: revision {number}", number % 7);
            wrote.retain(|(text, _)| !text.starts_with(&format!("- entry {}:", number % 7)));
            let kept = wrote.iter().map(|(text, _)| format!("{text}\n"));
            let content: String = kept.chain([format!("{line}\n")]).collect();
            let revision = write(&ann, "MEMORY.md", &content).note.revision.unwrap().to_string();
            wrote.push((line, revision));
        }
        let blamed = |oneiro: &Oneiro| -> Vec<(String, String)> {
            let lines = oneiro.notes().blame(&name("MEMORY.md")).unwrap();
            lines.into_iter().map(|line| (line.text, line.revision.to_string())).collect()
        };
        assert_eq!(blamed(&ann), wrote);
        let stored = |oneiro: &Oneiro| {
            oneiro.store().read(|tx| note_origins::get(tx, &name("MEMORY.md"))).unwrap()
        };
        assert!(stored(&ann).is_some(), "a blame reads all texts");
        let other = TestSpace::new(space.backend);
        let copy = open(&other);
        import_by_person(&copy, &export(&ann));
        assert_eq!(blamed(&copy), wrote);
        ann.erase(&EraseTarget::Note(name("MEMORY.md"))).unwrap();
        assert_eq!(stored(&ann), None);
        edit(&ann, "MEMORY.md", vec![add("a new start")]);
        assert_eq!(blamed(&ann), [("- a new start".to_owned(), newest(&ann))]);
    }
}
