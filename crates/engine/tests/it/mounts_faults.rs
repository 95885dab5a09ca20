//! A process that dies at any step of keeping files in sync: afterwards file, note and revision agree.

use crate::memories::person;
use crate::mounts::{files_in, mount, read, save, sync};
use crate::notes::{name, text, write};
use crate::support::open;
use oneiro::{ActorKind, DeleteNote, Error, ErrorKind, ListRevisions, Oneiro, UnmountNotes};
use oneiro_testkit::on_both_backends;
use std::cell::Cell;
use std::path::Path;

const START: &str = "- one\n- two\n- three\n- four\n";

/// What happens to note and file before they are brought into sync, and what both must say afterwards.
struct Scenario {
    what: &'static str,
    /// The file is saved with this; `Some(None)` deletes it.
    file: Option<Option<&'static str>>,
    /// The note is written with this; `Some(None)` deletes it.
    note: Option<Option<&'static str>>,
    result: Option<&'static str>,
    /// Revisions that the file makes.
    revisions: usize,
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        what: "the file is edited",
        file: Some(Some("- one\n- two\n- three\n- 4\n")),
        note: None,
        result: Some("- one\n- two\n- three\n- 4\n"),
        revisions: 1,
    },
    Scenario {
        what: "the note is edited",
        file: None,
        note: Some(Some("- 1\n- two\n- three\n- four\n")),
        result: Some("- 1\n- two\n- three\n- four\n"),
        revisions: 0,
    },
    Scenario {
        what: "both are edited, in the same place too",
        file: Some(Some("- one\n- two\n- three\n- 4\n- of the file\n")),
        note: Some(Some("- 1\n- two\n- three\n- four\n- of the store\n")),
        result: None,
        revisions: 1,
    },
    Scenario {
        what: "both contradict each other",
        file: Some(Some("- of the file\n")),
        note: Some(Some("- of the store\n")),
        result: Some("- of the file\n"),
        revisions: 1,
    },
    Scenario {
        what: "the file is deleted",
        file: Some(None),
        note: None,
        result: None,
        revisions: 1,
    },
    Scenario {
        what: "the note is deleted",
        file: None,
        note: Some(None),
        result: None,
        revisions: 0,
    },
    Scenario {
        what: "the note is deleted and the file edited",
        file: Some(Some("- one\n")),
        note: Some(None),
        result: Some("- one\n"),
        revisions: 1,
    },
    Scenario {
        what: "the file is deleted and the note edited",
        file: Some(None),
        note: Some(Some("- 1\n")),
        result: Some("- 1\n"),
        revisions: 0,
    },
];

fn file_revisions(oneiro: &Oneiro) -> usize {
    let list = ListRevisions {
        author_kind: Some(ActorKind::File),
        limit: 500,
        ..ListRevisions::default()
    };
    oneiro.notes().log(&list).unwrap().items.len()
}

/// Hides a mount from the calls that change notes, which would bring it into sync.
fn without_marker(folder: &Path, change: impl FnOnce()) {
    let (marker, hidden) = (folder.join(".oneiro/mount"), folder.join(".oneiro/hidden"));
    std::fs::rename(&marker, &hidden).unwrap();
    change();
    std::fs::rename(&hidden, &marker).unwrap();
}

fn prepare(oneiro: &Oneiro, folder: &Path, scenario: &Scenario) {
    write(oneiro, "MEMORY.md", START);
    mount(oneiro, folder);
    assert_eq!(read(folder, "MEMORY.md"), START);
    without_marker(folder, || {
        match scenario.file {
            Some(Some(text)) => save(folder, "MEMORY.md", text),
            Some(None) => std::fs::remove_file(folder.join("MEMORY.md")).unwrap(),
            None => {}
        }
        match scenario.note {
            Some(Some(text)) => drop(write(oneiro, "MEMORY.md", text)),
            Some(None) => {
                drop(oneiro.notes().delete(&name("MEMORY.md"), DeleteNote::default()).unwrap());
            }
            None => {}
        }
    });
}

