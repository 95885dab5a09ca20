//! Made-up dreams, and the pages they become, from none at all to hostile and huge.

use super::hostile::EVIL;
use super::made::{ago, frame};
use oneiro::{
    CandidateId, Cursor, Dream, DreamCounts, DreamDecision, DreamDetail, DreamEvidence,
    DreamFinding, DreamFindingKind, DreamGate, DreamId, DreamInputs, DreamMode, DreamOutcome,
    DreamPreset, DreamStatus, DreamThresholds, DreamTrigger, DreamVerdict, GroupId, LeftOperation,
    MemoryId, OperationId, Page, RevisionId, ScoreParts, VerdictCount,
};
use oneiro_page::dream::{self, DreamView};
use oneiro_page::dreams::{self, DreamsView};

fn thresholds() -> DreamThresholds {
    DreamThresholds {
        limit: 10,
        min_score: 0.75,
        min_recall_count: 3,
        min_unique_queries: 2,
        half_life_days: 14.0,
        weights: Default::default(),
    }
}

/// A dream of some days ago.
fn night(days: u8, outcome: DreamOutcome, text: &str) -> Dream {
    let group = GroupId::from_random([days; 10]);
    let is_processed = outcome == DreamOutcome::Processed;
    Dream {
        id: DreamId::from_random([days; 10]),
        mode: DreamMode::Core,
        preset: DreamPreset::Core,
        trigger: DreamTrigger::Cron,
        period: Some(ago(1_440 * i64::from(days))),
        apply: is_processed && days != 2,
        started_at: ago(1_440 * i64::from(days)),
        finished_at: Some(ago(1_440 * i64::from(days))),
        outcome,
        reason: (!is_processed).then(|| text.to_owned()),
        ran: is_processed,
        thresholds: thresholds(),
        inputs: DreamInputs::default(),
        counts: DreamCounts {
            candidates: 12,
            promoted: usize::from(days),
            lines_added: usize::from(days),
            lines_removed: 1,
            ..DreamCounts::default()
        },
        findings: vec![DreamFinding {
            kind: DreamFindingKind::Theme,
            what: text.to_owned(),
            confidence: 0.5,
            reason: text.to_owned(),
        }],
        revision: Some(RevisionId::of_group(&group)),
        group: Some(group),
        undone_at: (days == 3).then(|| ago(5)),
    }
}

fn decision(at: u8, verdict: DreamVerdict, text: &str) -> DreamDecision {
    DreamDecision {
        candidate_id: CandidateId::from_random([at; 10]),
        memory_id: MemoryId::from_random([at; 10]),
        claim: text.to_owned(),
        subject: Some(text.to_owned()),
        project: Some(text.to_owned()),
        decision: verdict,
        reason: text.to_owned(),
        gate: Some(DreamGate::Recalls),
        parts: ScoreParts { frequency: 0.5, relevance: 1.0, recency: 7.0, ..ScoreParts::default() },
        score: 0.8,
        evidence: DreamEvidence { recalls: 3, prompts: 2, days: 1, ..DreamEvidence::default() },
        line: Some(text.to_owned()),
    }
}

pub fn list(text: &str) -> DreamsView {
    let nights = vec![
        night(0, DreamOutcome::Processed, text),
        night(1, DreamOutcome::Missed, text),
        night(2, DreamOutcome::Processed, text),
        night(3, DreamOutcome::Processed, text),
        night(50, DreamOutcome::Failed, text),
    ];
    DreamsView {
        frame: frame(),
        status: DreamStatus {
            mode: DreamMode::Core,
            apply: false,
            cron: "0 3 * * *".to_owned(),
            timezone: "UTC".to_owned(),
            thresholds: thresholds(),
            next_at: Some(ago(-600)),
            last: nights.first().cloned(),
            candidates: vec![VerdictCount { decision: DreamVerdict::Waiting, count: 7 }],
        },
        digest: Some(one(2, text, 3).detail),
        dreams: Page { items: nights, next: Some(Cursor { order: 1, key: 1 }) },
    }
}

pub fn no_dreams() -> DreamsView {
    let full = list("");
    let status = DreamStatus {
        mode: DreamMode::Off,
        next_at: None,
        last: None,
        candidates: vec![],
        ..full.status
    };
    DreamsView { status, digest: None, dreams: Page { items: vec![], next: None }, ..full }
}

pub fn one(days: u8, text: &str, candidates: usize) -> DreamView {
    let verdicts = [DreamVerdict::Promoted, DreamVerdict::Merged, DreamVerdict::Rejected];
    let verdicts = verdicts.iter().cycle().take(candidates).enumerate();
    DreamView {
        frame: frame(),
        detail: DreamDetail {
            dream: night(days, DreamOutcome::Processed, text),
            decisions: verdicts.map(|(at, it)| decision(at as u8, *it, text)).collect(),
            diary: format!("{text}\n\nAnd nothing else."),
        },
        left: vec![LeftOperation {
            operation: OperationId::from_random([1; 10]),
            subject: text.to_owned(),
            reason: text.to_owned(),
        }],
    }
}

pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("dreams-empty", dreams::page(&no_dreams())),
        ("dreams", dreams::page(&list("the server was not running"))),
        ("dream", dream::page(&one(1, "Mira runs in the evening", 3))),
        ("dream-dry", dream::page(&one(2, "Mira runs in the evening", 3))),
        ("dream-huge", dream::page(&one(1, "Mira runs in the evening", 5_000))),
        ("hostile-dreams", dreams::page(&list(EVIL))),
        ("hostile-dream", dream::page(&one(1, EVIL, 3))),
    ]
}
