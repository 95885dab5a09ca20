//! Pages of other sites, and names that were made to point here, reach nothing.

use crate::serve_support::{Reply, Server};
use crate::support::{config, json};
use oneiro_testkit::{Backend, TestSpace};

fn get_stats(server: &Server, host: &str, more: &str) -> Reply {
    let mut client = server.client();
    let head = format!("GET /v1/stats HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
    client.send(head.as_bytes()).unwrap();
    client.reply("GET").unwrap()
}

#[test]
fn only_our_own_names_and_pages_are_answered() {
    let space = TestSpace::new(Backend::Sqlite);
    std::fs::write(config(&space), "allowed_hosts = \"memory.example\"\n").unwrap();
    let server = Server::start(&space, &[]);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let here = format!("localhost:{port}");
    let hosts = [
        (here.as_str(), 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("memory.example", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.nip.io", 403),
        ("10.0.0.1", 403),
        ("", 400),
        ("a/b", 400),
        ("localhost, evil.example", 400),
    ];
    for (host, status) in hosts {
        let reply = get_stats(&server, host, "");
        assert_eq!(reply.status, status, "{host}: {}", reply.text());
    }
    let origins = [
        (format!("http://{here}"), 200),
        (format!("https://{here}"), 200),
        (format!("http://127.0.0.1:{port}"), 403),
        ("http://localhost".to_owned(), 403),
        ("http://localhost:1".to_owned(), 403),
        ("http://evil.example".to_owned(), 403),
        (format!("http://evil.example/{here}"), 403),
        (format!("http://{here}@evil.example"), 403),
        ("null".to_owned(), 403),
        (String::new(), 403),
    ];
    for (origin, status) in origins {
        let reply = get_stats(&server, &here, &format!("Origin: {origin}\r\n"));
        assert_eq!(reply.status, status, "{origin}: {}", reply.text());
        let lower = reply.head.to_ascii_lowercase();
        assert!(!lower.contains("access-control"), "{}", reply.head);
        assert_eq!(reply.header("cross-origin-resource-policy").as_deref(), Some("same-origin"));
        assert_eq!(reply.header("x-content-type-options").as_deref(), Some("nosniff"));
    }
    server.stop();
}

#[test]
fn no_cookie_can_be_read_by_a_script_or_sent_by_another_site() {
    let space = TestSpace::new(Backend::Sqlite);
    let token = json(&space, &["token", "create", "--role", "admin"]);
    let text = token["token"].as_str().unwrap();
    let server = Server::start(&space, &[]);
    for path in
        ["/", "/login", "/logout", "/v1/stats", "/healthz", "/mcp", "/sessions", "/search?q=x"]
    {
        for method in ["GET", "POST"] {
            let mut client = server.client().with("Cookie", &server.cookie("oneiro_token", text));
            let reply = client.call(method, path, None).unwrap();
            for line in reply
                .head
                .lines()
                .filter(|line| line.to_ascii_lowercase().starts_with("set-cookie"))
            {
                let line = line.to_ascii_lowercase();
                assert!(
                    line.contains("httponly") && line.contains("samesite"),
                    "{method} {path}: {line}"
                );
            }
            assert!(reply.status < 500, "{method} {path}: {}", reply.head);
        }
    }
    server.stop();
}

#[test]
fn a_cookie_that_opens_nothing_any_more_is_not_in_the_way() {
    let space = TestSpace::new(Backend::Sqlite);
    let token = json(&space, &["token", "create"]);
    json(&space, &["token", "revoke", token["id"].as_str().unwrap()]);
    let text = token["token"].as_str().unwrap();
    let asked = |server: &Server, name: &str, value: &str| {
        let reply = server.client().with(name, value).call("GET", "/sessions?all=1", None).unwrap();
        (reply.status, reply.head.to_ascii_lowercase())
    };
    let open = Server::start(&space, &[]);
    let (status, head) = asked(&open, "Cookie", &open.cookie("oneiro_token", text));
    assert_eq!(status, 303, "{head}");
    assert!(head.contains("location: /sessions?all=1"), "{head}");
    assert!(
        head.contains(&open.cookie("oneiro_token", ";")) && head.contains("max-age=0"),
        "{head}"
    );
    // One that is sent with every request would go round for ever.
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    assert!(asked(&open, "Authorization", &bearer).1.contains("location: /login?next="));
    open.stop();
    let closed = Server::start(&space, &["--require-token"]);
    let (_, head) = asked(&closed, "Cookie", &closed.cookie("oneiro_token", text));
    assert!(head.contains("location: /login?next=") && head.contains("max-age=0"), "{head}");
    closed.stop();
}
