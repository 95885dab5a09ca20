//! Mounted folders of several spaces, and of a space that begins with one.

use crate::memories::person;
use crate::mounts::{mount, save};
use crate::notes::text;
use crate::support::{open, target};
use oneiro::{ErrorKind, Layout, MountNotes, MountState, Oneiro, Options};
use oneiro_testkit::{TestSpace, on_both_backends};
use tempfile::TempDir;

on_both_backends! {
    fn a_mount_of_another_space_inside_a_folder_stays_apart(space) {
        let other = TestSpace::new(space.backend);
        let (inner_space, outer_space) = (open(space), open(&other));
        let folder = TempDir::new().unwrap();
        save(folder.path(), "inner/SECRET.md", "- of the inner space\n");
        save(folder.path(), "OUTER.md", "- of the outer space\n");
        mount(&inner_space, &folder.path().join("inner"));
        mount(&outer_space, folder.path());
        let names = |oneiro: &Oneiro| -> Vec<String> {
            let notes = oneiro.notes().list(&Default::default()).unwrap();
            notes.iter().map(|note| note.name.to_string()).collect()
        };
        assert_eq!((names(&inner_space), names(&outer_space)), (vec!["SECRET.md".to_owned()], vec!["OUTER.md".to_owned()]));
        let below = folder.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let request = MountNotes { path: below.to_str().unwrap().to_owned(), layout: Layout::Plain };
        let refused = person(&inner_space).notes().mount(&request).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    }

    fn a_mount_can_be_the_first_thing_in_a_space(space) {
        let folder = TempDir::new().unwrap();
        save(folder.path(), "A.md", "- likes tea\n");
        let request = MountNotes { path: folder.path().to_str().unwrap().to_owned(), layout: Layout::Plain };
        let mount = |oneiro: &Oneiro| person(oneiro).notes().mount(&request);
        let (oneiro, mounted) = Oneiro::open_to_add(&target(space), Options::default(), mount).unwrap();
        assert_eq!(mounted.mount.state, MountState::Active);
        assert_eq!(text(&oneiro, "A.md"), "- likes tea\n");
    }
}
