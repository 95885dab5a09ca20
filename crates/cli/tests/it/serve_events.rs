//! Events: everything once, no matter who did it or how often a listener comes back; and none after
//! its token is gone.

use crate::serve_support::{Listening, Server, Told};
use crate::support::{append, json, run};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::json;
use std::collections::BTreeMap;

fn say(server: &Server, session: &str, text: &str) -> i64 {
    let body = json!({"role": "user", "content": text});
    let path = format!("/v1/sessions/{session}/messages?create=true");
    server.call("POST", &path, Some(&body)).is(200)["ids"][0].as_i64().unwrap()
}

/// How many messages each session was told of.
fn count(told: &[Told]) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for told in told.iter().filter(|told| told.kind == "appended") {
        let session = told.data["session_id"].as_str().unwrap().to_owned();
        *counts.entry(session).or_default() += told.data["count"].as_i64().unwrap();
    }
    counts
}

on_both_backends! {
    fn a_listener_that_comes_back_is_told_everything_once(space) {
        let server = Server::start(space, &[]);
        let first = say(&server, "s0", "before");
        let last = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..6).map(|n| {
                let server = &server;
                scope.spawn(move || {
                    (0..20).map(|m| say(server, &format!("s{n}"), &format!("{m}"))).max().unwrap()
                })
            }).collect();
            // Reconnects after every few events, wherever in a batch that is.
            let (mut told, mut after) = (Vec::new(), Some(format!("{first}.0")));
            let mut seen = BTreeMap::new();
            while seen.values().sum::<i64>() < 120 {
                let mut listening = Listening::begin(server.client(), after.as_deref());
                for _ in 0..3 {
                    let next = listening.next().unwrap().unwrap();
                    after = Some(next.id.clone());
                    told.push(next);
                    seen = count(&told);
                    if seen.values().sum::<i64>() >= 120 {
                        break;
                    }
                }
            }
            let counts: Vec<i64> = seen.into_values().collect();
            assert_eq!(counts, [20; 6]);
            let created = told.iter().filter(|told| told.kind == "created").count();
            assert_eq!(created, 6);
            (writers.into_iter().map(|writer| writer.join().unwrap()).max().unwrap(), after.unwrap())
        });
        // A listener that has seen all of it gets only what comes now.
        let mut listening = Listening::begin(server.client(), Some(&last.1));
        let next = say(&server, "s1", "now");
        assert!(next > last.0);
        assert_eq!(listening.next().unwrap().unwrap().data["first_id"], next);
        server.stop();
    }

    fn what_another_process_does_is_told_and_who_is_too_far_is_told_that(space) {
        let server = Server::start(space, &[]);
        let mut listening = Listening::begin(server.client(), None);
        assert_eq!(json(space, &["session", "new", "--id", "cli"])["id"], "cli");
        append(space, "cli", "{\"role\":\"user\",\"content\":\"x\"}\n");
        run(space, &["session", "end", "cli"]);
        let kinds: Vec<String> =
            (0..3).map(|_| listening.next().unwrap().unwrap().kind).collect();
        for kind in ["created", "appended", "ended"] {
            assert!(kinds.iter().any(|told| told == kind), "{kinds:?}");
        }
        for future in ["900000000.900000000", "900000000.1"] {
            let mut late = Listening::begin(server.client(), Some(future));
            let mut told = late.next().unwrap().unwrap();
            while told.kind != "missed" && future.starts_with("900000000.9") {
                told = late.next().unwrap().unwrap();
            }
            // From here on it hears what happens, and does not wait for a message that never comes.
            let id = say(&server, "cli", "again");
            while told.data["last_id"] != id {
                told = late.next().unwrap().unwrap();
            }
        }
        let bad = server.client().with("Last-Event-ID", "yesterday").call("GET", "/v1/events", None);
        assert_eq!(bad.unwrap().status, 422);
        server.stop();
    }

    fn a_stream_ends_soon_after_its_token_is_revoked(space) {
        let made = json(space, &["token", "create", "--role", "read"]);
        let server = Server::start(space, &["--require-token"]);
        let token = made["token"].as_str().unwrap();
        let mut listening = Listening::begin(server.client().token(token), None);
        run(space, &["token", "revoke", made["id"].as_str().unwrap()]);
        assert_eq!(listening.next().unwrap(), None, "told after the token was revoked");
        let reply = server.client().token(token).call("GET", "/v1/events", None).unwrap();
        assert_eq!(reply.status, 401);
        server.stop();
    }

    fn two_hundred_listeners_hear_it_and_do_not_hold_the_server_back(space) {
        let server = Server::start(space, &[]);
        say(&server, "s", "first");
        let mut listening: Vec<Listening> =
            (0..200).map(|_| Listening::begin(server.client(), None)).collect();
        let id = say(&server, "s", "heard by all");
        for listener in &mut listening {
            assert_eq!(listener.next().unwrap().unwrap().data["last_id"], id);
        }
        assert_eq!(server.call("GET", "/v1/stats", None).status, 200);
        server.stop_without_cutting_off();
        for mut listener in listening {
            assert_eq!(listener.next().unwrap(), None, "a stream did not end as one");
        }
    }
}

#[test]
fn a_listener_that_does_not_listen_does_not_keep_the_server_from_stopping() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &[]);
    let asleep = Listening::begin(server.client(), None);
    // More events than the socket and the channel hold.
    let many: Vec<_> =
        (0..500).map(|n| json!({"role": "user", "content": n.to_string()})).collect();
    let name = "n".repeat(400);
    for n in 0..200 {
        let path = format!("/v1/sessions/{name}{n}/messages?create=true");
        server.call("POST", &path, Some(&json!([many[n], many[n + 1]]))).is(200);
    }
    server.stop_without_cutting_off();
    drop(asleep);
}
