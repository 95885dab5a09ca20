//! Settles a dream: promotes, merges and supersedes memories, refreshes the notes, writes the diary, and
//! records all of it, in one transaction with the ledger. Only this step changes what is believed.

use super::decide::{Decided, Decisions};
use super::diary;
use super::gather::{Claim, Gathered};
use super::plan::Planned;
use crate::memories::{find_related, is_only_learnt, merge_into, resolve, supersede};
use crate::notes::write_by_dream;
use crate::operations::Edit;
use oneiro_model::{
    CandidateId, Dream, DreamCandidate, DreamCounts, DreamDecision, DreamFinding, DreamGate,
    DreamNote, DreamOutcome, DreamVerdict, Error, ErrorKind, Memory, MemoryStatus, NoteName,
    OperationVerb, Relation, Result, RevisionId, Timestamp,
};
use oneiro_store::dream_candidates::{self, DreamEntry, StoredCandidate};
use oneiro_store::dreams::{self, StoredDecision};
use oneiro_store::{Tx, notes};

/// Memories that one dream merges, at most.
const MERGES_MAX: usize = 100;

/// A dream that is ready to be recorded, and applied if it applies.
pub(super) struct Prepared {
    pub(super) dream: Dream,
    pub(super) holder: String,
    pub(super) gathered: Gathered,
    pub(super) decisions: Decisions,
}

/// The error that says that something changed while the dream was being prepared.
pub(super) fn space_changed_error() -> Error {
    Error::new(ErrorKind::Busy, "the space changed while the dream was prepared")
        .remedy("dream again")
}

impl Prepared {
    /// The claims with what is decided about them.
    fn all(&self) -> impl Iterator<Item = (&Claim, &Decided)> {
        self.gathered.claims.iter().zip(&self.decisions.decided)
    }

    /// How much the dream does.
    pub(super) fn counts(&self) -> DreamCounts {
        let mut counts = DreamCounts {
            candidates: self.gathered.claims.len(),
            staged: self.gathered.staged,
            ..DreamCounts::default()
        };
        for (claim, one) in self.all() {
            let was = claim.stored.as_ref().map(|stored| stored.candidate.decision);
            let count = match one.verdict {
                DreamVerdict::Promoted if !one.is_new => continue,
                DreamVerdict::Promoted => &mut counts.promoted,
                DreamVerdict::Waiting => &mut counts.waiting,
                DreamVerdict::Rejected => &mut counts.rejected,
                // What was told before is not told again.
                verdict if was == Some(verdict) => continue,
                DreamVerdict::Merged => &mut counts.merged,
                DreamVerdict::Superseded => &mut counts.superseded,
                DreamVerdict::Retired => &mut counts.retired,
            };
            *count += 1;
        }
        for edit in self.decisions.plans.values().flat_map(|plan| &plan.edits) {
            counts.lines_added +=
                usize::from(matches!(edit, Planned::Add { .. } | Planned::Replace { .. }));
            counts.lines_removed += usize::from(!matches!(edit, Planned::Add { .. }));
        }
        counts
    }

    /// The notes before and after.
    pub(super) fn notes(&self) -> Vec<DreamNote> {
        let plans = self.decisions.plans.iter();
        let note = plans.map(|(name, plan)| DreamNote {
            name: name.clone(),
            before: self.gathered.notes.hash(name).map(str::to_owned),
            after: (!plan.text.is_empty() || self.gathered.notes.hash(name).is_some())
                .then(|| notes::hash_of(&plan.text)),
            budget: self.gathered.notes.budget(name),
        });
        note.collect()
    }

    /// What a dream tells about a claim.
    fn decision(claim: &Claim, one: &Decided) -> DreamDecision {
        DreamDecision {
            candidate_id: claim.id.clone(),
            memory_id: claim.memory.id.clone(),
            claim: claim.memory.content.clone(),
            subject: claim.memory.subject.clone(),
            project: claim.memory.project.clone(),
            decision: one.verdict,
            reason: one.reason.clone(),
            gate: one.gate,
            parts: one.parts,
            score: one.score,
            evidence: claim.evidence.clone(),
            line: one.line.clone(),
        }
    }

    /// Whether a decision is news, or what the plan of a note follows from.
    fn is_recorded(claim: &Claim, one: &Decided) -> bool {
        let Some(stored) = &claim.stored else { return true };
        let known = &stored.candidate;
        one.verdict == DreamVerdict::Promoted
            || one.written.is_some()
            || one.removed_by_hand.is_some()
            || known.decision != one.verdict
            || known.gate != one.gate
            || known.evidence != claim.evidence
            || stored.memory_key != claim.memory_key
    }

