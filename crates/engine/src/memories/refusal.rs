//! Refusals: what a person rejected, forgot, replaced or undid is not stated again by others, in these
//! words or in nearly these, unless the user said so later.

use super::evidence::Evidence;
use super::related::NEAR_DUPLICATE;
use super::relation::Statement;
use crate::operations::Edit;
use oneiro_model::{Error, Memory, MemoryStatus, MessageId, Relation, Result, Trust};
use oneiro_store::claim_hash;
use oneiro_store::memories::{self, Filter, Stored};
use oneiro_store::message_rows;
use oneiro_store::operations::{self, Refusal};

/// Newest memories of each kind that a statement is compared with.
const COMPARED_MEMORIES: usize = 500;

/// The part of all words that two statements share if they say the same, although no rule says so.
const NEARLY_SAME: f64 = 0.75;

/// Refuses a statement that a person refused, unless its evidence is newer.
pub(crate) fn refuse_undone(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    evidence: Option<&Evidence>,
) -> Result<()> {
    if edit.is_person() {
        return Ok(());
    }
    let Some(refusal) = last_refusal(edit, memory)? else { return Ok(()) };
    if let Some(evidence) = evidence
        && is_newer(edit, evidence, &refusal)?
    {
        return Ok(());
    }
    let Refusal { at, kind, .. } = refusal;
    Err(Error::conflict(format!("a person refused this statement at {at} ({kind})"))
        .remedy("propose it again only with a quote that is newer than that"))
}

/// The refusal that stands against a memory: nothing that it cites is newer.
pub(super) fn standing_refusal(edit: &Edit<'_, '_>, memory: &Memory) -> Result<Option<Refusal>> {
    let Some(refusal) = last_refusal(edit, memory)? else { return Ok(None) };
    for citation in &memory.citations {
        let rows = match citation.message_id {
            Some(MessageId(seq)) => message_rows::by_ids(edit.tx, &[seq])?,
            None => Vec::new(),
        };
        let said_at = rows.first().map(|row| row.at);
        let evidence = Evidence { citation: citation.clone(), said_at, problem: None };
        if is_newer(edit, &evidence, &refusal)? {
            return Ok(None);
        }
    }
    Ok(Some(refusal))
}

fn last_refusal(edit: &Edit<'_, '_>, memory: &Memory) -> Result<Option<Refusal>> {
    let claim = claim_hash::of_memory(edit.identity, memory);
    let believed = memories::by_claim(edit.tx, &claim, MemoryStatus::Active)?;
    if believed.is_some_and(|believed| believed.id != memory.id) {
        // A person has stated it again since.
        return Ok(None);
    }
    let hash = claim_hash::of_statement(edit.identity, &memory.content);
    let same = operations::last_refusal(edit.tx, &hash)?;
    let near = last_refusal_of_similar(edit, memory)?;
    Ok(same.into_iter().chain(near).max_by_key(|refusal| refusal.at))
}

/// The last refusal of a statement that says nearly the same.
fn last_refusal_of_similar(edit: &Edit<'_, '_>, memory: &Memory) -> Result<Option<Refusal>> {
    let statement = Statement::new(&memory.content);
    let mut last: Option<Refusal> = None;
    for status in [Some(MemoryStatus::Invalid), Some(MemoryStatus::Superseded), None] {
        let filter = Filter { status, with_removed: true, ..Filter::default() };
        for row in memories::list_without_citations(edit.tx, &filter, COMPARED_MEMORIES)? {
            let is_dropped = status.is_some() || row.stored == Stored::Removed;
            let other = row.memory;
            if !is_dropped || other.id == memory.id || !is_similar(&statement, &other.content) {
                continue;
            }
            let refusal = operations::last_refusal_of_subject(edit.tx, other.id.as_str())?;
            last = last.into_iter().chain(refusal).max_by_key(|refusal| refusal.at);
        }
    }
    Ok(last)
}

fn is_similar(statement: &Statement, other: &str) -> bool {
    let compared = statement.compare(&Statement::new(other));
    match compared.relation {
        Relation::Same => true,
        Relation::Refines => compared.overlap >= NEAR_DUPLICATE,
        Relation::Unrelated => compared.overlap >= NEARLY_SAME,
        Relation::Contradicts => false,
    }
}

/// Whether the user said it after a refusal. A message that the refused memory cites is older, whatever
/// time it gives; one that is dated in the future gives no time.
fn is_newer(edit: &Edit<'_, '_>, evidence: &Evidence, refusal: &Refusal) -> Result<bool> {
    let is_own_word = evidence.citation.trust == Trust::Owner && evidence.problem.is_none();
    let is_later =
        evidence.said_at.is_some_and(|said_at| said_at > refusal.at && said_at <= edit.now);
    if !is_own_word || !is_later {
        return Ok(false);
    }
    let refused = memories::by_id_prefix(edit.tx, &refusal.subject)?;
    let cited = refused.iter().flat_map(|(_, memory)| &memory.citations);
    let last_cited = cited.filter_map(|citation| citation.message_id).max();
    Ok(evidence.citation.message_id > last_cited)
}