/// Dies at the step with this number; returns whether there was one.
fn sync_and_die_at(oneiro: &Oneiro, step: usize) -> bool {
    let left = Cell::new(step);
    let died = Cell::new(false);
    let steps = |_: &'static str| {
        if left.get() == 0 || died.get() {
            died.set(true);
            return Err(Error::new(ErrorKind::Internal, "died"));
        }
        left.set(left.get() - 1);
        Ok(())
    };
    assert_eq!(oneiro.notes().sync_with_steps(&steps).is_err(), died.get());
    died.get()
}

on_both_backends! {
    fn after_a_death_at_any_step_file_note_and_revision_agree(space) {
        let oneiro = open(space);
        for scenario in SCENARIOS {
            for step in 0.. {
                let folder = tempfile::tempdir().unwrap();
                prepare(&oneiro, folder.path(), scenario);
                let before = file_revisions_without_sync(&oneiro);
                let has_died = sync_and_die_at(&oneiro, step);
                // The next process.
                let problems = sync(&oneiro).problems;
                let place = format!("{}, step {step}", scenario.what);
                assert!(problems.is_empty(), "{place}: {problems:?}");
                let file = std::fs::read_to_string(folder.path().join("MEMORY.md")).ok();
                let note = oneiro.notes().get(&name("MEMORY.md")).ok();
                assert_eq!(file.as_ref(), note.as_ref().map(|note| &note.content), "{place}");
                if scenario.what.starts_with("both are edited") {
                    // Lines that both added in one place are there once, in either order.
                    let mut lines: Vec<&str> = file.as_deref().unwrap().lines().collect();
                    lines.sort_unstable();
                    assert_eq!(lines, ["- 1", "- 4", "- of the file", "- of the store", "- three", "- two"], "{place}");
                } else {
                    assert_eq!(file.as_deref(), scenario.result, "{place}");
                }
                assert_eq!(file_revisions(&oneiro) - before, scenario.revisions, "{place}");
                let left: Vec<String> = files_in(folder.path()).into_iter().map(|(name, _)| name).collect();
                let copies = left.iter().filter(|name| name.contains(".conflict-")).count();
                let is_conflict = scenario.what == "both contradict each other";
                assert_eq!(copies, usize::from(is_conflict), "{place}: {left:?}");
                assert_eq!(left.len(), copies + usize::from(file.is_some()), "{place}: {left:?}");
                let path = folder.path().to_str().unwrap().to_owned();
                person(&oneiro).notes().unmount(&UnmountNotes { path }).unwrap();
                if !has_died {
                    assert!(step > 0, "{} has steps", scenario.what);
                    break;
                }
            }
        }
    }

    /// The editor saves in the very moment in which the file is exchanged.
    fn what_is_saved_between_two_steps_is_not_lost(space) {
        let oneiro = open(space);
        let scenario = &SCENARIOS[1];
        for at in 0.. {
            let folder = tempfile::tempdir().unwrap();
            prepare(&oneiro, folder.path(), scenario);
            let number = Cell::new(0);
            let steps = |_: &'static str| {
                if number.get() == at {
                    let now = read(folder.path(), "MEMORY.md");
                    save(folder.path(), "MEMORY.md", format!("{now}- saved at {at}\n"));
                }
                number.set(number.get() + 1);
                Ok(())
            };
            oneiro.notes().sync_with_steps(&steps).unwrap();
            sync(&oneiro);
            let saved = if number.get() > at { format!("- saved at {at}\n") } else { String::new() };
            assert_eq!(text(&oneiro, "MEMORY.md"), format!("- 1\n- two\n- three\n- four\n{saved}"), "step {at}");
            assert_eq!(read(folder.path(), "MEMORY.md"), text(&oneiro, "MEMORY.md"), "step {at}");
            let path = folder.path().to_str().unwrap().to_owned();
            person(&oneiro).notes().unmount(&UnmountNotes { path }).unwrap();
            if number.get() <= at {
                assert!(at >= 5, "{at} steps");
                break;
            }
        }
    }
}

/// Revisions of files so far, counted without bringing anything into sync.
fn file_revisions_without_sync(oneiro: &Oneiro) -> usize {
    let list = ListRevisions {
        author_kind: Some(ActorKind::File),
        limit: 500,
        ..ListRevisions::default()
    };
    oneiro.store().read(|tx| oneiro_store::revisions::list(tx, &list)).unwrap().len()
}
