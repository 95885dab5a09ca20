//! Erasure leaves nothing behind in the files, proves it, and names what it cannot reach.

use crate::support::{Fixed, assert_sound, begin, id, message_texts, new, open, say, user};
use oneiro::{EraseTarget, Lineage, MessageId, NewMessage, NewSession, Role};
use oneiro_testkit::{Backend, TestSpace, on_both_backends, words};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether any of `texts` stands in the raw bytes of the files.
fn found_raw(space: &TestSpace, texts: &[&[u8]]) -> Vec<String> {
    let log = PathBuf::from(format!("{}-wal", space.file().display()));
    let mut raw = std::fs::read(space.file()).unwrap();
    raw.extend(std::fs::read(log).unwrap_or_default());
    let is_there = |text: &&&[u8]| raw.windows(text.len()).any(|part| part == **text);
    texts.iter().filter(is_there).map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

const SECRET: &str = "the safe opens with seven and nine";
const ID: &str = "message-id-of-the-secret";
const TITLE: &str = "where the secret garden lies";
const PROMPT: &str = "never tell them about the lighthouse keeper";

/// A space in which session `s` holds secrets, and `t` does not.
fn add_fixture(oneiro: &Fixed, large: &str) -> Vec<MessageId> {
    let session =
        NewSession { title: Some(TITLE.into()), system_prompt: Some(PROMPT.into()), ..new("s") };
    oneiro.sessions().create(session).unwrap();
    begin(oneiro, "t");
    say(oneiro, "t", &["the weather is fine today", "and so it will be tomorrow"]);
    let messages =
        vec![user(SECRET).external_id(ID), user(large), user("harmless words of some length")];
    oneiro.messages().append(&id("s"), messages).unwrap().ids
}

/// Sessions of one secret each.
fn add_many_messages(oneiro: &Fixed) -> Vec<EraseTarget> {
    let add_fixture = |n: usize| {
        let name = format!("s{n}");
        begin(oneiro, &name);
        say(oneiro, &name, &[&format!("secret number {n} is kept in the lighthouse")]);
        EraseTarget::Session(id(&name))
    };
    (0..8).map(add_fixture).collect()
}

on_both_backends! {
    /// The job that an erasure leaves for the case of a crash is not begun by somebody else while
    /// the erasure itself does its work.
    fn a_running_erasure_is_not_taken_over(space) {
        let oneiro = open(space);
        let targets = add_many_messages(&oneiro);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let jobs = scope.spawn(|| {
                let mut ran = 0;
                while !is_over.load(Ordering::SeqCst) {
                    ran += oneiro.jobs().run(Duration::from_secs(5)).unwrap().done;
                }
                ran
            });
            for target in &targets {
                assert_eq!(oneiro.erase(target).unwrap().proof.found, 0);
            }
            is_over.store(true, Ordering::SeqCst);
            assert_eq!(jobs.join().unwrap(), 0);
        });
        assert_eq!(oneiro.stats().unwrap().jobs, 0);
    }

    fn concurrent_erasures_wait_for_each_other(space) {
        let oneiro = open(space);
        let targets = add_many_messages(&oneiro);
        std::thread::scope(|scope| {
            for target in &targets {
                scope.spawn(|| assert_eq!(oneiro.erase(target).unwrap().proof.found, 0));
            }
        });
        assert_eq!(oneiro.stats().unwrap().jobs, 0);
        assert_sound(&oneiro);
    }

    fn no_byte_of_an_erased_session_is_left_in_the_files(space) {
        let oneiro = open(space);
        let large = words(7, 20_000);
        add_fixture(&oneiro, &large);
        let delegate = NewSession { parent_id: Some(id("s")), lineage: Some(Lineage::Delegate), ..new("d") };
        oneiro.messages().append_or_create(&id("d"), vec![user("a delegate knows of the hidden staircase")], delegate).unwrap();
        // Deleted long ago, and still in a free page: a scrub takes that too.
        begin(&oneiro, "old");
        say(&oneiro, "old", &["an older secret about the cellar"]);
        oneiro.sessions().delete(&id("old")).unwrap();
        let erased = oneiro.erase(&EraseTarget::Session(id("s"))).unwrap();
        assert_eq!((erased.messages, erased.payloads), (4, 2));
        assert_eq!((erased.proof.found, erased.proof.searched), (0, space.backend == Backend::Sqlite));
        assert!(erased.proof.pieces > 10);
        assert_eq!(message_texts(&oneiro, "t", true).len(), 2);
        assert!(oneiro.sessions().find(&id("s")).unwrap().is_none());
        assert!(oneiro.sessions().find(&id("d")).unwrap().is_none());
        let stats = oneiro.stats().unwrap();
        assert_eq!((stats.jobs, stats.payloads), (0, 0));
        assert_sound(&oneiro);
        if space.backend == Backend::Sqlite {
            let texts = [SECRET, ID, TITLE, "hidden staircase", "secret about the cellar", &large[..40]];
            let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
            assert_eq!(found_raw(space, &texts), [""; 0]);
            assert_eq!(found_raw(space, &[b"the weather is fine today"]).len(), 1);
        }
    }

    fn no_byte_of_an_erased_message_is_left_and_the_rest_is_kept(space) {
        let oneiro = open(space);
        let ids = add_fixture(&oneiro, &words(8, 20_000));
        for message in &ids[..2] {
            let erased = oneiro.erase(&EraseTarget::Message(*message)).unwrap();
            assert_eq!((erased.messages, erased.proof.found), (1, 0));
        }
        assert_eq!(message_texts(&oneiro, "s", true), ["harmless words of some length"]);
        let session = oneiro.sessions().find(&id("s")).unwrap().unwrap();
        assert_eq!((session.message_count, session.preview.as_deref()), (1, Some("harmless words of some length")));
        assert_eq!((session.title.as_deref(), session.system_prompt.as_deref()), (Some(TITLE), Some(PROMPT)));
        assert_sound(&oneiro);
        if space.backend == Backend::Sqlite {
            assert_eq!(found_raw(space, &[SECRET.as_bytes(), ID.as_bytes()]), [""; 0]);
        }
    }

    fn a_payload_shared_with_other_messages_is_kept_and_not_reported(space) {
        let oneiro = open(space);
        let large = words(9, 20_000);
        let ids = add_fixture(&oneiro, &large);
        oneiro.messages().append(&id("t"), vec![user(&large)]).unwrap();
        let prompted = NewSession { system_prompt: Some(PROMPT.into()), ..new("u") };
        oneiro.sessions().create(prompted).unwrap();
        let erased = oneiro.erase(&EraseTarget::Message(ids[1])).unwrap();
        assert_eq!((erased.payloads, erased.proof.found), (0, 0));
        let erased = oneiro.erase(&EraseTarget::Session(id("s"))).unwrap();
        assert_eq!((erased.payloads, erased.proof.found), (0, 0));
        assert!(message_texts(&oneiro, "t", true).contains(&large));
        let other = oneiro.sessions().find(&id("u")).unwrap().unwrap();
        assert_eq!(other.system_prompt.as_deref(), Some(PROMPT));
    }

    fn text_that_also_appears_elsewhere_is_reported(space) {
        let oneiro = open(space);
        add_fixture(&oneiro, "short");
        say(&oneiro, "t", &[SECRET]);
        let erased = oneiro.erase(&EraseTarget::Session(id("s"))).unwrap();
        assert_eq!(erased.proof.found, 0);
        assert_eq!(erased.proof.said_elsewhere > 0, space.backend == Backend::Sqlite);
    }

    fn an_erasure_lists_the_backups_that_it_cannot_reach(space) {
        let oneiro = open(space);
        add_fixture(&oneiro, "short");
        let copy = space.folder().join("copy.db");
        oneiro.transfer().backup(&copy, &mut |_| {}).unwrap();
        let erased = oneiro.erase(&EraseTarget::Session(id("s"))).unwrap();
        let named = erased.out_of_reach.iter().any(|place| place.contains(copy.to_str().unwrap()));
        assert!(named, "{:?}", erased.out_of_reach);
    }

    fn short_messages_are_searched_for_too(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let short = NewMessage::text(Role::User, "pin 1234");
        oneiro.messages().append(&id("s"), vec![short]).unwrap();
        let erased = oneiro.erase(&EraseTarget::Session(id("s"))).unwrap();
        assert!(erased.proof.pieces >= 1, "nothing was looked for");
    }

    fn an_erasure_target_is_resolved_to_a_session_or_a_message(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let message = say(&oneiro, "s", &["x"])[0];
        assert_eq!(oneiro.erase_target("s").unwrap(), EraseTarget::Session(id("s")));
        let named = message.to_string();
        assert_eq!(oneiro.erase_target(&named).unwrap(), EraseTarget::Message(MessageId(message)));
        begin(&oneiro, &named);
        assert_eq!(oneiro.erase_target(&named).unwrap_err().kind(), oneiro::ErrorKind::Conflict);
        for nothing in ["999", "nobody", "", "a\0b"] {
            assert_eq!(oneiro.erase_target(nothing).unwrap_err().kind(), oneiro::ErrorKind::NotFound);
        }
        let missing = oneiro.erase(&EraseTarget::Session(id("nobody"))).unwrap_err();
        assert_eq!(missing.kind(), oneiro::ErrorKind::NotFound);
    }
}

/// The log of a store lies beside the file itself, so that is where traces are looked for.
#[test]
fn an_erasure_through_a_link_searches_the_real_files() {
    let space = TestSpace::new(Backend::Sqlite);
    let (real, link) = (space.folder().join("real.db"), space.folder().join("link.db"));
    std::os::unix::fs::symlink("real.db", &link).unwrap();
    let oneiro =
        crate::support::open_at(&oneiro::Target::File { path: link, space: space.space.clone() });
    add_fixture(&oneiro, &words(9, 5_000));
    let before = std::fs::metadata(&real).unwrap().len();
    let erased = oneiro.erase(&EraseTarget::Session(id("s"))).unwrap();
    assert_eq!((erased.proof.found, erased.proof.searched), (0, true));
    assert!(before > 0 && erased.proof.bytes >= std::fs::metadata(&real).unwrap().len());
    let mut raw = std::fs::read(&real).unwrap();
    raw.extend(std::fs::read(space.folder().join("real.db-wal")).unwrap_or_default());
    assert!(!raw.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
    assert_sound(&oneiro);
}