    /// Whether a decision can be recorded before the dream is applied, because nothing follows from it.
    fn has_no_effect(claim: &Claim, one: &Decided) -> bool {
        matches!(one.verdict, DreamVerdict::Waiting | DreamVerdict::Rejected)
            && one.written.is_none()
            && one.removed_by_hand.is_none()
            && claim.promoted_at().is_none()
    }

    /// Records some of the decisions that change nothing; returns where to go on.
    pub(super) fn record_without_effect(
        &self,
        tx: &Tx<'_>,
        (from, count): (usize, usize),
    ) -> Result<Option<usize>> {
        let key = dreams::key(tx, &self.dream.id)?.ok_or_else(space_changed_error)?;
        let mut recorded = 0;
        for (index, (claim, one)) in self.all().enumerate().skip(from) {
            if !Prepared::has_no_effect(claim, one) || !Prepared::is_recorded(claim, one) {
                continue;
            }
            if recorded == count {
                return Ok(Some(index));
            }
            self.record(tx, key, (claim, one))?;
            recorded += 1;
        }
        Ok(None)
    }

    fn record(&self, tx: &Tx<'_>, dream_key: i64, (claim, one): (&Claim, &Decided)) -> Result<()> {
        let candidate_key = dream_candidates::save(tx, &self.candidate(claim, one))?;
        let stored = Prepared::stored_decision(claim, one);
        dreams::decide(tx, (dream_key, candidate_key), &stored)
    }

    fn stored_decision(claim: &Claim, one: &Decided) -> StoredDecision {
        StoredDecision {
            decision: Prepared::decision(claim, one),
            note: Some(one.note.clone()),
            written: one.written.clone(),
            takes_place_of: one.takes_place_of.clone(),
            tags: claim.tags.clone(),
            kind: claim.memory.kind,
        }
    }

    /// The row of a candidate after this dream. A dry run promotes nothing.
    fn candidate(&self, claim: &Claim, one: &Decided) -> StoredCandidate {
        let stored = claim.stored.as_ref();
        let is_promoted = one.verdict == DreamVerdict::Promoted;
        let is_dry = !self.dream.apply;
        let now = self.dream.started_at;
        let known = stored.map(|stored| &stored.candidate);
        let (decision, reason) = match one.verdict {
            DreamVerdict::Promoted if is_dry && one.is_new => {
                (DreamVerdict::Waiting, format!("ready to be promoted: {}", one.reason))
            }
            verdict => (verdict, one.reason.clone()),
        };
        let was_promoted = claim.promoted_at();
        let promoted_at = match one.verdict {
            DreamVerdict::Promoted if !is_dry => was_promoted.or(Some(now)),
            DreamVerdict::Rejected if !is_dry => None,
            _ => was_promoted,
        };
        let refused_at = match one.removed_by_hand {
            Some(at) if !is_dry => Some(at),
            _ => stored.and_then(|stored| stored.refused_at),
        };
        StoredCandidate {
            key: stored.map_or(0, |stored| stored.key),
            claim_hash: claim.hash.clone(),
            memory_key: claim.memory_key,
            // New evidence lifted the refusal.
            refused_at: refused_at.filter(|_| !is_promoted || is_dry),
            candidate: DreamCandidate {
                id: claim.id.clone(),
                memory_id: claim.memory.id.clone(),
                claim: claim.memory.content.clone(),
                kind: claim.memory.kind,
                project: claim.memory.project.clone(),
                subject: claim.memory.subject.clone(),
                tags: claim.tags.clone(),
                evidence: claim.evidence.clone(),
                parts: one.parts,
                score: one.score,
                decision,
                reason,
                gate: one.gate,
                decided_at: now,
                dream_id: self.dream.id.clone(),
                staged_at: known.map_or(now, |known| known.staged_at),
                promoted_at,
            },
        }
    }

    /// Records the rest of the decisions and ends the ledger row, without changing anything else.
    pub(super) fn finish_dry(&self, tx: &Tx<'_>, finished_at: Timestamp) -> Result<Dream> {
        self.record_rest(tx)?;
        self.finish(tx, Dream { finished_at: Some(finished_at), ..self.dream.clone() })
    }

    fn record_rest(&self, tx: &Tx<'_>) -> Result<()> {
        let key = dreams::key(tx, &self.dream.id)?.ok_or_else(space_changed_error)?;
        for (claim, one) in self.all() {
            if !Prepared::has_no_effect(claim, one) && Prepared::is_recorded(claim, one) {
                self.record(tx, key, (claim, one))?;
            }
        }
        Ok(())
    }

    fn finish(&self, tx: &Tx<'_>, dream: Dream) -> Result<Dream> {
        let dream = Dream { outcome: DreamOutcome::Processed, ran: true, ..dream };
        if dreams::finish(tx, &dream, &self.holder)? {
            Ok(dream)
        } else {
            Err(Error::new(ErrorKind::Busy, "another process took this dream over")
                .remedy("look at the list of dreams"))
        }
    }

