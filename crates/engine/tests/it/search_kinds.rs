//! Messages of every kind: those with words are found by them, and what is not words is not taken
//! for any. And stores that come from elsewhere: an older schema, a copy.

use crate::search_support::{
    find, fold, ids, newest, number, oldest, open, reach, rebuild, request, search,
};
use crate::support::{
    Fixed, NOW, assert_sound, begin, clock, id, ids as fake_ids, open_at, target, user,
};
use oneiro::{Durability, NewMessage, Oneiro, Options, SearchRequest, Sort, Target, Visibility};
use oneiro_store::{CURRENT, SchemaSet, Store};
use oneiro_testkit::{Backend, TestSpace, awkward_messages, on_both_backends, words};
use serde_json::{Value, json};

/// Bytes as they come in a data url, with words in them by chance.
fn image() -> String {
    let mut dice = crate::search_support::Dice(4_711);
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let random: String = (0..120_000).map(|_| char::from(*dice.one(letters))).collect();
    format!("data:image/png;base64,iVBORw0KGgo/kangaroo/{random}==")
}

fn append(oneiro: &Oneiro, message: Value) -> i64 {
    let message = NewMessage::from_json(message).unwrap();
    oneiro.host().append(&id("s"), vec![message], None).unwrap().ids[0].0
}

/// Messages, and the queries that find each of them alone.
fn kinds() -> Vec<(Value, Vec<&'static str>)> {
    vec![
        (
            json!({"role": "user", "content": "a plain aardvark"}),
            vec!["aardvark", "\"plain aardvark\"", "aardv*"],
        ),
        (
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"/srv/bandicoot.toml\"}"}},
                {"id": "c2", "type": "function", "function": {"name": "run_shell", "arguments": "{\"command\":\"grep -rn capybara\"}"}},
            ]}),
            vec!["bandicoot", "bandicoot.toml", "read_file", "run_shell", "capybara", "*andicoo*"],
        ),
        (
            json!({"role": "assistant", "content": "I look with dugong", "tool_calls": [{"function": {"name": "look_closely", "arguments": {"at": "echidna"}}}]}),
            vec!["dugong", "echidna", "look_closely"],
        ),
        (
            json!({"role": "tool", "tool_call_id": "c1", "name": "read_file_result", "content": "error: fossa not found at line 17"}),
            vec!["fossa", "\"fossa not found\"", "role:tool fossa"],
        ),
        (
            json!({"role": "tool", "tool_call_id": "c3", "content": [{"type": "text", "text": "the gerbil list"}, {"type": "image", "data": image()}]}),
            vec!["gerbil"],
        ),
        (
            json!({"role": "tool", "tool_call_id": "c4", "content": {"animals": ["hyrax", "jerboa"], "count": 2}}),
            vec!["hyrax", "jerboa"],
        ),
        (
            json!({"role": "user", "content": [{"type": "text", "text": "look at this ibex"}, {"type": "image_url", "image_url": {"url": image()}}, {"type": "text", "text": "and this kinkajou"}]}),
            vec!["ibex", "kinkajou"],
        ),
        (
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "a hidden lemming"}, {"type": "text", "text": "a shown margay"}, {"type": "tool_use", "name": "fetch_page", "input": {"url": "https://example.com/numbat?q=okapi"}}]}),
            vec!["margay", "numbat", "okapi", "fetch_page"],
        ),
        (
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "a pangolin"}, {"type": "image", "source": {"data": image()}}]}]}),
            vec!["pangolin"],
        ),
        (json!({"role": "user", "content": format!("{} quoll", words(3, 30_000))}), vec!["quoll"]),
        (
            json!({"role": "assistant", "content": format!("{} {} serval", words(4, 20_000), "y".repeat(90_000))}),
            vec!["serval"],
        ),
        (
            json!({"role": "system", "content": format!("You are a tamandua. {}", "Be careful. ".repeat(8_000))}),
            vec!["tamandua", "role:system tamandua"],
        ),
        (json!({"role": "function", "content": "meta uakari"}), vec!["uakari"]),
        (
            json!({"role": "user", "content": "vicu\u{f1}a und Wallaby-Känguru: вомбат 袋熊 ウォンバット"}),
            vec!["vicuna", "вомбат", "袋熊", "ウォンバット", "wallaby"],
        ),
        (
            json!({"role": "user", "content": "see src/xerus/yapok.rs:42 and XerusError::NotFound v3.14.1"}),
            vec!["yapok.rs", "src/xerus/yapok.rs", "XerusError", "v3.14.1", "3.14.1"],
        ),
    ]
}

