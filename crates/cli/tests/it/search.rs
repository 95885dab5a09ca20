//! `search` and `session search`: what one process appended, another finds at once.

use crate::support::{append, json, oneiro, run, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json as value};
use std::collections::BTreeSet;

/// Says something as the person in a session, begun if need be; answers the ids.
fn say(space: &TestSpace, session: &str, texts: &[&str]) -> Vec<i64> {
    let lines: String = texts
        .iter()
        .map(|text| format!("{}\n", value!({"role": "user", "content": text})))
        .collect();
    let args = ["append", "--create", "--json", "--", session];
    let answer = run_with(oneiro(space), &args, lines.as_bytes()).json();
    answer["ids"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

fn search(space: &TestSpace, args: &[&str]) -> Value {
    json(space, &[&["search"], args].concat())
}

fn ids(found: &Value) -> Vec<i64> {
    found["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect()
}

/// The query as one argument, whatever it begins with.
fn found(space: &TestSpace, query: &str) -> Vec<i64> {
    ids(&run(space, &["search", "--json", "--", query]).json())
}

/// Every page of a search by its cursors.
fn pages(space: &TestSpace, args: &[&str], limit: &str) -> Vec<i64> {
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..20 {
        let mut all = [args, &["--limit", limit]].concat();
        all.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let page = search(space, &all);
        seen.extend(ids(&page));
        match page["next"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return seen,
        }
    }
    panic!("{} hits, and the pages have no end", seen.len());
}

on_both_backends! {
    fn what_one_process_appended_another_finds_at_once(space) {
        run(space, &["session", "new", "--id", "s", "--source", "telegram", "--project", "garden"]);
        append(space, "s", "{\"role\":\"user\",\"name\":\"Mary\",\"external_id\":\"e1\",\"at\":\"2026-01-31T09:30:00Z\",\"content\":\"The pomegranate tree needs water\"}\n");
        let answer = search(space, &["pomegranate", "tree"]);
        assert_eq!((&answer["tier"], &answer["next"]), (&value!("precise"), &Value::Null));
        let hit = &answer["hits"][0];
        for (field, want) in [
            ("kind", value!("message")), ("id", value!(1)), ("session_id", value!("s")),
            ("external_id", value!("e1")), ("at", value!("2026-01-31T09:30:00Z")),
            ("role", value!("user")), ("name", value!("Mary")),
            ("snippet", value!("The pomegranate tree needs water")),
            ("highlights", value!([[4, 15], [16, 20]])),
        ] {
            assert_eq!(hit[field], want, "{field}");
        }
        assert!(hit["score"].as_f64().unwrap() > 0.0);
        assert!(hit.get("neighbours").is_none() && hit.get("trace").is_none());
    }

    fn filters_narrow_a_search(space) {
        for (id, source, project) in [("a", "cli", "x"), ("b", "telegram", "y"), ("c", "cron", "x")] {
            run(space, &["session", "new", "--id", id, "--source", source, "--project", project]);
        }
        run(space, &["session", "new", "--id", "a2", "--parent", "a", "--lineage", "branch"]);
        let line = |role: &str, at: &str| format!("{{\"role\":\"{role}\",\"at\":\"{at}\",\"content\":\"a pomegranate\"}}\n");
        append(space, "a", &line("user", "2026-01-10T00:00:00Z"));
        append(space, "b", &line("assistant", "2026-02-10T00:00:00Z"));
        append(space, "c", &line("tool", "2026-03-10T00:00:00Z"));
        append(space, "a2", &line("user", "2026-04-10T00:00:00Z"));
        let of = |args: &[&str]| {
            let found = search(space, &[&["pomegranate"], args].concat());
            ids(&found).into_iter().collect::<BTreeSet<i64>>().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [1, 2, 3, 4]);
        assert_eq!(of(&["--session", "a2"]), [4]);
        assert_eq!(of(&["--source", "telegram"]), [2]);
        assert_eq!(of(&["--source", "telegram", "--source", "cron"]), [2, 3]);
        assert_eq!(of(&["--exclude-source", "cron"]), [1, 2, 4]);
        assert_eq!(of(&["--role", "assistant", "--role", "tool"]), [2, 3]);
        assert_eq!(of(&["--project", "x"]), [1, 3]);
        assert_eq!(of(&["--since", "2026-02-10"]), [2, 3, 4]);
        assert_eq!(of(&["--until", "2026-02"]), [1, 2]);
        assert_eq!(of(&["--until", "2026-02-10T00:00:00Z"]), [1]);
        assert_eq!(of(&["--since", "2026-02", "--until", "2026-03-10"]), [2, 3]);
        assert_eq!(of(&["--exclude-lineage", "a"]), [2, 3]);
        assert_eq!(of(&["--one-per-lineage"]).len(), 3);
        assert_eq!(of(&["source:cli", "project:x"]), [1]);
        assert_eq!(ids(&search(space, &["--role", "tool"])), [3], "filters alone list the newest");
        assert_eq!(run(space, &["search", "pomegranate", "--session", "nobody"]).code, 3);
        for bad in [["--since", "soon"], ["--until", "2026-13"], ["--since", "3d\" x"], ["--limit", "0"],
            ["--limit", "201"], ["--cursor", "nonsense"], ["--sort", "best"], ["--neighbours", "21"], ["--role", ""]] {
            let answer = run(space, &["search", "pomegranate", bad[0], bad[1]]);
            assert_eq!(answer.code, 2, "{bad:?}");
            assert!(answer.out.is_empty() && !answer.err.is_empty());
        }
    }

    fn hits_are_sorted_and_paged_without_loss_or_repetition(space) {
        let texts: Vec<String> = (0..23).map(|n| format!("pomegranate number {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = say(space, "s", &texts);
        let newest: Vec<i64> = all.iter().rev().copied().collect();
        assert_eq!(ids(&search(space, &["pomegranate", "--sort", "newest", "--limit", "50"])), newest);
        assert_eq!(ids(&search(space, &["pomegranate", "--sort", "oldest", "--limit", "50"])), all);
        assert_eq!(search(space, &["pomegranate"])["hits"].as_array().unwrap().len(), 10);
        assert_eq!(pages(space, &["pomegranate", "--sort", "newest"], "5"), newest);
        let mut best = pages(space, &["pomegranate"], "5");
        best.sort_unstable();
        assert_eq!(best, all);
        let mut phrase = pages(space, &["\"pomegranate number\""], "7");
        phrase.sort_unstable();
        assert_eq!(phrase, all);
    }

    fn what_is_said_between_two_pages_does_not_shift_them(space) {
        let texts: Vec<String> = (0..9).map(|n| format!("pomegranate number {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = say(space, "s", &texts);
        let args = ["pomegranate", "--sort", "newest", "--limit", "5"];
        let first = search(space, &args);
        say(space, "s", &["another pomegranate", "and a pomegranate more"]);
        let next = first["next"].as_str().unwrap();
        let second = search(space, &[&args[..], &["--cursor", next]].concat());
        let seen: Vec<i64> = [ids(&first), ids(&second)].concat();
        assert_eq!(seen, all.into_iter().rev().collect::<Vec<_>>());
    }

    fn a_search_can_explain_itself(space) {
        say(space, "s", &["good morning", "the pomegranate tree", "good night"]);
        let hit = search(space, &["pomegranate", "--explain", "--neighbours", "1"])["hits"][0].clone();
        let trace = &hit["trace"];
        let added: f64 = trace["parts"].as_array().unwrap().iter().map(|part| part["added"].as_f64().unwrap()).sum();
        assert!((added - hit["score"].as_f64().unwrap()).abs() < 0.01, "{hit}");
        assert_eq!((&trace["words"][0]["word"], &trace["words"][0]["met"]), (&value!("pomegranate"), &value!(1.0)));
        assert!(trace["from"].as_array().unwrap().contains(&value!("text")));
        assert_eq!(hit["neighbours"][0]["text"], "good morning");
        assert_eq!(hit["neighbours"][1]["text"], "good night");
        let text = run(space, &["search", "pomegranate", "--explain"]).out;
        for word in ["#2", "user", "all words", "good morning", "good night", "value", "weight", "found by"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "colours without a terminal");
        assert!(!run(space, &["search", "pomegranate", "--neighbours", "0"]).out.contains("good night"));
    }

    fn results_are_grouped_by_session_and_show_each_message_once(space) {
        let texts = ["first", "pomegranate one", "pomegranate two", "after", "far", "farther", "pomegranate three", "last"];
        let ids = say(space, "garden", &texts);
        say(space, "kitchen", &["pomegranate cake"]);
        run(space, &["session", "title", "garden", "Garden talk"]);
        let text = run(space, &["search", "pomegranate", "--sort", "oldest"]).out;
        let lines: Vec<&str> = text.lines().collect();
        let head = lines[0].split("  ").collect::<Vec<_>>();
        assert_eq!((head[0], &head[2..]), ("Garden talk", ["garden", "3 hits"].as_slice()), "title, date, id: {text}");
        assert_eq!(head[1].len(), "2026-01-31 12:00".len());
        let shown: Vec<&str> = lines[1..].iter().copied().filter(|line| !line.starts_with('>')).collect();
        // The best hit and the hit beside it share one context; the third hit has none.
        let garden = ["  user: first", "    pomegranate one", "    pomegranate two", "  user: after", "    pomegranate three"];
        assert_eq!(shown[..5], garden, "{text}");
        assert_eq!((shown[5], shown.len()), ("", 8), "one more group: {text}");
        let heads: Vec<bool> = lines.iter().filter(|line| line.starts_with("> 20")).map(|line| line.contains("  user  garden#") || line.contains("  user  kitchen#1")).collect();
        assert_eq!(heads, [true; 4], "a date before the id: {text}");
        let all = run(space, &["search", "pomegranate", "--sort", "oldest", "--neighbours", "1"]).out;
        assert!(all.contains("  user: farther\n> ") && all.contains("\n  user: last\n"), "{all}");
        let flat = search(space, &["pomegranate", "--sort", "oldest", "--neighbours", "1"]);
        assert_eq!(flat["hits"].as_array().unwrap().len(), 4, "JSON stays flat");
        assert_eq!(flat["hits"][0]["neighbours"][1]["id"], ids[2]);
    }

    fn every_script_and_kind_of_word_is_found(space) {
        let texts = [
            "我喜欢石榴树", "ฉันชอบต้นทับทิม", "party 🎉 tonight", "please don't go",
            "see /usr/local/lib/python3/site.py", "upgrade to v1.24.3-rc1 now", "call foo.bar() first",
            "der Öltank ist groß", "Привет, мир", "שלום עולם", "the parseJsonBody function", "naïve café",
        ];
        let all = say(space, "s", &texts);
        for (query, at) in [
            ("石", 0), ("石榴", 0), ("喜欢石榴", 0), ("ทับทิม", 1), ("🎉", 2), ("don't", 3), ("don’t", 3),
            ("/usr/local/lib/python3/site.py", 4), ("site.py", 4), ("v1.24.3-rc1", 5), ("1.24.3", 5),
            ("foo.bar()", 6), ("öltank", 7), ("привет", 8), ("שלום", 9), ("parseJsonBody", 10), ("json body", 10),
            ("cafe", 11), ("*arseJso*", 10), ("/v1\\.2\\d/", 5), ("parseJ*", 10), ("\"call foo.bar() first\"", 6),
        ] {
            assert_eq!(found(space, query).first(), Some(&all[at]), "{query}");
        }
    }

    fn operators_mean_what_they_say(space) {
        let all = say(space, "s", &["red apple", "green apple", "red cherry", "apple red"]);
        let sorted = |query: &str| { let mut ids = found(space, query); ids.sort_unstable(); ids };
        assert_eq!(sorted("\"red apple\""), [all[0]]);
        assert_eq!(sorted("-red apple"), [all[1]]);
        assert_eq!(sorted("apple AND NOT green"), [all[0], all[3]]);
        assert_eq!(sorted("green OR cherry"), [all[1], all[2]]);
        assert_eq!(sorted("(green OR cherry) AND red"), [all[2]]);
        assert_eq!(sorted("che*"), [all[2]]);
        assert_eq!(sorted("/^red/"), [all[0], all[2]]);
    }

    fn bad_input_gets_an_answer_or_a_clear_error(space) {
        say(space, "s", &["a plain message about apples"]);
        let words: String = (0..500).map(|n| format!("word{n} ")).collect();
        for query in ["", " ", "?!...", "\"", "\"unbalanced", "((((", "))", "AND OR NOT", "-", "*", "**", "a:b:c",
            "\u{202e}\u{200b}", "+ - && ||", "role:", "~^$%#@", "\\", "'; DROP TABLE messages;--", "the of and", words.as_str()] {
            let answer = run(space, &["search", "--json", "--", query]);
            assert_eq!(answer.code, 0, "{query:?}: {}", answer.err);
            assert!(answer.json()["hits"].is_array(), "{query:?}");
        }
        for query in ["role:boss apples", "since:soon apples", "/[unclosed/"] {
            let answer = run(space, &["search", "--json", "--", query]);
            assert_eq!((answer.code, answer.error()["kind"].as_str()), (2, Some("invalid")), "{query}");
        }
        let answer = run_with(oneiro(space), &["search", "--json", "-"], "pear ".repeat(220_000).as_bytes());
        assert_eq!((answer.code, answer.error()["kind"].as_str()), (2, Some("too_large")));
        let nul = run_with(oneiro(space), &["search", "--json", "-"], b"apples\0 \0\n");
        assert_eq!(nul.json()["hits"][0]["session_id"], "s");
        assert_eq!(run_with(oneiro(space), &["search", "--json", "-"], b"\xff\xfe").code, 2);
        assert_eq!(run_with(oneiro(space), &["session", "search", "--json", "-"], b"apples\0").code, 0);
    }

    fn nothing_found_is_said_and_is_no_error(space) {
        say(space, "s", &["a plain message"]);
        let answer = run(space, &["search", "/zzz+/"]);
        assert_eq!((answer.code, answer.out.as_str()), (0, ""));
        assert!(answer.err.contains("Nothing found") && answer.err.contains("hint:"), "{}", answer.err);
        let answer = run(space, &["search", "/zzz+/", "--json"]);
        assert_eq!(answer.json(), value!({"found": "none", "tier": null, "hits": [], "next": null}));
        assert!(answer.err.is_empty());
        assert!(run(space, &["search"]).err.contains("no words"));
    }

    fn what_was_rewound_is_not_found_and_what_was_compacted_is(space) {
        let file = space.folder().join("sessions.jsonl");
        let session = value!({"id": "c", "source": "cli", "messages": [
            {"role": "user", "content": "compacted pomegranate 石榴", "visibility": "compacted"},
            {"role": "user", "content": "live pomegranate 石榴"},
            {"role": "user", "content": "rewound pomegranate 石榴", "visibility": "rewound"},
        ]});
        std::fs::write(&file, format!("{session}\n")).unwrap();
        assert_eq!(json(space, &["session", "import", file.to_str().unwrap()])["messages"], 3);
        let ids = say(space, "s", &["first pomegranate 石榴", "second pomegranate 石榴"]);
        run(space, &["session", "rewind", "s", &ids[1].to_string()]);
        let texts = |query: &str, sort: &str| {
            let found = run(space, &["search", "--json", "--sort", sort, "--", query]).json();
            found["hits"].as_array().unwrap().iter()
                .map(|hit| hit["snippet"].as_str().unwrap().split(' ').next().unwrap().to_owned())
                .collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        for query in ["pomegranate", "石榴", "石", "/pomegr.n/", "*megran*", "\"pomegranate 石榴\"", "role:user"] {
            for sort in ["relevance", "newest", "oldest"] {
                assert_eq!(texts(query, sort), ["compacted", "first", "live"], "{query} {sort}");
            }
        }
        run(space, &["session", "restore", "s"]);
        assert!(texts("pomegranate", "relevance").contains(&"second".to_owned()));
        run(space, &["session", "delete", "s", "--yes"]);
        assert_eq!(texts("pomegranate", "relevance"), ["compacted", "live"]);
    }

    fn another_space_is_never_searched(space) {
        let other = TestSpace::new(space.backend);
        let there = |args: &[&str]| {
            let args = [&["--store", &space.store, "--space", other.space.as_str(), "--json"], args].concat();
            run_with(crate::support::bare(), &args, b"")
        };
        assert_eq!(there(&["append", "s", "--create", "--text", "secret pomegranate"]).code, 0);
        say(space, "s", &["a plain message"]);
        assert!(found(space, "/pomegranate/").is_empty());
        assert!(!run(space, &["search", "secret pomegranate", "--json"]).out.contains("secret"));
        assert!(!run(space, &["session", "search", "secret pomegranate", "--json"]).out.contains("secret"));
        assert_eq!(there(&["search", "pomegranate"]).json()["hits"][0]["snippet"], "secret pomegranate");
    }

    fn many_messages_that_match_a_pattern_are_paged_to_the_last(space) {
        let lines: String = (0..1_200).map(|n| format!("{}\n", value!({"role": "user", "content": format!("code X{n}Y")}))).collect();
        run_with(oneiro(space), &["append", "s", "--create", "--json"], lines.as_bytes()).json();
        let mut seen = pages(space, &["/X\\d+Y/"], "150");
        assert_eq!(seen.len(), 1_200);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1_200);
        // The page is filled although the match is far from where reading begins.
        assert_eq!(found(space, "/X7Y/"), [8]);
    }

    fn a_talkative_conversation_does_not_hide_the_others(space) {
        let texts: Vec<String> = (0..1_000).map(|n| format!("pomegranate {n}")).collect();
        say(space, "a", &texts.iter().map(String::as_str).collect::<Vec<_>>());
        for session in ["b", "c"] {
            say(space, session, &["among many other things that have nothing to do with fruit, somebody sells a pomegranate"]);
        }
        let found = search(space, &["pomegranate", "--one-per-lineage"]);
        assert_eq!(found["hits"].as_array().unwrap().len(), 3);
        let found = json(space, &["session", "search", "pomegranate"]);
        assert_eq!(found["conversations"].as_array().unwrap().len(), 3);
    }

    fn sessions_are_searched_in_four_ways(space) {
        run(space, &["session", "new", "--id", "a", "--title", "Garden talk"]);
        let ids = say(space, "a", &["hello", "the pomegranate is red", "bye"]);
        say(space, "b", &["something else"]);
        let discovered = json(space, &["session", "search", "pomegranate"]);
        assert_eq!((&discovered["mode"], &discovered["tier"]), (&value!("discover"), &value!("precise")));
        let one = &discovered["conversations"][0];
        assert_eq!((&one["session"]["id"], &one["hit"]["id"], &one["window"][1]["anchor"]), (&value!("a"), &value!(ids[1]), &value!(true)));
        let titled = json(space, &["session", "search", "garden", "talk"]);
        assert_eq!(titled["conversations"][0]["titled"], true);
        let around = ids[1].to_string();
        let scrolled = json(space, &["session", "search", "--session", "a", "--around", &around, "--window", "1"]);
        assert_eq!((&scrolled["mode"], scrolled["messages"].as_array().unwrap().len()), (&value!("scroll"), 3));
        let read = json(space, &["session", "search", "--read", "Garden talk"]);
        assert_eq!((&read["mode"], &read["session"]["id"], &read["omitted"]), (&value!("read"), &value!("a"), &value!(0)));
        let browsed = json(space, &["session", "search", "--current", "a"]);
        assert_eq!((&browsed["mode"], &browsed["sessions"][0]["id"]), (&value!("browse"), &value!("b")));
        assert_eq!(json(space, &["session", "search", "pomegranate", "--current", "a"])["conversations"], value!([]));
        for (args, words) in [
            (vec!["pomegranate"], vec!["Garden talk  2", "  a  ", "user  #2", "the pomegranate is red", "user: bye", "all words"]),
            (vec!["--session", "a", "--around", &around], vec!["user  #2", "hello", "bye"]),
            (vec!["--read", "a"], vec!["title     Garden talk", "hello", "bye"]),
            (vec![], vec!["id", "Garden talk", "something else"]),
        ] {
            let text = run(space, &[&["session", "search"], args.as_slice()].concat()).out;
            for word in words {
                assert!(text.contains(word), "{args:?} lacks {word}: {text}");
            }
        }
        for (args, code) in [
            (vec!["--session", "a"], 2), (vec!["--around", "1"], 2), (vec!["x", "--read", "a"], 2),
            (vec!["--session", "a", "--around", &around, "--window", "21"], 2),
            (vec!["--session", "b", "--around", &around], 3), (vec!["--read", "nobody"], 3),
            (vec!["pomegranate", "--limit", "11"], 2), (vec!["zzzzqqq", "--role", "tool"], 0),
        ] {
            assert_eq!(run(space, &[&["session", "search"], args.as_slice()].concat()).code, code, "{args:?}");
        }
    }
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let space = &TestSpace::new(Backend::Sqlite);
    say(
        space,
        "s",
        &["before \u{1b}[2J", "a pomegranate\u{1b}[31m red \u{202e}evil", "after \u{7}"],
    );
    for args in [
        vec!["search", "pomegranate"],
        vec!["session", "search", "pomegranate"],
        vec!["session", "search", "--read", "s"],
    ] {
        let text = run(space, &args).out;
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{args:?}: {text:?}");
        assert!(text.contains("pomegranate"));
    }
}
