//! Isolation: every endpoint is walked with every wrong token, and nothing of another space comes
//! out of any of them.

use crate::serve_api::{Endpoint, Names, Role, document, endpoints};
use crate::serve_context::compacted;
use crate::serve_support::{Reply, Server, eventually};
use crate::support::{in_space, oneiro, person_token, run_with};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json};

/// In everything that anybody said or named in the space that is not ours.
const SECRET: &str = "zqxsecretofa";

/// What is also served, and is not in the document.
const OUTSIDE: [&str; 7] =
    ["/", "/metrics", "/mcp", "/healthz", "/readyz", "/openapi.json", "/v1/nothing"];

fn cli(space: &TestSpace, name: &str, args: &[&str], input: &str) -> String {
    let answer = run_with(in_space(space, name), args, input.as_bytes());
    assert_eq!(answer.code, 0, "{args:?}: {}", answer.err);
    answer.out
}

fn token(space: &TestSpace, name: &str, more: &[&str]) -> Value {
    let args = [&["token", "create", "--json", "--role"], more].concat();
    serde_json::from_str(&cli(space, name, &args, "")).unwrap()
}

fn fill(space: &TestSpace, name: &str, secret: &str) {
    let title = format!("secret title {secret}");
    let new = ["session", "new", "--id", "s", "--title", &title, "--source", secret];
    cli(space, name, &new, "");
    cli(space, name, &["session", "new", "--id", &format!("id-{secret}")], "");
    let line = json!({"role": "user", "content": format!("the secret is {secret}"), secret: 1});
    cli(space, name, &["append", "s"], &format!("{line}\n{line}\n"));
    token(space, name, &["read", "--name", secret]);
    cli(space, name, &["remember", &format!("the memory is {secret}"), "--subject", secret], "");
}

/// The only memory of a space.
fn memory(space: &TestSpace, name: &str) -> String {
    let listed: Value =
        serde_json::from_str(&cli(space, name, &["memory", "list", "--json"], "")).unwrap();
    listed["items"][0]["id"].as_str().unwrap().to_owned()
}

/// What is said about a call that must not show anything of the other space.
fn assert_clean(what: &str, reply: &Reply, other: &str) {
    for hidden in [SECRET, other] {
        let bytes = [reply.head.as_bytes(), &reply.body].concat();
        let shown = bytes.windows(hidden.len()).any(|bytes| bytes == hidden.as_bytes());
        assert!(!shown, "{what}: {}{}", reply.head, reply.text());
    }
}

struct Walk<'a> {
    server: &'a Server,
    endpoints: &'a [Endpoint],
    /// The name of the space that is not ours.
    other: &'a str,
    /// What there is there, and in our own under the same names.
    names: Names<'a>,
}

impl Walk<'_> {
    /// Calls everything with these headers; `check` says what is right.
    fn every(&self, headers: &[(&str, &str)], check: impl Fn(&Endpoint, u16) -> bool) {
        for endpoint in self.endpoints {
            let path = endpoint.named(self.names);
            let reply = self.call(headers, (&endpoint.method, &path), endpoint.request("s"));
            let what = format!("{} {path} with {headers:?}", endpoint.method);
            assert_clean(&what, &reply, self.other);
            assert!(check(endpoint, reply.status), "{what}: {} {}", reply.status, reply.text());
        }
        for path in OUTSIDE {
            assert_clean(path, &self.call(headers, ("GET", path), None), self.other);
        }
    }

    fn call(&self, headers: &[(&str, &str)], what: (&str, &str), body: Option<Value>) -> Reply {
        let client =
            headers.iter().fold(self.server.client(), |it, (name, value)| it.with(name, value));
        { client }.call(what.0, what.1, body.as_ref()).unwrap()
    }
}

