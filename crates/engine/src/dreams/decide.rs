//! Decides about each claim: which gate it does not pass, what is promoted, and what the notes are to say.
//! It is pure: the same claims, entries and notes have the same decisions.

use super::evidence::is_newer_than;
use super::gates::Gates;
use super::gather::{Claim, Gathered};
use super::plan::{Plan, PlanRequest, Planned, Wanted, plan};
use super::staleness::{TimedClaim, bound, is_small_talk};
use crate::notes::{DreamNotes, accept_entry, note_entries};
use oneiro_model::{
    CandidateId, DreamGate, DreamVerdict, Memory, MemoryStatus, NoteName, Result, ScoreParts,
    Timestamp,
};
use oneiro_store::dream_candidates::DreamEntry;
use std::collections::{BTreeMap, BTreeSet};

/// What is decided about a claim.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    pub(super) verdict: DreamVerdict,
    pub(super) gate: Option<DreamGate>,
    pub(super) reason: String,
    pub(super) parts: ScoreParts,
    pub(super) score: f64,
    pub(super) value: f64,
    /// The note that it stands in or is meant for.
    pub(super) note: NoteName,
    /// What the note is to say.
    pub(super) line: Option<String>,
    /// What a dream wrote there before.
    pub(super) written: Option<String>,
    /// The candidate whose place it takes.
    pub(super) takes_place_of: Option<CandidateId>,
    /// Whether it is promoted for the first time.
    pub(super) is_new: bool,
    /// When a hand took it out of the note, if that was noticed now.
    pub(super) removed_by_hand: Option<Timestamp>,
}

/// The decisions, in the order of the claims, and the plans of the notes.
pub(super) struct Decisions {
    pub(super) decided: Vec<Decided>,
    pub(super) plans: BTreeMap<NoteName, Plan>,
}

/// Decides about everything that was gathered.
pub(super) fn decide(
    gathered: &Gathered,
    gates: &Gates,
    limit: usize,
    now: Timestamp,
) -> Result<Decisions> {
    let entries = Entries::new(&gathered.entries, &gathered.notes);
    let successors = successors(&gathered.claims);
    let mut decided: Vec<Decided> = Vec::with_capacity(gathered.claims.len());
    for (index, claim) in gathered.claims.iter().enumerate() {
        let judging = Judging { claim, gates, now, entries: &entries, notes: &gathered.notes };
        let old = successors.get(&index).and_then(|old| gathered.claims.get(*old));
        decided.push(judging.decide(old));
    }
    for (index, claim) in gathered.claims.iter().enumerate() {
        let leader = claim.same_as.and_then(|leader| gathered.claims.get(leader));
        if let (Some(leader), Some(one)) = (leader, decided.get_mut(index)) {
            one.verdict = DreamVerdict::Merged;
            one.gate = None;
            one.reason = format!("it says the same as {}", leader.memory.id);
            one.line = None;
        }
    }
    keep_limit(&mut decided, limit);
    let plans = plan_notes(gathered, &mut decided)?;
    Ok(Decisions { decided, plans })
}

/// Claims that take the place of a promoted one that was replaced: the place of the old one by that of the new.
fn successors(claims: &[Claim]) -> BTreeMap<usize, usize> {
    let by_memory: BTreeMap<&str, usize> =
        claims.iter().enumerate().map(|(index, claim)| (claim.memory.id.as_str(), index)).collect();
    let mut found = BTreeMap::new();
    for (old, claim) in claims.iter().enumerate() {
        let by = claim.replaced_by.as_ref();
        if let Some(new) = by.and_then(|by| by_memory.get(by.as_str())) {
            found.insert(*new, old);
        }
    }
    found
}

/// The entries that dreams wrote, by candidate.
struct Entries<'e> {
    by_candidate: BTreeMap<&'e str, &'e DreamEntry>,
    /// When the note of an entry that is no longer there was changed last.
    missing: BTreeMap<&'e str, Timestamp>,
}

