//! Both engines answer the same: the same messages in the same order with the same scores, for one
//! seeded scenario, whatever was folded when.

use crate::search_support::{Dice, fold, open_with_words, rebuild, request};
use crate::support::{Fixed, assert_sound, id, new};
use oneiro::{EraseTarget, Found, MessageId, NewMessage, NewSession, SearchRequest, Sort};
use oneiro_testkit::{Backend, TestSpace};
use serde_json::json;

const WORDS: &[&str] = &[
    "serpent",
    "snake",
    "lantern",
    "lamp",
    "storm",
    "rain",
    "bread",
    "baker",
    "violin",
    "harbour",
    "ship",
    "gate",
    "running",
    "runs",
    "Haus",
    "maison",
    "река",
    "東京都",
    "京都",
    "ไทย",
    "foo_bar",
    "the",
    "of",
    "and",
    "when",
    "yesterday",
    "May",
    "2023",
    "🦀",
    "Anna",
    "letter",
    "window",
];

const QUERIES: &[&str] = &[
    "serpent",
    "snake lamp",
    "where is the lantern of the serpent?",
    "when did Anna bake bread?",
    "storm OR rain",
    "storm AND NOT rain",
    "\"the storm\"",
    "run*",
    "*arb*",
    "/la[mn]/",
    "東京",
    "река ship",
    "the of and",
    "what happened in May 2023",
    "orchestra",
    "python torch",
    "role:assistant violin",
    "source:cron bread",
    "session:a",
    "name:Anna",
    "nothing of this occurs anywhere xyzzy",
    "serpent storm bread violin harbour gate window letter",
];

fn step(oneiro: &Fixed, dice: &mut Dice, turn: i64) {
    oneiro.clock.set(turn * 3_700);
    let session = *dice.one(&["a", "b", "c", "d", "e"]);
    let message = MessageId(1 + dice.roll(200) as i64);
    match dice.roll(16) {
        0..=10 => {
            let count = 1 + dice.roll(5);
            let messages = (0..count).map(|_| {
                let length = if dice.roll(12) == 0 { 150 } else { 1 + dice.roll(14) };
                let words: Vec<&str> = (0..length).map(|_| *dice.one(WORDS)).collect();
                let mut message = json!({"role": *dice.one(&["user", "assistant", "tool"]), "content": words.join(" ")});
                if dice.roll(3) == 0 {
                    message["name"] = json!(*dice.one(&["Anna", "Bertrand", "Mary Ann"]));
                }
                if dice.roll(6) == 0 {
                    message["content"] = json!(format!("{}?", words.join(" ")));
                }
                NewMessage::from_json(message).unwrap()
            });
            let messages = messages.collect();
            let source = if session == "e" { "cron" } else { "cli" };
            let create = NewSession { source: Some(source.into()), ..new(session) };
            oneiro.messages().append_or_create(&id(session), messages, create).unwrap();
        }
        11 => drop(oneiro.sessions().rewind(&id(session), message.into())),
        12 => drop(oneiro.sessions().restore(&id(session), oneiro::RestoreRequest { all: true })),
        13 => drop(oneiro.host().compact_messages(&id(session), message)),
        14 if dice.roll(4) == 0 => drop(oneiro.sessions().delete(&id(session))),
        15 => drop(oneiro.erase(&EraseTarget::Message(message))),
        _ => {}
    }
}

fn assert_same(one: &Found, two: &Found, why: &str) {
    let shown = |found: &Found| -> Vec<String> {
        let hits = found.hits.iter().map(|hit| {
            let near: Vec<i64> = hit.neighbours.iter().map(|near| near.id.0).collect();
            format!("{} {:?} {} {:?} {near:?}", hit.id, hit.tier, hit.snippet, hit.highlights)
        });
        hits.collect()
    };
    assert_eq!(shown(one), shown(two), "{why}");
    assert_eq!((one.tier, one.next, &one.note), (two.tier, two.next, &two.note), "{why}");
    for (one, two) in one.hits.iter().zip(&two.hits) {
        assert!((one.score - two.score).abs() < 1e-4, "{why}: {} and {}", one.score, two.score);
    }
}

