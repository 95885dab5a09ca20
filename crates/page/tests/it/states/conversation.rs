//! Made-up conversations and hits.

use super::made::{ago, id};
use oneiro::{
    Confidence, Cursor, Found, Hit, HitKind, Message, MessageId, Neighbour, NewMessage, Role, Tier,
    Trace, TracePart, TraceWord, Visibility,
};
use serde_json::{Value, json};

/// A message from its JSON.
pub fn message(number: i64, minutes_ago: i64, value: Value) -> Message {
    let new = NewMessage::from_json(value).unwrap();
    Message {
        id: MessageId(number),
        session_id: id("lease-flake"),
        role: new.role,
        body: new.body,
        at: ago(minutes_ago),
        external_id: new.external_id,
        visibility: new.visibility,
    }
}

const EXPLAINED: &str = "It is a **time zone** problem, not a race.\n\n`next_lease` rounds to the start of the week, and the test's clock is set to Sunday 23:30 *local* time. On a machine in UTC that is still Sunday; on the CI runners (`TZ=Europe/Berlin`) it is Monday, so the lease is in the next bucket:\n\n```rust\nfn bucket(at: Timestamp, zone: &TimeZone) -> i64 {\n    let day = at.to_zoned(zone.clone()).date();\n    day.to_iso_week_date().week() as i64\n}\n```\n\nThree ways out:\n\n1. Pin the zone in the test. Smallest, hides the bug.\n2. Keep leases in UTC throughout, as everything else is.\n3. Store the zone with the lease.\n\n| | change | risk |\n|---|---|---|\n| 1 | 1 line | the bug stays |\n| 2 | 2 files | none that I see |\n| 3 | a migration | high |\n\nI would do the second. The reason leases had a zone at all is in https://example.org/atlas/issues/212 (\"weekly quotas\"), and those are gone since March.";

pub fn messages() -> Vec<Message> {
    let day = 60 * 24;
    let log: String = (1..=124)
        .map(|line| {
            format!(
                "test jobs::lease::case_{line:03} ... {}\n",
                if line == 57 { "FAILED" } else { "ok" }
            )
        })
        .collect();
    let mut all = vec![
        message(
            101,
            day + 90,
            json!({"role": "user", "name": "Mara", "content": "the job lease test failed again in CI, only on Mondays it seems. Can you look at why?\n\nThe run is https://ci.example.org/runs/88123."}),
        ),
        message(
            102,
            day + 89,
            json!({"role": "assistant", "reasoning": "Mondays only suggests a calendar boundary: week numbers, cron, or a time zone. Look at the test first, then at whatever computes the lease.", "content": "Only on Mondays sounds like a calendar boundary. I will read the test and run it with the clock of last Monday.", "tool_calls": [
                {"id": "c1", "function": {"name": "read_file", "arguments": "{\"path\":\"crates/jobs/src/lease.rs\",\"lines\":\"1-60\"}"}},
                {"id": "c2", "function": {"name": "run", "arguments": "{\"command\":\"cargo test -p jobs lease -- --nocapture\",\"timeout_s\":120}"}},
            ]}),
        ),
        message(
            103,
            day + 89,
            json!({"role": "tool", "tool_call_id": "c1", "content": "pub fn next_lease(now: Timestamp) -> Lease {\n    let week = bucket(now, &TimeZone::system());\n    Lease { until: week_end(week) }\n}\n\n/// The week of a moment.\nfn bucket(at: Timestamp, zone: &TimeZone) -> i64 {\n    at.to_zoned(zone.clone()).date().to_iso_week_date().week() as i64\n}"}),
        ),
        message(104, day + 88, json!({"role": "tool", "tool_call_id": "c2", "content": log})),
        message(
            105,
            day + 86,
            json!({"role": "assistant", "content": "One of 124 fails here too, if I set `TZ=Europe/Berlin`. Let me see what changed lately.", "tool_calls": [
                {"id": "c3", "function": {"name": "git_log", "arguments": "{\"path\":\"crates/jobs/src/lease.rs\",\"count\":3}"}},
            ]}),
        ),
        message(
            106,
            day + 86,
            json!({"role": "tool", "tool_call_id": "c3", "content": "a41f0c2 Leases by week\n09be7d1 Jobs with leases"}),
        ),
        message(107, day + 80, json!({"role": "assistant", "content": EXPLAINED})),
        message(
            108,
            day + 70,
            json!({"role": "user", "name": "Mara", "content": "just pin the zone in the test then", "visibility": "rewound"}),
        ),
        message(
            109,
            day + 69,
            json!({"role": "assistant", "content": "Done: `TZ=UTC` in the test's environment. The bug in `next_lease` is still there.", "visibility": "rewound"}),
        ),
        message(
            110,
            day + 60,
            json!({"role": "user", "name": "Mara", "content": "no, wait. Do the second: UTC throughout. And check that nobody else uses `TimeZone::system()`."}),
        ),
        message(
            111,
            day + 58,
            json!({"role": "assistant", "content": [
                {"type": "text", "text": "Looking for other uses first."},
                {"type": "tool_use", "id": "c4", "name": "search_code", "input": {"pattern": "TimeZone::system", "include": "*.rs"}},
            ]}),
        ),
        message(
            112,
            day + 58,
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c4", "content": [{"type": "text", "text": "crates/jobs/src/lease.rs:12\ncrates/cli/src/output.rs:88"}, {"type": "image", "source": {"media_type": "image/png"}}]}]}),
        ),
        message(
            113,
            day + 55,
            json!({"role": "assistant", "content": "Two places: the lease, and the CLI where times are printed for people. Only the first is wrong.", "tool_calls": [
                {"id": "c5", "function": {"name": "edit_file", "arguments": json!({"path": "crates/jobs/src/lease.rs", "old": "let week = bucket(now, &TimeZone::system());", "new": "// Every process must agree on where a week begins.\nlet week = bucket(now, &TimeZone::UTC);"}).to_string()}},
            ]}),
        ),
        message(114, day + 55, json!({"role": "tool", "tool_call_id": "c5", "content": ""})),
    ];
    all.extend([
        message(115, 40, json!({"role": "user", "name": "Mara", "content": [{"type": "text", "text": "green over night. what is this line in the graph though?"}, {"type": "image_url", "image_url": {"url": "https://example.org/graph.png"}}]})),
        message(116, 38, json!({"role": "assistant", "content": "> what is this line in the graph\n\nThat is the number of leases that ran out before their holder gave them back. It was never zero; before the change you could not see it, because the bucket hid it.\n\nNothing to do today, but I would look at it when the import of the ticket archive runs again:\n\n- it holds its lease for longer than a minute\n- it does **not** renew it\n- ~~and it retries without a limit~~ (fixed in March)"})),
        message(117, 4, json!({"role": "user", "name": "Mara", "content": "good. write that down somewhere"})),
    ]);
    all
}

