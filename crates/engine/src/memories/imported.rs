//! Imported memories beside those of this store: one statement is active once, what a person refused in
//! either store is refused, distrusted sources count for both, and of what contradicts each other the
//! newest statement of a person holds. What an agent imports is proposed.

use super::change::{invalidate, with_evidence_of};
use super::evidence::{self, QuotePlace};
use super::lifecycle::is_owned;
use super::refusal::standing_refusal;
use super::related::standing_contradictions;
use super::remember::{AGENT_CONFIDENCE, clean_tags};
use super::settle::{judge_suspension, suspend};
use super::{clean, distrust, refuse_undone, resolve};
use crate::operations::{Edit, ImportEdits};
use crate::projects;
use oneiro_model::{
    ActorKind, Error, ErrorKind, Memory, MemoryId, MemoryStatus, MessageRef, Operation,
    OperationId, OperationVerb, Result, Timestamp, Trust,
};
use oneiro_store::claim_hash;
use oneiro_store::memories::{self, Filter};
use oneiro_store::operation_transfer::Stated;
use oneiro_store::operations::{self, Record};
use oneiro_store::{Tx, distrusts};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Verbs by which a person states a memory.
const STATING_VERBS: [OperationVerb; 6] = [
    OperationVerb::Create,
    OperationVerb::Promote,
    OperationVerb::Confirm,
    OperationVerb::Cite,
    OperationVerb::Merge,
    OperationVerb::Edit,
];

/// Memories read at once.
const READ_BATCH_ROWS: usize = 256;

/// What an import brought.
pub(crate) struct ImportedMemories<'a> {
    /// Ids of the memories that are now as they are in the source. Among them nothing is left to do.
    pub(crate) same_as_source: HashSet<String>,
    /// Ids of all memories of the source.
    pub(crate) in_source: HashSet<String>,
    /// Ids of the memories that are new or changed, in order.
    pub(crate) changed: Vec<String>,
    /// Ids of the distrusted sources that are new or changed.
    pub(crate) new_distrusts: HashSet<String>,
    /// All operations of the source, with their lines.
    pub(crate) operations: &'a HashMap<OperationId, usize>,
    /// Those of them that are new here.
    pub(crate) new_operations: &'a HashSet<OperationId>,
}

/// How many memories were settled.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Settled {
    pub(crate) merged: usize,
    pub(crate) suspended: usize,
    pub(crate) refused: usize,
}

/// Settles what imported memories mean for those of this store, and the other way round.
pub(crate) fn settle_imported(
    edits: &ImportEdits<'_, '_>,
    imported: &ImportedMemories<'_>,
) -> Result<Settled> {
    restore_superseded(edits)?;
    apply_distrusts(edits, imported)?;
    let refused = refuse(edits, imported)?;
    let merged = merge_duplicates(edits, imported)?;
    let suspended = suspend_contradictions(edits, imported)?;
    edits.group(|edit| {
        let merged = imported.changed.iter().filter(|id| !imported.same_as_source.contains(*id));
        let changed = edits.changed();
        for id in changed.iter().chain(merged) {
            let referring = memories::referring_to(edit.tx, &MemoryId::parse(id)?)?;
            let own = Memory::load(edit.tx, id)?;
            referring.iter().chain(&own).try_for_each(|memory| judge_suspension(edit, memory))?;
        }
        Ok(())
    })?;
    Ok(Settled { merged, suspended, refused })
}

/// Makes memories candidates again whose successor the other store removed: a person decides.
fn restore_superseded(edits: &ImportEdits<'_, '_>) -> Result<()> {
    for id in memories::dangling(edits.tx())? {
        let memory = resolve(edits.tx(), &id)?;
        if memory.status == MemoryStatus::Superseded {
            let status = MemoryStatus::Candidate;
            let after = Memory { status, superseded_by: None, ..memory.clone() };
            edits.single(|edit| edit.write(OperationVerb::Edit, Some(&memory), Some(&after)))?;
        }
    }
    Ok(())
}

/// Judges memories again that rest on a source which the other store distrusts.
fn apply_distrusts(edits: &ImportEdits<'_, '_>, imported: &ImportedMemories<'_>) -> Result<()> {
    let changed: HashSet<&String> = imported.changed.iter().collect();
    for (entry, is_removed) in distrusts::every(edits.tx())? {
        let is_new = imported.new_distrusts.contains(entry.id.as_str());
        // A store has judged its own memories by its own distrust; a person may have decided since.
        let is_other = |memory: &Memory| {
            let id = memory.id.as_str().to_owned();
            if is_new { !imported.in_source.contains(&id) } else { changed.contains(&id) }
        };
        if !is_removed {
            edits.group(|edit| distrust::apply(edit, &entry, is_other))?;
        }
    }
    Ok(())
}

