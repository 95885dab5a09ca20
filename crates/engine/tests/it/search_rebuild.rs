//! Damage in the index is found, reported and repaired from the rows while others write and search.

use crate::search_support::{
    Dice, all_segments, assert_swept, fold, newest, number, open, open_with_words, raw, reach,
    rebuild, request, search, without_segments,
};
use crate::support::{assert_sound, begin, id, say, user};
use oneiro::{EraseTarget, MessageId, Oneiro, SearchRequest, Sort};
use oneiro_testkit::{Backend, on_both_backends, words};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a few searches answer.
fn answers(oneiro: &Oneiro) -> Vec<String> {
    let queries = [
        "rook",
        "rook 17",
        "\"rook number\"",
        "numb*",
        "*umber*",
        "role:user",
        "rook -even",
        "(even OR odd) AND rook",
        "where is the serpent by the lamp?",
    ];
    let mut answers = Vec::new();
    for query in queries {
        for sort in [Sort::Relevance, Sort::Newest, Sort::Oldest] {
            let found = search(oneiro, SearchRequest { sort, limit: 20, ..request(query) });
            let hits = found.hits.iter().map(|hit| (hit.id.0, hit.snippet.clone()));
            answers.push(format!(
                "{query} {sort:?} {:?} {:?}",
                found.tier,
                hits.collect::<Vec<_>>()
            ));
        }
    }
    answers
}

/// Several segments, several blocks of terms each, one of them large, and a tail.
fn add_fixture(oneiro: &Oneiro) {
    begin(oneiro, "s");
    for turn in 0..4u64 {
        let text = |n: u64| {
            let kind = if n.is_multiple_of(2) { "even" } else { "odd" };
            let about = ["serpent", "lamp", "storm"][(n % 3) as usize];
            format!("rook number {n} {kind} {about} w{n}x{turn} {}", words(n * 7 + turn, 12))
        };
        let many = (turn * 150..turn * 150 + 150).map(|n| user(&text(n)));
        oneiro.messages().append(&id("s"), many.collect()).unwrap();
        if turn < 3 {
            fold(oneiro);
        }
    }
}

/// Ways to break the index, each of which must be found.
const DAMAGE: &[(&str, &str)] = &[
    ("all terms", "DELETE FROM segment_terms RETURNING 1"),
    (
        "all terms of one segment",
        "DELETE FROM segment_terms WHERE segment = (SELECT MIN(id) FROM segments) RETURNING 1",
    ),
    (
        "the first block of terms",
        "DELETE FROM segment_terms WHERE key = (SELECT MIN(key) FROM segment_terms) RETURNING 1",
    ),
    (
        "the last block of terms",
        "DELETE FROM segment_terms WHERE key = (SELECT MAX(key) FROM segment_terms) RETURNING 1",
    ),
    (
        "a block of terms in the middle",
        "DELETE FROM segment_terms WHERE key = (SELECT MIN(key) + 1 FROM segment_terms) RETURNING 1",
    ),
    (
        "half of each block of terms",
        "UPDATE segment_terms SET data = substr(data, 1, length(data) / 2) RETURNING 1",
    ),
    (
        "the last byte of a block of terms",
        "UPDATE segment_terms SET data = substr(data, 1, length(data) - 1) \
         WHERE key = (SELECT MIN(key) FROM segment_terms) RETURNING 1",
    ),
    ("empty blocks of terms", "UPDATE segment_terms SET data = substr(data, 1, 0) RETURNING 1"),
    (
        "the terms of another segment",
        "UPDATE segment_terms SET data = (SELECT data FROM segment_terms ORDER BY key DESC LIMIT 1) \
         WHERE key = (SELECT MIN(key) FROM segment_terms) RETURNING 1",
    ),
    (
        "a block that is out of place",
        "UPDATE segment_terms SET first_term = substr(data, 1, 3), part = 77 \
         WHERE key = (SELECT MIN(key) + 1 FROM segment_terms) RETURNING 1",
    ),
    ("all documents", "DELETE FROM segment_docs RETURNING 1"),
    (
        "the documents of one segment",
        "DELETE FROM segment_docs WHERE key = (SELECT MIN(key) FROM segment_docs) RETURNING 1",
    ),
    (
        "half of the documents",
        "UPDATE segment_docs SET data = substr(data, 1, length(data) / 2) RETURNING 1",
    ),
    ("all vectors", "DELETE FROM segment_vectors RETURNING 1"),
    (
        "half a vector",
        "UPDATE segment_vectors SET data = substr(data, 1, length(data) - 5) RETURNING 1",
    ),
    ("the count of documents", "UPDATE segments SET docs = docs + 1 RETURNING 1"),
    ("the count of messages", "UPDATE segments SET messages = messages - 1 RETURNING 1"),
    (
        "a segment that overlaps",
        "UPDATE segments SET first_seq = first_seq - 10 \
         WHERE id = (SELECT MAX(id) FROM segments) RETURNING 1",
    ),
    (
        "a segment that ends late",
        "UPDATE segments SET last_seq = last_seq + 10 \
         WHERE id = (SELECT MAX(id) FROM segments) RETURNING 1",
    ),
    (
        "a segment between others",
        "UPDATE segments SET live = 2 \
         WHERE id = (SELECT MIN(id) FROM segments WHERE first_seq > 1) RETURNING 1",
    ),
    ("the version of the analyzer", "UPDATE segments SET analyzer = analyzer - 1 RETURNING 1"),
];

