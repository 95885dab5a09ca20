//! What can be asked: filters, orders, pages, lineages, neighbours, snippets and reasons.

use crate::search_pages::chatter;
use crate::search_support::{
    find, fold, ids, newest, oldest, open, open_with_words, pages, request, search,
};
use crate::support::{agent, begin, id, new, say};
use oneiro::{
    ErrorKind, Found, NewMessage, NewSession, Oneiro, Role, SearchRequest, Sort, Tier, Timestamp,
};
use oneiro_testkit::{on_both_backends, words};
use serde_json::json;

/// A message of a role and a name, said at a time.
fn by(role: &str, name: Option<&str>, at: &str, text: &str) -> NewMessage {
    let mut message = json!({"role": role, "content": text, "at": at});
    if let Some(name) = name {
        message["name"] = json!(name);
    }
    NewMessage::from_json(message).unwrap()
}

/// Two projects, three sources, four roles, four names, four days. Ids are 1 to 8.
fn add_fixture(oneiro: &Oneiro) {
    let session = |name: &str, source: &str, project: Option<&str>| NewSession {
        source: Some(source.into()),
        project: project.map(str::to_owned),
        ..new(name)
    };
    for (name, source, project) in [
        ("alpha", "cli", Some("garden")),
        ("beta", "telegram", Some("garden")),
        ("gamma", "cron", Some("house")),
        ("delta", "cli", None),
    ] {
        oneiro.sessions().create(session(name, source, project)).unwrap();
    }
    let said = [
        ("alpha", by("user", Some("Anna"), "2023-05-01T10:00:00Z", "the peony is out")),
        ("beta", by("assistant", None, "2023-05-02T10:00:00Z", "a peony needs sun")),
        (
            "alpha",
            by("assistant", Some("Bertrand"), "2023-05-02T12:00:00Z", "which peony, which colour"),
        ),
        ("gamma", by("tool", None, "2023-05-03T00:00:00Z", "peony watered, exit 0")),
        ("delta", by("user", Some("Mary Ann"), "2023-05-03T23:59:59Z", "peony again")),
        ("beta", by("user", Some("Anna"), "2023-05-04T10:00:00Z", "the last peony")),
        ("alpha", by("function", None, "2023-05-04T11:00:00Z", "peony meta")),
        ("delta", by("system", None, "2023-05-05T00:00:00Z", "you know the peony")),
    ];
    for (session, message) in said {
        oneiro.messages().append(&id(session), vec![message]).unwrap();
    }
}

/// Filters, and what they leave.
const FILTERS: &[(&str, &[i64])] = &[
    ("role:user", &[6, 5, 1]),
    ("role:assistant", &[3, 2]),
    ("role:tool", &[4]),
    ("role:system", &[8]),
    ("role:\"function\"", &[7]),
    ("role:user role:tool", &[6, 5, 4, 1]),
    ("-role:user", &[8, 7, 4, 3, 2]),
    ("source:cli", &[8, 7, 5, 3, 1]),
    ("source:cron", &[4]),
    ("source:cli source:telegram", &[8, 7, 6, 5, 3, 2, 1]),
    ("-source:cli", &[6, 4, 2]),
    ("source:nowhere", &[]),
    ("session:alpha", &[7, 3, 1]),
    ("session:alpha session:gamma", &[7, 4, 3, 1]),
    ("-session:alpha", &[8, 6, 5, 4, 2]),
    ("project:garden", &[7, 6, 3, 2, 1]),
    ("project:house", &[4]),
    ("-project:garden", &[8, 5, 4]),
    ("name:Anna", &[6, 1]),
    ("name:anna", &[6, 1]),
    ("name:\"Mary Ann\"", &[5]),
    ("name:\"mary ann\"", &[5]),
    ("name:Anna name:Bertrand", &[6, 3, 1]),
    ("-name:Anna", &[8, 7, 5, 4, 3, 2]),
    ("name:Nobody", &[]),
    ("since:2023-05-03", &[8, 7, 6, 5, 4]),
    ("until:2023-05-03", &[5, 4, 3, 2, 1]),
    ("until:2023-05-02", &[3, 2, 1]),
    ("since:2023-05-02 until:2023-05-03", &[5, 4, 3, 2]),
    ("since:2023-06-01", &[]),
    ("until:2023", &[8, 7, 6, 5, 4, 3, 2, 1]),
    ("role:user source:cli", &[5, 1]),
    ("role:user project:garden since:2023-05-02", &[6]),
    ("source:cli -session:alpha role:user", &[5]),
    ("name:Anna session:beta until:2023-05-04", &[6]),
];

