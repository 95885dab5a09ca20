//! A PostgreSQL server, or a writer, that hangs: nobody waits for it for ever. A call that should
//! end is made on a thread of its own, so that one that does not end fails the test.

use crate::support::{NOW, names, open, open_with, put, target, with_busy_timeout, write};
use oneiro_model::{Error, ErrorKind, Result, SpaceName};
use oneiro_store::{Options, Store, Target, settings};
use oneiro_testkit::{Backend, OwnServer, TestSpace};
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Far longer than any call may take, on the busiest machine.
const FOR_EVER: Duration = Duration::from_secs(120);

/// The address of a server that may take one second to accept and answer a connection.
fn with_short_connect_timeout(url: &str) -> Target {
    Target::Postgres { url: format!("{url}?connect_timeout=1"), space: SpaceName::default() }
}

/// What `work` answers; the test fails if it never does.
fn ended<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || answer.send(work()));
    answered.recv_timeout(FOR_EVER).expect("the call waits for ever")
}

fn assert_unavailable(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.remedy_text().is_some(), "{error:?}");
}

#[test]
fn a_hung_server_times_out_and_is_used_again_when_it_resumes() {
    let server = OwnServer::start();
    let target = with_short_connect_timeout(&server.url());
    let store = Store::open(&target, &with_busy_timeout(5_000), NOW).unwrap();
    write(&store, "before").unwrap();
    assert_eq!(names(&store), ["before"]);

    server.freeze();
    for _ in 0..2 {
        let reader = store.clone();
        assert_unavailable(&ended(move || reader.read(settings::all)).unwrap_err());
        let writer = store.clone();
        assert_unavailable(&ended(move || write(&writer, "lost")).unwrap_err());
    }
    let opened = ended(move || Store::open(&target, &with_busy_timeout(5_000), NOW).map(drop));
    assert_unavailable(&opened.unwrap_err());
    server.thaw();

    write(&store, "after").unwrap();
    let kept = names(&store);
    assert!(["after", "before"].iter().all(|name| kept.contains(&name.to_string())), "{kept:?}");
}

#[test]
fn a_peer_that_accepts_and_never_answers_times_out() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgres://u:hunter2@127.0.0.1:{port}/d");
    let target = with_short_connect_timeout(&url);
    let error =
        ended(move || Store::open(&target, &with_busy_timeout(5_000), NOW).map(drop)).unwrap_err();
    assert_unavailable(&error);
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
}

/// A peer that accepts connections and never answers, and its port.
fn silent_peer() -> (TcpListener, u16) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    (silent, port)
}

#[test]
fn a_server_after_hosts_that_are_dead_or_silent_is_reached() {
    let server = OwnServer::start();
    let (_silent, silent) = silent_peer();
    let (closed, dead) = silent_peer();
    drop(closed);
    let hosts = format!("127.0.0.1:{silent},127.0.0.1:{dead},127.0.0.1:{silent},");
    let url = server.url().replacen("127.0.0.1:", &format!("{hosts}127.0.0.1:"), 1);
    assert_ne!(url, server.url());
    let target = with_short_connect_timeout(&url);
    let store = ended(move || Store::open(&target, &with_busy_timeout(5_000), NOW)).unwrap();
    write(&store, "reached").unwrap();
    assert_eq!(names(&store), ["reached"]);
}

#[test]
fn a_hung_server_times_out_although_another_host_answers() {
    let (first, server) = (OwnServer::start(), OwnServer::start());
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", first.port(), server.port());
    let own = format!("127.0.0.1:{}", server.port());
    let target = with_short_connect_timeout(&server.url().replacen(&own, &hosts, 1));
    first.kill();
    // No other limit ends a call before this test is over.
    let options = Options { statement_timeout: FOR_EVER * 2, ..with_busy_timeout(5_000) };
    let store = Store::open(&target, &options, NOW).unwrap();
    write(&store, "before").unwrap();
    assert_eq!(names(&store), ["before"]);
    first.restart();
    let server = Arc::new(server);
    let freezing = Arc::clone(&server);
    let read = ended(move || {
        store.read(|tx| {
            freezing.freeze();
            settings::all(tx)
        })
    });
    assert_unavailable(&read.unwrap_err());
    server.thaw();
}

