//! The diary: what a dream changed, in plain sentences. Each sentence about a claim has the ids of all memories
//! that it quotes, by which it is found again, and erased with any of them.

use super::decide::{DISPLACED, HOLDS_STILL, LEAVES_LATER, NO_ROOM, UPDATED_LATER};
use oneiro_model::{Dream, DreamDecision, DreamFindingKind, DreamGate, DreamVerdict, MemoryId};
use oneiro_store::dreams::StoredDecision;

/// How the entries of the diary begin.
const HEADING: &str = "## ";

/// Bytes of a diary from which on its oldest entries are left out; the ledger has them all. Each revision stores
/// the text, so a longer one would cost more than it tells.
const DIARY_BYTES_MAX: usize = 16 * 1024;

/// What the diary says about itself.
const TITLE: &str =
    "# Dreams\n\nWritten by Oneiro after each night. It is never read back as evidence.\n";

/// What a dream did with a claim, as the diary tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiaryEvent {
    /// Its line came into the note.
    Kept,
    /// Its line reads differently now.
    Updated,
    /// Its line left the note.
    Removed,
    /// Its line no longer holds, and leaves the note in a later dream.
    RemovedLater,
    /// It is believed, and the note has no room for it.
    Believed,
    /// It has become a part of another claim.
    Merged,
    /// It was replaced or no longer holds, and had no line.
    Ended,
    /// A person refused it.
    LeftOut,
}

impl DiaryEvent {
    /// What is told about a decision; `None` if nothing is new.
    fn of(stored: &StoredDecision) -> Option<DiaryEvent> {
        let decision = &stored.decision;
        let reason = decision.reason.as_str();
        if reason.ends_with(LEAVES_LATER) {
            return Some(DiaryEvent::RemovedLater);
        }
        if reason.ends_with(UPDATED_LATER) {
            return None;
        }
        let is_promoted = decision.decision == DreamVerdict::Promoted;
        let has_place = is_promoted && reason != DISPLACED && !reason.ends_with(NO_ROOM);
        match (&stored.written, &decision.line) {
            (Some(old), Some(new)) if has_place => (old != new).then_some(DiaryEvent::Updated),
            (None, Some(_)) if has_place => Some(DiaryEvent::Kept),
            (Some(_), _) => Some(DiaryEvent::Removed),
            (None, _) => DiaryEvent::without_line(decision),
        }
    }

    /// What happened to a claim that has no line, and gets none.
    fn without_line(decision: &DreamDecision) -> Option<DiaryEvent> {
        match decision.decision {
            DreamVerdict::Promoted if decision.reason.starts_with(HOLDS_STILL) => None,
            DreamVerdict::Promoted => Some(DiaryEvent::Believed),
            DreamVerdict::Merged => Some(DiaryEvent::Merged),
            DreamVerdict::Superseded | DreamVerdict::Retired => Some(DiaryEvent::Ended),
            DreamVerdict::Rejected if decision.gate == Some(DreamGate::Refused) => {
                Some(DiaryEvent::LeftOut)
            }
            DreamVerdict::Waiting | DreamVerdict::Rejected => None,
        }
    }

    /// Whether it changed a note or a memory.
    fn is_change(self) -> bool {
        !matches!(self, DiaryEvent::RemovedLater | DiaryEvent::Ended | DiaryEvent::LeftOut)
    }

    /// How its sentence begins, for a dream that applies and for a dry run.
    fn label(self, is_applied: bool) -> &'static str {
        let (applied, dry) = match self {
            DiaryEvent::Kept => ("Kept", "Would keep"),
            DiaryEvent::Updated => ("Updated", "Would update"),
            DiaryEvent::Removed => ("Removed", "Would remove"),
            DiaryEvent::RemovedLater => ("To be removed", "To be removed"),
            DiaryEvent::Believed => ("Believed", "Would believe"),
            DiaryEvent::Merged => ("Merged", "Would merge"),
            DiaryEvent::Ended => ("No longer current", "No longer current"),
            DiaryEvent::LeftOut => ("Left out", "Would leave out"),
        };
        if is_applied { applied } else { dry }
    }
}

