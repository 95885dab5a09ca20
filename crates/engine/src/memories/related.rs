//! Memories that relate to another: near-duplicates and contradictions. They are offered to the
//! reviewer, never merged.

use super::relation::{Statement, compare_statements};
use super::resolve;
use crate::Oneiro;
use oneiro_model::{Memory, MemoryKind, MemoryStatus, RelatedMemory, Relation, Result};
use oneiro_store::Tx;
use oneiro_store::memories::{self, Filter};

/// Newest memories of the same subject, or the same project, that are compared.
const COMPARED_MEMORIES: usize = 500;

/// The part of all words that near-duplicates share.
pub(super) const NEAR_DUPLICATE: f64 = 0.6;

/// Memories that share words or meaning and are compared by vector.
const SIMILAR_CANDIDATES: usize = 20;

/// Cosine of two statements from which on they are offered as near in meaning.
const SIMILAR_MEANING: f32 = 0.85;

/// Maximum number of related memories.
pub(super) const RELATED_MAX: usize = 10;

/// Candidates and active memories that say the same as another or contradict it, contradictions first.
pub(crate) fn find_related(tx: &Tx<'_>, memory: &Memory) -> Result<Vec<RelatedMemory>> {
    let filter = match &memory.subject {
        Some(subject) => Filter { subject: Some(subject.clone()), ..Filter::default() },
        None => Filter { project: memory.project.clone(), ..Filter::default() },
    };
    let mut related = Vec::new();
    let statement = Statement::new(&memory.content);
    for row in memories::list_without_citations(tx, &filter, COMPARED_MEMORIES)? {
        let other = row.memory;
        let is_considered = other.status.is_standing() && are_about_the_same(memory, &other);
        if !is_considered {
            continue;
        }
        let compared = statement.compare(&Statement::new(&other.content));
        let is_near = compared.overlap >= NEAR_DUPLICATE;
        let relation = match compared.relation {
            Relation::Unrelated if is_near => Relation::Refines,
            Relation::Unrelated => continue,
            relation => relation,
        };
        related.push(RelatedMemory {
            id: other.id,
            content: other.content,
            status: other.status,
            relation,
            overlap: (compared.overlap * 100.0).round() / 100.0,
            reason: compared.reason,
            created_at: other.created_at,
        });
    }
    related.sort_by_key(|other| {
        (other.relation != Relation::Contradicts, std::cmp::Reverse((other.overlap * 100.0) as i64))
    });
    related.truncate(RELATED_MAX);
    Ok(related)
}

/// Candidates and active memories of the same subject that say something near in meaning in other words,
/// by the static vectors of their statements.
pub(super) fn find_similar(oneiro: &Oneiro, memory: &Memory) -> Result<Vec<RelatedMemory>> {
    let Some(model) = oneiro.index.words() else { return Ok(Vec::new()) };
    let vector = |text: &str| {
        let mut vector = vec![0.0; model.dims()];
        model.embed(text, &mut vector).then_some(vector)
    };
    let Some(own) = vector(&memory.content) else { return Ok(Vec::new()) };
    // Punctuation could be read as operators.
    let words: String = memory
        .content
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { ' ' })
        .collect();
    let found = oneiro.search_memories(&words, SIMILAR_CANDIDATES)?;
    let mut similar = Vec::new();
    for hit in found {
        let is_considered =
            hit.status.is_standing() && hit.id != memory.id && hit.subject == memory.subject;
        let Some(other) = vector(&hit.content).filter(|_| is_considered) else { continue };
        let cosine = cosine(&own, &other);
        if cosine >= SIMILAR_MEANING {
            similar.push(RelatedMemory {
                id: hit.id,
                content: hit.content,
                status: hit.status,
                relation: Relation::Refines,
                overlap: (f64::from(cosine) * 100.0).round() / 100.0,
                reason: format!("near in meaning ({cosine:.2})"),
                created_at: hit.at,
            });
        }
    }
    Ok(similar)
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt().max(f32::MIN_POSITIVE)
}

/// Whether two memories hold at a common time. What happened once does not exclude anything else.
fn hold_together(one: &Memory, other: &Memory) -> bool {
    let is_event = |memory: &Memory| memory.kind == MemoryKind::Episodic;
    one.validity_overlaps(other) && !is_event(one) && !is_event(other)
}

/// Whether two memories have one subject, no different projects, and hold at a common time.
fn are_about_the_same(one: &Memory, other: &Memory) -> bool {
    one.id != other.id
        && one.subject == other.subject
        && (one.project == other.project || one.project.is_none() || other.project.is_none())
        && hold_together(one, other)
}

/// Whether two memories contradict each other.
pub(super) fn contradict(one: &Memory, other: &Memory) -> bool {
    are_about_the_same(one, other)
        && compare_statements(&one.content, &other.content).relation == Relation::Contradicts
}

/// The active memories that contradict another and that nothing suspends.
pub(super) fn standing_contradictions(tx: &Tx<'_>, memory: &Memory) -> Result<Vec<Memory>> {
    let related = find_related(tx, memory)?.into_iter();
    let found = related.filter(|other| {
        other.relation == Relation::Contradicts && other.status == MemoryStatus::Active
    });
    let found: Result<Vec<Memory>> = found.map(|other| resolve(tx, other.id.as_str())).collect();
    Ok(found?.into_iter().filter(|other| other.suspended_by.is_none()).collect())
}
