//! A model that does not answer: it delays those who need it and nobody else, and when they are
//! gone it is asked nothing more for them.

use crate::serve_support::{Client, Server, eventually, is_unanswered, take_the_one_answered};
use crate::silent_model::SilentModel;
use crate::support::{config, json, oneiro};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// As many as the server has threads for calls of the store.
const IN_FLIGHT: usize = 64;

/// Connections to PostgreSQL that a server opens at most.
const POOL: usize = 20;

/// Requests that may call a model at once.
const PERMITS: usize = 4;

/// Requests that may wait for one of those to end.
const QUEUE: usize = 64;

/// A word that is in session `n` alone.
fn marker(n: usize) -> String {
    format!("zulu{n:03}mark")
}

/// Makes sessions 0 to `count` (exclusive), each long enough to be compacted.
fn talk_in_sessions(space: &TestSpace, count: usize) {
    let target = oneiro::Target::parse(&space.store, Some(&space.space)).unwrap();
    let opened = oneiro::Oneiro::open(&target, oneiro::Options::default()).unwrap();
    opened.settings().set("model_chunk_tokens", Some(json!(1))).unwrap();
    for n in 0..count {
        let id = oneiro::SessionId::new(format!("s{n}")).unwrap();
        opened.sessions().create(oneiro::NewSession::with_id(id.clone())).unwrap();
        let message = |turn: usize| {
            let role =
                if turn.is_multiple_of(2) { oneiro::Role::User } else { oneiro::Role::Assistant };
            let words = oneiro_testkit::words(turn as u64 + 1, 60);
            oneiro::NewMessage::text(role, format!("{} box {turn}: {words}", marker(n)))
        };
        opened.messages().append(&id, (0..60).map(message).collect()).unwrap();
    }
}

fn compaction(n: usize) -> (String, Value) {
    (format!("/v1/sessions/s{n}/compact"), json!({"until": 600}))
}

fn summarising_search(n: usize) -> (String, Value) {
    let body = json!({"query": marker(n), "summarise": true, "limit": 1});
    ("/v1/session-search".to_owned(), body)
}

fn summarising_tool_call(n: usize) -> Value {
    let arguments = json!({"query": marker(n), "summarise": true, "limit": 1});
    json!({
        "jsonrpc": "2.0", "id": n, "method": "tools/call",
        "params": {"name": "session_search", "arguments": arguments},
    })
}

/// Sends a request and does not wait for its answer.
fn send(mut client: Client, token: Option<&str>, (path, body): &(String, Value)) -> Client {
    let body = body.to_string();
    let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{token}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    client.send((head + &body).as_bytes()).unwrap();
    client
}

/// Others are answered while every one of these requests waits; when their clients are gone, the
/// model is asked nothing more for them.
fn assert_others_go_on(
    server: &Server,
    model: &SilentModel,
    (token, requests): (Option<&str>, &[(String, Value)]),
    space: &TestSpace,
) {
    let sockets = server.sockets();
    let (last, waiting) = requests.split_last().unwrap();
    let clients: Vec<Client> =
        waiting.iter().map(|request| send(server.client(), token, request)).collect();
    model.wait_for_requests(PERMITS);
    let call = |method: &str, path: &str, body: Option<&Value>| {
        let mut client = match token {
            Some(token) => server.client().token(token),
            None => server.client(),
        };
        client.call(method, path, body).unwrap().is(200)
    };
    call("GET", "/healthz", None);
    call("POST", "/v1/search", Some(&json!({"query": "box"})));
    call("POST", "/v1/session-search", Some(&json!({"query": "box"})));
    call("GET", "/v1/sessions/s0/context?budget=4000&peek=true", None);
    if token.is_none() {
        let said = json!({"role": "user", "content": "tea"});
        call("POST", "/v1/sessions/other/messages?create=true", Some(&said));
    }
    assert!(clients.iter().all(is_unanswered), "{}", server.log());
    assert_eq!(model.requests().len(), PERMITS);
    drop(clients);
    // Those to the model stay until it answers, and those to the database.
    let pool = if space.backend == Backend::Sqlite { 0 } else { POOL };
    eventually("connections stay", || server.sockets() <= sockets + PERMITS + pool);
    model.answer_all();
    // It waits behind all that came before it, had they not been cancelled.
    let client = send(server.client(), token, last);
    model.wait_for_requests(PERMITS + 1);
    let asked = model.requests().split_off(PERMITS);
    let of_last = marker(waiting.len());
    assert!(asked.iter().all(|request| request.contains(&of_last)), "{asked:?}");
    drop(client);
}

on_both_backends! {
    fn compactions_with_a_silent_model_hold_up_nobody_else(space) {
        let model = SilentModel::start();
        model.configure(space);
        talk_in_sessions(space, IN_FLIGHT + 1);
        let server = Server::start(space, &[]);
        let requests: Vec<_> = (0..=IN_FLIGHT).map(compaction).collect();
        assert_others_go_on(&server, &model, (None, &requests), space);
        server.assert_clean_log();
    }
}

