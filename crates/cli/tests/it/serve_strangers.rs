//! Strangers: clients without access cost little and keep nobody else out.

use crate::serve_support::{Client, Server, take_the_one_answered};
use crate::support::json;
use oneiro_testkit::{Backend, TestSpace};
use serde_json::json;
use std::io::{ErrorKind, Read};

/// Nothing times out while a test runs, so that only bounds other than time can help.
const NO_TIMEOUT: [&str; 2] = ["--client-timeout-ms", "600000"];

/// More connections than the server takes at once.
const FLOOD: usize = 1_100;

fn new_token(space: &TestSpace, role: &str) -> String {
    json(space, &["token", "create", "--role", role])["token"].as_str().unwrap().to_owned()
}

/// A request of a stranger that promises 16 MB and sends more than a small body of them.
fn promise_a_large_body(server: &Server, head: &str) -> Client {
    let mut client = server.client();
    let head = format!("{head} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n");
    client.send(head.as_bytes()).unwrap();
    // The server may have closed the connection before all of it was sent.
    let _ = client.send(&vec![b'x'; 128 << 10]);
    client
}

#[test]
fn bodies_of_strangers_take_no_room_from_token_holders() {
    let space = TestSpace::new(Backend::Sqlite);
    let token = new_token(&space, "write");
    let server = Server::start(&space, &[&["--require-token"], NO_TIMEOUT.as_slice()].concat());
    let heads = ["POST /login", "POST /mcp", "POST /v1/search", "POST /v1/sessions/s/messages"];
    let strangers: Vec<Client> =
        heads.iter().cycle().take(80).map(|head| promise_a_large_body(&server, head)).collect();
    let large = json!({"role": "user", "content": "tea ".repeat(300_000)});
    let mut client = server.client().token(&token);
    client.call("POST", "/v1/sessions/s/messages?create=true", Some(&large)).unwrap().is(200);
    drop(strangers);
    // They are refused by their heads alone.
    for (head, status) in heads.iter().zip([413, 401, 401, 401]) {
        let mut client = server.client();
        let head =
            format!("{head} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n");
        client
            .send(
                head.replace("\r\nContent", "\r\nContent-Type: application/json\r\nContent")
                    .as_bytes(),
            )
            .unwrap();
        client.reply("POST").unwrap().is(status);
    }
    server.stop();
}

#[test]
fn readers_and_requests_that_take_no_body_hold_no_room_for_large_bodies() {
    let space = TestSpace::new(Backend::Sqlite);
    let (reader, writer) = (new_token(&space, "read"), new_token(&space, "write"));
    let server = Server::start(&space, &[&["--require-token"], NO_TIMEOUT.as_slice()].concat());
    let promise = |token: &str, (head, bytes): (&str, usize)| {
        let mut client = server.client();
        let head = format!(
            "{head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n"
        );
        client.send(head.as_bytes()).unwrap();
        client
    };
    // Refused by their heads, before anything of the body is there.
    for (token, head, bytes) in [
        (&reader, "POST /v1/search", 65 << 10),
        (&reader, "POST /v1/session-search", 16 << 20),
        (&reader, "POST /mcp", 16 << 20),
        (&reader, "GET /v1/stats", 2 << 10),
        (&writer, "GET /v1/stats", 2 << 10),
        (&writer, "POST /v1/jobs/run", 16 << 20),
        (&writer, "GET /mcp", 16 << 20),
    ] {
        assert_eq!(promise(token, (head, bytes)).reply("POST").unwrap().status, 413, "{head}");
    }
    // What they may send takes none of the room that writers share, whatever it becomes when read:
    // 42 of these would fill it.
    let mut values = vec![b'['];
    values.resize((64 << 10) - 1, b',');
    values.push(b']');
    let waiting: Vec<Client> = (0..60)
        .map(|_| {
            let mut client = promise(&reader, ("POST /v1/search", values.len()));
            client.send(&values).unwrap();
            client
        })
        .collect();
    let large = json!({"role": "user", "content": "tea ".repeat(300_000)});
    let mut client = server.client().token(&writer);
    client.call("POST", "/v1/sessions/s/messages?create=true", Some(&large)).unwrap().is(200);
    for mut client in waiting {
        assert!(matches!(client.reply("POST").unwrap().status, 400 | 503));
    }
    let asked = json!({"query": "tea"});
    let mut client = server.client().token(&reader);
    client.call("POST", "/v1/search", Some(&asked)).unwrap().is(200);
    server.stop();
}