/// A page of the longest messages there are.
pub fn huge(count: usize) -> Vec<Message> {
    let paragraph =
        "The scheduler reads the row, and whoever comes second finds it taken & waits. ".repeat(12);
    let one = |at: usize| match at % 4 {
        0 => json!({"role": "user", "content": format!("And step {at}?")}),
        1 => {
            json!({"role": "assistant", "content": format!("{paragraph}\n\n{paragraph}\n\n{paragraph}"), "tool_calls": [
            {"id": format!("h{at}"), "function": {"name": "read", "arguments": format!("{{\"path\":\"src/{at}.rs\"}}")}}]})
        }
        2 => {
            json!({"role": "tool", "tool_call_id": format!("h{}", at - 1), "content": format!("{}\n", "x = \"<y>\" && z;\n".repeat(3_000))})
        }
        _ => json!({"role": "assistant", "content": paragraph}),
    };
    (0..count).map(|at| message(1_000 + at as i64, (count - at) as i64, one(at))).collect()
}

pub fn found() -> Found {
    let neighbour = |number: i64, role: Role, text: &str| Neighbour {
        id: MessageId(number),
        role,
        name: None,
        at: ago(60 * 24 + 80),
        text: text.to_owned(),
    };
    let part = |name, value, added| TracePart { name, value, added };
    let word = |word: &str, weight, met| TraceWord { word: word.to_owned(), weight, met };
    let trace = |scale: f64| Trace {
        parts: vec![
            part("coverage", 0.92, 1.2 * scale),
            part("similarity", 0.61, 0.88 * scale),
            part("session", 0.8, 1.32 * scale),
            part("answers", 0.0, 0.0),
            part("asks", 1.0, -0.25),
            part("length", 0.8, 0.2 * scale),
        ],
        words: vec![
            word("lease", 3.1, 1.0),
            word("test", 1.4, 1.0),
            word("flake", 4.0, 0.6),
            word("why", 0.2, 0.0),
        ],
        from: vec!["text", "vector"],
    };
    let hit = |(number, session, role, tier, snippet, marks): (
        i64,
        &str,
        Role,
        Tier,
        &str,
        Vec<(usize, usize)>,
    )| Hit {
        kind: HitKind::Message,
        id: MessageId(number),
        session_id: id(session),
        project: None,
        external_id: None,
        score: 4.0 - number as f64 / 100.0,
        tier,
        snippet: snippet.to_owned(),
        highlights: marks,
        at: ago(60 * 24 + number),
        role,
        name: (number == 101).then(|| "Mara".to_owned()),
        neighbours: vec![
            neighbour(
                number - 1,
                Role::User,
                "before that, somebody asked about the lease of a job",
            ),
            neighbour(
                number + 1,
                Role::Assistant,
                "and afterwards an answer, which goes on for a while and says a number of things",
            ),
        ],
        trace: Some(trace(4.0 - number as f64 / 50.0)),
    };
    Found {
        found: Confidence::Strong,
        evidence: vec![],
        tier: Some(Tier::Precise),
        memories: Vec::new(),
        asked_for: Default::default(),
        notes: Vec::new(),
        summaries: vec![],
        hits: vec![
            hit((
                101,
                "lease-flake",
                Role::User,
                Tier::Precise,
                "the job lease test failed again in CI, only on Mondays it seems. Can you look at why?",
                vec![(8, 13), (14, 18)],
            )),
            hit((
                107,
                "lease-flake",
                Role::Assistant,
                Tier::Precise,
                "`next_lease` rounds to the start of the week, and the test's clock is set to Sunday 23:30 local time",
                vec![(6, 11), (54, 58)],
            )),
            hit((
                88,
                "pr-review-902",
                Role::Tool,
                Tier::Relaxed,
                "test jobs::lease::case_057 ... FAILED\nthread panicked at crates/jobs/src/lease.rs:41",
                vec![(0, 4), (11, 16)],
            )),
            hit((
                60,
                "garden-plan",
                Role::Assistant,
                Tier::Semantic,
                "it comes and goes: some weeks they all come up, others not one of them does",
                vec![],
            )),
        ],
        next: Some(Cursor { order: 4, key: 2 }),
        note: None,
    }
}

/// A message that was taken back.
pub fn rewound(number: i64, value: Value) -> Message {
    Message { visibility: Visibility::Rewound, ..message(number, 5, value) }
}