/// Makes memories of machines invalid that state what a person refused in the other store.
fn refuse(edits: &ImportEdits<'_, '_>, imported: &ImportedMemories<'_>) -> Result<usize> {
    let tx = edits.tx();
    let changed: HashSet<&String> = imported.changed.iter().collect();
    let mut refused = 0;
    for id in standing_ids(tx)? {
        let Some(memory) = Memory::load(tx, &id)? else { continue };
        if is_owned(tx, &memory)? {
            continue;
        }
        refused += edits.single(|edit| {
            let Some(refusal) = standing_refusal(edit, &memory)? else { return Ok(0) };
            // A store has judged its own memories by its own refusals.
            let is_new_here =
                changed.contains(&id) && !imported.operations.contains_key(&refusal.operation);
            let is_refused_there = imported.new_operations.contains(&refusal.operation)
                && !imported.in_source.contains(&id);
            if !is_new_here && !is_refused_there {
                return Ok(0);
            }
            invalidate(edit, &memory)?;
            Ok(1)
        })?;
    }
    Ok(refused)
}

/// The ids of candidates and active memories.
fn standing_ids(tx: &Tx<'_>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for status in [MemoryStatus::Candidate, MemoryStatus::Active] {
        let mut filter = Filter { status: Some(status), ..Filter::default() };
        loop {
            let rows = memories::list_without_citations(tx, &filter, READ_BATCH_ROWS)?;
            let Some(last) = rows.last() else { break };
            filter.before = Some(last.key);
            found.extend(rows.into_iter().map(|row| row.memory.id.to_string()));
        }
    }
    Ok(found)
}

/// Merges active memories of both stores that state the same. The one that is merged becomes a candidate
/// first, so that undoing the merge does not make the statement active twice.
fn merge_duplicates(edits: &ImportEdits<'_, '_>, imported: &ImportedMemories<'_>) -> Result<usize> {
    let tx = edits.tx();
    let mut merged = 0;
    let moved = edits.changed();
    for id in imported.changed.iter().chain(&moved) {
        loop {
            let Some(memory) = active(tx, id)? else { break };
            let other = edits.single(|edit| {
                let claim = claim_hash::of_memory(edit.identity, &memory);
                memories::other_active_with_claim(tx, &claim, &memory.id)
            })?;
            let Some(other) = other else { break };
            let other = resolve(tx, &other)?;
            let (kept, duplicate) = if is_preferred_over(tx, &memory, &other)? {
                (memory, other)
            } else {
                (other, memory)
            };
            let proposed =
                Memory { status: MemoryStatus::Candidate, suspended_by: None, ..duplicate.clone() };
            edits.single(|edit| {
                edit.write(OperationVerb::Edit, Some(&duplicate), Some(&proposed))
            })?;
            edits.group(|edit| merge(edit, &kept, &proposed))?;
            merged += 1;
        }
    }
    Ok(merged)
}

fn merge(edit: &Edit<'_, '_>, kept: &Memory, duplicate: &Memory) -> Result<()> {
    let mut with_evidence = with_evidence_of(kept, duplicate);
    if is_owned(edit.tx, kept)? {
        // To a person's memory others add sources, and no tags; its trust stays.
        with_evidence.trust = kept.trust;
        if !is_owned(edit.tx, duplicate)? {
            with_evidence.tags.clone_from(&kept.tags);
            with_evidence.initial_confidence = kept.initial_confidence;
        }
    }
    edit.write(OperationVerb::Merge, Some(kept), Some(&with_evidence))?;
    let after = Memory {
        status: MemoryStatus::Superseded,
        superseded_by: Some(kept.id.clone()),
        ..duplicate.clone()
    };
    edit.write(OperationVerb::Merge, Some(duplicate), Some(&after)).map(|_| ())
}

/// Whether a memory is kept and the other with the same statement is merged into it. Every store
/// decides the same: a person's before others', the more trusted, the older, the lower id.
fn is_preferred_over(tx: &Tx<'_>, memory: &Memory, other: &Memory) -> Result<bool> {
    let rank = |memory: &Memory| {
        let owned = is_owned(tx, memory)?;
        Ok::<_, Error>((!owned, Reverse(memory.trust), memory.created_at, memory.id.clone()))
    };
    Ok(rank(memory)? < rank(other)?)
}

/// Suspends active memories that contradict one of the other store which is preferred.
fn suspend_contradictions(
    edits: &ImportEdits<'_, '_>,
    imported: &ImportedMemories<'_>,
) -> Result<usize> {
    let tx = edits.tx();
    let mut asserted = Vec::new();
    for id in imported.changed.iter().chain(&edits.changed()) {
        if let Some(memory) = active(tx, id)? {
            asserted.push((strength(tx, &memory)?, memory.id.clone()));
        }
    }
    asserted.sort();
    asserted.dedup();
    let mut suspended = 0;
    edits.group(|edit| {
        for (own_strength, id) in &asserted {
            // An earlier one may have suspended it.
            let Some(memory) = active(tx, id.as_str())?.filter(|it| it.suspended_by.is_none())
            else {
                continue;
            };
            for other in standing_contradictions(tx, &memory)? {
                let is_settled = |id: &MemoryId| imported.same_as_source.contains(id.as_str());
                if is_settled(&memory.id) && is_settled(&other.id) {
                    continue;
                }
                suspended += 1;
                if strength(tx, &other)? < *own_strength {
                    suspend(edit, &memory, Some(&other.id))?;
                    break;
                }
                suspend(edit, &other, Some(&memory.id))?;
            }
        }
        Ok(())
    })?;
    Ok(suspended)
}

