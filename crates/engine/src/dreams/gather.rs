//! Gathers what a dream decides about, in one snapshot: claims with their evidence, concepts and earlier
//! decisions, the notes that dreams keep, and the entries that they wrote there. It writes nothing.

use super::evidence::{Evidence, EvidenceKind, summarise};
use super::note_lines::{LINE_RELEVANCE, note_lines};
use super::tags::{Vocabulary, signature};
use crate::Oneiro;
use crate::memories::{compare_statements, query_hash, resolve};
use crate::notes::{DreamNotes, dream_notes};
use crate::settings::Settings;
use oneiro_model::{
    ActorKind, CandidateId, DreamEvidence, DreamGate, DreamInputs, ErrorKind, Memory, MemoryId,
    MemoryStatus, Relation, Result, RevisionId, SessionId, SignalKind, Timestamp, Trust,
};
use oneiro_store::dream_candidates::{self, DreamEntry, StoredCandidate};
use oneiro_store::identity::{self, Identity};
use oneiro_store::memories::{MemoryRow, Stored};
use oneiro_store::{Tx, claim_hash, message_rows, operations, revisions};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The relevance of a recall that was recorded without one.
const UNKNOWN_RELEVANCE: f64 = 0.5;

/// Claims with the same words that are compared with each other, at most.
const COMPARED_CLAIMS: usize = 16;

/// Replacements that are followed from a promoted claim to the one that holds now, at most.
const REPLACEMENTS_MAX: usize = 32;

/// A claim that a dream decides about.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) id: CandidateId,
    /// What stands for claim, subject and project.
    pub(super) hash: String,
    pub(super) memory_key: i64,
    /// The memory that states it, without its citations.
    pub(super) memory: Memory,
    /// Other memories with the same claim.
    pub(super) others: Vec<Memory>,
    pub(super) stored: Option<StoredCandidate>,
    pub(super) evidence: DreamEvidence,
    pub(super) tags: Vec<String>,
    /// Whether a person said it in own words.
    pub(super) is_own_words: bool,
    /// The claim that says the same and has the evidence of both.
    pub(super) same_as: Option<usize>,
    /// The active memory at the end of the replacements of a promoted claim.
    pub(super) replaced_by: Option<MemoryId>,
    /// Why it may not be promoted although its evidence passes.
    pub(super) blocked: Option<(DreamGate, String)>,
}

impl Claim {
    pub(super) fn promoted_at(&self) -> Option<Timestamp> {
        self.stored.as_ref().and_then(|stored| stored.candidate.promoted_at)
    }
}

/// What a dream reads.
pub(super) struct Gathered {
    pub(super) claims: Vec<Claim>,
    pub(super) inputs: DreamInputs,
    pub(super) notes: DreamNotes,
    pub(super) entries: Vec<DreamEntry>,
    /// Candidates that are new.
    pub(super) staged: usize,
}

/// Reads everything that a dream decides about.
pub(super) fn gather(oneiro: &Oneiro, tx: &Tx<'_>) -> Result<Gathered> {
    let settings = oneiro.settings_in(tx)?;
    let notes = dream_notes(tx, &settings)?;
    let entries = dream_candidates::entries(tx)?;
    let inputs = DreamInputs {
        last_message: message_rows::last_id(tx)?,
        last_operation: operations::last_key(tx)?,
        revision: revisions::last(tx)?.map(|last| RevisionId::clone(&last.revision.id)),
        notes: Vec::new(),
    };
    let Some(identity) = identity::get(tx)? else {
        return Ok(Gathered { claims: Vec::new(), inputs, notes, entries, staged: 0 });
    };
    let mut reader =
        ClaimReader { oneiro, settings: &settings, identity: &identity, claims: Vec::new() };
    let indices = reader.read_claims(tx)?;
    let evidence = reader.read_evidence(tx, &indices)?;
    reader.join_same(evidence);
    reader.follow_replacements(tx)?;
    let kept = are_candidates(&reader.claims);
    let staged = reader.choose_tags(&kept);
    let mut claims = reader.claims;
    keep_candidates(&mut claims, &kept);
    Ok(Gathered { claims, inputs, notes, entries, staged })
}