on_both_backends! {
    fn every_damage_is_detected_and_repaired(space) {
        let (oneiro, _) = open_with_words(space);
        add_fixture(&oneiro);
        assert_sound(&oneiro);
        let before = answers(&oneiro);
        let (mut unseen, mut unrepaired) = (Vec::new(), Vec::new());
        for (what, sql) in DAMAGE {
            assert!(!raw(&oneiro, sql).is_empty(), "{what}: nothing was damaged");
            let checked = oneiro.check().unwrap();
            if checked.ok || checked.index.is_empty() {
                unseen.push(*what);
            }
            // A handle that knows nothing yet answers, or says what to do; it does not panic.
            let (fresh, _) = open_with_words(space);
            for query in ["rook", "rook 17", "numb*", "role:user", "\"rook number\""] {
                if let Err(error) = fresh.search().run(&request(query)) {
                    assert_eq!(error.kind(), oneiro::ErrorKind::Corrupt, "{what}: {error}");
                    assert!(error.remedy_text().is_some(), "{what}: {error}");
                }
            }
            drop(fresh);
            let repaired = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                rebuild(&oneiro);
                assert_sound(&oneiro);
                assert_swept(&oneiro);
                assert_eq!(answers(&oneiro), before, "{what}");
                assert_eq!(answers(&open_with_words(space).0), before, "{what}, by another handle");
            }));
            if repaired.is_err() {
                unrepaired.push(*what);
            }
            // Several segments again.
            without_segments(&oneiro);
            for limit in [150, 300, 450] {
                index_until(&oneiro, limit);
            }
        }
        assert_eq!(unrepaired, [""; 0], "a rebuild does not repair it");
        assert_eq!(unseen, [""; 0], "a check finds nothing wrong");
    }

    fn missing_tables_are_reported_and_recreated(space) {
        let (oneiro, _) = open_with_words(space);
        add_fixture(&oneiro);
        for table in ["segment_terms", "segment_docs", "segment_vectors", "segments", "text_index"] {
            let drop = match space.backend {
                Backend::Sqlite => format!("DROP TABLE {table}"),
                Backend::Postgres => format!("DROP TABLE {table} CASCADE"),
            };
            raw(&oneiro, &drop);
            let (fresh, _) = open_with_words(space);
            for handle in [&oneiro, &fresh] {
                assert!(!handle.check().unwrap().ok, "{table}");
                assert_eq!(newest(handle, "rook").len(), 200, "{table}");
                let said = say(handle, "s", &["a raven"])[0];
                assert_eq!(newest(handle, "raven")[0], said, "{table}");
                handle.sessions().rewind(&id("s"), MessageId(said).into()).unwrap();
                assert_eq!(newest(handle, "raven"), [0; 0], "{table}");
            }
            rebuild(&oneiro);
            assert_sound(&oneiro);
            let repaired = answers(&oneiro);
            assert_eq!(answers(&fresh), repaired, "{table}");
            // The same as without any index.
            without_segments(&oneiro);
            assert_eq!(answers(&oneiro), repaired, "{table}");
            fold(&oneiro);
        }
    }

    fn an_erasure_without_an_index_table_erases_or_names_a_remedy(space) {
        for table in ["segment_terms", "segment_docs", "segments", "text_index"] {
            let space = oneiro_testkit::TestSpace::new(space.backend);
            let oneiro = open(&space);
            begin(&oneiro, "s");
            let said = say(&oneiro, "s", &["a raven", "another"])[0];
            fold(&oneiro);
            raw(&oneiro, &format!("DROP TABLE {table}"));
            match oneiro.erase(&EraseTarget::Message(MessageId(said))) {
                Ok(_) => assert_eq!(newest(&oneiro, "raven"), [0; 0], "{table}"),
                Err(error) => assert!(error.remedy_text().is_some(), "{table}: {error:?}"),
            }
        }
    }

    fn a_search_schedules_the_repair_of_a_damaged_index(space) {
        let (oneiro, _) = open_with_words(space);
        add_fixture(&oneiro);
        let before = answers(&oneiro);
        raw(&oneiro, "UPDATE segment_docs SET data = substr(data, 1, length(data) / 2) RETURNING 1");
        let (fresh, _) = open_with_words(space);
        let found = search(&fresh, request("rook 17"));
        assert!(!found.hits.is_empty() && found.note.is_some_and(|note| note.contains("damaged")));
        fresh.jobs().run(std::time::Duration::from_secs(60)).unwrap();
        assert_sound(&fresh);
        assert_eq!(answers(&fresh), before);
        assert_eq!(fresh.stats().unwrap().jobs, 0);
    }

    fn a_search_of_a_damaged_index_does_not_wait_for_a_writer(space) {
        let (oneiro, _) = open_with_words(space);
        add_fixture(&oneiro);
        for damage in ["UPDATE segments SET analyzer = analyzer - 1 RETURNING 1", "UPDATE segment_docs SET data = substr(data, 1, length(data) / 2) RETURNING 1"] {
            raw(&oneiro, damage);
            let (begun, has_begun) = std::sync::mpsc::channel();
            let (found, has_found) = std::sync::mpsc::channel();
            let (done, is_done) = std::sync::mpsc::channel::<()>();
            let is_done = std::sync::Mutex::new(is_done);
            std::thread::scope(|scope| {
                let writer = &oneiro;
                scope.spawn(move || {
                    writer.store().write_bulk(|tx| {
                        tx.raw("UPDATE sessions SET archived = archived RETURNING 1")?;
                        begun.send(()).unwrap();
                        let _ = is_done.lock().unwrap().recv_timeout(std::time::Duration::from_secs(60));
                        Ok(())
                    }).unwrap();
                });
                has_begun.recv().unwrap();
                scope.spawn(move || {
                    let (fresh, _) = open_with_words(space);
                    let _ = found.send(fresh.search().run(&request("rook 17")).map(|found| found.hits.len()));
                });
                let answer = has_found.recv_timeout(std::time::Duration::from_secs(10));
                drop(done);
                assert!(answer.is_ok_and(|hits| hits.unwrap() > 0), "a search waited for a writer: {damage}");
            });
        }
    }

    fn a_rebuild_finishes_during_appends_and_searches(space) {
        let (oneiro, other) = (open(space), open(space));
        add_fixture(&oneiro);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut said = 0;
                while !done.load(Ordering::SeqCst) || said == 0 {
                    let word = format!("jay{said}");
                    let id = say(&other, "s", &[&format!("rook {word}")])[0];
                    for handle in [&other, &oneiro] {
                        assert_eq!(newest(handle, &word), [id]);
                    }
                    assert_eq!(newest(&oneiro, "rook").len(), 200);
                    said += 1;
                }
                said
            });
            for _ in 0..4 {
                let mut steps = 0;
                let rebuilt = oneiro.index().rebuild(&mut |_, _| {
                    // Between any two steps somebody says something.
                    steps += 1;
                    if steps < 5 {
                        let id = say(&other, "s", &["the rook in between"])[0];
                        assert_eq!(newest(&oneiro, "\"rook in between\"")[0], id);
                    }
                });
                if rebuilt.is_err() {
                    done.store(true, Ordering::SeqCst);
                }
                rebuilt.unwrap();
            }
            done.store(true, Ordering::SeqCst);
            assert!(writer.join().unwrap() > 0);
        });
        assert_sound(&oneiro);
        assert_swept(&oneiro);
        assert!(newest(&open(space), "\"rook in between\"").len() >= 4);
    }

    fn an_interrupted_rebuild_resumes(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for part in 0..5 {
            let many = (0..1_000).map(|n| user(&format!("rook{part} number {n}")));
            oneiro.messages().append(&id("s"), many.collect()).unwrap();
        }
        fold(&oneiro);
        let build = || number(&oneiro, "SELECT COALESCE(MAX(build), 1) FROM text_index");
        let first = build();
        let interrupted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            oneiro.index().rebuild(&mut |reach, _| {
                assert_eq!(reach, 4_096);
                std::panic::resume_unwind(Box::new("interrupted"));
            })
        }));
        assert!(interrupted.is_err());
        assert_eq!(build(), first);
        assert_eq!(newest(&oneiro, "rook4 999").len(), 1);
        assert_sound(&oneiro);
        let mut told = Vec::new();
        oneiro.index().rebuild(&mut |reach, last| told.push((reach, last))).unwrap();
        assert_eq!(told, [(5_000, 5_000)], "it began again");
        assert_eq!(build(), first + 1);
        assert_sound(&oneiro);
        assert_swept(&oneiro);
        assert_eq!(newest(&oneiro, "rook0 7").len(), 1);
    }

    fn two_processes_may_rebuild_at_once(space) {
        let (one, two) = (open(space), open(space));
        add_fixture(&one);
        let before = answers(&one);
        std::thread::scope(|scope| {
            for handle in [&one, &two] {
                scope.spawn(move || rebuild(handle));
            }
        });
        for handle in [&one, &two] {
            assert_sound(handle);
            assert_eq!(answers(handle), before);
        }
        fold(&one);
        assert_swept(&one);
    }

    fn an_index_whose_last_messages_were_deleted_can_be_rebuilt(space) {
        for how in ["deleted", "erased", "all deleted"] {
            let inner = oneiro_testkit::TestSpace::new(space.backend);
            let oneiro = open(&inner);
            begin(&oneiro, "s");
            begin(&oneiro, "t");
            let first = say(&oneiro, "s", &["a rook"])[0];
            let last = say(&oneiro, "t", &["another rook"])[0];
            fold(&oneiro);
            match how {
                "erased" => drop(oneiro.erase(&EraseTarget::Message(MessageId(last))).unwrap()),
                "deleted" => drop(oneiro.sessions().delete(&id("t")).unwrap()),
                _ => {
                    oneiro.sessions().delete(&id("t")).unwrap();
                    oneiro.sessions().delete(&id("s")).unwrap();
                }
            }
            let mut steps = 0;
            let rebuilt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                oneiro.index().rebuild(&mut |_, _| {
                    steps += 1;
                    if steps > 100 {
                        std::panic::resume_unwind(Box::new("no end"));
                    }
                })
            }));
            assert!(rebuilt.is_ok(), "{how}: the rebuild has no end");
            assert_sound(&oneiro);
            let left: &[i64] = if how == "all deleted" { &[] } else { &[first] };
            assert_eq!(newest(&oneiro, "rook"), left);
        }
    }

    fn indexing_in_any_batches_gives_the_same_index(space) {
        let (oneiro, _) = open_with_words(space);
        add_fixture(&oneiro);
        let before = answers(&oneiro);
        let mut dice = Dice(77);
        for _ in 0..6 {
            without_segments(&oneiro);
            let mut limit = 0;
            while limit < 600 {
                limit += 1 + dice.roll(90) as i64;
                index_until(&oneiro, limit.min(600));
            }
            assert_sound(&oneiro);
            assert_eq!(reach(&oneiro), 600);
            assert!(all_segments(&oneiro).len() < 16);
            assert_eq!(answers(&oneiro), before);
            assert_eq!(answers(&open_with_words(space).0), before);
        }
    }
}

/// Folds as if the messages after `limit` had not come yet.
fn index_until(oneiro: &Oneiro, limit: i64) {
    raw(oneiro, &format!("UPDATE messages SET seq = -seq WHERE seq > {limit} RETURNING 1"));
    fold(oneiro);
    raw(oneiro, "UPDATE messages SET seq = -seq WHERE seq < 0 RETURNING 1");
    assert_eq!(reach(oneiro), limit);
}
