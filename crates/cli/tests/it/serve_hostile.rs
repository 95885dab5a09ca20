//! Hostile bytes: whatever is sent, the answer is well-formed HTTP, no 5xx, and the server stays up.

use crate::serve_api::{Names, document, endpoints};
use crate::serve_support::{Client, Reply, Server};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json};

/// A server that does not wait long for the rest of what will never be whole.
fn start(space: &TestSpace) -> Server {
    Server::start(space, &["--client-timeout-ms", "1500"])
}

/// Sends bytes as they are and reads whatever comes back until the end.
fn raw(server: &Server, bytes: &[u8]) -> Vec<Reply> {
    let mut client = server.client();
    // The server may have heard enough before everything is sent.
    let _ = client.send(bytes);
    let method = if bytes.starts_with(b"HEAD") { "HEAD" } else { "GET" };
    let mut replies = Vec::new();
    while let Ok(reply) = client.reply(method) {
        replies.push(reply);
    }
    replies
}

fn one(server: &Server, bytes: &[u8]) -> Reply {
    let replies = raw(server, bytes);
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    assert_eq!(replies.len(), 1, "{shown}: {replies:?}");
    assert!(replies[0].status < 500, "{shown}: {}{}", replies[0].head, replies[0].text());
    replies[0].clone()
}

/// A problem, unless the bytes are so wrong that HTTP itself refuses them.
fn refused(server: &Server, bytes: &[u8]) -> u16 {
    let reply = one(server, bytes);
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    assert!(reply.status >= 400, "{shown}: {}", reply.head);
    if !reply.body.is_empty() {
        assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
        assert_eq!(reply.json()["status"], reply.status, "{shown}");
    }
    reply.status
}

fn with_body(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn get(line: &str, headers: &str) -> Vec<u8> {
    format!("{line}\r\n{headers}Connection: close\r\n\r\n").into_bytes()
}

const JSON: &str = "Content-Type: application/json\r\n";
const HOST: &str = "Host: localhost\r\n";

#[test]
fn heads_of_every_kind_are_answered_or_refused() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = start(&space);
    let long = "a".repeat(200_000);
    let cases: Vec<(Vec<u8>, &[u16])> = vec![
        (get("GET /healthz HTTP/1.0", HOST), &[200]),
        (get("GET /healthz HTTP/1.0", ""), &[400]),
        (get("GET /healthz HTTP/1.1", ""), &[400]),
        (get("GET /healthz HTTP/1.1", "Host: localhost\r\nHost: evil\r\n"), &[400]),
        (get("GET http://localhost/healthz HTTP/1.1", HOST), &[200]),
        (get("GET http://evil.example/healthz HTTP/1.1", HOST), &[403]),
        (get("GET /healthz HTTP/1.1", "Host: evil.example\r\n"), &[403]),
        (get("OPTIONS * HTTP/1.1", HOST), &[404, 405]),
        (get("CONNECT evil.example:80 HTTP/1.1", HOST), &[403, 404, 405]),
        (get("CONNECT localhost:80 HTTP/1.1", HOST), &[404, 405]),
        (get("TRACE /healthz HTTP/1.1", HOST), &[405]),
        (get("BREW /v1/sessions HTTP/1.1", HOST), &[405]),
        (get("PRI * HTTP/2.0", ""), &[400, 405, 505]),
        (get("GET /healthz HTTP/3.7", HOST), &[400, 505]),
        (get("GET  /healthz HTTP/1.1", HOST), &[400]),
        (get("nonsense", ""), &[400]),
        (b"\0\0\0\r\n\r\n".to_vec(), &[400]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20), &[400]),
        (get("GET /healthz HTTP/1.1", "Host: localhost\r\nX: a\0b\r\n"), &[400]),
        (get("GET /healthz HTTP/1.1", "Host: localhost\r\n folded: x\r\n"), &[400]),
        (get(&format!("GET /{long} HTTP/1.1"), HOST), &[414, 431]),
        (get("GET /healthz HTTP/1.1", &format!("Host: localhost\r\nX: {long}\r\n")), &[431]),
        (get("GET /healthz HTTP/1.1", &format!("{HOST}{}", "X: y\r\n".repeat(200))), &[431]),
        (get("GET /..%2f..%2fetc/passwd HTTP/1.1", HOST), &[404]),
        (get("GET /../../etc/passwd HTTP/1.1", HOST), &[404]),
        (get("GET //etc//passwd HTTP/1.1", HOST), &[404]),
        (get("GET /v1/sessions/%00 HTTP/1.1", HOST), &[400, 404, 422]),
        (get("GET /v1/sessions/%ff HTTP/1.1", HOST), &[400]),
        (get("GET /v1/sessions/%zz HTTP/1.1", HOST), &[400, 404]),
        (get("GET /v1/sessions/..%2f..%2fetc%2fpasswd HTTP/1.1", HOST), &[404]),
        (get("GET /v1/sessions/%2e%2e/messages HTTP/1.1", HOST), &[404]),
        (get("GET /v1/sessions?q=%ff HTTP/1.1", HOST), &[400]),
        (get("GET /v1/sessions?q=% HTTP/1.1", HOST), &[400]),
        (
            get("GET /v1/sessions?cursor=9223372036854775807.9223372036854775807 HTTP/1.1", HOST),
            &[200],
        ),
        (
            get("GET /v1/sessions?cursor=-9223372036854775808.-9223372036854775808 HTTP/1.1", HOST),
            &[200, 400, 422],
        ),
        (get("GET /v1/events HTTP/1.1", &format!("{HOST}Last-Event-ID: \u{e9}\r\n")), &[400, 422]),
        (get("GET /v1/stats HTTP/1.1", &format!("{HOST}Oneiro-Space: ../../etc\r\n")), &[400, 422]),
        (get("GET /v1/stats HTTP/1.1", &format!("{HOST}Authorization: \u{e9}\r\n")), &[400, 401]),
    ];
    for (bytes, expected) in cases {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
        let status = if expected.contains(&200) {
            one(&server, &bytes).status
        } else {
            refused(&server, &bytes)
        };
        assert!(expected.contains(&status), "{shown}: {status}");
    }
    // A raw byte beyond ASCII in a path is not HTTP, and is refused or not found, not a fault.
    refused(
        &server,
        b"GET /v1/sessions/\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    refused(
        &server,
        b"GET /v1/sessions?q=\xff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    server.call("GET", "/healthz", None).is(200);
    server.stop();
}

