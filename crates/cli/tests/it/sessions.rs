//! `session`: the life of a conversation from a terminal.

use crate::support::{append, json, oneiro, run, run_with};
use oneiro_testkit::on_both_backends;
use serde_json::json as value;

on_both_backends! {
    fn a_session_is_created_once_and_filled_in(space) {
        let first = json(space, &["session", "new", "--id", "s", "--source", "telegram", "--title", " My \t plan "]);
        assert_eq!(first["title"], "My plan");
        let again = json(space, &["session", "new", "--id", "s", "--source", "cli", "--model", "m1", "--title", "Other"]);
        assert_eq!((&again["source"], &again["model"], &again["title"]), (&value!("telegram"), &value!("m1"), &value!("My plan")));
        let third = json(space, &["session", "new", "--id", "s", "--model", "m2", "--metadata", "{\"chat\":7}"]);
        assert_eq!((&third["model"], &third["metadata"]["chat"]), (&value!("m1"), &value!(7)));
    }

    fn awkward_ids_work_everywhere(space) {
        for id in ["a/b c", "it's \"x\"; DROP TABLE sessions;--", "🦀\u{1}\n", "%2F*?", "-dash", "\\"] {
            let id_arg = format!("--id={id}");
            assert_eq!(json(space, &["session", "new", &id_arg])["id"], id);
            let line = "{\"role\":\"user\",\"content\":\"hello\"}\n".as_bytes();
            assert_eq!(run_with(oneiro(space), &["append", "--json", "--", id], line).json()["duplicates"], 0);
            assert_eq!(run(space, &["session", "show", "--json", "--", id]).json()["message_count"], 1);
            let table = run(space, &["session", "list"]);
            assert!(!table.out.contains('\u{1}'), "control characters reached the terminal");
        }
        assert_eq!(json(space, &["session", "list", "--limit", "100"])["items"].as_array().unwrap().len(), 6);
    }

    fn the_first_end_wins_and_can_be_taken_back(space) {
        run(space, &["session", "new", "--id", "s"]);
        assert_eq!(json(space, &["session", "end", "s", "--reason", "one"])["end_reason"], "one");
        assert_eq!(json(space, &["session", "end", "s", "--reason", "two"])["end_reason"], "one");
        let open = json(space, &["session", "reopen", "s"]);
        assert!(open["ended_at"].is_null() && open["end_reason"].is_null());
    }

    fn rewind_and_restore_keep_the_counters_right(space) {
        run(space, &["session", "new", "--id", "s"]);
        let ids = append(space, "s", "{\"role\":\"user\",\"content\":\"one\"}\n\
            {\"role\":\"assistant\",\"content\":\"1\"}\n{\"role\":\"user\",\"content\":\"two\"}\n\
            {\"role\":\"assistant\",\"tool_calls\":[{}]}\n")["ids"].clone();
        let second = ids[2].to_string();
        let points = json(space, &["session", "rewind", "s"]);
        assert_eq!(points["items"][0]["id"], ids[2]);
        let rewound = json(space, &["session", "rewind", "s", &second]);
        assert_eq!((&rewound["rewound"], &rewound["head"]), (&value!(2), &ids[1]));
        let shown = json(space, &["session", "show", "s"]);
        assert_eq!((&shown["message_count"], &shown["tool_call_count"]), (&value!(2), &value!(0)));
        assert_eq!(json(space, &["session", "show", "s", "--all"])["messages"][3]["visibility"], "rewound");
        assert_eq!(run(space, &["session", "rewind", "s", &ids[1].to_string()]).code, 2);
        assert_eq!(run(space, &["session", "rewind", "s", &second]).code, 4);
        assert_eq!(run(space, &["session", "rewind", "s", "999"]).code, 3);
        assert_eq!(json(space, &["session", "restore", "s"])["restored"], 2);
        let shown = json(space, &["session", "show", "s"]);
        assert_eq!((&shown["message_count"], &shown["tool_call_count"]), (&value!(4), &value!(1)));
        assert_eq!(json(space, &["session", "rewind", "s", "--turns", "2"])["rewound"], 4);
        assert_eq!(run(space, &["session", "rewind", "s", "--turns", "1"]).code, 2);
    }

    fn chains_are_listed_as_their_tip(space) {
        run(space, &["session", "new", "--id", "a", "--title", "Trip"]);
        run(space, &["session", "end", "a", "--reason", "compression"]);
        let child = json(space, &["session", "new", "--id", "b", "--parent", "a"]);
        assert_eq!((&child["lineage"], &child["title"]), (&value!("continuation"), &value!("Trip #2")));
        run(space, &["session", "new", "--id", "d", "--parent", "b", "--lineage", "delegate"]);
        let list = json(space, &["session", "list"]);
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
        assert_eq!((&list["items"][0]["id"], &list["items"][0]["root_id"]), (&value!("b"), &value!("a")));
        assert_eq!(json(space, &["session", "list", "--all"])["items"].as_array().unwrap().len(), 3);
        assert_eq!(json(space, &["session", "show", "a", "--tip"])["id"], "b");
        assert_eq!(run(space, &["session", "new", "--id", "a", "--parent", "d"]).code, 2);
        json(space, &["session", "archive", "a"]);
        assert_eq!(json(space, &["session", "list"])["items"], value!([]));
        assert_eq!(json(space, &["session", "list", "--archived"])["items"][0]["id"], "b");
    }

    fn pages_hold_every_session_once(space) {
        for n in 0..7 {
            run(space, &["session", "new", "--id", &format!("s{n}")]);
        }
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..10 {
            let mut args = vec!["session", "list", "--limit", "3"];
            args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
            let page = json(space, &args);
            seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()));
            match page["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(seen, ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]);
        assert_eq!(run(space, &["session", "list", "--cursor", "nonsense"]).code, 2);
    }

    fn sessions_are_found_by_prefix_and_title(space) {
        run(space, &["session", "new", "--id", "20260101_alpha", "--title", "Plan"]);
        run(space, &["session", "new", "--id", "20260102_beta", "--title", "Plan #2"]);
        assert_eq!(json(space, &["session", "show", "20260101"])["id"], "20260101_alpha");
        assert_eq!(json(space, &["session", "show", "Plan"])["id"], "20260102_beta");
        assert_eq!(run(space, &["session", "show", "2026"]).code, 4);
        assert_eq!(run(space, &["session", "show", "2026010_"]).code, 3);
        let taken = run(space, &["session", "title", "20260101", "Plan #2"]);
        assert_eq!(taken.code, 4);
        assert!(taken.err.contains("Plan #3"), "{}", taken.err);
    }

    fn private_spans_are_stored_nowhere(space) {
        let made = json(space, &["session", "new", "--id", "s", "--title", "a <private>PIN1</private>",
            "--system-prompt", "<PRIVATE>PIN2</PRIVATE>", "--metadata", "{\"m\":\"<private >PIN3</private>\"}"]);
        append(space, "s", "{\"role\":\"user\",\"content\":\"<private>PIN4</private>\"}\n");
        let title = json(space, &["session", "title", "s", "b <private>PIN5</private>"]);
        let all = format!("{made}{title}{}", run(space, &["session", "export"]).out);
        assert!(!all.contains("PIN") && all.contains("withheld"), "{all}");
    }

    fn a_pattern_of_punctuation_is_meant_literally(space) {
        run(space, &["session", "new", "--id", "50%", "--title", "Half"]);
        run(space, &["session", "new", "--id", "other", "--title", "C++ notes"]);
        let found = |text: &str| {
            let list = json(space, &["session", "list", "--matching", text]);
            list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("%"), ["50%"]);
        assert_eq!(found("++"), ["other"]);
        assert_eq!(found("cnotes"), ["other"]);
        assert!(found("_").is_empty());
    }

    fn usage_is_added_per_model_and_task(space) {
        run(space, &["session", "new", "--id", "s"]);
        run(space, &["session", "usage", "s", "--model", "m", "--input", "10", "--output", "5", "--actual-cost", "0.000001"]);
        run(space, &["session", "usage", "s", "--model", "m", "--task", "title", "--input", "99"]);
        let session = json(space, &["session", "usage", "s", "--model", "m", "--input", "1"]);
        assert_eq!((&session["input_tokens"], &session["model"], &session["actual_cost_usd"]), (&value!(11), &value!("m"), &value!(0.000001)));
        assert_eq!(json(space, &["session", "usage", "s"])["items"].as_array().unwrap().len(), 2);
        assert_eq!(json(space, &["session", "usage", "s", "--set", "--input", "3"])["input_tokens"], 3);
        assert_eq!(run(space, &["session", "usage", "s", "--input=-3"]).code, 2);
    }
}
