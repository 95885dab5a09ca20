//! What is taken back, deleted or erased is not found by any way of asking; what is restored or
//! compacted is; and an erasure leaves nothing in the index, whatever was running meanwhile.

use crate::search_support::{
    all_segments, assert_swept, find, fold, in_files, in_segments, newest, oldest, open,
    open_with_words, raw, rebuild, request, search,
};
use crate::support::{assert_sound, begin, id, new, say, user};
use oneiro::{
    Ending, EraseTarget, MessageId, NewMessage, NewSession, Oneiro, PruneRequest, SearchRequest,
    SessionFound, SessionSearchRequest, Sort, Tier, Timestamp,
};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::json;

const TEXT: &str = "the quetzal serpent guards a lantern by the obsidian gate";

/// Every way of asking for [`TEXT`] in session `s`.
const QUERIES: &[&str] = &[
    "quetzal",
    "quetzal obsidian",
    "where does the quetzal serpent guard the lantern?",
    "\"quetzal serpent\"",
    "quetz*",
    "*etzal*",
    "/quetz[a-z]+/",
    "regex:\"quetzal \\w+\"",
    "quetzal AND NOT absent",
    "absent OR quetzal",
    "NOT absent",
    "-absent",
    "session:s",
    "role:user",
    "source:cli",
    "name:Montezuma",
    "since:2020-01-01",
    "session:s quetzal",
    "name:montezuma role:user obsidian",
];

fn message() -> NewMessage {
    NewMessage::from_json(json!({"role": "user", "name": "Montezuma", "content": TEXT})).unwrap()
}

/// Whether a message is found by each of the queries, in each order.
fn assert_found(oneiro: &Oneiro, message: i64, expected: bool, why: &str) {
    for query in QUERIES {
        for sort in [Sort::Relevance, Sort::Newest, Sort::Oldest] {
            for one_per_lineage in [false, true] {
                let request =
                    SearchRequest { sort, one_per_lineage, neighbours: 2, ..request(query) };
                let answer = oneiro.search().run(&request);
                let gone = !expected && query.contains("session:");
                let found = match answer {
                    // A session that is no more may be said to be none.
                    Err(error) if gone && error.kind() == oneiro::ErrorKind::NotFound => continue,
                    Err(error) => panic!("{why}: {query}: {error}"),
                    Ok(found) => found,
                };
                let is_there = found.hits.iter().any(|hit| hit.id.0 == message);
                // One of a lineage is its best or its newest, which may be another.
                if !one_per_lineage || !expected {
                    assert_eq!(is_there, expected, "{why}: {query}, {sort:?}");
                }
                let near = found.hits.iter().flat_map(|hit| &hit.neighbours);
                assert!(
                    expected || !near.into_iter().any(|near| near.id.0 == message),
                    "{why}: {query}"
                );
            }
        }
    }
    let SessionFound::Discover { conversations, .. } =
        oneiro.search().sessions(&SessionSearchRequest::new("quetzal obsidian")).unwrap()
    else {
        panic!()
    };
    let mut hits = conversations.iter().filter_map(|one| one.hit.as_ref());
    assert_eq!(hits.any(|hit| hit.id.0 == message), expected, "{why}: sessions");
    let mut shown = conversations
        .iter()
        .flat_map(|one| one.window.iter().chain(&one.opening).chain(&one.closing));
    assert_eq!(shown.any(|shown| shown.id.0 == message), expected, "{why}: shown");
}

/// Whether a message is found by what it means, with no word of it.
fn assert_found_by_meaning(oneiro: &Oneiro, message: i64, expected: bool, why: &str) {
    let found = search(oneiro, request("python torch"));
    assert_eq!(found.hits.iter().any(|hit| hit.id.0 == message), expected, "{why}");
    if expected {
        assert_eq!(found.tier, Some(Tier::Semantic), "{why}");
    }
}

/// A session with the message among others; the message is the third.
fn add_fixture(oneiro: &Oneiro) -> i64 {
    oneiro.sessions().create(NewSession { source: Some("cli".into()), ..new("s") }).unwrap();
    begin(oneiro, "t");
    say(oneiro, "t", &["the bread of the baker is good", "so is that of his brother"]);
    let before = [user("good morning to you"), user("how are things there")];
    oneiro.messages().append(&id("s"), before.into()).unwrap();
    let found = oneiro.messages().append(&id("s"), vec![message()]).unwrap().ids[0].0;
    oneiro.messages().append(&id("s"), vec![user("good night then")]).unwrap();
    found
}

