//! The kill storm: eight processes append to one store and are killed with SIGKILL at any moment.
//! Every id that was printed must be there afterwards, in order, with its text.
//!
//! `ONEIRO_TORTURE_SECONDS` makes it as long as one likes; see scripts/torture.

use crate::support::{json, oneiro, run};
use oneiro_testkit::{TestSpace, on_both_backends, test_seed};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

const WRITERS: usize = 8;

on_both_backends! {
    fn acknowledged_messages_survive_sigkill(space) {
        let seconds: Option<u64> = torture_seconds();
        let deadline = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
        let mut acknowledged: Vec<Vec<(i64, String)>> = vec![Vec::new(); WRITERS];
        for writer in 0..WRITERS {
            run(space, &["session", "new", "--id", &format!("w{writer}")]);
        }
        let mut round = 0;
        while round < 3 || Instant::now() < deadline {
            storm(space, round, &mut acknowledged);
            assert_nothing_lost(space, &acknowledged);
            round += 1;
        }
        let told: usize = acknowledged.iter().map(Vec::len).sum();
        let kills = round * WRITERS;
        println!("stats: {:?} rounds={round} kills={kills} acknowledged={told} lost=0", space.backend);
    }
}

/// How long to go on, when somebody asked for more than the short test.
#[expect(clippy::disallowed_methods, reason = "a test of the binary reads how long it may take")]
pub fn torture_seconds() -> Option<u64> {
    std::env::var("ONEIRO_TORTURE_SECONDS").ok()?.parse().ok()
}

/// Eight writers, each killed after a time of its own; adds what each had acknowledged.
fn storm(space: &TestSpace, round: usize, acknowledged: &mut [Vec<(i64, String)>]) {
    let offset = test_seed() as usize % 60;
    let stormed = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write_until_killed(space, (round, writer), offset)))
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    for (all, new) in acknowledged.iter_mut().zip(stormed) {
        assert!(
            !new.is_empty(),
            "a writer was killed before it wrote anything: the storm proves nothing"
        );
        all.extend(new);
    }
}

fn write_until_killed(
    space: &TestSpace,
    (round, writer): (usize, usize),
    offset: usize,
) -> Vec<(i64, String)> {
    let mut child = oneiro(space)
        .args(["append", &format!("w{writer}"), "--stream"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let text = move |n: usize| {
        format!("round {round} writer {writer} message {n} {}", "x".repeat(n % 300))
    };
    // The kill comes between any two instructions of the writer; only how many acknowledgements
    // we wait for before it differs, so that it falls early, in the middle and late.
    let wanted = 5 + (round * 7 + writer * 13 + offset) % 60;
    let feeder = std::thread::spawn(move || {
        for n in 0.. {
            let line = serde_json::json!({"role": "user", "content": text(n), "external_id": format!("{round}-{n}")});
            if writeln!(input, "{line}").is_err() {
                return;
            }
        }
    });
    let mut ids = Vec::new();
    for line in output.lines() {
        let Ok(id) = line.as_deref().unwrap_or_default().parse() else { break };
        ids.push((id, text(ids.len())));
        if ids.len() == wanted {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    feeder.join().unwrap();
    ids
}

fn assert_nothing_lost(space: &TestSpace, acknowledged: &[Vec<(i64, String)>]) {
    for (writer, acknowledged) in acknowledged.iter().enumerate() {
        let shown = json(space, &["session", "show", &format!("w{writer}")]);
        let messages = shown["messages"].as_array().unwrap();
        assert_eq!(shown["message_count"], messages.len(), "counters do not match rows");
        let stored: std::collections::HashMap<i64, &str> = messages
            .iter()
            .map(|message| (message["id"].as_i64().unwrap(), message["content"].as_str().unwrap()))
            .collect();
        for (id, text) in acknowledged {
            assert_eq!(stored.get(id), Some(&text.as_str()), "message {id} of writer {writer}");
        }
        assert!(acknowledged.windows(2).all(|pair| pair[0].0 < pair[1].0), "ids out of order");
    }
    assert_eq!(json(space, &["doctor"])["ok"], true);
}