/// What decides between contradicting memories; the lower one holds. A person's holds against others',
/// the newer statement of two people, and the older one of two machines, as nothing else was accepted.
type Strength = (bool, Reverse<Option<Timestamp>>, Timestamp, MemoryId);

fn strength(tx: &Tx<'_>, memory: &Memory) -> Result<Strength> {
    let owned = is_owned(tx, memory)?;
    let stated_at = if owned { Some(last_stated_at(tx, memory)?) } else { None };
    Ok((!owned, Reverse(stated_at), memory.created_at, memory.id.clone()))
}

/// When a person last stated a memory.
fn last_stated_at(tx: &Tx<'_>, memory: &Memory) -> Result<Timestamp> {
    let is_stating = |operation: &Operation| {
        let verb = operation
            .kind
            .strip_prefix("memory.")
            .and_then(|it| STATING_VERBS.into_iter().find(|verb| verb.as_str() == it));
        verb.is_some() && operation.actor.kind == ActorKind::Person && operation.undone_by.is_none()
    };
    let history = operations::of_subject(tx, memory.id.as_str())?;
    let last = history.into_iter().rev().find(|(_, operation)| is_stating(operation));
    Ok(last.map_or(memory.created_at, |(_, operation)| operation.at))
}

fn active(tx: &Tx<'_>, id: &str) -> Result<Option<Memory>> {
    Ok(Memory::load(tx, id)?.filter(|memory| memory.status == MemoryStatus::Active))
}

/// What became of the memories that an agent imports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProposedCounts {
    /// Candidates created.
    pub(crate) created: usize,
    /// Statements that a person refused.
    pub(crate) refused: usize,
    /// Memories that are not believed in the source.
    pub(crate) withheld: usize,
}

/// Proposes imported memories as candidates, when the importer is not a person.
pub(crate) fn propose_imported(
    edits: &ImportEdits<'_, '_>,
    memories: &[&Stated<Memory>],
) -> Result<ProposedCounts> {
    let mut counts = ProposedCounts::default();
    for Stated { record: memory, is_removed } in memories {
        let stands = memory.status.is_standing();
        if *is_removed || !stands {
            counts.withheld += 1;
            continue;
        }
        if super::find(edits.tx(), memory.id.as_str()).is_ok() {
            continue;
        }
        match edits.single(|edit| propose(edit, memory)) {
            Ok(is_new) => counts.created += usize::from(is_new),
            Err(error) if error.kind() == ErrorKind::Conflict => counts.refused += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(counts)
}

/// Proposes a statement; false if it is known.
fn propose(edit: &Edit<'_, '_>, imported: &Memory) -> Result<bool> {
    let project = imported.project.as_deref().map(|name| projects::canonical(edit.tx, name));
    let initial_confidence = imported.initial_confidence.min(AGENT_CONFIDENCE);
    let mut memory = Memory {
        // The id in the file stays free for a person who imports it with its history.
        id: MemoryId::from_random(edit.ids.random()),
        subject: imported.subject.as_deref().map(clean),
        content: clean(&imported.content),
        status: MemoryStatus::Candidate,
        trust: imported.trust.min(Trust::Agent),
        project: project.transpose()?,
        tags: clean_tags(&imported.tags),
        superseded_by: None,
        suspended_by: None,
        confirmed_at: None,
        origin: edit.actor.kind,
        initial_confidence,
        confidence: initial_confidence,
        reference_count: 0,
        last_referenced_at: None,
        created_at: edit.now,
        updated_at: edit.now,
        citations: Vec::new(),
        ..imported.clone()
    };
    for citation in &imported.citations {
        let place = QuotePlace {
            session: citation.session_id.clone().filter(|_| citation.message_id.is_some()),
            message: citation.message_id.map(MessageRef::from),
        };
        let quote = clean(&citation.quote);
        // A quote without a message here is not looked up elsewhere: nobody said where it stands.
        let mut found = match place.message {
            Some(_) => evidence::look_up(edit.tx, (&quote, &memory.content), &place)?.citation,
            None => oneiro_model::Citation { message_id: None, quote, ..citation.clone() },
        };
        found.trust = found.trust.min(citation.trust).min(Trust::Agent);
        memory.citations.push(found);
    }
    for status in [MemoryStatus::Active, MemoryStatus::Candidate] {
        let claim = claim_hash::of_memory(edit.identity, &memory);
        if memories::by_claim(edit.tx, &claim, status)?.is_some() {
            return Ok(false);
        }
    }
    refuse_undone(edit, &memory, None)?;
    edit.write(OperationVerb::Create, None, Some(&memory))?;
    Ok(true)
}