impl<'e> Entries<'e> {
    fn new(entries: &'e [DreamEntry], notes: &DreamNotes) -> Entries<'e> {
        let mut by_candidate = BTreeMap::new();
        let mut missing = BTreeMap::new();
        let mut lines: BTreeMap<&NoteName, BTreeSet<String>> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.removed_at.is_none()) {
            let there = lines
                .entry(&entry.note)
                .or_insert_with(|| note_entries(notes.text(&entry.note)).into_iter().collect());
            let id = entry.candidate.as_str();
            if there.contains(&entry.line) {
                by_candidate.insert(id, entry);
            } else {
                missing.insert(id, notes.changed_at(&entry.note));
            }
        }
        Entries { by_candidate, missing }
    }
}

/// One claim that is judged.
struct Judging<'j> {
    claim: &'j Claim,
    gates: &'j Gates,
    now: Timestamp,
    entries: &'j Entries<'j>,
    notes: &'j DreamNotes,
}

impl Judging<'_> {
    /// Decides about the claim, which may take the place of a promoted one.
    fn decide(&self, replaced: Option<&Claim>) -> Decided {
        let claim = self.claim;
        let judged = self.gates.judge(&claim.evidence, claim.tags.len(), self.now);
        let entry = self.entries.by_candidate.get(claim.id.as_str());
        let note = match entry {
            Some(entry) => entry.note.clone(),
            None => self.notes.of(claim.memory.subject.as_deref(), claim.memory.project.as_deref()),
        };
        let removed_by_hand = self.entries.missing.get(claim.id.as_str()).copied();
        let mut decided = Decided {
            verdict: DreamVerdict::Waiting,
            gate: None,
            reason: String::new(),
            value: self.gates.value(&judged.parts, claim.memory.kind),
            parts: judged.parts,
            score: judged.score,
            line: None,
            written: entry.map(|entry| entry.line.clone()),
            note,
            takes_place_of: None,
            is_new: false,
            removed_by_hand,
        };
        if let Some((verdict, gate, reason)) = self.stopped() {
            return Decided { verdict, gate, reason, ..decided };
        }
        match accept_entry(&decided.note, &line_of(&claim.memory)) {
            Ok(line) => decided.line = Some(line),
            Err(error) => {
                decided.verdict = DreamVerdict::Rejected;
                decided.gate = Some(DreamGate::Origin);
                decided.reason = error.message().to_owned();
                return decided;
            }
        }
        if let Some((verdict, gate, reason)) = self.refused(removed_by_hand) {
            return Decided { verdict, gate: Some(gate), reason, line: None, ..decided };
        }
        let was_refused = claim.stored.as_ref().is_some_and(|it| it.refused_at.is_some());
        let is_promoted =
            claim.promoted_at().is_some() && removed_by_hand.is_none() && !was_refused;
        if is_promoted && claim.memory.status == MemoryStatus::Active {
            decided.verdict = DreamVerdict::Promoted;
            decided.reason = HOLDS_STILL.to_owned();
            return decided;
        }
        if let Some(old) = replaced.filter(|_| claim.memory.status == MemoryStatus::Active) {
            decided.verdict = DreamVerdict::Promoted;
            decided.reason = format!("it replaces {}", old.memory.id);
            decided.takes_place_of = Some(old.id.clone());
            decided.is_new = true;
            return decided;
        }
        if let Some((gate, reason)) = &claim.blocked {
            let (gate, reason) = (Some(*gate), reason.clone());
            return Decided { gate, reason, line: None, ..decided };
        }
        match judged.missing {
            Some((gate, missing)) => {
                decided.gate = Some(gate);
                decided.reason = missing;
                decided.line = None;
            }
            None => {
                decided.verdict = DreamVerdict::Promoted;
                decided.reason = earned(claim);
                decided.is_new = true;
            }
        }
        decided
    }

    /// Why a claim does not hold, or never lasts, whatever its evidence.
    fn stopped(&self) -> Option<(DreamVerdict, Option<DreamGate>, String)> {
        let memory = &self.claim.memory;
        let was_promoted = self.claim.promoted_at().is_some();
        let ended = |verdict, reason: String| Some((verdict, None, reason));
        match memory.status {
            MemoryStatus::Superseded => {
                let by = self.claim.replaced_by.as_ref().or(memory.superseded_by.as_ref());
                let by = by.map(ToString::to_string).unwrap_or_default();
                return ended(DreamVerdict::Superseded, format!("replaced by {by}"));
            }
            MemoryStatus::Invalid => {
                return ended(DreamVerdict::Retired, "it is no longer believed".to_owned());
            }
            MemoryStatus::Active | MemoryStatus::Candidate => {}
        }
        if memory.valid_until.is_some_and(|until| until <= self.now) {
            return ended(DreamVerdict::Retired, "its time has passed".to_owned());
        }
        if let Some(by) = &memory.suspended_by {
            let reason = format!("{by} contradicts it; a person settles which holds");
            return Some((DreamVerdict::Waiting, Some(DreamGate::Contradiction), reason));
        }
        if !self.claim.is_own_words {
            let reason = format!(
                "it rests on words of trust {}, and only what a person said is promoted",
                memory.trust.as_str()
            );
            return Some((DreamVerdict::Rejected, Some(DreamGate::Origin), reason));
        }
        let bound = bound(TimedClaim {
            content: &memory.content,
            kind: memory.kind,
            valid_until: memory.valid_until,
            said_at: memory.holds_from(),
        });
        if let Some(bound) = bound {
            let verdict = if was_promoted { DreamVerdict::Retired } else { DreamVerdict::Rejected };
            return Some((verdict, Some(DreamGate::Bound), bound.describe().to_owned()));
        }
        is_small_talk(&memory.content).then(|| {
            let reason = "it only says how somebody is at the moment".to_owned();
            (DreamVerdict::Rejected, Some(DreamGate::SmallTalk), reason)
        })
    }

    /// Whether a person refused it, and nothing newer speaks for it.
    fn refused(&self, by_hand: Option<Timestamp>) -> Option<(DreamVerdict, DreamGate, String)> {
        let stored = self.claim.stored.as_ref().and_then(|stored| stored.refused_at);
        let at = by_hand.max(stored)?;
        if is_newer_than(&self.claim.evidence, at) {
            return None;
        }
        let day = at.date_text();
        let reason = format!("it was taken back on {day}, and nothing newer speaks for it");
        Some((DreamVerdict::Rejected, DreamGate::Refused, reason))
    }
}