/// The model answers nothing until the server has ended, so the end did not wait for it; and no
/// lease is left behind that the next process would have to wait for.
#[test]
fn a_stop_waits_for_no_silent_model_and_the_next_process_goes_on_at_once() {
    let space = TestSpace::new(Backend::Sqlite);
    let model = SilentModel::start();
    model.configure(&space);
    talk_in_sessions(&space, PERMITS);
    let server = Server::start(&space, &[]);
    let clients: Vec<Client> =
        (0..PERMITS).map(|n| send(server.client(), None, &compaction(n))).collect();
    model.wait_for_requests(PERMITS);
    server.stop();
    assert_eq!(model.requests().len(), PERMITS);
    drop(clients);
    std::fs::write(config(&space), "").unwrap();
    for n in 0..PERMITS {
        let compacted = json(&space, &["compact", &format!("s{n}"), "--until", "600"]);
        assert!(!compacted["created"].as_array().unwrap().is_empty(), "{compacted}");
    }
}

on_both_backends! {
    fn a_compaction_of_a_killed_process_is_begun_anew_before_its_lease_ends(space) {
        let model = SilentModel::start();
        model.configure(space);
        talk_in_sessions(space, 1);
        let mut server = Server::start(space, &[]);
        let _client = send(server.client(), None, &compaction(0));
        model.wait_for_requests(1);
        server.signal("-KILL");
        server.wait();
        std::fs::write(config(space), "").unwrap();
        let compacted = json(space, &["compact", "s0", "--until", "600"]);
        assert!(!compacted["created"].as_array().unwrap().is_empty(), "{compacted}");
    }
}

#[test]
fn summaries_asked_for_by_a_read_token_hold_up_nobody_else() {
    let space = TestSpace::new(Backend::Sqlite);
    let model = SilentModel::start();
    model.configure(&space);
    talk_in_sessions(&space, IN_FLIGHT + 1);
    let made = json(&space, &["token", "create", "--role", "read"]);
    let token = made["token"].as_str().unwrap();
    let server = Server::start(&space, &["--require-token"]);
    let by_api = (0..IN_FLIGHT / 2).map(summarising_search);
    let by_mcp = (IN_FLIGHT / 2..=IN_FLIGHT).map(|n| ("/mcp".to_owned(), summarising_tool_call(n)));
    let requests: Vec<_> = by_api.chain(by_mcp).collect();
    assert_others_go_on(&server, &model, (Some(token), &requests), &space);
    server.assert_clean_log();
}

#[test]
fn requests_beyond_the_queue_for_the_model_are_refused_at_once() {
    let space = TestSpace::new(Backend::Sqlite);
    let model = SilentModel::start();
    model.configure(&space);
    talk_in_sessions(&space, PERMITS);
    let server = Server::start(&space, &[]);
    // Those who run, then one more than may wait in line; which one is refused is left open.
    let mut clients: Vec<Client> =
        (0..PERMITS).map(|n| send(server.client(), None, &compaction(n))).collect();
    model.wait_for_requests(PERMITS);
    clients.extend((0..=QUEUE).map(|_| send(server.client(), None, &compaction(0))));
    let mut refused = take_the_one_answered(&mut clients);
    let refused = refused.reply("POST").unwrap();
    assert_eq!(refused.is(503)["kind"], "busy");
    assert!(refused.header("retry-after").is_some());
    server.call("GET", "/healthz", None).is(200);
    assert!(clients.iter().all(is_unanswered));
    drop(clients);
    server.assert_clean_log();
}

#[test]
fn calls_over_standard_input_are_cancelled_by_their_client() {
    let space = TestSpace::new(Backend::Sqlite);
    let model = SilentModel::start();
    model.configure(&space);
    let calls = 8;
    talk_in_sessions(&space, calls + 1);
    let mut command: Command = oneiro(&space);
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let mut answer = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    say(json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }}));
    assert_eq!(answer()["id"], "first");
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (0..calls).for_each(|n| say(summarising_tool_call(n)));
    model.wait_for_requests(PERMITS);
    // Every other tool goes on.
    let status = json!({"name": "memory_status", "arguments": {}});
    say(json!({"jsonrpc": "2.0", "id": "status", "method": "tools/call", "params": status}));
    assert_eq!(answer()["id"], "status");
    assert_eq!(model.requests().len(), PERMITS);
    for n in 0..calls {
        let params = json!({"requestId": n, "reason": "the user went on"});
        say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    let status = json!({"name": "memory_status", "arguments": {}});
    say(json!({"jsonrpc": "2.0", "id": "again", "method": "tools/call", "params": status}));
    assert_eq!(answer()["id"], "again");
    model.answer_all();
    say(summarising_tool_call(calls));
    model.wait_for_requests(PERMITS + 1);
    let asked = model.requests().split_off(PERMITS);
    assert!(asked.iter().all(|request| request.contains(&marker(calls))), "{asked:?}");
    drop(input);
    child.wait().unwrap();
}