#[test]
fn a_long_statement_is_waited_for_while_the_server_answers_others() {
    let space = TestSpace::new(Backend::Postgres);
    let target = Target::Postgres {
        url: format!("{}?connect_timeout=1", space.store),
        space: space.space.clone(),
    };
    let store = Store::open(&target, &with_busy_timeout(5_000), NOW).unwrap();
    // Three times as long as a server may take to answer a new connection.
    let slept = store.read(|tx| tx.raw("SELECT CAST(3 AS BIGINT) FROM pg_sleep(3)"));
    assert_eq!(slept.unwrap(), [3]);
}

#[test]
fn a_statement_past_its_limit_is_ended_by_the_server_and_the_connection_lives_on() {
    let space = TestSpace::new(Backend::Postgres);
    let options =
        Options { statement_timeout: Duration::from_millis(100), ..with_busy_timeout(100) };
    let store = open_with(&space, &options).unwrap();
    let slow = store.clone();
    let error: Error = ended(move || -> Result<Vec<i64>> {
        slow.read(|tx| tx.raw("SELECT CAST(3 AS BIGINT) FROM pg_sleep(600)"))
    })
    .unwrap_err();
    assert_unavailable(&error);
    assert!(error.remedy_text().unwrap().contains("statement_timeout_ms"), "{error:?}");
    write(&store, "after").unwrap();
    assert_eq!(names(&store), ["after"]);
}

/// The writer stands for one whose process is stopped, or whose machine was cut off: its
/// transaction is open, and it says nothing more.
#[test]
fn a_writer_that_pauses_in_its_transaction_loses_the_lock_and_is_rolled_back() {
    let space = TestSpace::new(Backend::Postgres);
    let (paused, other) =
        (open_with(&space, &with_busy_timeout(100)).unwrap(), with_busy_timeout(60_000));
    let other = Store::open(&target(&space), &other, NOW).unwrap();
    let (began, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let pausing = std::thread::spawn(move || {
        paused.write_bulk(|tx| {
            put(tx, "paused")?;
            began.send(()).unwrap();
            may_go.recv().unwrap();
            put(tx, "too late")
        })
    });
    has_begun.recv().unwrap();
    let writing = other.clone();
    // The first writer still holds its transaction when the second is done.
    ended(move || write(&writing, "other")).unwrap();
    go.send(()).unwrap();
    assert_unavailable(&pausing.join().unwrap().unwrap_err());
    assert_eq!(names(&other), ["other"]);
}

/// The limit on pauses must not end with the first transaction that is rolled back.
#[test]
fn a_write_after_a_refused_one_still_loses_its_lock_when_it_pauses() {
    let space = TestSpace::new(Backend::Postgres);
    let store = open(&space);
    let limit = |store: &Store| {
        let sql = "SELECT EXTRACT(EPOCH FROM \
                   current_setting('idle_in_transaction_session_timeout')::INTERVAL)::BIGINT";
        store.write_bulk(|tx| tx.raw(sql)).unwrap()
    };
    let before = limit(&store);
    assert!(before[0] > 0, "{before:?}");
    assert!(store.write(|_| Err::<(), _>(Error::invalid("refused"))).is_err());
    assert_eq!(limit(&store), before);
    // Readers may pause.
    let sql = "SELECT CASE WHEN current_setting('idle_in_transaction_session_timeout') = '0' \
               THEN 0 ELSE 1 END::BIGINT";
    assert_eq!(store.read(|tx| tx.raw(sql)).unwrap(), [0]);
}
