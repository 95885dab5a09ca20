//! A store of every earlier schema, and of the text index before it knew kinds, opens and gives back
//! what was put into it. `fixtures/schema-N.sql` has the tables and rows of such a store on SQLite:
//! the newest was written by the engine of its day, the others hold what of it they had room for.

use crate::search_support::{all_segments, find, open_with_words, reach, request, search};
use crate::support::{assert_sound, export, id, message_texts, target};
use oneiro::{CaptureSwitch, MessageId, Oneiro, Timestamp};
use oneiro_store::{CURRENT, Options, Store};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::path::PathBuf;

/// The newest schema that has a fixture.
const NEWEST: usize = 14;

/// Messages in each fixture, one of them rewound.
const MESSAGES: usize = 49;

fn fixture(schema: usize) -> String {
    let file = format!("tests/fixtures/schema-{schema}.sql");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}: a store of every earlier schema is kept", path.display())
    })
}

/// Makes the store of a fixture in an empty space.
fn restore(space: &TestSpace, schema: usize) {
    let sql = fixture(schema);
    if space.backend == Backend::Sqlite {
        return rusqlite::Connection::open(space.file()).unwrap().execute_batch(&sql).unwrap();
    }
    // The tables come from the migrations of that time, the rows are the same.
    let options = Options { schema: &CURRENT[..schema], ..Options::default() };
    let store = Store::open(&target(space), &options, Timestamp::from_micros(0)).unwrap();
    store
        .write_bulk(|tx| {
            tx.raw("DELETE FROM sequence RETURNING 1")?;
            for statement in sql.split(";\n").filter(|line| line.starts_with("INSERT")) {
                if !statement.starts_with("INSERT INTO migrations") {
                    tx.raw(&format!("{} RETURNING 1", statement.replace("X'", "'\\x")))?;
                }
            }
            Ok(())
        })
        .unwrap();
}

fn assert_everything_is_there(oneiro: &Oneiro, schema: usize) {
    let all =
        [message_texts(oneiro, "garden", true), message_texts(oneiro, "harbour", true)].concat();
    assert_eq!(all.len(), MESSAGES);
    assert!(all[0].starts_with("note 0 about the serpent"), "{}", all[0]);
    assert_eq!(
        message_texts(oneiro, "harbour", false).last().unwrap(),
        "the tail speaks of violins"
    );
    // Kept apart from its row.
    assert!(all.iter().any(|text| text.len() > 1_024));
    let call = oneiro.messages().get(MessageId(42)).unwrap();
    assert_eq!(call.body["tool_calls"][0]["function"]["name"], "tide");
    let harbour = oneiro.sessions().find(&id("harbour")).unwrap().unwrap();
    assert_eq!(
        (harbour.title.as_deref(), harbour.project.as_deref()),
        (Some("The harbour"), Some("boats"))
    );
    assert_eq!(oneiro.sessions().usage(&id("garden")).unwrap()[0].input_tokens, 10);
    let settings = oneiro.settings().list().unwrap();
    assert!(settings.iter().any(|setting| format!("{:?}", setting.value).contains("tmp-*")));
    let from = |first: usize| usize::from(schema >= first);
    assert_eq!(oneiro.tokens().list(None, 10).unwrap().items.len(), from(3));
    assert_eq!(oneiro.context().summaries(&id("garden")).unwrap().len(), from(4));
    assert_eq!(oneiro.messages().pinned(&id("garden")).unwrap().len(), from(4));
    assert_eq!(oneiro.host().slots("routes").unwrap().len(), from(5));
    // A folder that was off was so with the folders below it.
    let captured = oneiro.capture().status().unwrap();
    let choices: Vec<_> = captured
        .projects
        .iter()
        .map(|project| (project.folder.as_str(), project.capture))
        .collect();
    let chosen = [("/srv/garden", CaptureSwitch::On), ("/srv/office", CaptureSwitch::Excluded)];
    assert_eq!(choices, chosen[..2 * from(8)]);
    assert_eq!(captured.other_projects.is_some(), schema >= 8);
}

/// Every message that is shown is found by its words, in a segment or in the tail.
fn assert_every_word_is_found(oneiro: &Oneiro) {
    assert_eq!(find(oneiro, "\"high water at noon\""), [43]);
    assert_eq!(find(oneiro, "\"note 7 about\""), [15]);
    assert_eq!(find(oneiro, "name:ada"), [41]);
    assert_eq!(find(oneiro, "\"sentence 39 speaks\""), [44]);
    assert_eq!(find(oneiro, "\"tail speaks\""), [49]);
    assert!(!find(oneiro, "taken back").contains(&48), "it was rewound");
}

/// What a few searches answer, with their scores.
fn answers(oneiro: &Oneiro) -> Vec<String> {
    let queries =
        ["violin", "note 7", "rain", "where is the serpent by the lamp?", "role:tool", "harb*"];
    let answer = |query: &&str| {
        let found = search(oneiro, request(query));
        let hits = found.hits.iter().map(|hit| (hit.id.0, hit.score, hit.snippet.clone()));
        assert!(found.note.is_none() && !found.hits.is_empty(), "{query}: {:?}", found.note);
        format!("{query} {:?} {:?}", found.tier, hits.collect::<Vec<_>>())
    };
    queries.iter().map(answer).collect()
}

on_both_backends! {
    fn a_store_of_every_earlier_schema_opens_with_all_its_data(space) {
        assert!(CURRENT.len() <= NEWEST + 1, "keep a store of schema {} as well", CURRENT.len() - 1);
        let mut exports = Vec::new();
        for schema in 1..=NEWEST {
            let inner = TestSpace::new(space.backend);
            restore(&inner, schema);
            let (oneiro, _) = open_with_words(&inner);
            assert_everything_is_there(&oneiro, schema);
            assert_every_word_is_found(&oneiro);
            // A thread beside the search leaves the job that rebuilds the index; this waits for it.
            oneiro.index().catch_up(&mut |_, _| {}).unwrap();
            oneiro.jobs().run(std::time::Duration::from_secs(60)).unwrap();
            assert_sound(&oneiro);
            exports.push(export(&oneiro));
        }
        assert!(exports.iter().all(|export| *export == exports[0]));
    }

    /// open ... search: the old segments answer, a job is left ... jobs run: new segments answer alike
    fn segments_without_kinds_are_searched_until_they_are_rebuilt(space) {
        restore(space, NEWEST);
        let (oneiro, _) = open_with_words(space);
        let versions = || -> Vec<i64> {
            all_segments(&oneiro).iter().map(|segment| segment.analyzer).collect()
        };
        assert_eq!(versions(), [1, 1]);
        let before = answers(&oneiro);
        assert_eq!((versions(), reach(&oneiro)), (vec![1, 1], 48));
        assert!(!oneiro.check().unwrap().ok, "nobody says that it is old");
        // The job is left by a thread beside the search; the second search waits for no rebuild.
        assert_eq!(answers(&oneiro), before);
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
        let kinds: Vec<String> = oneiro.jobs().list(None, 10).unwrap().items.into_iter().map(|job| job.kind).collect();
        assert!(kinds.iter().any(|kind| kind == "rebuild_index"), "{kinds:?}");
        oneiro.jobs().run(std::time::Duration::from_secs(60)).unwrap();
        assert!(!versions().is_empty() && versions().iter().all(|version| *version == oneiro_index::VERSION));
        assert_eq!(reach(&oneiro), 49);
        assert_sound(&oneiro);
        assert_eq!(answers(&oneiro), before);
        assert_eq!(answers(&open_with_words(space).0), before);
    }
}
