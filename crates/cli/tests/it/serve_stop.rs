//! Stopping: what was answered is kept, what was not is whole or absent, and nobody waits long.

use crate::serve_support::{Client, Server};
use crate::support::{config, json, oneiro, run};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Appends pairs until the server is gone; answers what was acknowledged: id and text.
fn append_until_gone(address: &str, client: usize, done: &AtomicUsize) -> Vec<(i64, String)> {
    let mut acknowledged = Vec::new();
    let mut connection = Client::connect(address).unwrap();
    for n in 0.. {
        let texts = [format!("{client}-{n}-a"), format!("{client}-{n}-b")];
        let body = json!(texts.each_ref().map(|text| json!({"role": "user", "content": text})));
        let path = format!("/v1/sessions/s{client}/messages?create=true");
        // A server that stops ends idle connections; a client that comes again gets an answer or a
        // refusal.
        let reply = match connection.call("POST", &path, Some(&body)) {
            Ok(reply) => reply,
            Err(_) => break,
        };
        if reply.status != 200 {
            panic!("{}{}", reply.head, reply.text());
        }
        let ids = reply.json()["ids"].as_array().unwrap().clone();
        let ids = ids.iter().map(|id| id.as_i64().unwrap());
        acknowledged.extend(ids.zip(texts));
        done.fetch_add(1, Ordering::Relaxed);
        if reply.header("connection").as_deref() == Some("close") {
            break;
        }
    }
    acknowledged
}

on_both_backends! {
    fn what_was_answered_before_the_end_is_kept_and_nothing_is_torn(space) {
        config(space);
        let server = Server::run(space, {
            let mut command = oneiro(space);
            command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
            command
        });
        let (address, done) = (server.address.clone(), AtomicUsize::new(0));
        let acknowledged = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..16)
                .map(|client| scope.spawn({
                    let (address, done) = (&address, &done);
                    move || append_until_gone(address, client, done)
                }))
                .collect();
            while done.load(Ordering::Relaxed) < 200 {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.stop_without_cutting_off();
            clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
        });
        for (client, acknowledged) in acknowledged.iter().enumerate() {
            let shown = json(space, &["session", "show", &format!("s{client}")]);
            let messages = shown["messages"].as_array().unwrap();
            assert_eq!(shown["message_count"], messages.len());
            assert_eq!(messages.len() % 2, 0, "half of an append was kept");
            let kept: BTreeMap<i64, &Value> =
                messages.iter().map(|one| (one["id"].as_i64().unwrap(), &one["content"])).collect();
            for (id, text) in acknowledged {
                assert_eq!(kept.get(id), Some(&&json!(text)), "message {id} of client {client}");
            }
            assert!(messages.len() <= acknowledged.len() + 2, "more than one append was not answered");
        }
        assert_eq!(json(space, &["doctor"])["ok"], true);
        assert_eq!(run(space, &["stats"]).code, 0);
    }
}