    /// Applies the dream, with everything it records.
    pub(super) fn apply(&self, edit: &Edit<'_, '_>, finished_at: Timestamp) -> Result<Dream> {
        self.refuse_changed(edit)?;
        for (claim, one) in self.all() {
            self.settle_claim(edit, claim, one)?;
        }
        self.merge_same(edit)?;
        self.record_rest(edit.tx)?;
        self.write_notes(edit)?;
        self.write_diary(edit)?;
        let has_notes = !edit.notes.is_empty();
        let group = edit.group.filter(|_| has_notes || !edit.changed.borrow().is_empty()).cloned();
        let revision = edit.group.filter(|_| has_notes).map(RevisionId::of_group);
        let finished_at = Some(finished_at);
        self.finish(edit.tx, Dream { group, revision, finished_at, ..self.dream.clone() })
    }

    /// Refuses if what the decisions rest on changed since it was read.
    fn refuse_changed(&self, edit: &Edit<'_, '_>) -> Result<()> {
        for name in self.decisions.plans.keys() {
            let now = notes::get(edit.tx, name)?.map(|note| note.hash);
            if now.as_deref() != self.gathered.notes.hash(name) {
                return Err(space_changed_error());
            }
        }
        for (claim, one) in self.all() {
            let matters = one.verdict == DreamVerdict::Promoted || one.written.is_some();
            // What is invalid may be removed, and cannot come back by itself.
            if !matters || claim.memory.status == MemoryStatus::Invalid {
                continue;
            }
            let now =
                resolve(edit.tx, claim.memory.id.as_str()).map_err(|_| space_changed_error())?;
            let is_same = now.status == claim.memory.status
                && now.content == claim.memory.content
                && now.suspended_by == claim.memory.suspended_by
                && now.trust == claim.memory.trust;
            if !is_same {
                return Err(space_changed_error());
            }
        }
        Ok(())
    }

    /// Makes a candidate that is promoted active, and lets what it contradicts go.
    fn settle_claim(&self, edit: &Edit<'_, '_>, claim: &Claim, one: &Decided) -> Result<()> {
        let is_promoted = one.verdict == DreamVerdict::Promoted && one.is_new;
        if !is_promoted || claim.memory.status != MemoryStatus::Candidate {
            return Ok(());
        }
        let memory = resolve(edit.tx, claim.memory.id.as_str())?;
        let after = Memory { status: MemoryStatus::Active, replaces: None, ..memory.clone() };
        let reason = format!("{}: {}", self.dream.id, one.reason);
        edit.write_because(OperationVerb::Promote, (Some(&memory), Some(&after)), &reason)?;
        for other in find_related(edit.tx, &after)? {
            if other.relation != Relation::Contradicts || other.status != MemoryStatus::Active {
                continue;
            }
            let old = resolve(edit.tx, other.id.as_str())?;
            // What a person stated by hand is suspended by the contradiction, and a person settles it.
            if is_only_learnt(edit.tx, &old)? {
                let new = resolve(edit.tx, memory.id.as_str())?;
                supersede(edit, &old, &new, Some(memory.holds_from()))?;
            }
        }
        Ok(())
    }

    /// Merges memories that say the same into the one that is believed.
    fn merge_same(&self, edit: &Edit<'_, '_>) -> Result<()> {
        let mut merged = 0;
        for (claim, _) in self.all() {
            let leader = claim.same_as.and_then(|leader| self.gathered.claims.get(leader));
            let same_words = claim.others.iter().map(|other| (other, claim));
            let other_words = leader.map(|leader| (&claim.memory, leader));
            for (other, into) in same_words.chain(other_words) {
                let into = resolve(edit.tx, into.memory.id.as_str())?;
                let Ok(other) = resolve(edit.tx, other.id.as_str()) else { continue };
                // A less trusted source must not lower the trust of what is believed.
                let is_merged = into.status == MemoryStatus::Active
                    && other.status.is_standing()
                    && other.trust >= into.trust
                    && is_only_learnt(edit.tx, &other)?;
                if is_merged && merged < MERGES_MAX {
                    merge_into(
                        edit,
                        &other,
                        &into,
                        &format!("{}: it says the same", self.dream.id),
                    )?;
                    merged += 1;
                }
            }
        }
        Ok(())
    }

