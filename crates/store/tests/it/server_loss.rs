//! A PostgreSQL server that ends connections, goes away and comes back.

use crate::support::{NOW, client, names, with_busy_timeout, write};
use oneiro_model::{ErrorKind, SpaceName};
use oneiro_store::{Store, Target, settings};
use oneiro_testkit::{Backend, OwnServer, TestSpace};
use std::sync::Barrier;

#[test]
fn connections_that_the_server_closed_are_replaced() {
    let space = TestSpace::new(Backend::Postgres);
    let url = format!("{}?application_name={}", space.store, space.space);
    let target = Target::Postgres { url, space: space.space.clone() };
    let store = Store::open(&target, &with_busy_timeout(5_000), NOW).unwrap();
    for name in ["a", "b", "c"] {
        write(&store, name).unwrap();
        assert!(names(&store).contains(&name.to_owned()));
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
        let ended = client(&space).query(end, &[&space.space.as_str()]).unwrap();
        assert_eq!(ended.len(), 2, "one to write and one to read");
    }
}

#[test]
fn a_lost_server_is_unavailable_and_nothing_acknowledged_is_lost() {
    let server = OwnServer::start();
    let target = Target::Postgres { url: server.url(), space: SpaceName::default() };
    let store = Store::open(&target, &with_busy_timeout(5_000), NOW).unwrap();
    write(&store, "before").unwrap();
    assert_eq!(names(&store), ["before"]);

    server.kill();
    for _ in 0..2 {
        let (read, wrote) = (store.read(settings::all).err(), write(&store, "lost").err());
        for error in [read, wrote] {
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
            assert!(error.remedy_text().is_some() && error.is_retryable());
        }
    }
    server.restart();
    assert_eq!(names(&store), ["before"]);
    write(&store, "after").unwrap();
    assert_eq!(names(&store), ["after", "before"]);

    // Again, in the middle of many writers: each is told the truth.
    let began = Barrier::new(9);
    let kept: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|thread| {
                let (store, began) = (store.clone(), &began);
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for turn in 0.. {
                        if turn == 5 {
                            began.wait();
                        }
                        let name = format!("w{thread}-{turn:04}");
                        match write(&store, &name) {
                            Ok(()) => kept.push(name),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
                                break;
                            }
                        }
                    }
                    kept
                })
            })
            .collect();
        began.wait();
        server.kill();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    server.restart();
    let there = names(&store);
    assert!(kept.len() >= 40);
    assert!(kept.iter().all(|name| there.contains(name)), "an acknowledged write was lost");
}
