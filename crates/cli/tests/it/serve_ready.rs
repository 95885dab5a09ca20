//! `/readyz` when the PostgreSQL server of the store is stopped, hangs, and comes back.

use crate::serve_support::{Server, eventually};
use crate::support::bare;
use oneiro_testkit::{Backend, OwnServer, TestSpace};
use serde_json::json;

/// Serves a space on `database`, giving up on a connection after one second.
fn serve(space: &TestSpace, database: &OwnServer) -> Server {
    let mut command = bare();
    let url = database.url().replace("postgres@", "postgres:hunter2@");
    command.args(["--store", &format!("{url}?connect_timeout=1")]);
    command.env("ONEIRO_CONFIG", crate::support::config(space));
    command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
    Server::run(space, command)
}

fn is_ready(server: &Server) -> bool {
    server.call("GET", "/readyz", None).status == 200
}

/// `/readyz` answers 503 with a reason that does not say where the store is; every answer comes
/// while the database is still away, since only the test brings it back.
fn assert_becomes_unready(server: &Server) {
    eventually("/readyz answers 503 while the database is away", || !is_ready(server));
    let reply = server.call("GET", "/readyz", None);
    let problem = reply.is(503);
    let text = problem.to_string();
    assert!(text.contains("does not answer"), "{text}");
    assert!(!text.contains("127.0.0.1") && !text.contains("hunter2"), "{text}");
    // The process itself lives.
    server.call("GET", "/healthz", None).is(200);
}

/// The database hangs until the server has ended, so the end did not wait for it.
#[test]
fn a_stop_does_not_wait_for_a_database_that_hangs() {
    let space = TestSpace::new(Backend::Sqlite);
    let database = OwnServer::start();
    let server = serve(&space, &database);
    assert!(is_ready(&server));
    database.freeze();
    let mut waiting = server.client();
    waiting.send(b"GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    server.stop();
    database.thaw();
}

#[test]
fn a_database_that_hangs_or_is_gone_is_told_by_readyz_until_it_is_back() {
    let space = TestSpace::new(Backend::Sqlite);
    let database = OwnServer::start();
    let server = serve(&space, &database);
    assert!(is_ready(&server));

    database.freeze();
    assert_becomes_unready(&server);
    // A request is answered too, while the database hangs.
    let failed = server.call("POST", "/v1/sessions", Some(&json!({"id": "lost"})));
    assert_eq!(failed.status, 503, "{}", failed.text());
    database.thaw();
    eventually("/readyz answers 200 when the database runs on", || is_ready(&server));

    database.kill();
    assert_becomes_unready(&server);
    database.restart();
    eventually("/readyz answers 200 when the database was started again", || is_ready(&server));
    server.call("POST", "/v1/sessions", Some(&json!({"id": "kept"}))).is(201);
    assert!(!server.log().contains("hunter2"), "{}", server.log());
    server.stop();
}
