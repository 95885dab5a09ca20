//! Everything acknowledged is found at once: by any handle, in any process, wherever the index
//! stands, and by those who cannot write.

use crate::search_child::Other;
use crate::search_support::{
    all_segments, find, fold, newest, oldest, open, raw, reach, without_segments,
};
use crate::support::{assert_sound, begin, id, import, say, user};
use oneiro_testkit::{Backend, TestSpace, on_both_backends, words};
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

on_both_backends! {
    fn acknowledged_messages_are_found_by_every_handle_in_every_index_state(space) {
        let (writer, reader) = (open(space), open(space));
        let mut other = Other::on(space);
        begin(&writer, "s");
        let mut said = Vec::new();
        for turn in 0..12 {
            let word = format!("quokka{turn}");
            let id = say(&writer, "s", &[&format!("the {word} and the common wombat")])[0];
            said.push(id);
            // In turn: nothing folded, something folded, everything folded.
            match turn {
                0..=3 => assert_eq!(reach(&writer), 0),
                4 | 8 => fold(&writer),
                10 => fold(&reader),
                _ => assert!(reach(&writer) < id),
            }
            for handle in [&writer, &reader] {
                assert_eq!(find(handle, &word), [id], "turn {turn}");
            }
            assert_eq!(other.find(&word), [id], "turn {turn}");
            let mut all = other.find("\"common wombat\"");
            all.sort_unstable();
            assert_eq!(all, said, "turn {turn}");
        }
        said.reverse();
        assert_eq!(newest(&reader, "wombat"), said);
        assert_sound(&reader);
    }

    fn a_process_that_opens_the_space_finds_messages_of_other_processes(space) {
        let writer = open(space);
        begin(&writer, "s");
        let first = say(&writer, "s", &["a heron at the pond"])[0];
        fold(&writer);
        let second = say(&writer, "s", &["another heron"])[0];
        drop(writer);
        let mut found = Other::on(space).find("heron");
        found.sort_unstable();
        assert_eq!(found, [first, second]);
    }

    fn concurrent_processes_find_the_messages_of_each_other(space) {
        const PROCESSES: usize = 4;
        const ROUNDS: usize = 8;
        let acknowledged: Mutex<Vec<(String, i64)>> = Mutex::default();
        std::thread::scope(|scope| {
            for process in 0..PROCESSES {
                let acknowledged = &acknowledged;
                scope.spawn(move || {
                    let mut other = Other::on(space);
                    let session = format!("s{process}");
                    for round in 0..ROUNDS {
                        // Enough that the folds beside the writers begin by themselves.
                        other.request(&format!("many {session} crowd"));
                        let word = format!("badger{process}x{round}");
                        let id = other.say(&session, &format!("one {word} only"));
                        acknowledged.lock().unwrap().push((word, id));
                        if round % 3 == process % 3 {
                            assert_eq!(other.request("fold"), "folded");
                        }
                        let known = acknowledged.lock().unwrap().clone();
                        for (word, id) in known.iter().rev().take(6) {
                            assert_eq!(other.find(word), [*id], "{word} in process {process}");
                        }
                    }
                });
            }
        });
        let oneiro = open(space);
        for (word, id) in acknowledged.into_inner().unwrap() {
            assert_eq!(find(&oneiro, &word), [id]);
        }
        assert_sound(&oneiro);
        fold(&oneiro);
        assert_sound(&oneiro);
        assert_eq!(reach(&oneiro), (PROCESSES * ROUNDS * 201) as i64);
    }

    fn concurrent_threads_find_the_messages_of_each_other(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let acknowledged: Mutex<Vec<(String, i64)>> = Mutex::default();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (oneiro, acknowledged) = (&oneiro, &acknowledged);
                scope.spawn(move || {
                    for round in 0..15 {
                        let word = format!("stoat{thread}x{round}");
                        let id = say(oneiro, "s", &[&word])[0];
                        acknowledged.lock().unwrap().push((word, id));
                        if round % 4 == thread % 4 {
                            fold(oneiro);
                        }
                        let known = acknowledged.lock().unwrap().clone();
                        for (word, id) in known.iter().rev().take(5) {
                            assert_eq!(find(oneiro, word), [*id]);
                        }
                    }
                });
            }
        });
        assert_sound(&oneiro);
    }

    fn a_search_neither_waits_nor_fails_during_a_long_write(space) {
        let writer = open(space);
        begin(&writer, "s");
        let many = (0..700).map(|n| user(&format!("kestrel {n} {}", words(n, 6)))).collect();
        writer.messages().append(&id("s"), many).unwrap();
        fold(&writer);
        // A tail so long that the search would like to fold it.
        without_segments(&writer);
        let (begun, has_begun) = mpsc::channel();
        let (found, has_found) = mpsc::channel();
        let (done, is_done) = mpsc::channel::<()>();
        let is_done = Mutex::new(is_done);
        std::thread::scope(|scope| {
            let writer = &writer;
            scope.spawn(move || {
                writer.store().write_bulk(|tx| {
                    tx.raw("UPDATE sessions SET archived = archived RETURNING 1")?;
                    begun.send(()).unwrap();
                    let _ = is_done.lock().unwrap().recv_timeout(Duration::from_secs(60));
                    Ok(())
                }).unwrap();
            });
            has_begun.recv().unwrap();
            scope.spawn(move || {
                let reader = open(space);
                found.send((newest(&reader, "kestrel").len(), find(writer, "kestrel 699").len())).unwrap();
            });
            let answer = has_found.recv_timeout(Duration::from_secs(30));
            drop(done);
            let (newest, best) = answer.expect("a search waited for a writer");
            assert_eq!(newest, 200);
            assert!(best > 0);
        });
    }

    fn a_space_without_segments_finds_everything_and_is_indexed_again(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for turn in 0..8 {
            say(&oneiro, "s", &[&format!("linnet {turn}"), &format!("\u{6771}\u{4eac} linnet {turn}")]);
            fold(&oneiro);
        }
        let before = (newest(&oneiro, "linnet"), oldest(&oneiro, "\u{6771}\u{4eac}"), find(&oneiro, "linnet 5"));
        assert_eq!((before.0.len(), before.1.len()), (16, 8));
        without_segments(&oneiro);
        assert_sound(&oneiro);
        let answers = |oneiro: &oneiro::Oneiro| (newest(oneiro, "linnet"), oldest(oneiro, "\u{6771}\u{4eac}"), find(oneiro, "linnet 5"));
        assert_eq!(answers(&oneiro), before);
        assert_eq!(answers(&open(space)), before);
        fold(&oneiro);
        assert_eq!((all_segments(&oneiro).len(), reach(&oneiro)), (1, 16));
        assert_eq!(answers(&oneiro), before);
        assert_eq!(answers(&open(space)), before);
        assert_sound(&oneiro);
    }

    fn imported_messages_are_found_at_once(space) {
        let oneiro = open(space);
        let mut other = Other::on(space);
        let lines: String = (0..600).map(|n| format!(
            "{{\"id\":\"i{n}\",\"messages\":[{{\"role\":\"user\",\"content\":\"ptarmigan number{n}\"}}]}}\n"
        )).collect();
        import(&oneiro, &lines).unwrap();
        assert_eq!(find(&oneiro, "number599").len(), 1);
        assert_eq!(other.find("number0").len(), 1);
        assert_eq!(newest(&oneiro, "ptarmigan").len(), 200);
        assert_sound(&oneiro);
    }

    fn a_message_appended_during_a_search_is_found_by_the_next_one(space) {
        // One handle keeps the tail in memory from search to search; what another folds and adds
        // meanwhile must neither be missing nor found twice.
        let (one, two) = (open(space), open(space));
        begin(&one, "s");
        let mut said = Vec::new();
        for turn in 0..30 {
            said.insert(0, say(&one, "s", &["a siskin"])[0]);
            if turn % 7 == 3 {
                fold(&two);
            }
            if turn % 11 == 10 {
                raw(&two, "DELETE FROM segments WHERE id = (SELECT MAX(id) FROM segments) RETURNING 1");
            }
            assert_eq!(newest(&one, "siskin"), said, "turn {turn}");
            if turn % 2 == 0 {
                assert_eq!(newest(&two, "siskin"), said, "turn {turn}");
            }
        }
    }
}

#[test]
fn a_process_with_read_access_only_finds_everything() {
    use std::os::unix::fs::PermissionsExt;
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    begin(&oneiro, "s");
    let first = say(&oneiro, "s", &["a curlew on the shore"])[0];
    fold(&oneiro);
    let many: Vec<_> = (0..600).map(|n| user(&format!("plover {n}"))).collect();
    oneiro.messages().append(&id("s"), many).unwrap();
    let last = say(&oneiro, "s", &["the last curlew"])[0];
    drop(oneiro);
    let again = open(&space);
    without_segments(&again);
    drop(again);
    let allow = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // The folder may be written to, so that SQLite can make its shared memory there.
    allow(space.folder(), 0o777);
    allow(&space.file(), 0o444);
    let mut other = Other::of_nobody(&space);
    assert_eq!(other.request("cannot-write"), "refused");
    for _ in 0..3 {
        let mut found = other.find("curlew");
        found.sort_unstable();
        assert_eq!(found, [first, last]);
    }
    assert_eq!(other.request("newest plover").split(' ').count(), 200);
}
