//! The diary: what a dream changed, in plain sentences. Each sentence about a claim has the ids of
//! all memories that it quotes, by which it is found again, and erased with any of them.

use super::decide::{DISPLACED, HOLDS_STILL, LEAVES_LATER, NO_ROOM, UPDATED_LATER};
use oneiro_model::{
    Dream, DreamDecision, DreamEvidence, DreamFindingKind, DreamGate, DreamVerdict, MemoryId,
};
use oneiro_store::dreams::StoredDecision;

/// How the entries of the diary begin.
const HEADING: &str = "## ";

/// Bytes of a diary from which on its oldest entries are left out; the ledger has them all. Each
/// revision stores the text, so a longer one would cost more than it tells.
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
    /// What the diary says about a decision; `None` if nothing is new.
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
            DiaryEvent::Removed => ("Took out", "Would take out"),
            DiaryEvent::RemovedLater => ("Will take out", "Would take out later"),
            DiaryEvent::Believed => ("Now believes", "Would believe"),
            DiaryEvent::Merged => ("Merged", "Would merge"),
            DiaryEvent::Ended => ("Let go of", "Would let go of"),
            DiaryEvent::LeftOut => ("Left out", "Would leave out"),
        };
        if is_applied { applied } else { dry }
    }

    /// What happened to the line of a claim, told with the name of its note.
    fn place(self) -> Option<&'static str> {
        match self {
            DiaryEvent::Kept | DiaryEvent::Updated => Some("in"),
            DiaryEvent::Removed | DiaryEvent::RemovedLater => Some("of"),
            _ => None,
        }
    }
}

/// Whether a dream has something to tell.
fn has_news(decisions: &[StoredDecision]) -> bool {
    decisions.iter().any(|stored| DiaryEvent::of(stored).is_some())
}

/// The entry of a dream.
pub(super) fn entry(dream: &Dream, decisions: &[StoredDecision]) -> String {
    let mut text = format!("{HEADING}{} · {}\n\n", dream.started_at.minute_text(), dream.id);
    let told: Vec<(DiaryEvent, &StoredDecision)> =
        decisions.iter().filter_map(|stored| Some((DiaryEvent::of(stored)?, stored))).collect();
    let changes = told.iter().filter(|(event, _)| event.is_change()).count();
    let claims = count_noun(dream.counts.candidates, "claim");
    let done = match (dream.apply, changes) {
        (_, 0) => "nothing to change".to_owned(),
        (true, _) => format!("made {}", count_noun(changes, "change")),
        (false, _) => format!("would make {}", count_noun(changes, "change")),
    };
    text.push_str(&format!("Went over {claims}; {done}.\n"));
    if !told.is_empty() {
        text.push('\n');
    }
    for (event, stored) in told {
        text.push_str(&format!("- {}\n", sentence((event, dream.apply), stored, decisions)));
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

/// What happened to a claim, where and why, with whom it is about and its id.
fn sentence(
    (event, is_applied): (DiaryEvent, bool),
    stored: &StoredDecision,
    all: &[StoredDecision],
) -> String {
    let decision = &stored.decision;
    let about = decision.subject.as_deref().or(decision.project.as_deref());
    let about = about.map(|about| format!("{about}, ")).unwrap_or_default();
    let (claim, id) = (quoted(&decision.claim), &decision.memory_id);
    let note = event.place().zip(stored.note.as_ref());
    let place = note.map(|(word, note)| format!(" {word} {note}")).unwrap_or_default();
    let label = event.label(is_applied);
    format!("{label} {claim}{place}: {} ({about}{id}).", why(event, decision, all))
}

/// The reason of a decision as the diary tells it.
fn why(event: DiaryEvent, decision: &DreamDecision, all: &[StoredDecision]) -> String {
    let is_earned = decision.reason.starts_with(|letter: char| letter.is_ascii_digit());
    if is_earned && matches!(event, DiaryEvent::Kept | DiaryEvent::Believed) {
        return came_up(&decision.evidence);
    }
    if event == DiaryEvent::Updated && decision.holds_still() {
        return "it is said in other words now".to_owned();
    }
    with_statements(decision, all)
}

/// How often a claim came up, in words.
fn came_up(evidence: &DreamEvidence) -> String {
    let times = |count: u32| match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    };
    let days = count_noun(evidence.days as usize, "day");
    let ways = match evidence.prompts {
        0 | 1 => String::new(),
        prompts => format!(", in {prompts} different ways"),
    };
    format!("it came up {}{ways}, on {days}", times(evidence.recalls))
}

/// A statement in quotes on one line, because erasures remove lines.
fn quoted(statement: &str) -> String {
    format!("“{}”", statement.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The reason of a decision, with the statement of another memory that it names. Stored reasons
/// have the id alone, so that an erased statement is not left in them.
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

/// The diary after a dream; `None` if the dream has nothing to tell.
pub(super) fn text_after(
    diary: &str,
    dream: &Dream,
    decisions: &[StoredDecision],
) -> Option<String> {
    has_news(decisions).then(|| with_entry(diary, &entry(dream, decisions)))
}

/// The diary with one more entry. Of a diary that is too long, the oldest entries are left out.
fn with_entry(diary: &str, entry: &str) -> String {
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
    fn what_holds_still_is_called_the_same_everywhere() {
        assert_eq!(HOLDS_STILL, oneiro_model::HOLDS_STILL);
    }

    #[test]
    fn how_often_a_claim_came_up_is_told_in_words() {
        let told = |recalls, prompts, days| {
            came_up(&DreamEvidence { recalls, prompts, days, ..DreamEvidence::default() })
        };
        assert_eq!(told(3, 2, 2), "it came up 3 times, in 2 different ways, on 2 days");
        assert_eq!(told(1, 1, 1), "it came up once, on 1 day");
    }

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