/// The reason of a claim that was promoted before, which is no news.
pub(super) const HOLDS_STILL: &str = "it was promoted before and still holds";

/// The reason of an entry that made room.
pub(super) const DISPLACED: &str = "a more valuable entry took its place; it is still believed";

/// How the reason of a claim ends that found no room in its note.
pub(super) const NO_ROOM: &str = "the note is full of more valuable entries";

/// How the reason of an entry ends that leaves its note in a later dream.
pub(super) const LEAVES_LATER: &str = "it leaves the note in one of the next nights";

/// How the reason of an entry ends whose text changes in a later dream.
pub(super) const UPDATED_LATER: &str = "its line is updated in one of the next nights";

/// What a claim was promoted for.
fn earned(claim: &Claim) -> String {
    let evidence = &claim.evidence;
    let count = |number: u32, one: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{number} {one}{plural}")
    };
    format!(
        "{} by {} on {}",
        count(evidence.recalls, "recall"),
        count(evidence.prompts, "prompt"),
        count(evidence.days, "day")
    )
}

/// The entry of a claim: one line that names whom it is about.
pub(super) fn line_of(memory: &Memory) -> String {
    let statement = memory.content.split_whitespace().collect::<Vec<_>>().join(" ");
    let names = |name: &str| {
        let name = name.to_lowercase();
        let mut words = statement.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| word.to_lowercase() == name)
    };
    let about = memory.subject.as_deref().filter(|subject| !names(subject));
    let about = about.or(memory.project.as_deref().filter(|_| memory.subject.is_none()));
    match about.map(str::trim).filter(|about| !about.is_empty()) {
        Some(about) => format!("{about}: {statement}"),
        None => statement,
    }
}

