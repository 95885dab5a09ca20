//! Made-up sessions, statistics and jobs.

use oneiro::{
    BackupRecord, IndexStats, Job, JobId, JobState, Session, SessionGroup, SessionId, Span, Stats,
    Timestamp,
};
use oneiro_page::Frame;
use oneiro_page::plot::{Day, Minute};

pub fn now() -> Timestamp {
    Timestamp::parse("2026-11-15T16:30:00Z").unwrap()
}

pub fn ago(minutes: i64) -> Timestamp {
    now().minus(Span::seconds(minutes * 60))
}

pub fn frame() -> Frame {
    Frame {
        space: "default".to_owned(),
        notice: None,
        signed_in: false,
        form_token: Some("secret-of-the-page".to_owned()),
        now: now(),
    }
}

pub fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub fn session(name: &str, title: &str) -> Session {
    Session {
        id: id(name),
        source: "claude-code".to_owned(),
        user_id: None,
        model: Some("claude-opus-4".to_owned()),
        model_config: None,
        system_prompt: None,
        parent_id: None,
        lineage: None,
        title: (!title.is_empty()).then(|| title.to_owned()),
        project: None,
        cwd: None,
        metadata: serde_json::Map::new(),
        started_at: ago(180),
        ended_at: None,
        end_reason: None,
        last_active_at: ago(4),
        archived: false,
        message_count: 48,
        tool_call_count: 17,
        input_tokens: 182_400,
        output_tokens: 12_800,
        cache_read_tokens: 120_000,
        cache_write_tokens: 0,
        reasoning_tokens: 900,
        api_call_count: 21,
        estimated_cost_usd: 0.4173,
        actual_cost_usd: 0.0,
        rewind_count: 0,
        compacted_count: 0,
        compacted_tool_calls: 0,
        preview: Some("can you look at why this fails".to_owned()),
        root_id: None,
    }
}

pub fn main_session() -> Session {
    Session {
        project: Some("atlas".to_owned()),
        user_id: Some("mara".to_owned()),
        system_prompt: Some("You are a careful engineer. Read before you write.\n\n- Keep changes small.\n- Say what you did not check.".to_owned()),
        rewind_count: 1,
        started_at: ago(60 * 26),
        ..session("lease-flake", "The lease test that fails on Mondays")
    }
}

pub fn sessions() -> Vec<Session> {
    let rows: [(&str, &str, &str, &str, i64, i64); 13] = [
        (
            "lease-flake",
            "The lease test that fails on Mondays",
            "the job lease test failed again in CI, only on Mondays it seems",
            "claude-code",
            4,
            48,
        ),
        ("tg-8841", "", "remind me what we decided about the greenhouse", "telegram", 22, 6),
        (
            "atlas-import",
            "Importing the old ticket archive",
            "there are 40k tickets in the export, can we",
            "claude-code",
            95,
            212,
        ),
        (
            "cron-digest-1115",
            "Morning digest",
            "Summarise what changed since yesterday",
            "cron",
            540,
            3,
        ),
        (
            "ses_k3jq7m2v",
            "Names for the release",
            "we need a name that is not a star or a cat",
            "cli",
            660,
            31,
        ),
        (
            "garden-plan",
            "What to plant where the pines were",
            "the soil is sour and there is hardly any sun",
            "telegram",
            60 * 25,
            54,
        ),
        (
            "pr-review-902",
            "Review of the paging change",
            "please review the diff, especially the cursor",
            "claude-code",
            60 * 27,
            88,
        ),
        ("ja-1", "日本語の見出しと長い会話", "明日の会議の資料を", "cli", 60 * 30, 12),
        ("he-1", "שיחה על ארכיטקטורה", "מה עושים עם האינדקס", "telegram", 60 * 31, 9),
        (
            "tax-2025",
            "Which receipts are missing",
            "I have the folder of scans, which months",
            "cli",
            60 * 52,
            140,
        ),
        (
            "perf-p95",
            "p95 went up after the deploy",
            "look at the graph from 14:00 on",
            "claude-code",
            60 * 54,
            301,
        ),
        ("book-club", "", "what was the book with the lighthouse", "telegram", 60 * 75, 4),
        ("heartbeat-77", "", "", "cron", 60 * 76, 1),
    ];
    let row = |(at, (name, title, preview, source, age, count)): (
        usize,
        (&str, &str, &str, &str, i64, i64),
    )| Session {
        source: source.to_owned(),
        preview: (!preview.is_empty()).then(|| preview.to_owned()),
        last_active_at: ago(age),
        started_at: ago(age + 200),
        message_count: count,
        tool_call_count: if source == "claude-code" { count / 3 } else { 0 },
        ended_at: (at > 2).then(|| ago(age)),
        end_reason: (at > 2).then(|| "user_exit".to_owned()),
        project: match at % 3 {
            0 => Some("atlas".to_owned()),
            _ => None,
        },
        archived: at == 9,
        ..session(name, title)
    };
    rows.into_iter().enumerate().map(row).collect()
}