    fn write_notes(&self, edit: &Edit<'_, '_>) -> Result<()> {
        let (id, now) = (&self.dream.id, self.dream.started_at);
        let message = self.message();
        for (claim, one) in self.all() {
            if one.removed_by_hand.is_some() {
                let entries = self.gathered.entries.iter();
                for entry in entries.filter(|entry| entry.candidate == claim.id) {
                    dream_candidates::remove_entry(edit.tx, &entry.note, &claim.id, now)?;
                }
            }
        }
        for (name, plan) in &self.decisions.plans {
            if plan.text != self.gathered.notes.text(name) {
                write_by_dream(edit, (id, &message), name, &plan.text)?;
            }
            for planned in &plan.edits {
                self.record_entry(edit.tx, name, planned)?;
            }
        }
        Ok(())
    }

    fn record_entry(&self, tx: &Tx<'_>, note: &NoteName, planned: &Planned) -> Result<()> {
        let (dream, now) = (&self.dream.id, self.dream.started_at);
        let put = |id: &str, line: &str| {
            let candidate = CandidateId::parse(id)?;
            let entry = DreamEntry {
                note: note.clone(),
                candidate,
                line: line.to_owned(),
                removed_at: None,
            };
            dream_candidates::put_entry(tx, &entry, dream, now)
        };
        let remove =
            |id: &str| dream_candidates::remove_entry(tx, note, &CandidateId::parse(id)?, now);
        match planned {
            Planned::Add { id, line } => put(id, line),
            Planned::Remove { id, .. } | Planned::Displace { id, .. } => remove(id),
            Planned::Replace { id, by, line, .. } => {
                if id != by {
                    remove(id)?;
                }
                put(by, line)
            }
        }
    }

    /// What the revision says about itself: what it did to each note.
    fn message(&self) -> String {
        let told = self.decisions.plans.iter().filter_map(|(name, plan)| {
            let added = plan.edits.iter().filter(|it| matches!(it, Planned::Add { .. })).count();
            let renewed =
                plan.edits.iter().filter(|it| matches!(it, Planned::Replace { .. })).count();
            let removed = plan.edits.len() - added - renewed;
            let counts = [(added, "added"), (renewed, "renewed"), (removed, "removed")];
            let counts = counts.into_iter().filter(|(count, _)| *count > 0);
            let words: Vec<String> =
                counts.map(|(count, what)| format!("{count} {what}")).collect();
            (!words.is_empty()).then(|| format!("{name}: {}", words.join(", ")))
        });
        let told: Vec<String> = told.collect();
        let told = if told.is_empty() { "diary".to_owned() } else { told.join("; ") };
        format!("{}: {told}", self.dream.id)
    }

    fn write_diary(&self, edit: &Edit<'_, '_>) -> Result<()> {
        // A night without news has its row in the ledger, and nothing to tell.
        let name = NoteName::parse(NoteName::DIARY)?;
        let news = self.all().filter(|(claim, one)| Prepared::is_recorded(claim, one));
        let news: Vec<StoredDecision> =
            news.map(|(claim, one)| Prepared::stored_decision(claim, one)).collect();
        let old = notes::get(edit.tx, &name)?.map(|note| note.text).unwrap_or_default();
        let by = (&self.dream.id, self.message());
        let text = diary::text_after(&old, &self.dream, &news);
        text.map_or(Ok(()), |text| write_by_dream(edit, (by.0, &by.1), &name, &text))
    }
}

/// Claims that pass but may not be promoted: a newer statement stands against them.
pub(super) fn find_blocked(
    tx: &Tx<'_>,
    gathered: &Gathered,
    decisions: &Decisions,
) -> Result<Vec<(usize, DreamGate, String)>> {
    let mut blocked = Vec::new();
    for (index, (claim, one)) in gathered.claims.iter().zip(&decisions.decided).enumerate() {
        let is_promoted = one.verdict == DreamVerdict::Promoted && one.is_new;
        if !is_promoted || claim.memory.status != MemoryStatus::Candidate {
            continue;
        }
        for other in find_related(tx, &claim.memory)? {
            if other.relation != Relation::Contradicts || other.status != MemoryStatus::Active {
                continue;
            }
            let other = resolve(tx, other.id.as_str())?;
            let is_by_hand = !is_only_learnt(tx, &other)?;
            if is_by_hand || other.holds_from() > claim.memory.holds_from() {
                let who = if is_by_hand { "which a person stated" } else { "which is newer" };
                let reason = format!("{}, {who}, says otherwise", other.id);
                blocked.push((index, DreamGate::Contradiction, reason));
                break;
            }
        }
    }
    Ok(blocked)
}

/// What was noticed, with the stale lines of all notes.
pub(super) fn findings(
    stale: Vec<DreamFinding>,
    gathered: &Gathered,
    decisions: &Decisions,
) -> Vec<DreamFinding> {
    let mut findings = super::reflect::reflect(gathered, &decisions.decided);
    findings.extend(stale);
    findings
}
