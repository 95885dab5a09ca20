//! Notes leave a store and arrive in another: erasure without a trace, export and import.

use crate::memories::{agent, person};
use crate::memories_erase::found_raw;
use crate::notes::{add, edit, name, replace, revision_count, text, write};
use crate::support::{export, import, open};
use crate::transfer_memories::import_by_person;
use oneiro::{DeleteNote, EraseTarget, ErrorKind, ListRevisions, Oneiro};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

const SECRET: &str = "the saffron is buried under the elm";

fn log(oneiro: &Oneiro) -> Vec<oneiro::Revision> {
    let all = ListRevisions { limit: 500, ..ListRevisions::default() };
    oneiro.notes().log(&all).unwrap().items
}

on_both_backends! {
    fn an_erased_note_leaves_nothing_of_any_of_its_texts(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        edit(&ann, "MEMORY.md", vec![add(SECRET)]);
        edit(&ann, "MEMORY.md", vec![replace("saffron", "nothing is buried")]);
        write(&ann, "other.md", "kept\n");
        let target = EraseTarget::Note(name("MEMORY.md"));
        let refused = agent(&oneiro).erase(&target).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden);
        let erased = ann.erase(&target).unwrap();
        assert_eq!(erased.proof.found, 0);
        assert!(!export(&ann).contains("buried"));
        if space.backend == Backend::Sqlite {
            assert!(found_raw(space, &[SECRET, "nothing is buried"]).is_empty());
        }
        assert_eq!(text(&ann, "other.md"), "kept\n");
        let first = log(&ann).into_iter().rev().nth(1).unwrap();
        let refused = ann.notes().undo(first.id.as_str(), None).unwrap_err();
        assert!(refused.message().contains("erased"), "{refused}");
        // The name can be used again.
        edit(&ann, "MEMORY.md", vec![add("a new start")]);
        assert_eq!(text(&ann, "MEMORY.md"), "- a new start\n");
        assert_eq!(ann.notes().blame(&name("MEMORY.md")).unwrap().len(), 1);
    }

    fn notes_and_revisions_are_exported_and_imported_once(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        edit(&ann, "MEMORY.md", vec![add("one")]);
        edit(&ann, "MEMORY.md", vec![add("two")]);
        write(&ann, "gone.md", "deleted\n");
        ann.notes().delete(&name("gone.md"), DeleteNote::default()).unwrap();
        let second = log(&ann)[2].id.to_string();
        ann.notes().undo(&second, None).unwrap();
        let file = export(&ann);
        let other = TestSpace::new(space.backend);
        let copy = open(&other);
        let imported = import_by_person(&copy, &file);
        assert_eq!(imported.notes, 2);
        assert_eq!(log(&copy), log(&ann));
        assert_eq!(text(&copy, "MEMORY.md"), text(&ann, "MEMORY.md"));
        assert!(copy.notes().get(&name("gone.md")).is_err());
        assert_eq!(
            copy.notes().blame(&name("MEMORY.md")).unwrap()[0].revision,
            ann.notes().blame(&name("MEMORY.md")).unwrap()[0].revision
        );
        let again = import_by_person(&copy, &file);
        assert_eq!((again.notes, again.operations), (0, 0));
        // The first line names the store.
        let lines = |text: &str| -> Vec<String> { text.lines().skip(1).map(str::to_owned).collect() };
        assert_eq!(lines(&export(&copy)), lines(&file));
        // What came with a file can be taken back like own changes.
        let bob = person(&copy);
        let first = log(&bob).into_iter().rev().nth(1).unwrap();
        bob.notes().undo(first.id.as_str(), None).unwrap();
        assert!(bob.notes().get(&name("MEMORY.md")).is_err() || !text(&bob, "MEMORY.md").contains("one"));
    }

    fn an_agent_that_imports_notes_gets_none(space) {
        let oneiro = open(space);
        edit(&person(&oneiro), "MEMORY.md", vec![add("one")]);
        let file = export(&oneiro);
        let other = TestSpace::new(space.backend);
        let copy = open(&other);
        let imported = import(&agent(&copy), &file).unwrap();
        assert!(imported.withheld > 0);
        assert_eq!(revision_count(&copy), 0);
    }

    fn histories_of_two_stores_are_merged_in_the_order_of_time(space) {
        let (oneiro, other) = (open(space), TestSpace::new(space.backend));
        let copy = open(&other);
        edit(&person(&oneiro), "a.md", vec![add("from the first")]);
        copy.clock.set(60);
        edit(&person(&copy), "b.md", vec![add("from the second")]);
        oneiro.clock.set(120);
        edit(&person(&oneiro), "a.md", vec![add("later")]);
        import_by_person(&copy, &export(&oneiro));
        let notes: Vec<String> =
            log(&copy).iter().flat_map(|it| it.notes.iter().map(ToString::to_string)).collect();
        assert_eq!(notes, ["a.md", "b.md", "a.md"]);
        assert_eq!(text(&copy, "a.md"), "- from the first\n- later\n");
        assert_eq!(text(&copy, "b.md"), "- from the second\n");
        edit(&person(&copy), "a.md", vec![add("after the merge")]);
        assert_eq!(log(&copy)[0].notes[0].as_str(), "a.md");
    }
}
