//! Messages by their place in a session, from a terminal and over HTTP, in a space where ids do not
//! begin with the session.

use crate::serve_support::Server;
use crate::support::{append, json, run};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json as value};

/// Other sessions first, then `monday` with four messages; their ids.
fn monday_among_others(space: &TestSpace) -> Vec<i64> {
    let line = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n");
    run(space, &["session", "new", "--id", "other"]);
    append(space, "other", &line("user", "something else").repeat(20));
    run(space, &["session", "new", "--id", "monday"]);
    let said = [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four")];
    let lines: String = said.iter().map(|(role, text)| line(role, text)).collect();
    let ids = append(space, "monday", &lines)["ids"].clone();
    ids.as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

fn ids(messages: &Value) -> Vec<i64> {
    messages.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

on_both_backends! {
    fn every_command_that_takes_a_message_takes_its_place(space) {
        let said = monday_among_others(space);
        for around in [&["--session", "monday", "--around", "#3"][..], &["--around", "monday#3"]] {
            let args = [&["session", "search", "--window", "1"], around].concat();
            assert_eq!(ids(&json(space, &args)["messages"]), said[1..]);
        }
        assert_eq!(ids(&json(space, &["expand", "monday#2-3"])["messages"]), said[1..3]);
        for pin in [&["monday#2"][..], &["monday", "#3"], &["monday", "monday#4"]] {
            assert_eq!(json(space, &[&["session", "pin"], pin].concat())["pinned"], true);
        }
        assert_eq!(ids(&json(space, &["session", "pins", "monday"])["items"]), said[1..]);
        assert_eq!(json(space, &["session", "unpin", "monday#2"])["changed"], true);
        for (branch, args) in [("tuesday", &["monday#2"][..]), ("friday", &["monday", "--at", "#2"])] {
            let args = [&["session", "branch", "--id", branch], args].concat();
            assert_eq!(json(space, &args)["message_count"], 2);
        }
        assert_eq!(json(space, &["session", "rewind", "monday#3"])["target"]["id"], said[2]);
        run(space, &["session", "restore", "monday"]);
        assert_eq!(json(space, &["session", "rewind", "monday", "--to", "monday#3"])["rewound"], 2);
        let erased = json(space, &["erase", "monday#1", "--yes"]);
        assert_eq!(erased["id"], said[0].to_string());
        assert_eq!(json(space, &["erase", "--message", "monday#1", "--yes"])["id"], said[1].to_string());
    }

    fn what_is_shown_can_be_typed(space) {
        monday_among_others(space);
        assert_eq!(json(space, &["session", "rewind", "monday#3"])["rewound"], 2);
        let all = run(space, &["session", "show", "monday", "--all"]).out;
        for head in ["\n#1 user  ", "\n#2 assistant  ", "\n#3 user  ", "\n#4 assistant  "] {
            assert!(all.contains(head), "{head:?}: {all}");
        }
        let points = run(space, &["session", "rewind", "monday"]).out;
        assert!(points.starts_with("monday#1  "), "{points}");
        assert!(run(space, &["expand", "monday#2"]).out.starts_with("monday#2 assistant  "));
        let scrolled = run(space, &["session", "search", "--around", "monday#2"]).out;
        assert!(scrolled.contains("> #2 ") || scrolled.contains("  #2\n"), "{scrolled}");
    }

    fn a_place_that_is_not_there_is_refused_with_what_to_do(space) {
        monday_among_others(space);
        for (args, code, says) in [
            (&["session", "rewind", "monday#9"][..], 3, "session \"monday\" has 4 messages"),
            (&["session", "pin", "monday#9"], 3, "give a place from 1, the oldest, to 4"),
            (&["session", "pin", "monday"], 2, "or its place as monday#1"),
            (&["session", "rewind", "monday", "3"], 3, "SESSION#3 is the third of a session"),
            (&["session", "rewind", "monday", "three"], 2, "write a message id (12) or"),
            (&["session", "branch", "sunday#1"], 3, "there is no session \"sunday\""),
            (&["expand", "#3"], 2, "write the session before it: SESSION#3"),
        ] {
            let answer = run(space, args);
            assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
            assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        }
    }

    fn a_place_comes_before_a_prefix_and_after_a_whole_id(space) {
        monday_among_others(space);
        run(space, &["session", "new", "--id", "monday#30"]);
        let branched = json(space, &["session", "branch", "monday#3", "--id", "of-monday"]);
        assert_eq!((branched["parent_id"].as_str(), &branched["message_count"]), (Some("monday"), &value!(3)));
        let branched = json(space, &["session", "branch", "monday#30", "--id", "of-other"]);
        assert_eq!(branched["parent_id"], "monday#30");
    }

    fn paths_queries_and_bodies_over_http_take_a_place(space) {
        let said = monday_among_others(space);
        let server = Server::start(space, &[]);
        let call = |method: &str, path: &str, body: Value| {
            server.call(method, path, (!body.is_null()).then_some(&body)).is(200)
        };
        for path in ["/v1/messages/monday%233", "/v1/messages/%233?session=monday"] {
            assert_eq!(call("GET", path, Value::Null)["id"], said[2]);
        }
        let pinned = call("PUT", "/v1/sessions/monday/pins/%232", Value::Null);
        assert_eq!(ids(&pinned["items"]), said[1..2]);
        let expanded = call("GET", "/v1/sessions/monday/expand?id=%232-3", Value::Null);
        assert_eq!(ids(&expanded["messages"]), said[1..3]);
        for around in [value!("monday#3"), value!(said[2].to_string()), value!(said[2])] {
            let session = if around == "monday#3" { Value::Null } else { value!("monday") };
            let body = value!({"session": session, "around": around, "window": 1});
            let found = call("POST", "/v1/session-search", body);
            assert_eq!(ids(&found["messages"]), said[1..]);
        }
        let rewound = call("POST", "/v1/sessions/monday/rewind", value!({"to": "#3"}));
        assert_eq!(rewound["target"]["id"], said[2]);
        let erased = call("POST", "/v1/erasures", value!({"message": "monday#1"}));
        assert_eq!(erased["id"], said[0].to_string());
        let missing = server.call("GET", "/v1/messages/monday%239", None).is(404);
        assert!(missing["detail"].as_str().unwrap().contains("has 3 messages"), "{missing}");
        server.stop();
    }
}