fn assert_at_every_index_state(space: &TestSpace, check: impl Fn(&Oneiro, &Oneiro, i64, &str)) {
    // Where the index stands when it happens, and when it is asked: a second handle has everything
    // in memory from before.
    for stand in ["tail", "folded", "rebuilt"] {
        let inner = TestSpace::new(space.backend);
        let (writer, _) = open_with_words(&inner);
        let (reader, _) = open_with_words(&inner);
        let message = add_fixture(&writer);
        match stand {
            "folded" => fold(&writer),
            "rebuilt" => {
                fold(&writer);
                rebuild(&writer);
            }
            _ => {}
        }
        for handle in [&writer, &reader] {
            assert_found(handle, message, true, stand);
            assert_found_by_meaning(handle, message, true, stand);
        }
        check(&writer, &reader, message, stand);
        assert_sound(&reader);
    }
}

on_both_backends! {
    fn rewound_messages_are_not_found_and_restored_ones_are(space) {
        assert_at_every_index_state(space, |writer, reader, message, stand| {
            for round in 0..2 {
                writer.sessions().rewind(&id("s"), MessageId(message).into()).unwrap();
                for handle in [reader, writer] {
                    assert_found(handle, message, false, stand);
                    assert_found_by_meaning(handle, message, false, stand);
                }
                if round == 1 {
                    // What is taken back is folded like the rest, and still not found.
                    fold(writer);
                    assert_found(reader, message, false, stand);
                    rebuild(writer);
                    assert_found(reader, message, false, stand);
                }
                writer.sessions().restore(&id("s"), oneiro::RestoreRequest { all: true }).unwrap();
                for handle in [reader, writer] {
                    assert_found(handle, message, true, stand);
                    assert_found_by_meaning(handle, message, true, stand);
                }
            }
        });
    }

    fn compacted_messages_are_found(space) {
        assert_at_every_index_state(space, |writer, reader, message, stand| {
            writer.host().compact_messages(&id("s"), MessageId(message)).unwrap();
            for handle in [reader, writer] {
                assert_found(handle, message, true, stand);
                assert_found_by_meaning(handle, message, true, stand);
            }
        });
    }

    fn deleted_messages_are_not_found(space) {
        assert_at_every_index_state(space, |writer, reader, message, stand| {
            writer.sessions().delete(&id("s")).unwrap();
            for handle in [reader, writer] {
                assert_found(handle, message, false, stand);
                assert_found_by_meaning(handle, message, false, stand);
            }
            fold(writer);
            assert_found(reader, message, false, stand);
            assert_sound(writer);
            // Another session of the same name is another session.
            writer.sessions().create(NewSession { source: Some("cli".into()), ..new("s") }).unwrap();
            let again = writer.messages().append(&id("s"), vec![message_again()]).unwrap().ids[0].0;
            assert_eq!(newest(reader, "quetzal"), [again]);
            assert_eq!(oldest(reader, "session:s"), [again]);
        });
    }

    fn pruned_messages_are_not_found(space) {
        assert_at_every_index_state(space, |writer, reader, message, stand| {
            writer.sessions().end(&id("s"), Ending::new("done").unwrap()).unwrap();
            let request = PruneRequest {
                ended_before: Timestamp::from_micros(i64::MAX),
                source: Some("cli".into()),
                project: None,
                user_id: None,
                model: None,
                title: None,
                end_reason: None,
                min_messages: None,
                max_messages: None,
                archived: None,
                dry_run: false,
            };
            assert_eq!(writer.sessions().prune(request).unwrap().deleted.messages, 4);
            for handle in [reader, writer] {
                assert_found(handle, message, false, stand);
            }
        });
    }

    fn an_erased_message_is_not_found_and_its_neighbours_are(space) {
        assert_at_every_index_state(space, |writer, reader, message, stand| {
            writer.erase(&EraseTarget::Message(MessageId(message))).unwrap();
            for handle in [reader, writer] {
                assert_found(handle, message, false, stand);
                assert_found_by_meaning(handle, message, false, stand);
                assert_eq!(find(handle, "\"good morning\"").len(), 1);
                assert_eq!(find(handle, "\"good night\"").len(), 1);
                assert_eq!(find(handle, "baker").len(), 1);
            }
            assert_without_trace(writer, None);
        });
    }

    fn an_erased_session_is_not_found(space) {
        assert_at_every_index_state(space, |writer, reader, message, stand| {
            writer.erase(&EraseTarget::Session(id("s"))).unwrap();
            for handle in [reader, writer] {
                assert_found(handle, message, false, stand);
                assert_found_by_meaning(handle, message, false, stand);
                assert_eq!(find(handle, "baker").len(), 1);
            }
            assert_without_trace(writer, None);
            fold(writer);
            assert_sound(writer);
        });
    }

    fn no_byte_of_an_erased_word_is_left_in_the_index(space) {
        for whole_session in [false, true] {
            let space = TestSpace::new(space.backend);
            let (oneiro, _) = open_with_words(&space);
            let message = add_many_messages(&oneiro);
            assert!(in_segments(&oneiro, RARE_PART) > 0, "the proof looks for nothing");
            let target = if whole_session { EraseTarget::Session(id("s")) } else { EraseTarget::Message(MessageId(message)) };
            oneiro.erase(&target).unwrap();
            assert_without_trace(&oneiro, Some(&space));
            assert_sound(&oneiro);
            assert_eq!(newest(&oneiro, "ordinary").len(), 200);
            fold(&oneiro);
            rebuild(&oneiro);
            assert_without_trace(&oneiro, Some(&space));
            assert_sound(&oneiro);
        }
    }

    fn an_erasure_during_indexing_leaves_nothing(space) {
        let (folding, words) = open_with_words(space);
        let erasing = open(space);
        begin(&folding, "s");
        say(&folding, "s", &["an ordinary beginning"]);
        let message = folding.messages().append(&id("s"), vec![rare()]).unwrap().ids[0];
        let kept = say(&folding, "s", &["an ordinary ending"])[0];
        words.when_reading(RARE, move || {
            erasing.erase(&EraseTarget::Message(message)).unwrap();
        });
        fold(&folding);
        assert!(words.is_done());
        assert_without_trace(&folding, Some(space));
        assert_eq!(find(&folding, RARE), [0; 0]);
        assert_eq!(newest(&folding, "ordinary")[0], kept);
        fold(&folding);
        assert_without_trace(&folding, Some(space));
        assert_sound(&folding);
    }

    fn an_erasure_during_a_rebuild_leaves_nothing(space) {
        let (rebuilding, words) = open_with_words(space);
        let erasing = open(space);
        let message = add_many_messages(&rebuilding);
        words.when_reading(RARE, move || {
            erasing.erase(&EraseTarget::Message(MessageId(message))).unwrap();
        });
        rebuild(&rebuilding);
        assert!(words.is_done());
        assert_without_trace(&rebuilding, Some(space));
        assert_eq!(find(&rebuilding, RARE), [0; 0]);
        assert_eq!(newest(&rebuilding, "ordinary").len(), 200);
        assert_sound(&rebuilding);
    }

    fn an_erasure_between_the_steps_of_a_rebuild_leaves_nothing(space) {
        let (rebuilding, _) = open_with_words(space);
        let erasing = open(space);
        let message = add_many_messages(&rebuilding);
        let mut told = 0;
        rebuilding.index().rebuild(&mut |_, _| {
            told += 1;
            assert!(told < 1_000, "the rebuild has no end");
            if told == 1 {
                assert!(all_segments(&erasing).iter().any(|segment| segment.build == 2));
                erasing.erase(&EraseTarget::Message(MessageId(message))).unwrap();
            }
        }).unwrap();
        assert_without_trace(&rebuilding, Some(space));
        assert_eq!(find(&rebuilding, RARE), [0; 0]);
        assert_sound(&rebuilding);
        assert_eq!(newest(&rebuilding, "ordinary").len(), 200);
    }

    fn an_erasure_between_the_steps_of_indexing_leaves_nothing(space) {
        let (folding, _) = open_with_words(space);
        let erasing = open(space);
        let message = add_many_messages(&folding);
        let mut told = 0;
        folding.index().catch_up(&mut |_, _| {
            told += 1;
            if told == 1 {
                erasing.erase(&EraseTarget::Message(MessageId(message))).unwrap();
            }
        }).unwrap();
        assert_without_trace(&folding, Some(space));
        assert_sound(&folding);
    }

    fn an_erasure_removes_a_damaged_segment_completely(space) {
        let oneiro = open(space);
        let message = add_many_messages(&oneiro);
        let damaged = all_segments(&oneiro).iter().find(|one| one.last_seq >= message).unwrap().id;
        raw(&oneiro, &format!("UPDATE segment_terms SET data = substr(data, 1, length(data) / 2) WHERE segment = {damaged} RETURNING 1"));
        oneiro.erase(&EraseTarget::Message(MessageId(message))).unwrap();
        assert_without_trace(&oneiro, Some(space));
        assert_eq!(newest(&oneiro, "ordinary").len(), 200);
        fold(&oneiro);
        assert_sound(&oneiro);
        assert_eq!(find(&oneiro, RARE), [0; 0]);
    }

    fn the_purge_job_removes_words_of_deleted_messages_from_the_index(space) {
        let oneiro = open(space);
        add_many_messages(&oneiro);
        assert!(in_segments(&oneiro, RARE_PART) > 0, "the proof looks for nothing");
        oneiro.sessions().delete(&id("s")).unwrap();
        assert_eq!(find(&oneiro, RARE), [0; 0]);
        oneiro.clock.set(3_600);
        oneiro.jobs().run(std::time::Duration::from_secs(60)).unwrap();
        assert_eq!(in_segments(&oneiro, RARE_PART), 0);
        assert_swept(&oneiro);
        assert_sound(&oneiro);
        assert_eq!((newest(&oneiro, "ordinary").len(), oneiro.stats().unwrap().jobs), (200, 0));
    }

    fn the_purge_job_removes_words_next_to_messages_without_words(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        begin(&oneiro, "t");
        // Six folds, so that they are merged.
        for turn in 0..6 {
            let empty = || NewMessage::from_json(json!({"role": "tool", "content": null})).unwrap();
            oneiro.messages().append(&id("t"), vec![empty(), user("an ordinary message"), empty()]).unwrap();
            if turn == 2 {
                oneiro.messages().append(&id("s"), vec![rare()]).unwrap();
            }
            fold(&oneiro);
        }
        assert_eq!(all_segments(&oneiro).len(), 1);
        assert!(in_segments(&oneiro, RARE_PART) > 0, "the proof looks for nothing");
        oneiro.sessions().delete(&id("s")).unwrap();
        oneiro.clock.set(3_600);
        oneiro.jobs().run(std::time::Duration::from_secs(60)).unwrap();
        assert_eq!(in_segments(&oneiro, RARE_PART), 0);
        assert_eq!(newest(&oneiro, "ordinary").len(), 6);
    }

    fn erasing_everything_leaves_a_space_that_works(space) {
        let oneiro = open(space);
        add_many_messages(&oneiro);
        for session in ["s", "t"] {
            oneiro.erase(&EraseTarget::Session(id(session))).unwrap();
        }
        assert_eq!(newest(&oneiro, "ordinary"), [0; 0]);
        assert_sound(&oneiro);
        begin(&oneiro, "s");
        let said = say(&oneiro, "s", &["an ordinary message"])[0];
        assert_eq!(newest(&oneiro, "ordinary"), [said]);
        fold(&oneiro);
        rebuild(&oneiro);
        assert_sound(&oneiro);
        assert_eq!(newest(&oneiro, "ordinary"), [said]);
    }
}

