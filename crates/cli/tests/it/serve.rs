//! `serve`: starts, says where, answers, stops cleanly.

use crate::support::{oneiro, run};
use oneiro_testkit::{TestSpace, on_both_backends};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

fn start(space: &TestSpace) -> (Child, String) {
    let mut child = oneiro(space)
        .args(["serve", "--listen", "127.0.0.1:0", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(!ready["store"].as_str().unwrap().is_empty());
    (child, ready["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned())
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

on_both_backends! {
    fn it_answers_and_stops_on_each_signal(space) {
        for signal in ["-TERM", "-INT"] {
            let (mut child, address) = start(space);
            let answer = get(&address, "/healthz");
            assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"ok\""), "{answer}");
            assert!(get(&address, "/nothing").starts_with("HTTP/1.1 404"));
            Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
        }
    }
}

#[test]
fn addresses_that_others_can_reach_or_that_are_taken_are_refused() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let open = run(&space, &["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, 6, "{}", open.err);
    assert_eq!(run(&space, &["serve", "--listen", "here"]).code, 2);
    let (mut child, address) = start(&space);
    assert_eq!(run(&space, &["serve", "--listen", &address]).code, 5);
    child.kill().unwrap();
    child.wait().unwrap();
}