on_both_backends! {
    fn every_kind_of_message_is_found_by_its_words(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let kinds: Vec<(i64, Vec<&str>)> = kinds().into_iter().map(|(message, queries)| (append(&oneiro, message), queries)).collect();
        let mut wrong = Vec::new();
        for folded in [false, true] {
            for (message, queries) in &kinds {
                for query in queries {
                    let best = search(&oneiro, request(query));
                    if best.hits.first().map(|hit| hit.id.0) != Some(*message) {
                        wrong.push(format!("{query}, folded {folded}: {:?}, not {message}", ids(&best)));
                    }
                }
            }
            fold(&oneiro);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_sound(&oneiro);
    }

    fn binary_data_is_not_found_as_words(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let texts = kinds().len();
        for (message, _) in kinds() {
            append(&oneiro, message);
        }
        for folded in [false, true] {
            for query in ["kangaroo", "iVBORw0KGgo", "base64", "image_url", "*kangaroo*", "/kangaroo/", "lemming"] {
                let found = search(&oneiro, request(query));
                assert_eq!(ids(&found), [0; 0], "{query}, folded: {folded}");
            }
            fold(&oneiro);
        }
        // Four images of 120 KB leave nothing in the index.
        let bytes = number(&oneiro, "SELECT CAST(SUM(LENGTH(data)) AS BIGINT) FROM segment_terms");
        assert!(texts == 15 && bytes < 200_000, "{bytes} bytes of terms");
    }

    fn messages_without_words_do_not_affect_others(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let empty = [
            json!({"role": "user", "content": ""}),
            json!({"role": "assistant", "content": null}),
            json!({"role": "user"}),
            json!({"role": "user", "content": []}),
            json!({"role": "user", "content": "   \n\t "}),
            json!({"role": "user", "content": "\u{200b}\u{feff}"}),
            json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,x"}}]}),
            json!({"role": "tool", "content": {}}),
            json!({"role": "user", "content": "?!?"}),
            json!({"role": "assistant", "content": "", "reasoning": "a thought of zebras"}),
        ];
        let mut said = vec![oneiro.messages().append(&id("s"), vec![user("the first word")]).unwrap().ids[0].0];
        for message in &empty {
            append(&oneiro, message.clone());
        }
        said.push(oneiro.messages().append(&id("s"), vec![user("the last word")]).unwrap().ids[0].0);
        for stand in ["tail", "folded", "rebuilt"] {
            assert_eq!(oldest(&oneiro, "word"), said, "{stand}");
            assert_eq!(find(&oneiro, "zebras"), [0; 0], "{stand}");
            assert_sound(&oneiro);
            match stand {
                "tail" => fold(&oneiro),
                _ => rebuild(&oneiro),
            }
        }
        // A segment of nothing but such messages.
        for message in &empty {
            append(&oneiro, message.clone());
        }
        fold(&oneiro);
        assert_sound(&oneiro);
        assert_eq!(reach(&oneiro), 22);
        assert_eq!(oldest(&oneiro, "word"), said);
    }

    fn awkward_messages_can_be_indexed_rebuilt_and_erased(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let mut said = Vec::new();
        for message in awkward_messages() {
            said.push(append(&oneiro, message));
        }
        let before = (newest(&oneiro, "careful OR emoji OR trust"), find(&oneiro, "DROP TABLE messages"), find(&oneiro, "漢字"));
        assert_eq!((before.0.len(), before.1.len(), before.2.len()), (3, 1, 1));
        fold(&oneiro);
        assert_sound(&oneiro);
        let after = (newest(&oneiro, "careful OR emoji OR trust"), find(&oneiro, "DROP TABLE messages"), find(&oneiro, "漢字"));
        assert_eq!(after, before);
        rebuild(&oneiro);
        assert_sound(&oneiro);
        for message in said {
            oneiro.erase(&oneiro::EraseTarget::Message(oneiro::MessageId(message))).unwrap();
            assert_sound(&oneiro);
        }
        assert_eq!(newest(&oneiro, "careful OR emoji OR trust"), [0; 0]);
    }

    fn a_store_of_the_first_schema_is_searched_and_indexed(space) {
        let said = old_store(space, 400);
        // The next process that opens it brings it up to date.
        let oneiro = open(space);
        let check = |oneiro: &Oneiro, stand: &str| {
            assert_eq!(oldest(oneiro, "narwhal").len(), 200, "{stand}");
            assert_eq!(find(oneiro, "number399"), [said[399]], "{stand}");
            assert_eq!(find(oneiro, "number0"), [said[0]], "{stand}");
            assert_sound(oneiro);
        };
        check(&oneiro, "tail");
        fold(&oneiro);
        assert_eq!(reach(&oneiro), *said.last().unwrap());
        check(&oneiro, "folded");
        check(&open(space), "opened again");
        rebuild(&oneiro);
        check(&oneiro, "rebuilt");
        oneiro.messages().append(&id("s"), vec![user("a narwhal number400")]).unwrap();
        assert_eq!(find(&oneiro, "number400").len(), 1);
    }

    fn a_copy_is_searched_like_the_original(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for (message, _) in kinds() {
            append(&oneiro, message);
        }
        let rewound = oneiro.messages().append(&id("s"), vec![user("a taken back zorilla"), user("gone too")]).unwrap().ids[0];
        fold(&oneiro);
        oneiro.messages().append(&id("s"), vec![user("an aardvark in the tail")]).unwrap();
        oneiro.sessions().rewind(&id("s"), rewound.into()).unwrap();
        oneiro.messages().append(&id("s"), vec![user("another aardvark in the tail")]).unwrap();
        let path = space.folder().join("copy.db");
        oneiro.transfer().backup(&path, &mut |_| {}).unwrap();
        let copy = open_at(&Target::File { path, space: space.space.clone() });
        let answers = |oneiro: &Fixed| -> Vec<String> {
            let queries = kinds().into_iter().flat_map(|(_, queries)| queries).chain(["zorilla", "aardvark tail", "session:s", "role:tool"]);
            let answer = |query: &str| {
                let found = search(oneiro, request(query));
                let hits = found.hits.iter().map(|hit| (hit.id.0, (hit.score * 1e4).round(), hit.snippet.clone()));
                format!("{query}: {:?} {:?}", found.tier, hits.collect::<Vec<_>>())
            };
            queries.map(answer).collect()
        };
        let wanted = answers(&oneiro);
        assert_eq!(answers(&copy), wanted);
        assert_eq!(find(&copy, "zorilla"), [0; 0]);
        assert_eq!(reach(&copy), reach(&oneiro));
        assert_sound(&copy);
        fold(&copy);
        assert_eq!(answers(&copy), wanted);
        assert_sound(&copy);
        rebuild(&copy);
        assert_sound(&copy);
        // The copy goes on by itself.
        let said = copy.messages().append(&id("s"), vec![user("only here: a zebu")]).unwrap().ids[0].0;
        assert_eq!(find(&copy, "zebu"), [said]);
        assert_eq!(find(&oneiro, "zebu"), [0; 0]);
    }

    fn imported_messages_are_found_by_their_visibility(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let said = oneiro.messages().append(&id("s"), ["one tapir", "two tapir", "three tapir", "four tapir"].map(user).into()).unwrap().ids;
        oneiro.host().compact_messages(&id("s"), said[0]).unwrap();
        oneiro.sessions().rewind(&id("s"), said[2].into()).unwrap();
        let other = TestSpace::new(space.backend);
        let copy = open(&other);
        crate::support::import(&copy, &crate::support::export(&oneiro)).unwrap();
        let hidden = copy.sessions().show(&id("s"), true).unwrap().messages;
        let rewound = hidden.iter().filter(|message| message.visibility == Visibility::Rewound).count();
        assert_eq!((hidden.len(), rewound), (4, 2));
        assert_eq!(oldest(&copy, "tapir").len(), 2);
        copy.sessions().restore(&id("s"), oneiro::RestoreRequest { all: true }).unwrap();
        assert_eq!(oldest(&copy, "tapir").len(), 4);
    }

    fn the_messages_of_a_branch_are_found_like_those_of_its_parent(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        oneiro.messages().append(&id("s"), ["one tapir", "two tapir"].map(user).into()).unwrap();
        fold(&oneiro);
        let branch = oneiro::BranchRequest { id: Some(id("b")), ..oneiro::BranchRequest::default() };
        oneiro.sessions().branch(&id("s"), branch).unwrap();
        let copied = oneiro.sessions().show(&id("b"), true).unwrap().messages.len();
        assert_eq!(newest(&oneiro, "tapir").len(), 2 + copied);
        let one = SearchRequest { one_per_lineage: true, sort: Sort::Newest, ..request("tapir") };
        assert_eq!(search(&oneiro, one).hits.len(), 1);
    }
}

/// The schema before there was an index.
const FIRST: SchemaSet = &[CURRENT[0]];

/// A store as a version without an index left it; answers the ids.
fn old_store(space: &TestSpace, count: usize) -> Vec<i64> {
    let options = Options {
        durability: Durability::Normal,
        clock: clock(),
        ids: fake_ids(),
        ..Options::default()
    };
    let store = oneiro_store::Options { schema: FIRST, ..oneiro_store::Options::default() };
    let store = Store::open(&target(space), &store, options.clock.now()).unwrap();
    assert_eq!(store.schema(), 1);
    let old = Oneiro::over(store, options);
    let messages = (0..count).map(|n| user(&format!("a narwhal number{n}")));
    // Begun as that version did, which noted no changes.
    let began =
        |tx: &oneiro_store::Tx<'_>| oneiro_store::sessions::insert(tx, &id("s"), "api", NOW);
    old.store().write(began).unwrap();
    old.messages().append(&id("s"), messages.collect()).unwrap().ids.iter().map(|id| id.0).collect()
}

#[test]
fn a_copy_of_a_server_keeps_every_segment() {
    let space = TestSpace::new(Backend::Postgres);
    let oneiro = open(&space);
    begin(&oneiro, "s");
    for turn in 0..4 {
        let many =
            (0..50).map(|n| user(&format!("an oryx number{} {}", turn * 50 + n, words(n, 20))));
        oneiro.messages().append(&id("s"), many.collect()).unwrap();
        fold(&oneiro);
    }
    let path = space.folder().join("copy.db");
    oneiro.transfer().backup(&path, &mut |_| {}).unwrap();
    let copy = open_at(&Target::File { path, space: space.space.clone() });
    let segments = crate::search_support::all_segments;
    assert_eq!(segments(&copy), segments(&oneiro));
    for table in ["segment_terms", "segment_docs"] {
        let bytes = format!("SELECT CAST(SUM(LENGTH(data)) AS BIGINT) FROM {table}");
        assert_eq!(number(&copy, &bytes), number(&oneiro, &bytes));
    }
    assert_eq!(find(&copy, "number123"), find(&oneiro, "number123"));
    assert_eq!(newest(&copy, "oryx"), newest(&oneiro, "oryx"));
}
