//! Clients that dribble, stall, lie about lengths or send too much: cut off in time, at a bounded
//! cost.

use crate::serve_support::{Client, LONG, Server, eventually};
use oneiro_testkit::{Backend, TestSpace};
use serde_json::json;
use std::io::Read;
use std::time::{Duration, Instant};

const CLIENT_TIMEOUT: Duration = Duration::from_millis(1_500);

fn start(space: &TestSpace) -> Server {
    Server::start(space, &["--client-timeout-ms", "1500"])
}

/// Sends a byte now and then until the server hangs up; answers how long that took and what it said.
fn dribble(mut client: Client, begin: &str, byte: &[u8]) -> (Duration, String) {
    let started = Instant::now();
    client.send(begin.as_bytes()).unwrap();
    client.stream.get_ref().set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut said = Vec::new();
    loop {
        assert!(started.elapsed() < LONG, "it is never cut off");
        let mut buffer = [0; 1_024];
        match client.stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => said.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if client.send(byte).is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    (started.elapsed(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn heads_and_bodies_that_dribble_are_cut_off() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = start(&space);
    let post = "POST /v1/sessions/s/messages?create=true HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\n";
    let slow = [
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "a", ""),
        ("", "G", ""),
        (&format!("{post}Content-Length: 100000\r\n\r\n"), " ", "408"),
        (&format!("{post}Transfer-Encoding: chunked\r\n\r\n"), "1\r\n \r\n", "408"),
    ];
    std::thread::scope(|scope| {
        for (begin, byte, status) in slow {
            let client = server.client();
            scope.spawn(move || {
                let (took, said) = dribble(client, begin, byte.as_bytes());
                assert!(took >= CLIENT_TIMEOUT / 2, "{begin}: cut off after {took:?}");
                assert!(said.contains(status), "{begin}: {said}");
            });
        }
    });
    let descriptors = server.descriptors();
    for mut client in send_unfinished_bodies(&server) {
        // The answer may be lost when the server closes first; no answer and no end is a failure.
        match client.reply("POST") {
            Ok(reply) => assert_eq!(reply.status, 408),
            Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "{error}"),
        }
    }
    eventually("slow connections stay", || server.descriptors() <= descriptors + 10);
    server.stop();
}

/// Connections that promise a long body and send one byte of it.
fn send_unfinished_bodies(server: &Server) -> Vec<Client> {
    let mut held: Vec<Client> = (0..100).map(|_| server.client()).collect();
    for client in &mut held {
        let begin = "POST /v1/sessions/s/messages?create=true HTTP/1.1\r\nHost: localhost\r\n\
                     Content-Type: application/json\r\nContent-Length: 16000000\r\n\r\n{";
        client.send(begin.as_bytes()).unwrap();
    }
    held
}

/// The server waits for the slow ones longer than a client of ours waits for its answer, so an
/// answer proves that nobody waits for them.
#[test]
fn many_slow_bodies_keep_nobody_else_out() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = Server::start(&space, &["--client-timeout-ms", "600000"]);
    let held = send_unfinished_bodies(&server);
    let body = json!({"role": "user", "content": "x"});
    server.call("POST", "/v1/sessions/s/messages?create=true", Some(&body)).is(200);
    drop(held);
    server.stop();
}

#[test]
fn bodies_past_the_limit_are_refused_before_they_are_read() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = start(&space);
    let before = server.resident_mb();
    let post = "POST /v1/sessions/s/messages?create=true HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\n";
    let mut client = server.client();
    client.send(format!("{post}Content-Length: 17000000\r\n\r\n").as_bytes()).unwrap();
    client.reply("POST").unwrap().is(413);
    // Chunks without an end: refused once they are too many, or cut off.
    let mut client = server.client();
    client.send(format!("{post}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    let sent = (0..200).take_while(|_| client.send(&chunk).is_ok()).count();
    assert!(sent < 100, "{sent} MB were taken");
    if let Ok(reply) = client.reply("POST") {
        assert_eq!(reply.status, 413);
    }
    // A length that is longer than what comes: nothing is stored.
    let mut client = server.client();
    client
        .send(
            format!("{post}Content-Length: 90\r\n\r\n{{\"role\":\"user\",\"content\":\"x\"}}")
                .as_bytes(),
        )
        .unwrap();
    client.stream.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
    assert!(
        client.reply("POST").is_ok_and(|reply| reply.status >= 400)
            || client.reply("POST").is_err()
    );
    // A small text that becomes large: sixteen megabytes of nothing are a gigabyte of values.
    let zeros = format!("[{}0]", "0,".repeat(7 << 20));
    let text = format!("{post}Content-Length: {}\r\n\r\n{zeros}", zeros.len());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = server.client();
                client.send(text.as_bytes()).unwrap();
                client.reply("POST").unwrap().is(413);
            });
        }
    });
    assert_eq!(server.call("GET", "/v1/sessions/s", None).status, 404, "something was stored");
    let after = server.resident_mb();
    assert!(after < before + 200, "{before} MB became {after} MB");
    server.stop();
}

#[test]
fn exports_that_nobody_reads_hold_neither_threads_nor_connections() {
    let space = TestSpace::new(Backend::Sqlite);
    let server = start(&space);
    let long = json!({"role": "user", "content": (0..200_000).map(|n| format!("{n} ")).collect::<String>()});
    let path = "/v1/sessions/s/messages?create=true";
    // More than the sockets of a kernel hold.
    let many = json!(vec![long; 10]);
    (0..5).for_each(|_| assert_eq!(server.call("POST", path, Some(&many)).status, 200));
    let descriptors = server.descriptors();
    let asleep: Vec<Client> = (0..80)
        .map(|_| {
            let mut client = server.client();
            client.send(b"GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            client
        })
        .collect();
    // Others are served meanwhile, and after a while those who do not read are gone.
    for _ in 0..20 {
        server.call("GET", "/v1/stats", None).is(200);
    }
    eventually("connections of those who do not read stay", || {
        server.descriptors() <= descriptors + 30
    });
    let mut whole = None;
    eventually("those who do not read keep others from exporting", || {
        let reply = server.call("GET", "/v1/export", None);
        whole = Some(reply.body.len()).filter(|_| reply.status == 200);
        whole.is_some()
    });
    assert!(whole > Some(50 << 20), "{whole:?}");
    drop(asleep);
    server.stop();
}