#[test]
fn a_login_form_has_a_few_kilobytes_and_few_are_received_at_once() {
    let space = TestSpace::new(Backend::Sqlite);
    let token = new_token(&space, "read");
    let server = Server::start(&space, &[&["--require-token"], NO_TIMEOUT.as_slice()].concat());
    let form = |text: &str, promised: usize| {
        let mut client = server.client();
        let head = format!(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {promised}\r\n\r\n{text}"
        );
        client.send(head.as_bytes()).unwrap();
        client
    };
    let login = |next: &str| {
        let text = format!("token={token}&next={next}");
        form(&text, text.len()).reply("POST").unwrap()
    };
    assert_eq!(login("%2Fsessions").header("location").as_deref(), Some("/sessions"));
    assert_eq!(form("", 9_000).reply("POST").unwrap().status, 413);
    // Chunks without a length are counted as they come.
    let mut client = server.client();
    client
        .send(b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    client.send(format!("2329\r\n{}\r\n", "x".repeat(9_001)).as_bytes()).unwrap();
    assert_eq!(client.reply("POST").unwrap().status, 413);
    // A client that holds every form keeps others from logging in, and from nothing else.
    let mut held: Vec<Client> = (0..=64).map(|_| form("token=", 1_000)).collect();
    let refused = take_the_one_answered(&mut held).reply("POST").unwrap();
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    server.client().token(&token).call("GET", "/v1/stats", None).unwrap().is(200);
    drop(held);
    crate::serve_support::eventually("nobody can log in", || login("%2F").status == 303);
    server.stop();
}

#[test]
fn a_login_leads_to_a_path_of_this_server_only() {
    let space = TestSpace::new(Backend::Sqlite);
    let token = new_token(&space, "read");
    let server = Server::start(&space, &["--require-token"]);
    for (next, location) in [
        ("/sessions/a%252Fb?at=3", "/sessions/a%2Fb?at=3"),
        ("/%09/evil.example", "/"),
        ("/%0D%0A/evil.example", "/"),
        ("//evil.example", "/"),
        ("/%5Cevil.example", "/"),
        ("/%255Cevil.example", "/"),
        ("/%2509/evil.example", "/"),
        ("https://evil.example", "/"),
        ("/%EF%BC%8Fevil.example", "/"),
        ("/%FF", "/"),
    ] {
        let shown = server.call("GET", &format!("/login?next={next}"), None);
        assert_eq!(shown.status, 200, "{next}");
        let value = format!("name=\"next\" value=\"{location}\"");
        assert!(shown.text().contains(&value), "{next}: {}", shown.text());
        let text = format!("token={token}&next={next}");
        let mut client = server.client();
        let length = text.len();
        let head = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: ";
        client.send(format!("{head}{length}\r\n\r\n{text}").as_bytes()).unwrap();
        let reply = client.reply("POST").unwrap();
        assert_eq!(reply.header("location").as_deref(), Some(location), "{next}");
    }
    server.stop();
}

/// Opens connections that each send these bytes and no more, as many as this process may open.
fn flood(server: &Server, bytes: &[u8]) -> Vec<Client> {
    let mut clients = Vec::with_capacity(FLOOD);
    while clients.len() < FLOOD {
        match Client::connect(&server.address) {
            Ok(mut client) => {
                // The server may close it at once.
                let _ = client.send(bytes);
                clients.push(client);
            }
            Err(error) => {
                // Too many open files: a few are given back for what the test does next.
                assert!(clients.len() > 500, "{error}");
                clients.truncate(clients.len() - 50);
                break;
            }
        }
    }
    clients
}

/// How many of the connections the server has closed.
fn closed(clients: &mut [Client]) -> usize {
    let is_closed = |client: &mut Client| {
        client.stream.get_ref().set_nonblocking(true).unwrap();
        loop {
            match client.stream.read(&mut [0; 4_096]) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != ErrorKind::WouldBlock,
            }
        }
    };
    clients.iter_mut().map(is_closed).filter(|closed| *closed).count()
}

#[test]
fn a_flood_of_half_sent_heads_keeps_nobody_out() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &NO_TIMEOUT);
    let mut regulars: Vec<Client> = (0..200).map(|_| server.client()).collect();
    for client in &mut regulars {
        client.call("GET", "/healthz", None).unwrap().is(200);
    }
    let half = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let mut floods = vec![flood(&server, half)];
    server.call("GET", "/healthz", None).is(200);
    floods.push(flood(&server, b""));
    server.call("GET", "/healthz", None).is(200);
    let said = json!({"role": "user", "content": "tea"});
    server.call("POST", "/v1/sessions/s/messages?create=true", Some(&said)).is(200);
    // Who was there before stays connected.
    for client in &mut regulars {
        client.call("GET", "/healthz", None).unwrap().is(200);
    }
    assert!(floods.iter_mut().map(|flood| closed(flood)).sum::<usize>() > 0);
    server.stop();
}

#[test]
fn a_flood_of_clients_that_ask_once_and_stay_keeps_nobody_out() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &NO_TIMEOUT);
    // Complete requests without a token, each on a connection that then says nothing.
    let mut idle = flood(&server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    server.call("GET", "/healthz", None).is(200);
    let said = json!({"role": "user", "content": "tea"});
    server.call("POST", "/v1/sessions/s/messages?create=true", Some(&said)).is(200);
    assert!(closed(&mut idle) > 0);
    server.stop();
}

#[test]
fn the_limit_on_open_files_is_raised_to_what_the_connections_need() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start_after(&space, "ulimit -S -n 256 && export ONEIRO_LOG=info", &[]);
    let needed = 1_024 + 512;
    assert!(server.open_files_limit() >= needed, "{}", server.open_files_limit());
    assert!(server.log().contains("the limit on open files was raised"), "{}", server.log());
    server.stop();
}

#[test]
fn where_few_files_may_be_open_there_are_fewer_connections_and_files_are_left() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start_after(&space, "ulimit -n 256", &NO_TIMEOUT);
    assert!(server.log().contains("connections=128"), "{}", server.log());
    let half = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let _flood = flood(&server, half);
    let _idle = flood(&server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // A new space needs files of its own.
    let mut client = server.client().with("Oneiro-Space", "another");
    let said = json!({"role": "user", "content": "tea"});
    client.call("POST", "/v1/sessions/s/messages?create=true", Some(&said)).unwrap().is(200);
    assert!(!server.log().contains("a connection was not accepted"), "{}", server.log());
    server.stop();
}
