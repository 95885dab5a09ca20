//! An editor that saves its file in a loop and two authors at other handles, with single undos and
//! processes that die: every 10 edits and at the end, note and files equal an oracle.

use crate::memories::person;
use crate::mounts::{mount, read, save};
use crate::notes::{name, text, write, write_from};
use crate::support::{Fixed, open};
use oneiro::{Error, ErrorKind, RevisionId};
use oneiro_testkit::{on_both_backends, test_seed};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

const EDITS: usize = 200;

/// A small generator, so that a seed says everything.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What the note must say: each writer has a section of its own, so that no two contradict each other.
#[derive(Default)]
struct Oracle {
    sections: [Vec<String>; 3],
    edits: usize,
}

const EDITOR: usize = 2;

impl Oracle {
    fn render(&self) -> String {
        let section = |(number, lines): (usize, &Vec<String>)| {
            format!("# Writer {number}\n\n{}\n", lines.concat())
        };
        self.sections.iter().enumerate().map(section).collect()
    }

    /// One edit of a writer in its own section: a line more, or one less.
    fn edit(&mut self, writer: usize, random: &mut Random) -> Change {
        self.edits += 1;
        let lines = &mut self.sections[writer];
        if lines.len() > 3 && random.below(3) == 0 {
            let place = random.below(lines.len() as u64) as usize;
            return Change::Remove(lines.remove(place));
        }
        let line = format!("- edit {} of writer {writer}\n", self.edits);
        lines.push(line.clone());
        Change::Add(line)
    }
}

#[derive(Clone, Debug)]
enum Change {
    Add(String),
    Remove(String),
}

impl Change {
    /// Makes the change in a text, as somebody with an editor would.
    fn apply(&self, writer: usize, text: &str) -> String {
        match self {
            Change::Remove(line) => text.replacen(line.as_str(), "", 1),
            Change::Add(line) => {
                let start = text.find(&format!("# Writer {writer}\n")).unwrap();
                let end = text[start + 1..].find("\n# ").map_or(text.len(), |at| start + 1 + at);
                let (before, after) = text.split_at(end - usize::from(end == text.len()));
                format!("{before}{line}{after}")
            }
        }
    }
}

/// The folders, what happens next, and what must come of it.
struct Storm {
    folders: [PathBuf; 2],
    random: Random,
    oracle: Oracle,
}

impl Storm {
    /// The editor loads a file, changes its own section and saves it, in place or by a rename.
    fn save_in_editor(&mut self) {
        let folder = self.folders[self.random.below(2) as usize].clone();
        let Ok(now) = std::fs::read_to_string(folder.join("MEMORY.md")) else { return };
        // The other file may have more of the editor, which saves only what it saw last.
        let section = format!("# Writer {EDITOR}\n\n{}\n", self.oracle.sections[EDITOR].concat());
        if !now.ends_with(&section) {
            return;
        }
        let change = self.oracle.edit(EDITOR, &mut self.random);
        let text = change.apply(EDITOR, &now);
        if self.random.below(2) == 0 {
            save(&folder, "MEMORY.md", text);
        } else {
            save(&folder, "MEMORY.md~", text);
            std::fs::rename(folder.join("MEMORY.md~"), folder.join("MEMORY.md")).unwrap();
        }
    }
}

/// Brings all into sync, while the editor may save between two steps and the process may die at one.
fn sync_in_storm(oneiro: &Fixed, storm: &RefCell<Storm>, may_save: bool) {
    let step = |_: &'static str| {
        let mut storm = storm.borrow_mut();
        if may_save && storm.random.below(6) == 0 {
            storm.save_in_editor();
        }
        if storm.random.below(8) == 0 {
            return Err(Error::new(ErrorKind::Internal, "died"));
        }
        Ok(())
    };
    if let Err(error) = oneiro.notes().sync_with_steps(&step) {
        assert_eq!(error.message(), "died", "{error}");
    }
}

/// An author writes its section on top of what it read, which others may have changed since.
fn write_as_author(author: &Fixed, writer: usize, storm: &RefCell<Storm>) -> (Change, RevisionId) {
    let note = author.notes().get(&name("MEMORY.md")).unwrap();
    if storm.borrow_mut().random.below(2) == 0 {
        storm.borrow_mut().save_in_editor();
    }
    let mut storm = storm.borrow_mut();
    let Storm { oracle, random, .. } = &mut *storm;
    let change = oracle.edit(writer, random);
    let new = change.apply(writer, &note.content);
    let changed = write_from(author, "MEMORY.md", &new, Some(&note.etag)).unwrap();
    (change, changed.note.revision.unwrap())
}

fn assert_in_step(oneiro: &Fixed, storm: &RefCell<Storm>, place: &str) {
    // Twice: what one folder brings is written to the other.
    oneiro.notes().mounts().unwrap();
    let mounts = oneiro.notes().mounts().unwrap();
    assert!(
        mounts.iter().all(|mount| mount.problems.is_empty() && mount.conflicts.is_empty()),
        "{place}: {mounts:?}"
    );
    let storm = storm.borrow();
    let wanted = storm.oracle.render();
    assert_eq!(text(oneiro, "MEMORY.md"), wanted, "{place}: the note");
    for folder in &storm.folders {
        assert_eq!(read(folder, "MEMORY.md"), wanted, "{place}: {folder:?}");
    }
}

fn left_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

on_both_backends! {
    fn no_edit_is_lost_in_a_storm(space) {
        let (oneiro, authors) = (open(space), [open(space), open(space)]);
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let storm = RefCell::new(Storm {
            folders: [0, 1].map(|at: usize| folders[at].path().to_owned()),
            random: Random(test_seed() | 1),
            oracle: Oracle::default(),
        });
        write(&oneiro, "MEMORY.md", &storm.borrow().oracle.render());
        for folder in &folders {
            mount(&oneiro, folder.path());
        }
        let mut added: Vec<(usize, String, RevisionId)> = Vec::new();
        let (mut undone, mut checked) = (0, 0);
        while storm.borrow().oracle.edits < EDITS {
            let choice = storm.borrow_mut().random.below(8);
            match choice {
                0 | 1 => storm.borrow_mut().save_in_editor(),
                2..=4 => {
                    let writer = usize::from(choice == 2);
                    if let (Change::Add(line), revision) = write_as_author(&authors[writer], writer, &storm) {
                        added.push((writer, line, revision));
                    }
                }
                5 | 6 => sync_in_storm(&oneiro, &storm, true),
                _ => {
                    if added.is_empty() {
                        continue;
                    }
                    let place = storm.borrow_mut().random.below(added.len() as u64) as usize;
                    let (writer, line, revision) = added.swap_remove(place);
                    // Undoing an addition takes that line alone; one that is gone already stays gone.
                    match person(&oneiro).notes().undo(revision.as_str(), None) {
                        Ok(_) => {
                            undone += 1;
                            storm.borrow_mut().oracle.sections[writer].retain(|other| *other != line);
                        }
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                    }
                }
            }
            let edits = storm.borrow().oracle.edits;
            if edits / 10 > checked {
                checked = edits / 10;
                sync_in_storm(&oneiro, &storm, false);
                assert_in_step(&oneiro, &storm, &format!("after {edits} edits"));
            }
        }
        assert_in_step(&oneiro, &storm, "at the end");
        assert!(undone > 5, "{undone} undos");
        for folder in &folders {
            assert_eq!(left_in(folder.path()), [".oneiro", "MEMORY.md"], "nothing is left behind");
        }
    }
}
