//! `mcp`: a client on standard input and output, its mistakes, and its going away.

use crate::support::{append, oneiro, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    fn start(space: &TestSpace) -> Client {
        let mut child = oneiro(space)
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Client { child, stdin, stdout }
    }

    /// Starts and shakes hands.
    fn connected(space: &TestSpace) -> Client {
        let mut client = Client::start(space);
        assert_eq!(client.call(initialize("2025-06-18"))["id"], "init");
        client
    }

    fn line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn call(&mut self, message: Value) -> Value {
        self.line(&message.to_string());
        self.answer()
    }

    fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    request("init", "initialize", params)
}

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn append_tea(space: &TestSpace) {
    let made = run_with(oneiro(space), &["session", "new", "--id", "monday"], b"");
    assert_eq!(made.code, 0, "{}", made.err);
    append(space, "monday", "{\"role\":\"user\",\"content\":\"the tea is in the blue tin\"}");
}

on_both_backends! {
    fn it_answers_and_ends_with_its_input(space) {
        append_tea(space);
        let mut client = Client::connected(space);
        let found = client.call(call(7, "session_search", json!({"query": "tea"})));
        let sessions = &found["result"]["structuredContent"]["sessions"];
        assert_eq!(sessions[0]["session_id"], "monday", "{found}");
        // What was asked before the input ended is answered.
        client.line(&call("last", "memory_status", json!({})).to_string());
        client.stdin.take();
        assert_eq!(client.answer()["id"], "last");
        assert_eq!(client.code(), Some(0));
    }

    fn it_ends_on_each_signal(space) {
        for signal in ["-TERM", "-INT"] {
            let mut client = Client::connected(space);
            let id = client.child.id().to_string();
            Command::new("kill").args([signal, &id]).status().unwrap();
            assert_eq!(client.code(), Some(0), "{signal}");
        }
    }
}

#[test]
fn a_client_that_vanishes_is_not_waited_for() {
    let space = TestSpace::new(Backend::Sqlite);
    append_tea(&space);
    let Client { mut child, stdin, stdout } = Client::connected(&space);
    drop(stdout);
    // Its input stays open: that nobody reads must be enough.
    let mut stdin = stdin.unwrap();
    writeln!(stdin, "{}", call(1, "session_search", json!({"query": "tea"}))).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(stdin);
}

#[test]
fn a_client_that_hangs_up_at_once_is_no_error() {
    let space = TestSpace::new(Backend::Sqlite);
    let answer = run_with(oneiro(&space), &["mcp"], b"");
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{}", answer.err);
}

#[test]
fn lines_that_are_no_messages_are_answered_and_forgotten() {
    let space = TestSpace::new(Backend::Sqlite);
    let mut client = Client::start(&space);
    // A notification before anything was asked for is none of our business.
    client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    client.line("");
    let deep = "[".repeat(10_000);
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(17 << 20));
    for (line, code) in [
        ("not json", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", -32700),
        (deep.as_str(), -32700),
        ("[]", -32600),
        ("5", -32600),
        ("{\"id\":1,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600),
        (long.as_str(), -32600),
    ] {
        client.line(line);
        let answer = client.answer();
        let shown: String = line.chars().take(60).collect();
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
    }
    assert_eq!(client.call(request(1, "ping", json!({})))["result"], json!({}));
    assert_eq!(client.call(initialize("2025-06-18"))["id"], "init");
    for (message, code) in [
        (request("a", "nope", json!({})), -32601),
        (request(-5, "tools/call", json!({"name": 5})), -32602),
        (request(i64::MAX, "tools/call", json!({"name": "no_such_tool"})), -32602),
        (request("", "tools/list", json!({"cursor": "x"})), -32602),
    ] {
        let answer = client.call(message.clone());
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["id"], message["id"], "{answer}");
    }
    assert!(client.call(request(2, "tools/list", json!({})))["result"]["tools"].is_array());
}

#[test]
fn a_batch_is_answered_in_one_line() {
    let space = TestSpace::new(Backend::Sqlite);
    let mut client = Client::start(&space);
    assert_eq!(client.call(initialize("2025-03-26"))["result"]["protocolVersion"], "2025-03-26");
    client.line("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]");
    let batch = json!([
        request(1, "ping", json!({})),
        call(2, "memory_status", json!({})),
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        "nonsense",
    ]);
    let answers = client.call(batch);
    let mut ids: Vec<String> =
        answers.as_array().unwrap().iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "null"], "{answers}");
}

#[test]
fn what_is_cancelled_holds_up_nothing() {
    let space = TestSpace::new(Backend::Sqlite);
    append_tea(&space);
    let mut client = Client::connected(&space);
    for id in 0..20 {
        client.line(&call(id, "session_search", json!({"query": "tea"})).to_string());
        let cancelled = json!({"requestId": id, "reason": "changed my mind"});
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled});
        client.line(&message.to_string());
    }
    client.line(&request("after", "ping", json!({})).to_string());
    // Some may have been answered before they were cancelled; the ping is answered in any case.
    while client.answer()["id"] != "after" {}
    client.stdin.take();
    assert_eq!(client.code(), Some(0));
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output() {
    let space = TestSpace::new(Backend::Sqlite);
    run_with(oneiro(&space), &["session", "new"], b"");
    let input = format!("{}\nnot json\n{}\n", initialize("1999-01-01"), call(1, "x", json!({})));
    for args in [&["mcp"][..], &["mcp", "--read-only"], &["mcp", "--json"]] {
        let answer = run_with(oneiro(&space), args, input.as_bytes());
        assert_eq!(answer.code, 0, "{}", answer.err);
        let lines: Vec<Value> =
            answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3, "{}", answer.out);
        // A version that nobody knows is answered with the newest that shakes hands.
        let version = lines.iter().find_map(|line| line["result"]["protocolVersion"].as_str());
        assert_eq!(version, Some("2025-11-25"));
    }
}