const RARE: &str = "zzyvortexa";
/// What blocks cannot share with a term before it.
const RARE_PART: &str = "yvortexa";
const RARE_NAME: &str = "Qwxkarambol";

fn rare() -> NewMessage {
    let text = format!("the secret {RARE} of the serpent");
    NewMessage::from_json(json!({"role": "user", "name": RARE_NAME, "content": text})).unwrap()
}

fn message_again() -> NewMessage {
    message()
}

/// Many ordinary messages around a rare one, folded in several segments.
fn add_many_messages(oneiro: &Oneiro) -> i64 {
    begin(oneiro, "t");
    begin(oneiro, "s");
    let ordinary = |from: usize| {
        (from..from + 150).map(|n| user(&format!("an ordinary message number{n}"))).collect()
    };
    oneiro.messages().append(&id("t"), ordinary(0)).unwrap();
    fold(oneiro);
    oneiro.messages().append(&id("s"), vec![user("an ordinary neighbour")]).unwrap();
    let message = oneiro.messages().append(&id("s"), vec![rare()]).unwrap().ids[0].0;
    oneiro.messages().append(&id("t"), ordinary(150)).unwrap();
    fold(oneiro);
    oneiro.messages().append(&id("t"), ordinary(300)).unwrap();
    fold(oneiro);
    message
}

fn assert_without_trace(oneiro: &Oneiro, space: Option<&TestSpace>) {
    for text in [RARE_PART, &RARE_NAME.to_lowercase()[2..], "etzal", "bsidian", "ontezuma"] {
        assert_eq!(in_segments(oneiro, text), 0, "{text} is in the index");
    }
    if let Some(space) = space {
        for text in [RARE, RARE_PART, RARE_NAME, "qwxkarambol"] {
            assert!(!in_files(space, text), "{text} is in the files");
        }
    }
}
