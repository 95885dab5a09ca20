//! Where no thread can be started, commands do without: nothing waits for one for ever.

use crate::support::{json, oneiro, run, run_with};
use oneiro_testkit::{Backend, Faults, TestSpace};

/// Messages that are worth a fold, which is done by a thread where there is one.
const MESSAGES: usize = 1_200;

#[test]
fn appends_beyond_the_fold_threshold_succeed_without_threads() {
    let space = &TestSpace::new(Backend::Sqlite);
    let faults = Faults::new();
    faults.arm();
    run(space, &["session", "new", "--id", "s"]);
    let lines: String = (0..MESSAGES)
        .map(|n| format!("{{\"role\":\"user\",\"content\":\"message number {n}\"}}\n"))
        .collect();
    for _ in 0..2 {
        let mut command = oneiro(space);
        faults.apply(&mut command, "spawn::0:*:EAGAIN");
        let answer = run_with(command, &["append", "s"], lines.as_bytes());
        assert_eq!(answer.code, 0, "{}", answer.err);
    }
    assert_eq!(json(space, &["session", "show", "s"])["message_count"], MESSAGES * 2);
    let found = json(space, &["search", "number 1199", "--limit", "1"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}
