//! Load: many clients at once, without an error, in bounded memory; and those who ask for too much
//! are told to wait, alone.
//!
//! `ONEIRO_LOAD_SECONDS` makes it as long as one likes.

use crate::serve_support::{Server, eventually, fresh};
use crate::support::{config, json};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 200;

#[expect(clippy::disallowed_methods, reason = "a test of the binary reads how long it may take")]
fn seconds() -> u64 {
    std::env::var("ONEIRO_LOAD_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

on_both_backends! {
    fn two_hundred_clients_get_no_error_and_take_no_memory_without_end(space) {
        let server = Server::start(space, &[]);
        server.call("POST", "/v1/sessions", Some(&json!({"id": "s0"}))).is(201);
        let descriptors = server.descriptors();
        let deadline = Instant::now() + Duration::from_secs(seconds());
        let (calls, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for n in 0..CLIENTS {
                let (server, calls) = (&server, &calls);
                scope.spawn(move || {
                    let mut client = server.client();
                    for turn in n.. {
                        let session = format!("s{}", n % 20);
                        let said = json!({"role": "user", "content": format!("client {n} turn {turn} apples")});
                        let (method, path, body) = match turn % 4 {
                            0 => ("POST", format!("/v1/sessions/{session}/messages?create=true"), Some(said)),
                            1 => ("POST", "/v1/search".to_owned(), Some(json!({"query": format!("apples {n}")}))),
                            2 => ("GET", "/v1/sessions?limit=20".to_owned(), None),
                            _ => ("GET", "/v1/sessions/s0/messages?limit=20".to_owned(), None),
                        };
                        let reply = client.call(method, &path, body.as_ref())
                            .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
                        assert_eq!(reply.status, 200, "{method} {path}: {}", reply.text());
                        calls.fetch_add(1, Ordering::Relaxed);
                        if Instant::now() > deadline {
                            return;
                        }
                    }
                });
            }
            scope.spawn(|| {
                while Instant::now() < deadline {
                    most.fetch_max(server.resident_mb() as usize, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        });
        assert!(calls.load(Ordering::Relaxed) >= CLIENTS, "nothing was done");
        let most = most.load(Ordering::Relaxed);
        assert!(most < 300, "{most} MB");
        // Every connection is closed by now; the store may keep a few more files open than before.
        eventually("files stay open", || server.descriptors() <= descriptors + 40);
        server.stop();
    }
}

#[test]
fn a_token_past_its_rate_waits_and_others_do_not() {
    let space = TestSpace::new(Backend::Sqlite);
    std::fs::write(config(&space), "rate_limit = 5\n").unwrap();
    let tokens = [0, 1].map(|_| json(&space, &["token", "create", "--role", "read"]));
    let [busy, calm] = tokens.map(|token| token["token"].as_str().unwrap().to_owned());
    let server = Server::start(&space, &[]);
    let ask = |token: &str| server.client().token(token).call("GET", "/v1/jobs", None).unwrap();
    let replies: Vec<_> = (0..40).map(|_| ask(&busy)).collect();
    let late = replies.iter().find(|reply| reply.status == 429).expect("nobody is slowed down");
    assert_eq!(late.json()["kind"], "rate_limited");
    assert!(late.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    assert!(replies.iter().take(5).all(|reply| reply.status == 200));
    assert_eq!(ask(&calm).status, 200);
    eventually("it is slowed down for ever", || ask(&busy).status == 200);
    server.stop();
}

#[test]
fn bad_tokens_slow_down_who_sends_them_and_not_their_neighbours() {
    let space = TestSpace::new(Backend::Sqlite);
    let made = json(&space, &["token", "create", "--role", "read"]);
    let good = made["token"].as_str().unwrap();
    let fresh_one = json(&space, &["token", "create", "--role", "read"]);
    let server = Server::start(&space, &["--require-token"]);
    let ask =
        |token: &str| server.client().token(token).call("GET", "/v1/jobs", None).unwrap().status;
    assert_eq!(ask(good), 200);
    // A program with an old token asks again and again: it waits, and nobody else does.
    let old = format!(
        "{}{}",
        &good[..good.len() - 4],
        if good.ends_with("aaaa") { "bbbb" } else { "aaaa" }
    );
    let statuses: Vec<u16> = (0..40).map(|_| ask(&old)).collect();
    assert_eq!((statuses[0], statuses[39]), (401, 429), "{statuses:?}");
    assert_eq!(ask(fresh_one["token"].as_str().unwrap()), 200, "a neighbour that is new");
    // Somebody guesses: strangers wait, those who have been let in do not.
    let guess = || {
        let letters: String = (0..52).map(|_| char::from(b'a' + (fresh() % 26) as u8)).collect();
        ask(&format!("oneiro_{}_{letters}", space.space))
    };
    let statuses: Vec<u16> = (0..40).map(|_| guess()).collect();
    assert_eq!((statuses[0], statuses[39]), (401, 429), "{statuses:?}");
    assert!(statuses.iter().filter(|status| **status == 401).count() <= 20, "{statuses:?}");
    for _ in 0..20 {
        assert_eq!(ask(good), 200, "a good token is locked out");
    }
    json(&space, &["token", "revoke", made["id"].as_str().unwrap()]);
    assert!(matches!(ask(good), 401 | 429));
    server.stop();
}