on_both_backends! {
    fn a_token_of_one_space_sees_nothing_of_another(space) {
        let ours = TestSpace::new(space.backend);
        let (a, b) = (space.space.as_str(), ours.space.as_str());
        fill(space, a, SECRET);
        fill(space, b, "of-ours");
        let summary = compacted((space, a), "long", SECRET);
        let before = cli(space, a, &["session", "export"], "");
        let token_id = token(space, a, &["admin"])["id"].as_str().unwrap().to_owned();
        let memory = memory(space, a);
        // Some of it is for people.
        let tokens = Role::ALL.map(|role| person_token(space, b, ::oneiro::TokenRole::parse(role.name()).unwrap()));
        let texts = tokens.each_ref().map(String::as_str);
        let server = Server::start(space, &["--require-token"]);
        let document = document();
        let endpoints = endpoints(&document);
        let walk = Walk {
            server: &server,
            endpoints: &endpoints,
            other: a,
            names: Names {
                session: "s", message: 1, token: &token_id, summary: &summary, memory: &memory, ..Names::NONE
            },
        };
        walk.every(&[], |_, status| status == 401);
        for (role, text) in Role::ALL.into_iter().zip(texts) {
            let bearer = format!("Bearer {text}");
            let right = |endpoint: &Endpoint, status: u16| if endpoint.role <= role { !matches!(status, 401 | 403 | 500..) } else { status == 403 };
            walk.every(&[("Authorization", &bearer)], right);
            walk.every(&[("Cookie", &format!("x=y; {}", server.cookie("oneiro_token", text)))], right);
            let elsewhere = [("Authorization", bearer.as_str()), ("Oneiro-Space", a)];
            walk.every(&elsewhere, |_, status| status == 403);
        }
        assert_eq!(cli(space, a, &["session", "export"], ""), before, "something of A was changed");
        server.stop();
    }

    fn no_token_that_ended_or_never_was_opens_anything(space) {
        let name = space.space.as_str();
        fill(space, name, SECRET);
        let now = oneiro::Clock::now(&oneiro::SystemClock);
        let soon = now.plus(oneiro::Span::seconds(4)).to_string();
        let ended = token(space, name, &["admin", "--expires", &soon]);
        let revoked = token(space, name, &["admin"]);
        let server = Server::start(space, &["--require-token"]);
        let status = |text: &str, path: &str| {
            server.client().token(text).call("GET", path, None).unwrap().status
        };
        let texts = [&ended, &revoked].map(|token| token["token"].as_str().unwrap());
        for text in texts {
            assert_eq!(status(text, "/v1/stats"), 200);
        }
        cli(space, name, &["token", "revoke", revoked["id"].as_str().unwrap()], "");
        assert_eq!(status(texts[1], "/v1/stats"), 401, "revoked by another process");
        eventually("the token does not end", || status(texts[0], "/v1/stats") == 401);
        let good = texts[0];
        let of_another = good.replace(name, "default");
        let changed = format!("{}{}", &good[..good.len() - 1], if good.ends_with('a') { 'q' } else { 'a' });
        let endpoints = endpoints(&document());
        let walk = Walk {
            server: &server,
            endpoints: &endpoints,
            other: "\u{1}",
            names: Names { session: "s", message: 1, ..Names::NONE },
        };
        for bad in [texts[0], texts[1], &of_another, &changed, "x", "oneiro__", "\u{1}oneiro"] {
            let bearer = format!("Bearer {bad}");
            let refused = |_: &Endpoint, status: u16| matches!(status, 400 | 401 | 429);
            walk.every(&[("Authorization", &bearer)], refused);
            walk.every(&[("Cookie", &server.cookie("oneiro_token", bad))], refused);
        }
        for scheme in ["Basic", "Digest", "oneiro"] {
            let reply = walk.call(&[("Authorization", &format!("{scheme} {good}"))], ("GET", "/v1/stats"), None);
            assert!(matches!(reply.status, 401 | 429), "{scheme}");
        }
        server.stop();
    }
}

#[test]
fn a_bad_token_is_refused_where_none_is_needed_and_no_secret_is_logged() {
    let space = TestSpace::new(oneiro_testkit::Backend::Sqlite);
    let made = token(&space, space.space.as_str(), &["read"]);
    let text = made["token"].as_str().unwrap();
    let mut command = oneiro(&space);
    command.env("ONEIRO_LOG", "trace");
    command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
    let server = Server::run(&space, command);
    assert_eq!(server.call("GET", "/v1/stats", None).status, 200);
    assert_eq!(server.client().token(text).call("GET", "/v1/stats", None).unwrap().status, 200);
    let bad = text.replace(&text[text.len() - 8..], "aaaaaaaa");
    assert_eq!(server.client().token(&bad).call("GET", "/v1/stats", None).unwrap().status, 401);
    let spoken = json!({"role": "user", "content": "a private word: xyzzy"});
    server.call("POST", "/v1/sessions/s/messages?create=true", Some(&spoken)).is(200);
    let made = server.call("POST", "/v1/tokens", Some(&json!({"role": "write"}))).is(201);
    let id = "two words";
    let named = server.client().with("X-Request-Id", id).call("GET", "/v1/x", None).unwrap();
    assert_ne!(named.header("x-request-id").unwrap(), id);
    let log = server.log();
    assert!(log.contains("answered"), "the log says nothing: {log}");
    for secret in [text, &bad, made["token"].as_str().unwrap(), "xyzzy", id] {
        let secret = secret.rsplit('_').next().unwrap();
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    server.stop();
}
