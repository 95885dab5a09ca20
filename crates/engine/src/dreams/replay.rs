//! Replays a dream from what its ledger recorded: the same evidence has the same scores, the same gates and the
//! same notes, on either engine.

use super::decide::{Decided, add_to_plan};
use super::gates::Gates;
use super::ledger::resolve;
use super::plan::{PlanRequest, plan};
use crate::views::Dreams;
use oneiro_model::{
    Dream, DreamGate, DreamNote, DreamOutcome, DreamVerdict, Error, ReplayedDream, Result,
};
use oneiro_store::dreams::{self, StoredDecision};
use oneiro_store::notes;

/// Gates that follow from the evidence alone.
const COUNTED: [DreamGate; 4] =
    [DreamGate::Recalls, DreamGate::Prompts, DreamGate::Days, DreamGate::Score];

impl Dreams<'_> {
    /// Decides again what a dream decided, and compares.
    pub fn replay(&self, id: &str) -> Result<ReplayedDream> {
        self.oneiro.store.read(|tx| {
            let dream = resolve(tx, id)?;
            if dream.outcome != DreamOutcome::Processed {
                let outcome = dream.outcome.as_str();
                return Err(Error::conflict(format!("{} did not run: {outcome}", dream.id)));
            }
            let key =
                dreams::key(tx, &dream.id)?.ok_or_else(|| Error::internal("a dream has no key"))?;
            let decisions = dreams::decisions(tx, key)?;
            let gates = Gates::new(dream.preset, dream.thresholds.clone());
            let mut differences = Vec::new();
            let decided: Vec<Decided> = decisions
                .iter()
                .map(|stored| decide_again(&dream, &gates, stored, &mut differences))
                .collect();
            for note in &dream.inputs.notes {
                let text = match &note.before {
                    Some(hash) => notes::text(tx, hash)?,
                    None => Some(String::new()),
                };
                match text {
                    Some(text) => {
                        let planned = plan_again(note, &text, (&decisions, &decided))?;
                        let is_same = note.after.as_deref().is_none_or(|after| after == planned);
                        if !is_same {
                            differences.push(format!("{} has another text", note.name));
                        }
                    }
                    None => differences
                        .push(format!("the text of {} before the dream is erased", note.name)),
                }
            }
            let (same, count) = (differences.is_empty(), decisions.len());
            Ok(ReplayedDream { dream_id: dream.id, same, decisions: count, differences })
        })
    }
}

fn decide_again(
    dream: &Dream,
    gates: &Gates,
    stored: &StoredDecision,
    differences: &mut Vec<String>,
) -> Decided {
    let known = &stored.decision;
    let judged = gates.judge(&known.evidence, stored.tags.len(), dream.started_at);
    let id = &known.candidate_id;
    if (judged.score - known.score).abs() > f64::EPSILON {
        differences.push(format!("{id}: score {} instead of {}", judged.score, known.score));
    }
    let gate = judged.missing.as_ref().map(|(gate, _)| *gate);
    let by_evidence = known.gate.is_some_and(|gate| COUNTED.contains(&gate));
    if by_evidence && gate != known.gate {
        differences.push(format!("{id}: it now passes the gate that it did not pass"));
    }
    Decided {
        verdict: known.decision,
        gate: known.gate,
        reason: String::new(),
        value: gates.value(&judged.parts, stored.kind),
        parts: judged.parts,
        score: judged.score,
        note: stored.note.clone().unwrap_or_else(|| dream_note(dream)),
        line: known.line.clone(),
        written: stored.written.clone(),
        takes_place_of: stored.takes_place_of.clone(),
        is_new: false,
        removed_by_hand: None,
    }
}

fn dream_note(dream: &Dream) -> oneiro_model::NoteName {
    // A decision always has a note; this one belongs to none.
    let none = dream.inputs.notes.first().map(|note| note.name.clone());
    none.unwrap_or_else(oneiro_model::NoteName::memory)
}

/// The hash of the text that a note gets.
fn plan_again(
    note: &DreamNote,
    text: &str,
    (stored, decided): (&[StoredDecision], &[Decided]),
) -> Result<String> {
    let mut request = PlanRequest { text, budget: note.budget, ..PlanRequest::default() };
    for (stored, one) in stored.iter().zip(decided) {
        let is_without_room = stored.decision.gate == Some(DreamGate::Budget);
        if one.note == note.name {
            // What found no room was wanted too.
            let verdict = if is_without_room { DreamVerdict::Promoted } else { one.verdict };
            let one = Decided { verdict, ..one.clone() };
            add_to_plan(&mut request, stored.decision.candidate_id.as_str(), &one);
        }
    }
    Ok(notes::hash_of(&plan(&request)?.text))
}