pub fn stats() -> Stats {
    Stats {
        space: "default".to_owned(),
        store: "~/.local/share/oneiro/default.db".to_owned(),
        engine: "sqlite".to_owned(),
        schema: 4,
        sessions: 1_284,
        open_sessions: 9,
        sources: groups(&[("claude-code", 1_100), ("telegram", 183), ("cron", 1)]),
        projects: groups(&[("atlas", 640), ("garden", 1)]),
        messages: 96_412,
        rewound: 318,
        payloads: 742,
        repaired: 0,
        notes: 0,
        revisions: 0,
        jobs: 2,
        bytes: 148_300_000,
        index: IndexStats {
            segments: 11,
            docs: 121_300,
            tail: 214,
            vectors: Some("static".to_owned()),
        },
        first_active_at: Some(ago(60 * 24 * 400)),
        last_active_at: Some(ago(4)),
        backups: vec![BackupRecord {
            path: "copy.db".to_owned(),
            at: ago(60 * 50),
            reason: "backup".to_owned(),
        }],
    }
}

fn groups(rows: &[(&str, i64)]) -> Vec<SessionGroup> {
    let group = |(name, sessions): &(&str, i64)| SessionGroup {
        name: (*name).to_owned(),
        sessions: *sessions,
    };
    rows.iter().map(group).collect()
}

/// This many days up to today, with quiet week-ends.
pub fn days(count: i64) -> Vec<Day> {
    let day = |back: i64| {
        let at = ago(back * 24 * 60).to_string();
        let busy = if matches!(back % 7, 0 | 1) { 18 } else { 120 };
        let wave = (back * 37) % 83;
        Day {
            date: at.chars().take(10).collect(),
            user: busy / 2 + wave / 3,
            assistant: busy + wave,
            tool: (busy - 18) * 2 + wave,
            other: wave / 20,
        }
    };
    (0..count).rev().map(day).collect()
}

pub fn minutes(count: i64) -> Vec<Minute> {
    let minute = |back: i64| {
        let wave = f64::from(((back * 29) % 17) as i32);
        Minute {
            at: ago(back),
            count: 3 + (back % 5) as u64,
            p50_ms: 1.8 + wave / 12.0,
            p95_ms: 4.0 + wave / 2.0 + if back == 30 { 14.0 } else { 0.0 },
        }
    };
    (0..count).rev().map(minute).collect()
}

pub fn jobs() -> Vec<Job> {
    let job = |seed: u8, kind: &str, state: JobState| Job {
        id: JobId::from_random([seed; 10]),
        kind: kind.to_owned(),
        state,
        payload: serde_json::Value::Null,
        lease_until: (state == JobState::Running).then(|| now().plus(Span::seconds(40))),
        attempts: if state == JobState::Failed { 5 } else { 1 },
        needs: None,
        last_error: (state == JobState::Failed)
            .then(|| "the embedder at http://localhost:11434/v1 does not answer".to_owned()),
        next_run_at: now().plus(Span::seconds(300)),
    };
    vec![
        job(1, "rebuild_index", JobState::Failed),
        job(2, "compact", JobState::Running),
        job(3, "some_new_kind", JobState::Queued),
    ]
}