/// Which claims are candidates: those with evidence, those that were staged, and those that replaced a promoted
/// one.
fn are_candidates(claims: &[Claim]) -> Vec<bool> {
    let promoted = claims.iter().filter(|claim| claim.promoted_at().is_some());
    let successors: BTreeSet<&str> =
        promoted.filter_map(|claim| claim.replaced_by.as_ref().map(MemoryId::as_str)).collect();
    let is_candidate = |claim: &Claim| {
        claim.stored.is_some()
            || claim.evidence.recalls > 0
            || successors.contains(claim.memory.id.as_str())
    };
    claims.iter().map(is_candidate).collect()
}

/// Leaves out claims that are no candidates.
fn keep_candidates(claims: &mut Vec<Claim>, kept: &[bool]) {
    let mut next = 0;
    let indices: Vec<Option<usize>> = kept
        .iter()
        .map(|is_kept| {
            let index = is_kept.then_some(next);
            next += usize::from(*is_kept);
            index
        })
        .collect();
    let index_of = |index: usize| indices.get(index).copied().flatten();
    let mut index = 0;
    claims.retain_mut(|claim| {
        claim.same_as = claim.same_as.and_then(index_of);
        index += 1;
        index_of(index - 1).is_some()
    });
}

struct ClaimReader<'r> {
    oneiro: &'r Oneiro,
    settings: &'r Settings,
    identity: &'r Identity,
    claims: Vec<Claim>,
}