#[test]
fn smuggled_pipelined_and_expected_requests_are_told_apart() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = start(&space);
    let path = "/v1/sessions/s/messages?create=true";
    // Both a length and chunks: one request at most is answered, and what hides in it never runs.
    let hidden = "DELETE /v1/sessions/s HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for te in ["chunked", "chunked, identity", "identity, chunked", "xchunked", "\u{b}chunked"] {
        let body = format!("0\r\n\r\n{hidden}");
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}Transfer-Encoding: {te}\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let replies = raw(&server, (head + &body).as_bytes());
        assert!(replies[0].status >= 400, "{te}: {replies:?}");
        assert!(replies.len() == 1 || te != "chunked", "{te}: {replies:?}");
    }
    let two = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{{}}"
    );
    assert_eq!(refused(&server, two.as_bytes()), 400);
    for length in ["-1", "+2", "0x10", "2, 40", "99999999999999999999"] {
        let bad = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: {length}\r\n\r\n{{}}"
        );
        assert!(matches!(refused(&server, bad.as_bytes()), 400 | 413), "{length}");
    }
    // Many requests at once are answered in order.
    let said = |n: usize| format!(r#"{{"role":"user","content":"pipelined {n}"}}"#);
    let many: String = (0..20)
        .map(|n| {
            let body = said(n);
            format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
        })
        .collect();
    let ids: Vec<i64> = raw(&server, many.as_bytes())
        .iter()
        .map(|reply| reply.is(200)["ids"][0].as_i64().unwrap())
        .collect();
    assert_eq!(ids.len(), 20);
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    // Who waits to be asked for the body is asked, or told before sending it that it is too much.
    let mut client = server.client();
    let body = said(99);
    let expecting = |length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    client.send(expecting(body.len()).as_bytes()).unwrap();
    let mut first = [0; 25];
    std::io::Read::read_exact(&mut client.stream, &mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body.as_bytes()).unwrap();
    client.reply("POST").unwrap().is(200);
    let mut client = server.client();
    client.send(expecting(1 << 30).as_bytes()).unwrap();
    client.reply("POST").unwrap().is(413);
    server.stop();
}