/// Ranges of what is highlighted are within the snippet, in order, apart, and not empty.
fn highlights(found: &Found) -> Vec<Vec<String>> {
    let marked = found.hits.iter().map(|hit| {
        let letters: Vec<char> = hit.snippet.chars().collect();
        let mut last = 0;
        let ranges = hit.highlights.iter().map(|(from, until)| {
            assert!(last <= *from && from < until && *until <= letters.len(), "{hit:?}");
            last = *until;
            letters[*from..*until].iter().collect()
        });
        ranges.collect()
    });
    marked.collect()
}

on_both_backends! {
    fn filters_alone_and_with_words_restrict_the_hits(space) {
        let oneiro = open(space);
        add_fixture(&oneiro);
        let mut wrong = Vec::new();
        for folded in [false, true] {
            for (filter, wanted) in FILTERS {
                let with_words = format!("{filter} peony");
                let with_operator = format!("{filter} (peony OR absent)");
                for query in [*filter, &with_words, &with_operator] {
                    let back: Vec<i64> = wanted.iter().rev().copied().collect();
                    let mut best = find(&oneiro, query);
                    best.sort_unstable();
                    for (order, found, wanted) in [
                        ("newest", newest(&oneiro, query), *wanted),
                        ("oldest", oldest(&oneiro, query), &back),
                        ("relevance", best, &back),
                    ] {
                        if found != wanted {
                            wrong.push(format!("{query} by {order}, folded {folded}: {found:?}, not {wanted:?}"));
                        }
                    }
                }
            }
            fold(&oneiro);
        }
        assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
    }

    fn a_part_of_a_name_matches_the_speaker(space) {
        let oneiro = open(space);
        add_fixture(&oneiro);
        assert_eq!(newest(&oneiro, "name:mary"), [5]);
        assert_eq!(newest(&oneiro, "name:mary peony"), [5]);
        assert_eq!(newest(&oneiro, "-name:mary peony").len(), 7);
    }

    fn filters_of_a_request_equal_those_of_a_query(space) {
        let oneiro = open(space);
        add_fixture(&oneiro);
        let all = SearchRequest { sort: Sort::Newest, ..request("peony") };
        let day = |text: &str| Some(Timestamp::parse(text).unwrap());
        for (request, wanted) in [
            (SearchRequest { roles: vec![Role::User], ..all.clone() }, vec![6, 5, 1]),
            (SearchRequest { sources: vec!["cron".into(), "telegram".into()], ..all.clone() }, vec![6, 4, 2]),
            (SearchRequest { exclude_sources: vec!["cli".into()], ..all.clone() }, vec![6, 4, 2]),
            (SearchRequest { session: Some(id("alpha")), ..all.clone() }, vec![7, 3, 1]),
            (SearchRequest { project: Some("house".into()), ..all.clone() }, vec![4]),
            (SearchRequest { since: day("2023-05-03T00:00:00Z"), ..all.clone() }, vec![8, 7, 6, 5, 4]),
            (SearchRequest { until: day("2023-05-03T00:00:00Z"), ..all.clone() }, vec![3, 2, 1]),
            (SearchRequest { since: day("2023-05-03T00:00:00Z"), until: day("2023-05-03T23:59:59Z"), ..all.clone() }, vec![4]),
            // Both count, the narrower wins.
            (SearchRequest { query: "peony role:user".into(), roles: vec![Role::User, Role::Tool], ..all.clone() }, vec![6, 5, 1]),
            (SearchRequest { query: "peony role:user".into(), roles: vec![Role::Tool], ..all.clone() }, vec![]),
            (SearchRequest { query: "peony source:cli".into(), sources: vec!["cron".into()], ..all.clone() }, vec![]),
            (SearchRequest { query: "peony session:beta".into(), session: Some(id("alpha")), ..all.clone() }, vec![]),
            (SearchRequest { query: "peony since:2023-05-04".into(), since: day("2023-05-02T00:00:00Z"), ..all.clone() }, vec![8, 7, 6]),
        ] {
            let (query, roles) = (request.query.clone(), request.roles.clone());
            assert_eq!(ids(&search(&oneiro, request)), wanted, "{query} {roles:?}");
        }
        let nobody = SearchRequest { session: Some(id("nobody")), ..all.clone() };
        assert_eq!(oneiro.search().run(&nobody).unwrap_err().kind(), ErrorKind::NotFound);
        for limit in [0, 201, usize::MAX] {
            let error = oneiro.search().run(&SearchRequest { limit, ..all.clone() }).unwrap_err();
            assert_eq!((error.kind(), error.field_name()), (ErrorKind::Invalid, Some("limit")));
        }
    }

    fn a_filter_does_not_change_the_words_of_a_query(space) {
        // The only message with every word is out of scope: those with some of them are found.
        let oneiro = open(space);
        begin(&oneiro, "s");
        let both = oneiro.messages().append(&id("s"), vec![agent("dahlia and begonia")]).unwrap().ids[0].0;
        let some = say(&oneiro, "s", &["a dahlia", "a begonia"]);
        for query in ["dahlia begonia role:user", "dahlia AND begonia role:user"] {
            let mut best = find(&oneiro, query);
            best.sort_unstable();
            assert_eq!(best, some, "{query}");
            assert_eq!(oldest(&oneiro, query), some, "{query}");
        }
        assert_eq!(oldest(&oneiro, "dahlia begonia"), [both]);
    }

    fn neighbours_are_those_of_the_session(space) {
        let oneiro = open(space);
        for session in ["a", "b"] {
            begin(&oneiro, session);
        }
        // Two conversations at once, message by message.
        let mut said = Vec::new();
        for n in 0..8 {
            for session in ["a", "b"] {
                let text = format!("{session}{n} {}", if n == 4 { "a gentian" } else { "talk" });
                said.push((session, say(&oneiro, session, &[&text])[0]));
            }
        }
        oneiro.sessions().rewind(&id("b"), oneiro::MessageId(said[11].1).into()).unwrap();
        for folded in [false, true] {
            let found = search(&oneiro, SearchRequest { neighbours: 2, ..request("gentian") });
            assert_eq!(found.hits.len(), 2);
            for hit in &found.hits {
                let near: Vec<&str> = hit.neighbours.iter().map(|near| &near.text[..2]).collect();
                match hit.session_id.as_str() {
                    "a" => assert_eq!(near, ["a2", "a3", "a5", "a6"], "folded: {folded}"),
                    // What was taken back is no neighbour.
                    _ => assert_eq!(near, ["b2", "b3"], "folded: {folded}"),
                }
            }
            let none = search(&oneiro, request("gentian"));
            assert!(none.hits.iter().all(|hit| hit.neighbours.is_empty()));
            fold(&oneiro);
        }
    }

    fn snippets_show_what_was_found_in_any_script(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let far = |text: &str| format!("{} {text} {}", words(1, 200), words(2, 200));
        let cases: Vec<(String, &str, &str)> = vec![
            ("the Gladiolus stands tall".into(), "gladiolus", "Gladiolus"),
            (far("the Freesia bulbs"), "freesia", "Freesia"),
            ("我住在東京都的一間房子裡".into(), "東京都", "東京都"),
            ("昨日は京都でラーメンを食べた".into(), "京都", "京都"),
            (format!("{}北海道へ行く{}", "あいうえお".repeat(200), "かきくけこ".repeat(200)), "北海道", "北海道"),
            ("🦀🦀 and 👩‍👩‍👧‍👦 party 🎺 tonight".into(), "🎺", "🎺"),
            (format!("{} 👍🏽 anemonefish", "🦀".repeat(400)), "anemonefish", "anemonefish"),
            ("un cafe\u{301} noir tre\u{300}s serre\u{301}".into(), "café", "cafe\u{301}"),
            (format!("{} Zinnia\u{308}\u{323}s bloom", "e\u{301}".repeat(500)), "bloom", "bloom"),
            ("ดอกไม้สวยงามมาก".into(), "สวยงาม", "สวยงาม"),
            ("the \u{202e}rtl\u{202c} \u{5e9}\u{5dc}\u{5d5}\u{5dd} word".into(), "\u{5e9}\u{5dc}\u{5d5}\u{5dd}", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"),
            (far("a \"Snapdragon lion\" mouth"), "\"snapdragon lion\"", "Snapdragon lion"),
            (far("many Ranunculuses here"), "ranuncul*", "Ranunculuses"),
            (far("the Pelargonium pot"), "*largoni*", "largoni"),
            (far("code X-4711-Y there"), "/X-\\d+-Y/", "X-4711-Y"),
            (format!("{} Alstroemeria", words(3, 80_000)), "alstroemeria", "Alstroemeria"),
            (format!("{}Wisteria", "x".repeat(3_000)), "*wisteria*", "Wisteria"),
        ];
        let said: Vec<i64> = cases.iter().map(|(text, _, _)| say(&oneiro, "s", &[text])[0]).collect();
        let mut wrong = Vec::new();
        for folded in [false, true] {
            for ((text, query, wanted), id) in cases.iter().zip(&said) {
                for sort in [Sort::Relevance, Sort::Newest] {
                    let found = search(&oneiro, SearchRequest { sort, ..request(query) });
                    let marked = highlights(&found);
                    let Some(place) = found.hits.iter().position(|hit| hit.id.0 == *id) else {
                        wrong.push(format!("{query} {sort:?} folded {folded}: not found"));
                        continue;
                    };
                    let hit = &found.hits[place];
                    let inside = hit.snippet.trim_matches('…');
                    assert!(text.contains(inside), "{query}: {:?} is not of the text", hit.snippet);
                    assert!(hit.snippet.chars().count() <= 300, "{query}: {}", hit.snippet.len());
                    let joined = marked[place].concat();
                    if !joined.contains(wanted) && !wanted.contains(joined.as_str()) || joined.is_empty() {
                        wrong.push(format!("{query} {sort:?} folded {folded}: {:?} in {:?}", marked[place], hit.snippet));
                    }
                }
            }
            fold(&oneiro);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn the_end_of_a_very_long_message_is_found(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let long = format!("{} the edelweiss blooms here", words(5, 70_000));
        assert!(long.len() > 400_000);
        let said = say(&oneiro, "s", &[&long])[0];
        for folded in [false, true] {
            for query in ["edelweiss", "\"edelweiss blooms\"", "edelw*", "*delweis*", "/edelw\\w+/", "edelweiss AND blooms"] {
                let found = search(&oneiro, request(query));
                assert_eq!(ids(&found), [said], "{query}, folded: {folded}");
                assert!(found.hits[0].snippet.contains("edelweiss"), "{query}: {}", found.hits[0].snippet);
                assert!(!highlights(&found)[0].is_empty(), "{query}");
            }
            fold(&oneiro);
        }
    }

    fn the_parts_of_a_score_add_up(space) {
        let (oneiro, _) = open_with_words(space);
        chatter(&oneiro, 40);
        add_fixture(&oneiro);
        let mut told = 0;
        for query in ["fuchsia", "serpent in the storm", "what did Anna say of the peony in May 2023?", "\"peony\" OR fuch*", "python", "when was the peony watered?"] {
            let found = search(&oneiro, SearchRequest { explain: true, ..request(query) });
            assert!(!found.hits.is_empty(), "{query}");
            for hit in &found.hits {
                let trace = hit.trace.as_ref().unwrap_or_else(|| panic!("{query}: no trace"));
                let sum: f64 = trace.parts.iter().map(|part| part.added).sum();
                assert!((sum - hit.score).abs() < 1e-4, "{query}: {sum} is not {}", hit.score);
                assert!(trace.words.iter().all(|word| (0.0..=1.0).contains(&word.met) && word.weight >= 0.0), "{trace:?}");
                told += 1;
            }
            let silent = search(&oneiro, request(query));
            assert!(silent.hits.iter().all(|hit| hit.trace.is_none()));
            assert_eq!(ids(&silent), ids(&found), "{query}");
        }
        assert!(told > 50);
    }

    fn scores_never_increase_down_the_list(space) {
        let (oneiro, _) = open_with_words(space);
        chatter(&oneiro, 60);
        for query in ["fuchsia -absent", "where is the serpent in the storm?"] {
            let found = search(&oneiro, request(query));
            assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "{query}");
        }
    }

    fn tiers_are_named(space) {
        let (oneiro, _) = open_with_words(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["a lupin by the gate", "the serpent sleeps", "a foxglove"]);
        for (query, wanted) in [
            ("lupin gate", Some(Tier::Precise)),
            ("\"lupin by the gate\"", Some(Tier::Precise)),
            ("lupin foxglove", Some(Tier::Relaxed)),
            ("\"gate lupin\"", Some(Tier::Relaxed)),
            ("python", Some(Tier::Semantic)),
            ("xyzzy", None),
        ] {
            assert_eq!(search(&oneiro, request(query)).tier, wanted, "{query}");
        }
    }

    fn an_exact_search_returns_only_full_matches_and_does_not_affect_others(space) {
        let (oneiro, _) = open_with_words(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["the serpent sleeps", "256 and sha", "the sha256 of it", "sha256 sha256"]);
        let exact = |query: &str| {
            let found = search(&oneiro, SearchRequest { exact: true, ..request(query) });
            found.hits.iter().map(|hit| hit.id.0).collect::<Vec<_>>()
        };
        for folded in [false, true] {
            if folded {
                fold(&oneiro);
            }
            assert_eq!(exact("sha256"), [4, 3], "{folded}");
            assert_eq!(exact("python"), [0; 0], "{folded}");
            assert_eq!(exact("serpent sha256"), [0; 0], "{folded}");
            assert_eq!(exact("the NOT sha256"), [1], "{folded}");
            // What it keeps of the index serves those who ask by meaning, too.
            assert_eq!(search(&oneiro, request("python")).tier, Some(Tier::Semantic), "{folded}");
        }
    }

    fn tiers_are_named_by_time_as_well(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["a lupin by the gate", "the serpent sleeps", "a foxglove"]);
        for (query, wanted) in [
            ("lupin gate", Some(Tier::Precise)),
            ("lupin foxglove", Some(Tier::Relaxed)),
            // Both words, but not the phrase.
            ("\"gate lupin\"", Some(Tier::Relaxed)),
            ("lupin AND foxglove", Some(Tier::Relaxed)),
            ("xyzzy", None),
        ] {
            for sort in [Sort::Newest, Sort::Oldest] {
                assert_eq!(search(&oneiro, SearchRequest { sort, ..request(query) }).tier, wanted, "{query} {sort:?}");
            }
        }
    }

    fn a_prefix_matches_words_even_if_it_is_longer_than_the_stem(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let said = say(&oneiro, "s", &["we were running for the happiest of ponies", "nothing else"])[0];
        for folded in [false, true] {
            for query in ["run*", "runn*", "runni*", "runnin*", "running*", "happi*", "happies*", "poni*", "ponies*"] {
                let found = search(&oneiro, request(query));
                assert_eq!((ids(&found), found.tier), (vec![said], Some(Tier::Precise)), "{query}, folded: {folded}");
            }
            fold(&oneiro);
        }
    }

    fn a_prefix_matches_every_word_with_it(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let letter = |n: u32| char::from_u32(u32::from('a') + n % 26).unwrap();
        let texts: Vec<String> = (0..320).map(|n| format!("verb{}{}q", letter(n), letter(n / 26))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let said = say(&oneiro, "s", &texts);
        for folded in [false, true] {
            let mut found = pages(&oneiro, SearchRequest { sort: Sort::Oldest, ..request("verb*") }, || {});
            found.dedup();
            assert_eq!(found.len(), said.len(), "folded: {folded}");
            fold(&oneiro);
        }
    }

    fn stop_words_alone_are_answered(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let said = say(&oneiro, "s", &["to be or not to be", "a tulip"]);
        for query in ["to be or not to be", "the who", "\"to be or not\"", "it is"] {
            let found = search(&oneiro, request(query));
            if query.contains("not") {
                assert_eq!(ids(&found)[0], said[0], "{query}");
            }
        }
    }

    fn a_search_finds_nothing_of_other_spaces(space) {
        let other = oneiro_testkit::TestSpace::new(space.backend);
        let (here, there) = (open(space), open(&other));
        for oneiro in [&here, &there] {
            begin(oneiro, "s");
        }
        say(&there, "s", &["a snowdrop of theirs"]);
        fold(&there);
        say(&there, "s", &["another snowdrop"]);
        for query in ["snowdrop", "snow*", "*nowdr*", "/snow/", "session:s", "role:user"] {
            assert_eq!(find(&here, query), [0; 0], "{query}");
        }
    }
}