impl ClaimReader<'_> {
    /// Reads memories, one claim for all that state the same about the same in one project. Returns the
    /// index of the claim of each memory.
    fn read_claims(&mut self, tx: &Tx<'_>) -> Result<FxHashMap<i64, usize>> {
        let mut stored: FxHashMap<String, StoredCandidate> = FxHashMap::default();
        for candidate in dream_candidates::all(tx)? {
            stored.insert(candidate.claim_hash.clone(), candidate);
        }
        let mut by_hash: FxHashMap<String, usize> = FxHashMap::default();
        let mut indices = FxHashMap::default();
        dream_candidates::each_memory(tx, |row| {
            let MemoryRow { key, stored: row_state, mut memory } = row;
            if row_state == Stored::Removed {
                // Its creation was undone: what a dream wrote for it leaves the note.
                memory.status = MemoryStatus::Invalid;
            }
            let hash = claim_hash::of_memory(self.identity, &memory);
            let index = match by_hash.get(&hash) {
                Some(index) => *index,
                None => {
                    by_hash.insert(hash.clone(), self.claims.len());
                    self.claims.len()
                }
            };
            indices.insert(key, index);
            match self.claims.get_mut(index) {
                Some(known) if rank(&memory) > rank(&known.memory) => {
                    let other = std::mem::replace(&mut known.memory, memory);
                    known.others.push(other);
                    known.memory_key = key;
                    known.is_own_words = known.memory.trust == Trust::Owner;
                }
                Some(known) => known.others.push(memory),
                None => {
                    let stored = stored.remove(&hash);
                    let id = stored.as_ref().map(|stored| stored.candidate.id.clone());
                    self.claims.push(Claim {
                        id: id
                            .unwrap_or_else(|| CandidateId::from_random(self.oneiro.ids.random())),
                        tags: stored
                            .as_ref()
                            .map(|it| it.candidate.tags.clone())
                            .unwrap_or_default(),
                        is_own_words: memory.trust == Trust::Owner,
                        hash,
                        memory_key: key,
                        memory,
                        others: Vec::new(),
                        stored,
                        evidence: DreamEvidence::default(),
                        same_as: None,
                        replaced_by: None,
                        blocked: None,
                    });
                }
            }
            Ok(())
        })?;
        Ok(indices)
    }

    /// The evidence of each claim: signals about its memories, and what the person said.
    fn read_evidence(
        &mut self,
        tx: &Tx<'_>,
        indices: &FxHashMap<i64, usize>,
    ) -> Result<FxHashMap<usize, Vec<Evidence>>> {
        let mut evidence: FxHashMap<usize, Vec<Evidence>> = FxHashMap::default();
        let mut machines: BTreeMap<SessionId, bool> = BTreeMap::new();
        dream_candidates::each_statement(tx, |row| {
            let Some(index) = indices.get(&row.memory_key) else { return Ok(()) };
            let by_machine = row.session_id.is_some_and(|id| {
                let known = machines.get(&id).copied();
                known.unwrap_or_else(|| {
                    let is_machine = self.settings.is_of_machine(&id, &row.source);
                    machines.insert(id.clone(), is_machine);
                    is_machine
                })
            });
            if row.trust != Trust::Owner || by_machine {
                return Ok(());
            }
            if let Some(claim) = self.claims.get_mut(*index) {
                // An agent's wording of what the person said, in the words that were found.
                let is_quoted = claim.memory.trust == Trust::Agent
                    && claim.memory.status == MemoryStatus::Active;
                claim.is_own_words |= is_quoted;
            }
            evidence.entry(*index).or_default().push(Evidence {
                kind: EvidenceKind::Statement,
                prompt: number_of(&query_hash(self.identity, Some(&row.quote))),
                at: row.at,
                relevance: 1.0,
            });
            Ok(())
        })?;
        dream_candidates::each_signal(tx, |row| {
            let Some(index) = indices.get(&row.memory_key) else { return Ok(()) };
            let (kind, relevance) = match row.kind {
                SignalKind::Recalled => {
                    (EvidenceKind::Recall, row.relevance.unwrap_or(UNKNOWN_RELEVANCE))
                }
                SignalKind::Confirmed => (EvidenceKind::Confirmation, 1.0),
                SignalKind::Used => (EvidenceKind::Use, 1.0),
                SignalKind::Exposed | SignalKind::Contradicted => return Ok(()),
            };
            evidence.entry(*index).or_default().push(Evidence {
                kind,
                prompt: number_of(&row.query_hash),
                at: row.at,
                relevance,
            });
            Ok(())
        })?;
        self.read_note_lines(tx, &mut evidence)?;
        Ok(evidence)
    }

    /// The evidence of lines of dated notes.
    fn read_note_lines(
        &self,
        tx: &Tx<'_>,
        evidence: &mut FxHashMap<usize, Vec<Evidence>>,
    ) -> Result<()> {
        let memories: Vec<&Memory> = self.claims.iter().map(|claim| &claim.memory).collect();
        for line in note_lines(tx, &memories, self.oneiro.now())? {
            evidence.entry(line.memory).or_default().push(Evidence {
                kind: line.kind,
                prompt: number_of(&query_hash(self.identity, Some(&line.text))),
                at: line.at,
                relevance: LINE_RELEVANCE,
            });
        }
        Ok(())
    }

    /// Finds what holds now in the place of each promoted claim that was replaced.
    fn follow_replacements(&mut self, tx: &Tx<'_>) -> Result<()> {
        for claim in self.claims.iter_mut().filter(|claim| claim.promoted_at().is_some()) {
            claim.replaced_by = active_replacement(tx, &claim.memory)?;
        }
        Ok(())
    }

    /// Joins claims that say the same in other words, and sums up the evidence of each.
    fn join_same(&mut self, mut evidence: FxHashMap<usize, Vec<Evidence>>) {
        let mut analyzer = Analyzer::default();
        let mut same_words: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
        for (index, claim) in self.claims.iter().enumerate() {
            let memory = &claim.memory;
            if memory.status.is_standing() {
                let words = signature(&mut analyzer, &memory.content);
                let about = memory.subject.clone().unwrap_or_default();
                let project = memory.project.clone().unwrap_or_default();
                same_words.entry((about, project, words)).or_default().push(index);
            }
        }
        for indices in same_words.into_values().filter(|indices| indices.len() > 1) {
            self.join(&indices, &mut evidence);
        }
        for (leader, other) in super::paraphrase::pairs(&self.claims) {
            self.join_to(leader, other, &mut evidence);
        }
        for (index, claim) in self.claims.iter_mut().enumerate() {
            let all = evidence.remove(&index).unwrap_or_default();
            let is_by_hand = claim.memory.origin == ActorKind::Person;
            claim.evidence = summarise(&all, is_by_hand);
        }
    }

    fn join(&mut self, indices: &[usize], evidence: &mut FxHashMap<usize, Vec<Evidence>>) {
        let mut indices: Vec<usize> = indices.iter().copied().take(COMPARED_CLAIMS).collect();
        // The leader was promoted, is believed, or came first.
        indices.sort_by_key(|index| {
            self.claims.get(*index).map(|claim| {
                let is_promoted = claim.promoted_at().is_some();
                (!is_promoted, std::cmp::Reverse(rank(&claim.memory)), claim.memory_key)
            })
        });
        let Some((&leader, rest)) = indices.split_first() else { return };
        for &other in rest {
            let (Some(one), Some(two)) = (self.claims.get(leader), self.claims.get(other)) else {
                continue;
            };
            let compared = compare_statements(&one.memory.content, &two.memory.content);
            let is_trusted = two.is_own_words || !one.is_own_words;
            if compared.relation != Relation::Same || !is_trusted {
                continue;
            }
            self.join_to(leader, other, evidence);
        }
    }

    fn join_to(
        &mut self,
        leader: usize,
        other: usize,
        evidence: &mut FxHashMap<usize, Vec<Evidence>>,
    ) {
        let moved = evidence.remove(&other).unwrap_or_default();
        evidence.entry(leader).or_default().extend(moved);
        if let Some(claim) = self.claims.get_mut(other) {
            claim.same_as = Some(leader);
        }
    }

    /// Chooses the concepts of claims that are staged now; returns how many those are.
    fn choose_tags(&mut self, kept: &[bool]) -> usize {
        let indices = self.claims.iter().zip(kept).enumerate();
        let staged: Vec<usize> = indices
            .filter(|(_, (claim, is_kept))| **is_kept && claim.stored.is_none())
            .map(|(index, _)| index)
            .collect();
        if staged.is_empty() {
            return 0;
        }
        let mut vocabulary = Vocabulary::default();
        self.claims.iter().for_each(|claim| vocabulary.add(&claim.memory.content));
        for index in &staged {
            let Some(claim) = self.claims.get_mut(*index) else { continue };
            let memory = &claim.memory;
            let subject = memory.subject.as_deref();
            let around: Vec<&str> = subject
                .into_iter()
                .chain(memory.project.as_deref())
                .chain([memory.kind.as_str()])
                .collect();
            claim.tags = vocabulary.tags(&memory.content, &around);
        }
        staged.len()
    }
}

