//! Reads create nothing, removals are confirmed, and old names still work.

use crate::serve_support::Server;
use crate::support::{append, bare, in_space, json, oneiro, run, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::json as value;

/// Commands that read, or change what is there.
const READS: &[&[&str]] = &[
    &["stats"],
    &["search", "x"],
    &["session", "list"],
    &["session", "search", "x"],
    &["session", "show", "s"],
    &["session", "export"],
    &["session", "delete", "s", "--yes"],
    &["session", "end", "s"],
    &["append", "s", "--text", "hello"],
    &["context", "s"],
    &["compact", "s"],
    &["expand", "1"],
    &["summary", "sum_x"],
    &["erase", "s", "--yes"],
    &["jobs"],
    &["doctor"],
    &["token", "list"],
    &["mcp", "--read-only"],
];

#[test]
fn a_read_from_a_folder_without_a_store_creates_nothing() {
    let space = TestSpace::new(Backend::Sqlite);
    let folder = space.folder().join("empty");
    std::fs::create_dir(&folder).unwrap();
    for args in READS {
        let mut command = bare();
        command.args(["--store", folder.to_str().unwrap()]);
        let answer = run_with(command, args, b"");
        assert_eq!(answer.code, 3, "{args:?}: {}", answer.err);
        assert!(answer.err.contains("there is no store at"), "{args:?}: {}", answer.err);
        assert!(answer.err.contains("oneiro setup"), "{args:?}: {}", answer.err);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{args:?}");
    }
}

/// Commands that add something and are refused, with what they read from standard input.
const REFUSED_WRITES: &[(&[&str], &str)] = &[
    (&["session", "import", "no-such-file"], ""),
    (&["session", "import", "-"], "nonsense"),
    (&["session", "new", "--parent", "nobody"], ""),
    (&["session", "new", "--started-at", "soon"], ""),
    (&["append", "s", "--create", "--text", "x", "--role", "usr"], ""),
    (&["append", "s", "--create", "--text", ""], ""),
    (&["append", "s", "--create"], "nonsense"),
    (&["append", "s", "--create", "--stream"], "nonsense"),
    (&["import", "-"], "nonsense"),
    (&["import", "claude-code", "notes.txt"], ""),
    (&["import", "hermes", "no-such-file"], ""),
    (&["token", "create", "--expires", "soon"], ""),
    (&["config", "set", "ignore_session_patterns", "5"], ""),
    (&["pause", "soon"], ""),
    (&["serve", "--listen", "0.0.0.0:0"], ""),
];

#[test]
fn a_refused_write_creates_no_store() {
    let space = TestSpace::new(Backend::Sqlite);
    let folder = space.folder().join("nothing").join("here");
    std::fs::write(space.folder().join("notes.txt"), "not a transcript").unwrap();
    for (args, input) in REFUSED_WRITES {
        let mut command = bare();
        command.current_dir(space.folder()).args(["--store", folder.to_str().unwrap()]);
        let answer = run_with(command, args, input.as_bytes());
        assert!(answer.code > 1, "{args:?}: {} {}", answer.code, answer.err);
        assert!(!folder.parent().unwrap().exists(), "{args:?}: {}", answer.err);
    }
}

#[test]
fn a_server_that_cannot_listen_creates_no_store() {
    let space = TestSpace::new(Backend::Sqlite);
    let folder = space.folder().join("nothing");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = bare();
    command.args(["--store", folder.to_str().unwrap()]);
    let answer = run_with(command, &["serve", "--listen", &address], b"");
    assert_eq!(answer.code, 5, "{}", answer.err);
    assert!(!folder.exists());
}

fn names(space: &TestSpace) -> Vec<String> {
    let list = json(space, &["space", "list"]);
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

on_both_backends! {
    fn a_read_of_a_mistyped_space_is_not_found_and_suggests_the_nearest(space) {
        run(space, &["session", "new", "--id", "s"]);
        let mistyped = format!("{}x", space.space);
        for args in READS {
            let answer = run_with(in_space(space, &mistyped), args, b"");
            assert_eq!(answer.code, 3, "{args:?}: {}", answer.err);
            let suggestion = format!("did you mean {}", space.space);
            assert!(answer.err.contains(&suggestion), "{args:?}: {}", answer.err);
        }
        assert!(!names(space).contains(&mistyped));
        // Its settings are the defaults.
        let shown = run_with(in_space(space, &mistyped), &["config", "show"], b"");
        assert_eq!(shown.code, 0, "{}", shown.err);
        assert!(!names(space).contains(&mistyped));
    }

    fn a_refused_write_creates_no_space(space) {
        run(space, &["session", "new", "--id", "s"]);
        std::fs::write(space.folder().join("notes.txt"), "not a transcript").unwrap();
        let missing = format!("{}x", space.space);
        for (args, input) in REFUSED_WRITES {
            let mut command = in_space(space, &missing);
            command.current_dir(space.folder());
            let answer = run_with(command, args, input.as_bytes());
            assert!(answer.code > 1, "{args:?}: {} {}", answer.code, answer.err);
            assert!(!names(space).contains(&missing), "{args:?}: {}", answer.err);
        }
    }

    fn a_refused_request_creates_no_space(space) {
        let server = Server::start(space, &[]);
        let missing = format!("{}x", space.space);
        let call = |path: &str, body: serde_json::Value| {
            let mut client = server.client().with("Oneiro-Space", &missing);
            client.call("POST", path, Some(&body)).unwrap()
        };
        let hello = value!({"role": "user", "content": "hello"});
        let refused = [
            ("/v1/sessions/s/messages", hello.clone(), 404),
            ("/v1/sessions/s/messages?create=true", value!({"role": "usr"}), 422),
            ("/v1/sessions/s/messages?create=true", value!({"role": "user", "content": ""}), 422),
            ("/v1/sessions/s/messages?create=true&more=1", hello.clone(), 404),
            ("/v1/sessions", value!({"parent_id": "nobody"}), 404),
            ("/v1/sessions", value!({"unknown": 1}), 422),
            ("/v1/tokens", value!({"role": "god"}), 422),
            ("/v1/tokens", value!({"role": "read", "actor": "person"}), 403),
        ];
        for (path, body, status) in refused {
            call(path, body).is(status);
            assert!(!names(space).contains(&missing), "{path}");
        }
        let appended = call("/v1/sessions/s/messages?create=true", hello).is(200);
        assert_eq!(appended["ids"].as_array().unwrap().len(), 1);
        assert!(names(space).contains(&missing));
        server.stop();
        run_with(in_space(space, &missing), &["space", "delete", &missing, "--yes"], b"");
    }

    fn a_space_is_listed_and_deleted_with_confirmation(space) {
        run(space, &["session", "new", "--id", "s"]);
        append(space, "s", r#"{"role":"user","content":"hello"}"#);
        let name = space.space.to_string();
        assert!(names(space).contains(&name));
        let refused = run(space, &["space", "delete", &name]);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("1 session and 1 message"), "{}", refused.err);
        assert!(refused.err.contains("--yes"), "{}", refused.err);
        assert!(names(space).contains(&name));
        assert_eq!(json(space, &["space", "delete", &name, "--yes"])["name"], name.as_str());
        assert!(!names(space).contains(&name));
        assert_eq!(run(space, &["space", "delete", &name, "--yes"]).code, 3);
    }

    fn a_space_that_is_served_is_not_deleted(space) {
        let server = Server::start(space, &[]);
        let answer = run(space, &["space", "delete", space.space.as_str(), "--yes"]);
        assert_eq!(answer.code, 4, "{}", answer.err);
        assert!(answer.err.contains("another process uses"), "{}", answer.err);
        server.call("GET", "/v1/stats", None).is(200);
        server.stop();
        assert_eq!(run(space, &["space", "delete", space.space.as_str(), "--yes"]).code, 0);
    }

    fn without_a_terminal_removal_needs_yes_and_says_what_goes(space) {
        run(space, &["session", "new", "--id", "s", "--title", "Monday"]);
        append(space, "s", "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"b\"}");
        run(space, &["session", "rewind", "s", "--turns", "1"]);
        run(space, &["session", "new", "--id", "d", "--parent", "s", "--lineage", "delegate"]);
        append(space, "d", r#"{"role":"user","content":"c"}"#);
        run(space, &["session", "end", "s"]);
        let what = "session s \"Monday\" and 1 subagent session with 3 messages (1 rewound)";
        let commands: [(&[&str], &str); 5] = [
            (&["session", "delete", "s"], what),
            (&["erase", "s"], what),
            (&["erase", "1", "--message"], "message 1 (user) of session s"),
            (&["session", "delete", "--older-than", "0s"], "2 sessions with 3 messages"),
            (&["session", "prune", "--older-than", "0s"], "2 sessions with 3 messages"),
        ];
        for (args, what) in commands {
            let refused = run(space, args);
            assert_eq!(refused.code, 2, "{args:?}: {}", refused.err);
            assert!(refused.err.contains(what), "{args:?}: {}", refused.err);
            assert!(refused.err.contains("--yes"), "{args:?}: {}", refused.err);
        }
        assert_eq!(json(space, &["session", "list", "--all"])["items"].as_array().unwrap().len(), 2);
        let deleted = json(space, &["session", "delete", "--older-than", "0s", "--yes"]);
        assert_eq!(deleted["sessions"], value!(["s", "d"]));
    }

    fn search_shows_what_is_around_a_message_and_summarises_as_session_search_does(space) {
        run(space, &["session", "new", "--id", "monday"]);
        append(space, "monday", "{\"role\":\"user\",\"content\":\"tea\"}\n{\"role\":\"user\",\"content\":\"milk\"}");
        for (args, old) in [
            (&["search", "--around", "monday#2"][..], &["session", "search", "--around", "monday#2"][..]),
            (&["search", "--around", "#2", "--session", "monday", "--neighbours", "1"],
             &["session", "search", "--around", "#2", "--session", "monday", "--window", "1"]),
            (&["search", "--summarise", "tea"], &["session", "search", "--summarise", "tea"]),
        ] {
            let answer = json(space, args);
            assert_eq!(answer, json(space, old), "{args:?}");
            assert!(answer.to_string().contains("milk"), "{args:?}: {answer}");
        }
        let help = run(space, &["search", "--help"]).out;
        assert!(help.contains("--around") && help.contains("--summarise"), "{help}");
    }

    fn unknown_roles_and_empty_texts_are_refused_at_append(space) {
        run(space, &["session", "new", "--id", "s"]);
        for (args, input, says) in [
            (&["append", "s", "--text", ""][..], "", "is empty"),
            (&["append", "s", "--text", "", "--role", "assistant"], "", "is empty"),
            (&["append", "s", "--text", "hi", "--role", "zebra"], "", "known: system, developer, user"),
            (&["append", "s", "--text", "hi", "--role", "usr"], "", "did you mean user?"),
            (&["search", "hi", "--role", "usr"], "", "did you mean user?"),
            (&["append", "s"], r#"{"role":"user"}"#, "is empty"),
            (&["append", "s"], r#"{"role":"user","content":"","name":"bob"}"#, "is empty"),
            (&["append", "s"], r#"{"role":"user","content":[{"type":"text","text":" "}]}"#, "is empty"),
        ] {
            let answer = run_with(oneiro(space), args, input.as_bytes());
            assert_eq!(answer.code, 2, "{args:?}: {}", answer.err);
            assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        }
        assert_eq!(json(space, &["stats"])["messages"], 0);
    }

    fn over_http_a_read_of_an_unknown_space_is_not_found_and_spaces_are_listed(space) {
        let server = Server::start(space, &[]);
        let missing = format!("{}x", space.space);
        let asked = |method: &str, path: &str, body: Option<&serde_json::Value>| {
            server.client().with("Oneiro-Space", &missing).call(method, path, body).unwrap()
        };
        let problem = asked("GET", "/v1/stats", None).is(404);
        assert!(problem["remedy"].as_str().unwrap().contains(space.space.as_str()), "{problem}");
        asked("POST", "/v1/sessions/s/end", Some(&value!({}))).is(404);
        let listed = |server: &Server| {
            let list = server.call("GET", "/v1/spaces", None).is(200);
            list["items"].as_array().unwrap().iter().any(|item| item["name"] == missing.as_str())
        };
        assert!(!listed(&server));
        asked("POST", "/v1/sessions", Some(&value!({"id": "s"}))).is(201);
        assert!(listed(&server));
        server.stop();
        run_with(in_space(space, &missing), &["space", "delete", &missing, "--yes"], b"");
    }
}

#[test]
fn a_token_sees_its_own_space_only() {
    let space = TestSpace::new(Backend::Sqlite);
    let token = json(&space, &["token", "create"]);
    run_with(in_space(&space, "other"), &["session", "new"], b"");
    let server = Server::start(&space, &[]);
    let seen = |token: Option<&str>| {
        let mut client = server.client();
        if let Some(token) = token {
            client = client.token(token);
        }
        client.call("GET", "/v1/spaces", None).unwrap().is(200)["items"].as_array().unwrap().len()
    };
    assert_eq!((seen(None), seen(token["token"].as_str())), (2, 1));
    server.stop();
}

#[test]
fn the_page_switches_between_spaces_by_a_cookie() {
    let space = TestSpace::new(Backend::Sqlite);
    run_with(in_space(&space, "other"), &["session", "new", "--title", "In the other space"], b"");
    let server = Server::start(&space, &[]);
    let list = server.call("GET", "/spaces", None).text();
    assert!(list.contains("Switch to other"), "{list}");
    let mut client = server.client();
    let body = "space=other";
    let head = format!(
        "POST /space HTTP/1.1\r\nHost: {}\r\nContent-Type: \
         application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    client.send(head.as_bytes()).unwrap();
    let chosen = client.reply("POST").unwrap();
    assert_eq!(chosen.status, 303, "{}", chosen.head);
    let cookie = chosen.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let shown = |cookie: &str| {
        server.client().with("Cookie", cookie).call("GET", "/sessions", None).unwrap()
    };
    assert!(cookie.starts_with(&server.cookie("oneiro_space", "other")), "{cookie}");
    assert!(shown(cookie.split(';').next().unwrap()).text().contains("In the other space"));
    // Browsers send the cookies of all ports of a host.
    for foreign in ["oneiro_space=other", "oneiro_space_1=other"] {
        assert!(!shown(foreign).text().contains("In the other space"), "{foreign}");
    }
    server.stop();
}

#[test]
fn a_damaged_space_is_listed_and_deleted_with_confirmation() {
    let space = TestSpace::new(Backend::Sqlite);
    run(&space, &["session", "new", "--id", "s"]);
    let path = std::path::Path::new(&space.store).join(format!("{}.db", space.space));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100..4_000].fill(0xAA);
    std::fs::write(&path, bytes).unwrap();
    let listed = run(&space, &["space", "list"]);
    assert!(listed.out.contains("damaged"), "{}{}", listed.out, listed.err);
    let refused = run(&space, &["space", "delete", space.space.as_str()]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("which is damaged"), "{}", refused.err);
    assert!(path.exists());
    let deleted = run(&space, &["space", "delete", space.space.as_str(), "--yes"]);
    assert_eq!(deleted.code, 0, "{}", deleted.err);
    assert!(!path.exists());
}

#[test]
fn a_chosen_space_that_cannot_be_shown_is_forgotten_with_a_notice() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &[]);
    for (chosen, reason) in [("gone", "there is no space gone"), ("No", "is not a space name")] {
        let cookie = server.cookie("oneiro_space", chosen);
        let shown = server.client().with("Cookie", &cookie).call("GET", "/sessions", None).unwrap();
        assert_eq!(shown.status, 200, "{}", shown.head);
        assert!(shown.header("set-cookie").unwrap().contains("Max-Age=0"), "{}", shown.head);
        let text = shown.text();
        assert!(text.contains(reason), "{text}");
        assert!(text.contains(&format!("This is space {}.", space.space)), "{text}");
    }
    server.stop();
}
