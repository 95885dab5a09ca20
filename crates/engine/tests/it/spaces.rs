//! Spaces of a store: listed, refused when they do not exist, deleted unless they are in use.

use crate::support::{begin, open, say};
use oneiro::{Actor, ErrorKind, Oneiro, Options, SpaceName, Surface, Target, list_spaces};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::io::{Seek, SeekFrom, Write};

fn target(space: &TestSpace, name: &SpaceName) -> Target {
    Target::parse(&space.store, Some(name)).unwrap()
}

fn existing() -> Options {
    Options { must_exist: true, ..Options::default() }
}

fn names(space: &TestSpace) -> Vec<String> {
    let spaces = list_spaces(&space.store, &Options::default()).unwrap();
    spaces.into_iter().map(|space| space.name.to_string()).collect()
}

on_both_backends! {
    fn a_space_that_must_exist_is_not_created_and_the_nearest_name_is_suggested(space) {
        drop(open(space));
        let near = SpaceName::new(&format!("{}x", space.space)).unwrap();
        let error = Oneiro::open(&target(space, &near), existing()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().starts_with(&format!("there is no space {near} in ")), "{error}");
        let remedy = error.remedy_for(Surface::CommandLine).unwrap().into_owned();
        assert!(remedy.starts_with(&format!("did you mean {}", space.space)), "{remedy}");
        assert!(!names(space).contains(&near.to_string()));
    }

    fn a_space_is_listed_until_it_is_deleted(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["gone soon"]);
        let name = space.space.to_string();
        assert!(names(space).contains(&name));
        drop(oneiro);
        let place = target(space, &space.space);
        let deleted = Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap();
        assert_eq!((deleted.name, deleted.backups.len()), (space.space.clone(), 0));
        assert!(!names(space).contains(&name));
        let error = Oneiro::open(&place, existing()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    fn a_space_that_is_open_elsewhere_is_not_deleted(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let place = target(space, &space.space);
        let error = Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        say(&oneiro, "s", &["still here"]);
        drop(oneiro);
        Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap();
    }

    fn a_deleted_space_names_its_backups(space) {
        let oneiro = open(space);
        let copy = space.folder().join("copy.backup");
        oneiro.transfer().backup(&copy, &mut |_| {}).unwrap();
        drop(oneiro);
        let place = target(space, &space.space);
        let deleted = Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap();
        assert_eq!(deleted.backups.len(), 1);
        assert!(copy.exists());
    }
}

/// Overwrites bytes of a space's file.
fn damage(place: &Target, at: u64, bytes: &[u8]) {
    let Target::File { path, .. } = place else { panic!("{place} is not a file") };
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_damaged_space_is_listed_as_damaged_and_can_be_deleted() {
    let space = TestSpace::new(Backend::Sqlite);
    let good = SpaceName::new("good").unwrap();
    for name in [&space.space, &good] {
        drop(Oneiro::open(&target(&space, name), Options::default()).unwrap());
    }
    let place = target(&space, &space.space);
    // The schema begins after the header of 100 bytes.
    damage(&place, 100, &[0xAA; 3_000]);
    let error = Oneiro::open(&place, existing()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let spaces = list_spaces(&space.store, &Options::default()).unwrap();
    let found = |name: &SpaceName| spaces.iter().find(|found| found.name == *name).unwrap().damaged;
    assert_eq!((found(&space.space), found(&good)), (true, false));
    Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap();
    assert_eq!(names(&space), ["good"]);
}

#[test]
fn a_file_that_cannot_be_told_to_be_a_space_is_neither_listed_nor_deleted() {
    let space = TestSpace::new(Backend::Sqlite);
    let place = target(&space, &space.space);
    drop(Oneiro::open(&place, Options::default()).unwrap());
    damage(&place, 0, &[0xAA; 100]);
    assert!(names(&space).is_empty());
    let error = Oneiro::delete_space(&place, &Options::default(), &Actor::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(matches!(&place, Target::File { path, .. } if path.exists()));
}

#[test]
fn a_folder_without_stores_has_no_spaces_and_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.db"), "not a database").unwrap();
    let store = folder.path().to_string_lossy().into_owned();
    assert!(list_spaces(&store, &Options::default()).unwrap().is_empty());
    let place = Target::parse(&store, None).unwrap();
    let error = Oneiro::open(&place, existing()).err().unwrap();
    assert!(error.message().starts_with("there is no store at "), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = list_spaces(&format!("{store}/missing"), &Options::default()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}