/// Lets the best of those that are promoted for the first time through. What takes the place of another
/// claim is none of them.
fn keep_limit(decided: &mut [Decided], limit: usize) {
    let is_counted = |one: &Decided| {
        one.verdict == DreamVerdict::Promoted && one.is_new && one.takes_place_of.is_none()
    };
    let mut order: Vec<usize> = (0..decided.len()).collect();
    order.retain(|index| decided.get(*index).is_some_and(is_counted));
    order.sort_by(|a, b| {
        let score = |index: &usize| decided.get(*index).map_or(0.0, |one| one.score);
        score(b).total_cmp(&score(a)).then(a.cmp(b))
    });
    for index in order.into_iter().skip(limit) {
        if let Some(one) = decided.get_mut(index) {
            one.verdict = DreamVerdict::Waiting;
            one.gate = Some(DreamGate::Limit);
            one.reason = format!("{limit} better ones were promoted; it comes next");
            one.is_new = false;
            one.line = None;
        }
    }
}

/// Plans each note, and tells the claims what that means for them.
fn plan_notes(gathered: &Gathered, decided: &mut [Decided]) -> Result<BTreeMap<NoteName, Plan>> {
    let mut names: BTreeSet<NoteName> = BTreeSet::new();
    for one in decided.iter() {
        if one.written.is_some() || one.verdict == DreamVerdict::Promoted {
            names.insert(one.note.clone());
        }
    }
    let mut plans = BTreeMap::new();
    for name in names {
        let mut request = PlanRequest {
            text: gathered.notes.text(&name),
            budget: gathered.notes.budget(&name),
            ..PlanRequest::default()
        };
        for (claim, one) in gathered.claims.iter().zip(decided.iter()) {
            if one.note != name {
                continue;
            }
            add_to_plan(&mut request, claim.id.as_str(), one);
        }
        let plan = plan(&request)?;
        for (claim, one) in gathered.claims.iter().zip(decided.iter_mut()) {
            if one.note == name {
                explain_plan(claim, one, &plan);
            }
        }
        plans.insert(name, plan);
    }
    Ok(plans)
}

/// Adds what is decided about a claim to the plan of its note.
pub(super) fn add_to_plan(request: &mut PlanRequest<'_>, id: &str, one: &Decided) {
    if let Some(written) = &one.written {
        request.written.insert(written.clone(), id.to_owned());
    }
    if let (DreamVerdict::Promoted, Some(line)) = (one.verdict, &one.line) {
        let wanted = Wanted { id: id.to_owned(), line: line.clone(), value: one.value };
        request.wanted.push(wanted);
    }
    if matches!(one.verdict, DreamVerdict::Superseded | DreamVerdict::Retired) {
        request.ended.insert(id.to_owned());
    }
    if let Some(old) = &one.takes_place_of {
        request.successors.insert(old.to_string(), id.to_owned());
    }
}

/// Adds what a plan means for a claim to its decision.
fn explain_plan(claim: &Claim, one: &mut Decided, plan: &Plan) {
    let id = claim.id.as_str();
    if plan.without_room.iter().any(|other| other == id) {
        if one.is_new && claim.memory.status == MemoryStatus::Active {
            one.verdict = DreamVerdict::Waiting;
            one.gate = Some(DreamGate::Budget);
            one.reason = format!("it has earned a place, and {NO_ROOM}");
            one.is_new = false;
        } else if one.verdict == DreamVerdict::Promoted {
            one.reason = format!("{}; {NO_ROOM}", one.reason);
        }
    }
    let is_displaced = plan
        .edits
        .iter()
        .any(|edit| matches!(edit, Planned::Displace { id: other, .. } if other == id));
    if is_displaced {
        one.reason = DISPLACED.to_owned();
    }
    if plan.left.iter().any(|other| other == id) {
        let is_kept = one.verdict == DreamVerdict::Promoted;
        let later = if is_kept { UPDATED_LATER } else { LEAVES_LATER };
        one.reason = format!("{}; {later}", one.reason);
    }
}