/// Asks both everything there is to ask; answers how many hits there were.
fn compare(here: &Fixed, there: &Fixed, why: &str) -> usize {
    let mut hits = 0;
    for query in QUERIES {
        for sort in [Sort::Relevance, Sort::Newest, Sort::Oldest] {
            for one_per_lineage in [false, true] {
                let request = SearchRequest {
                    sort,
                    one_per_lineage,
                    neighbours: 2,
                    limit: 15,
                    demote_sources: vec!["cron".into()],
                    ..request(query)
                };
                let why = format!("{why}, {query}, {sort:?}, {one_per_lineage}");
                match (here.search().run(&request), there.search().run(&request)) {
                    (Ok(one), Ok(two)) => {
                        assert_same(&one, &two, &why);
                        hits += one.hits.len();
                    }
                    (Err(one), Err(two)) => assert_eq!(one.kind(), two.kind(), "{why}"),
                    (one, two) => panic!("{why}: {one:?} and {two:?}"),
                }
            }
        }
    }
    hits
}

#[test]
fn both_engines_return_the_same_hits_and_scores() {
    for seed in [0x1234_5678, 424_242] {
        let spaces = [TestSpace::new(Backend::Sqlite), TestSpace::new(Backend::Postgres)];
        let [here, there] = [open_with_words(&spaces[0]).0, open_with_words(&spaces[1]).0];
        let (mut one, mut two) = (Dice(seed), Dice(seed));
        let mut hits = 0;
        for turn in 0..80 {
            step(&here, &mut one, turn);
            step(&there, &mut two, turn);
            if turn % 9 == 8 {
                fold(&here);
                fold(&there);
            }
            if turn % 20 == 19 {
                hits += compare(&here, &there, &format!("seed {seed}, turn {turn}"));
            }
        }
        assert!(hits > 1_000, "only {hits} hits were compared");
        // How far each is folded makes no difference.
        let before: Vec<Found> =
            QUERIES.iter().filter_map(|query| here.search().run(&request(query)).ok()).collect();
        fold(&here);
        compare(&here, &there, &format!("seed {seed}, one folded"));
        let after = QUERIES.iter().filter_map(|query| here.search().run(&request(query)).ok());
        for ((one, two), query) in before.iter().zip(after).zip(QUERIES) {
            assert_same(one, &two, &format!("folded, {query}"));
        }
        // A rebuilt index no longer counts what was deleted, so words weigh differently.
        rebuild(&here);
        rebuild(&there);
        compare(&here, &there, &format!("seed {seed}, rebuilt"));
        assert_sound(&here);
        assert_sound(&there);
    }
}

#[test]
fn hits_and_scores_do_not_depend_on_what_was_analysed_or_indexed_before() {
    let space = TestSpace::new(Backend::Sqlite);
    let used = open_with_words(&space).0;
    let mut dice = Dice(77_001);
    let mut hits = 0;
    let scores = |oneiro: &Fixed| -> Vec<Vec<(i64, f64)>> {
        let found = QUERIES.iter().map(|query| oneiro.search().run(&request(query)));
        let hits = |found: Found| found.hits.iter().map(|hit| (hit.id.0, hit.score)).collect();
        found.flatten().map(hits).collect()
    };
    for turn in 0..60 {
        step(&used, &mut dice, turn);
        if turn % 15 != 14 {
            continue;
        }
        // A handle that searched before, a new one, and both after the tail was indexed.
        let fresh = open_with_words(&space).0;
        fresh.clock.set(turn * 3_700);
        hits += compare(&used, &fresh, &format!("turn {turn}, not indexed"));
        let unindexed = scores(&used);
        assert_eq!(scores(&fresh), unindexed, "turn {turn}, a new handle");
        fold(&used);
        assert_eq!(scores(&used), unindexed, "turn {turn}, indexed");
        let fresh = open_with_words(&space).0;
        fresh.clock.set(turn * 3_700);
        assert_eq!(scores(&fresh), unindexed, "turn {turn}, indexed, a new handle");
    }
    assert!(hits > 500, "only {hits} hits were compared");
}
