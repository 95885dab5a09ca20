//! Where the server listens, and the spaces behind it.

use crate::serve_support::Server;
use crate::support::{json, oneiro, run};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::json;

#[test]
fn beyond_this_machine_a_token_is_needed_to_begin_with_and_then_asked_for() {
    let space = TestSpace::new(Backend::Sqlite);
    let refused = run(&space, &["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 6, "{}", refused.err);
    let command = format!("oneiro token create --space {}", space.space);
    assert!(refused.err.contains(&command), "{}", refused.err);
    for nonsense in [
        "",
        "here",
        "127.0.0.1",
        "127.0.0.1:99999",
        ":80",
        "1.2.3.4.5:80",
        "[::1",
        "http://127.0.0.1:80",
    ] {
        let answer = run(&space, &["serve", "--listen", nonsense]);
        assert_eq!(answer.code, 2, "{nonsense}: {}", answer.err);
        assert!(answer.err.contains("127.0.0.1:4747"), "{nonsense}: {}", answer.err);
    }
    let made = json(&space, &["token", "create", "--role", "write"]);
    let mut command = oneiro(&space);
    command.args(["serve", "--listen", "0.0.0.0:0", "--json"]);
    let mut server = Server::run(&space, command);
    server.address = server.address.replace("0.0.0.0", "127.0.0.1");
    server.call("GET", "/v1/stats", None).is(401);
    server.call("GET", "/metrics", None).is(401);
    let token = made["token"].as_str().unwrap();
    server.client().token(token).call("GET", "/v1/stats", None).unwrap().is(200);
    // By its own name as well, and by no other.
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for (host, status) in [(name.trim(), 200), ("evil.example", 403)] {
        let mut client = server.client();
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {host}:4747\r\n\r\n");
        client.send(head.as_bytes()).unwrap();
        assert_eq!(client.reply("GET").unwrap().status, status, "{host}");
    }
    let taken = run(&space, &["serve", "--listen", &server.address]);
    assert_eq!(taken.code, 5, "{}", taken.err);
    assert!(taken.err.contains("cannot listen") && taken.err.contains("--listen"), "{}", taken.err);
    server.stop();
}

on_both_backends! {
    fn looking_makes_no_space(space) {
        let server = Server::start(space, &[]);
        let other = TestSpace::new(space.backend);
        let mut client = server.client().with("Oneiro-Space", other.space.as_str());
        let search = json!({"query": "tea"});
        for (method, path, body) in [
            ("GET", "/v1/stats", None), ("GET", "/v1/sessions", None), ("POST", "/v1/search", Some(&search)),
        ] {
            let answer = client.call(method, path, body).unwrap().is(404);
            assert_eq!(answer["kind"], "not_found", "{path}");
        }
        client.call("POST", "/v1/sessions", Some(&json!({"id": "s"}))).unwrap().is(201);
        client.call("GET", "/v1/stats", None).unwrap().is(200);
        server.stop();
    }

    fn forty_spaces_are_used_at_once_and_sixteen_stay_open(space) {
        let server = Server::start(space, &[]);
        // Spaces that go with their test, though a server makes them.
        let spaces: Vec<TestSpace> = (0..40).map(|_| TestSpace::new(space.backend)).collect();
        for round in 0..2 {
            std::thread::scope(|scope| {
                for part in spaces.chunks(5) {
                    let server = &server;
                    scope.spawn(move || {
                        for other in part {
                            let name = other.space.as_str();
                            let mut client = server.client().with("Oneiro-Space", name);
                            let said = json!({"role": "user", "content": format!("said in {name}")});
                            client.call("POST", "/v1/sessions/s/messages?create=true", Some(&said)).unwrap().is(200);
                            let kept = client.call("GET", "/v1/sessions/s", None).unwrap().is(200);
                            assert_eq!(kept["message_count"], round + 1, "{name}");
                            assert!(kept["messages"][0]["content"].as_str().unwrap().ends_with(name));
                        }
                    });
                }
            });
        }
        let text = server.call("GET", "/metrics", None).text();
        let open = text.lines().filter(|line| line.starts_with("oneiro_sessions{")).count();
        assert!((2..=16).contains(&open), "{open} spaces are open");
        server.assert_clean_log();
        server.stop();
    }
}