on_both_backends! {
    fn bodies_of_every_kind_are_taken_or_refused(space) {
        let server = Server::start(space, &[]);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let nested = format!(r#"{{"role":"user","content":"x","a":{}1{}}}"#, "[".repeat(110), "]".repeat(110));
        let messages = "/v1/sessions/s/messages?create=true";
        let cases: Vec<(&str, &str, Vec<u8>, &[u16])> = vec![
            (messages, JSON, br#"{"role":"user","content":"a\ud800b"}"#.to_vec(), &[200]),
            (messages, JSON, br#"{"role":"user","content":"a\u0000b"}"#.to_vec(), &[200]),
            (messages, JSON, b"\xef\xbb\xbf{\"role\":\"user\",\"content\":\"bom\"}".to_vec(), &[200]),
            (messages, "Content-Type: application/json; charset=utf-8\r\n", br#"{"role":"user","content":"x"}"#.to_vec(), &[200]),
            (messages, JSON, nested.into_bytes(), &[200]),
            (messages, JSON, b"{\"role\":\"user\",\"content\":\"\xff\"}".to_vec(), &[400]),
            (messages, JSON, b"{\"role\":\"user\",\"content\":\"a\0b\"}".to_vec(), &[400]),
            (messages, JSON, deep.into_bytes(), &[400]),
            (messages, JSON, b"".to_vec(), &[400]),
            (messages, JSON, b"[]".to_vec(), &[422]),
            (messages, JSON, b"[1]".to_vec(), &[400, 422]),
            (messages, JSON, b"null".to_vec(), &[400, 422]),
            (messages, JSON, br#"{"role":"user","content":"x"} {}"#.to_vec(), &[400]),
            (messages, JSON, br#"{"role":"user","content":"x","external_id":"a\u0000"}"#.to_vec(), &[422]),
            (messages, "", br#"{"role":"user","content":"x"}"#.to_vec(), &[415]),
            (messages, "Content-Type: text/plain\r\n", br#"{"role":"user","content":"x"}"#.to_vec(), &[415]),
            (messages, "Content-Type: multipart/form-data; boundary=x\r\n", b"--x--".to_vec(), &[415]),
            (messages, "Content-Type: application/x-www-form-urlencoded\r\n", b"a=b".to_vec(), &[415]),
            (messages, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", b"\x1f\x8b\x08".to_vec(), &[415]),
            ("/v1/search", JSON, br#"{"query":"\u0000"}"#.to_vec(), &[422]),
            ("/v1/search", JSON, br#"{"query":"x","limit":1e999}"#.to_vec(), &[422]),
            ("/v1/search", JSON, br#"{"query":"x","limit":-1}"#.to_vec(), &[422]),
            ("/v1/search", JSON, br#"{"query":"/(a+)+$/","session":"\u0001"}"#.to_vec(), &[200, 404, 422]),
            ("/v1/search", JSON, br#"{"query":"x","since":"-9999-01-01T00:00:00Z","until":"9999-12-31T23:59:59Z"}"#.to_vec(), &[200, 422]),
            ("/v1/search", JSON, br#"{"query":"x","cursor":"9223372036854775807.9223372036854775807"}"#.to_vec(), &[200, 400, 422]),
            ("/v1/session-search", JSON, br#"{"session":"s","around":9223372036854775807}"#.to_vec(), &[404, 422]),
            ("/v1/sessions", JSON, br#"{"id":"\u0000"}"#.to_vec(), &[422]),
            ("/v1/sessions", JSON, br#"{"id":"t","title":"a\u0000b"}"#.to_vec(), &[422]),
            ("/v1/sessions", JSON, br#"{"id":"u","metadata":{"a\u0000":"\u0000"},"model_config":"\u0000"}"#.to_vec(), &[200, 201, 422]),
            ("/v1/sessions", JSON, br#"{"started_at":"9999-12-31T23:59:59Z"}"#.to_vec(), &[201, 422]),
            ("/v1/sessions", JSON, br#"{"started_at":"0000-01-01T00:00:00Z"}"#.to_vec(), &[201, 422]),
            ("/v1/sessions/s/rewind", JSON, br#"{"to":9223372036854775807}"#.to_vec(), &[404, 422]),
            ("/v1/sessions/s/end", JSON, br#"{"reason":"\u0000"}"#.to_vec(), &[422]),
            ("/v1/sessions/s/usage", JSON, br#"{"input_tokens":9223372036854775807}"#.to_vec(), &[422]),
            ("/v1/sessions/s/usage", JSON, br#"{"actual_cost_usd":1e308}"#.to_vec(), &[422]),
            ("/v1/tokens", JSON, br#"{"role":"read","name":"\u0000"}"#.to_vec(), &[422]),
            ("/v1/backup", JSON, br#"{"name":"../../x.db"}"#.to_vec(), &[422]),
            ("/v1/backup", JSON, br#"{"name":"/etc/x.db"}"#.to_vec(), &[422]),
            ("/v1/prune", JSON, br#"{"ended_before":"2020-01-01T00:00:00Z","title":"\u0000"}"#.to_vec(), &[422]),
        ];
        for (path, headers, body, expected) in cases {
            let bytes = with_body(path, headers, &body);
            let status = if expected.iter().any(|status| *status < 300) { one(&server, &bytes).status } else { refused(&server, &bytes) };
            let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
            assert!(expected.contains(&status), "{path} {headers:?} {shown}: {status}");
        }
        for id in ["%00", "tok_%00", "tok_%27", "tok_%C3%A9", "%F0%9F%A6%80"] {
            assert_eq!(server.call("DELETE", &format!("/v1/tokens/{id}"), None).status, 404, "{id}");
        }
        let kept = server.call("GET", "/v1/sessions/s/messages", None).is(200);
        assert_eq!(kept["items"][0]["content"], "a\u{fffd}b");
        assert_eq!(kept["items"][1]["content"], "a\0b");
        server.stop();
    }
}

#[test]
fn every_method_on_everything_is_answered() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &[]);
    let mut paths: Vec<String> = endpoints(&document())
        .iter()
        .map(|one| one.named(Names { session: "s", ..Names::NONE }))
        .collect();
    paths.extend(["/healthz", "/readyz", "/metrics", "/openapi.json"].map(str::to_owned));
    for path in paths {
        for method in ["HEAD", "OPTIONS", "PUT", "TRACE", "PROPFIND"] {
            let reply = server.call(method, &path, None);
            assert!(reply.status < 500, "{method} {path}: {}", reply.head);
            if reply.status == 405 {
                let allowed = reply.header("allow").unwrap();
                assert!(
                    !allowed.split(", ").any(|one| one == method),
                    "{method} {path}: {allowed}"
                );
            }
            if method == "OPTIONS" {
                assert!(reply.header("access-control-allow-origin").is_none());
                reply.is(405);
            }
        }
    }
    // Nothing is left behind of the streams that were only asked for their heads.
    assert!(server.call("GET", "/v1/stats", None).is(200)["sessions"].is_number());
    server.stop();
}

#[test]
fn names_and_values_of_megabytes_are_refused_without_much_ado() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &[]);
    server.call("POST", "/v1/sessions", Some(&json!({"id": "s"}))).is(201);
    let before = server.resident_mb();
    let long = "k".repeat(8 << 20);
    let cases: [(&str, Value); 5] = [
        ("/v1/sessions", json!({ long.as_str(): 1 })),
        ("/v1/search", json!({"query": "x", "sort": long})),
        ("/v1/tokens", json!({"role": long})),
        ("/v1/search", json!({"query": "x", "kinds": [long]})),
        ("/v1/sessions", json!({"id": long})),
    ];
    for (path, body) in &cases {
        let reply =
            Client::connect(&server.address).unwrap().call("POST", path, Some(body)).unwrap();
        assert!(matches!(reply.status, 413 | 422), "{path}: {}", reply.head);
        assert!(reply.body.len() < 20_000, "{path}: {} bytes of problem", reply.body.len());
    }
    let after = server.resident_mb();
    assert!(after < before + 250, "{before} MB became {after} MB");
    server.stop();
}