/// The entry of a dream.
pub(super) fn entry(dream: &Dream, decisions: &[StoredDecision]) -> String {
    let mut text = format!("{HEADING}{} · {}\n\n", dream.started_at.minute_text(), dream.id);
    let told: Vec<(DiaryEvent, &StoredDecision)> =
        decisions.iter().filter_map(|stored| Some((DiaryEvent::of(stored)?, stored))).collect();
    let changes = count_noun(told.iter().filter(|(event, _)| event.is_change()).count(), "change");
    let claims = count_noun(dream.counts.candidates, "claim");
    let verb = if dream.apply { "" } else { "would make " };
    text.push_str(&format!("Looked at {claims}; {verb}{changes}.\n"));
    if !told.is_empty() {
        text.push('\n');
    }
    for (event, stored) in told {
        let sentence = sentence(event.label(dream.apply), &stored.decision, decisions);
        text.push_str(&format!("- {sentence}\n"));
    }
    let stale = dream.findings.iter().filter(|it| it.kind == DreamFindingKind::Stale).count();
    let contradictions =
        dream.findings.iter().filter(|it| it.kind == DreamFindingKind::Contradiction).count();
    if stale > 0 {
        text.push_str(&format!(
            "\n{} in your notes may be out of date.\n",
            count_noun(stale, "line")
        ));
    }
    if contradictions > 0 {
        text.push_str(&format!(
            "\n{} for you to settle.\n",
            count_noun(contradictions, "contradiction")
        ));
    }
    text
}

fn count_noun(count: usize, one: &str) -> String {
    match count {
        0 => format!("no {one}s"),
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    }
}

fn sentence(label: &str, decision: &DreamDecision, all: &[StoredDecision]) -> String {
    let about = decision.subject.as_deref().or(decision.project.as_deref());
    let about = about.map(|about| format!("{about}, ")).unwrap_or_default();
    let (claim, id) = (quoted(&decision.claim), &decision.memory_id);
    format!("{label}: {claim} ({about}{id}): {}.", with_statements(decision, all))
}

/// A statement in quotes on one line, because erasures remove lines.
fn quoted(statement: &str) -> String {
    format!("“{}”", statement.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The reason of a decision, with the statement of another memory that it names. Stored reasons have the id
/// alone, so that an erased statement is not left in them.
pub(super) fn with_statements(decision: &DreamDecision, all: &[StoredDecision]) -> String {
    if !decision.reason.contains(MemoryId::PREFIX) {
        return decision.reason.clone();
    }
    let named = all.iter().map(|stored| &stored.decision).find(|other| {
        other.memory_id != decision.memory_id && decision.reason.contains(other.memory_id.as_str())
    });
    match named {
        Some(other) => {
            let id = other.memory_id.as_str();
            decision.reason.replace(id, &format!("{} ({id})", quoted(&other.claim)))
        }
        None => decision.reason.clone(),
    }
}

/// The diary with one more entry. Of a diary that is too long, the oldest entries are left out.
pub(super) fn with_entry(diary: &str, entry: &str) -> String {
    let old = if diary.trim().is_empty() { TITLE } else { diary };
    let mut text = format!("{}\n\n{entry}", old.trim_end());
    while text.len() > DIARY_BYTES_MAX {
        let marker = format!("\n{HEADING}");
        let Some(first) = text.find(&marker) else { break };
        let Some(next) = text.get(first + 1..).and_then(|rest| rest.find(&marker)) else { break };
        text.replace_range(first..first + 1 + next, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diary_loses_its_oldest_entries() {
        let entry = |day: usize| format!("## day {day}\n\n{}\n", "zzz ".repeat(1_000));
        let mut diary = String::new();
        for day in 0..10 {
            diary = with_entry(&diary, &entry(day));
        }
        assert!(diary.len() <= DIARY_BYTES_MAX, "{}", diary.len());
        assert!(diary.starts_with("# Dreams"), "{}", &diary[..40]);
        assert!(diary.contains("## day 9") && !diary.contains("## day 0"));
    }
}
