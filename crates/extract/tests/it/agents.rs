//! Transcripts of coding agents: commands, outcomes, paths and errors, not what tools print.

use crate::{assert_extracted, extract_about, extract_of};

const SYNC: &[(&str, &str)] = &[
    (
        "user",
        "The nightly sync job on worker-3 is failing since yesterday. Can you find out why? The code is in services/sync/runner.py and we must not touch the billing tables.",
    ),
    (
        "assistant",
        "I'll look at the logs first.\n{\"command\":\"journalctl -u nightly-sync --since yesterday | tail -50\"}",
    ),
    (
        "tool bash",
        "Nov 14 02:00:01 worker-3 sync[911]: INFO starting sync\nNov 14 02:00:02 worker-3 sync[911]: INFO connected to db-primary:5432\nNov 14 02:00:03 worker-3 sync[911]: INFO batch 1 ok\nTraceback (most recent call last):\n  File \"/srv/services/sync/runner.py\", line 88, in run\n    self.flush(batch)\n  File \"/srv/services/sync/flush.py\", line 41, in flush\n    raise BatchTooLarge(len(batch))\nsync.errors.BatchTooLarge: batch has 10432 rows, limit is 10000\nNov 14 02:00:05 worker-3 systemd[1]: nightly-sync.service: Main process exited, code=exited, status=1/FAILURE",
    ),
    (
        "assistant",
        "The batch grew over the limit. That happens in services/sync/flush.py. Let me look at the code.",
    ),
    (
        "tool read",
        "import os\nimport sys\nfrom sync.errors import BatchTooLarge\n\nLIMIT = int(os.environ.get('SYNC_BATCH_LIMIT', '10000'))\n\nclass Flusher:\n    def __init__(self, conn):\n        self.conn = conn\n\n    def flush(self, batch):\n        if len(batch) > LIMIT:\n            raise BatchTooLarge(len(batch))\n        self.conn.executemany(INSERT_SQL, batch)\n        self.conn.commit()\n",
    ),
    (
        "tool bash",
        "total 60\ndrwxr-xr-x 2 root root 4096 Nov 15 21:06 data\n-rw-r--r-- 1 root root 120 Nov 15 21:06 README.md\n-rw-r--r-- 1 root root 120 Nov 15 21:06 runner.py",
    ),
    (
        "assistant",
        "There are two options:\n1. Raise SYNC_BATCH_LIMIT to 20000 in /etc/sync/env.\n2. Split batches in `Flusher.flush` so that no batch is ever larger than the limit.\nWhich one do you prefer?",
    ),
    (
        "user",
        "Let's go with option 2. And add a test, please. Never raise the limit, the DBA (Marta) wants it at 10000.",
    ),
    ("assistant", "Agreed. I'll split in chunks of LIMIT and add tests/test_flush.py."),
    ("tool edit", "ok"),
    ("assistant", "$ pytest tests/test_flush.py -q"),
    (
        "tool bash",
        "..F.\n=================================== FAILURES ===================================\n    def test_exact_limit():\n>       assert calls == 1\nE       assert 2 == 1\ntests/test_flush.py:31: AssertionError\n1 failed, 3 passed in 0.42s",
    ),
    ("assistant", "An off-by-one: range end was inclusive. Fixed it."),
    ("tool bash", "....\n4 passed in 0.40s"),
    (
        "assistant",
        "All 4 tests pass now. I committed it as 3f2a9c1 on branch fix/batch-split. Should I deploy to worker-3 now, or wait for tonight's window at 02:00?",
    ),
    ("user", "Thanks! Wait for the window. One more thing: do we have an alert for this job?"),
];

#[test]
fn the_story_of_a_repair() {
    assert_extracted(
        &extract_of(SYNC, 300),
        &[
            "nightly sync job on worker-3 is failing",
            "services/sync/runner.py",
            "must not touch the billing tables",
            "sync.errors.BatchTooLarge: batch has 10432 rows, limit is 10000",
            "Let's go with option 2",
            "Never raise the limit",
            "$ pytest tests/test_flush.py",
            "3f2a9c1",
            "do we have an alert for this job?",
            "tool results",
        ],
        &["INFO", "line 88", "drwxr", "import os", "self.conn", "Traceback", "===="],
    );
}

#[test]
fn the_same_in_half_the_room() {
    assert_extracted(
        &extract_of(SYNC, 150),
        &["BatchTooLarge: batch has 10432 rows", "Never raise the limit", "worker-3"],
        &["INFO", "line 41", "drwxr", "import"],
    );
}

#[test]
fn about_a_decision() {
    let text = extract_about(SYNC, 60, Some("Who wants the limit to stay at 10000?"));
    assert_extracted(&text, &["Marta"], &["alert"]);
}

#[test]
fn errors_of_other_languages() {
    let said = [
        ("user", "Build it."),
        (
            "tool bash",
            "   Compiling serde v1.0.1\n   Compiling oneiro v0.1.0\nerror[E0277]: the trait bound `Widget: Clone` is not satisfied\n   --> src/panel.rs:88:14\n    |\n88  |     widgets.to_vec()\n    |             ^^^^^^ the trait `Clone` is not implemented\nerror: could not compile `oneiro` due to 1 previous error",
        ),
        ("assistant", "Widget needs Clone. I'll derive it in src/widget.rs."),
        (
            "tool node",
            "TypeError: Cannot read properties of undefined (reading 'rows')\n    at render (/app/table.js:12:9)\n    at main (/app/index.js:3:1)\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)\n    at Object.Module._extensions..js (node:internal/modules/cjs/loader:1159:10)",
        ),
    ];
    assert_extracted(
        &extract_of(&said, 100),
        &["E0277", "TypeError: Cannot read properties", "src/widget.rs"],
        &["Compiling", "loader", "^^^^"],
    );
}

#[test]
fn markup_is_left_out() {
    let said = [(
        "assistant",
        "## Findings\n\n| name | size |\n|------|------|\n| Atlas | 40 GB |\n\n---\n\n- [x] moved **Atlas** to the Reykjavik server\n- [ ] renew the certificate of mail.example.org before May 9\n\n```sh\nscp atlas.tar reykjavik:/srv\n```\n\nLet me know if there is anything else that I can do for you. I am happy to help!",
    )];
    assert_extracted(
        &extract_of(&said, 60),
        &["Reykjavik", "certificate of mail.example.org", "May 9"],
        &["|--", "```", "##", "- [", "happy to help"],
    );
}