/// The active memory that a replaced one leads to; `None` if what replaced it does not hold either.
fn active_replacement(tx: &Tx<'_>, memory: &Memory) -> Result<Option<MemoryId>> {
    if memory.status != MemoryStatus::Superseded {
        return Ok(None);
    }
    let mut next = memory.superseded_by.clone();
    // The bound also ends a circle, which a damaged store may have.
    for _ in 0..REPLACEMENTS_MAX {
        let Some(id) = next else { return Ok(None) };
        let found = match resolve(tx, id.as_str()) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match found.status {
            MemoryStatus::Active => return Ok(Some(found.id)),
            MemoryStatus::Superseded => next = found.superseded_by,
            MemoryStatus::Candidate | MemoryStatus::Invalid => return Ok(None),
        }
    }
    Ok(None)
}

/// Which of several memories with one claim states it: the believed one, then the one that waits, then the
/// newest.
fn rank(memory: &Memory) -> (u8, Trust) {
    let status = match memory.status {
        MemoryStatus::Active => 3,
        MemoryStatus::Candidate => 2,
        MemoryStatus::Superseded => 1,
        MemoryStatus::Invalid => 0,
    };
    (status, memory.trust)
}

/// The first 16 digits of a hash as a number.
fn number_of(hash: &str) -> u64 {
    hash.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}
