//! Erases memories: alone, or because the messages they rest on are erased.

use super::{lifecycle, resolve};
use crate::Oneiro;
use crate::operations::{Edit, is_agent, needs_person};
use oneiro_model::{Memory, MemoryId, MemoryStatus, OperationVerb, Result, SubjectKind};
use oneiro_store::memories::Cited;
use oneiro_store::{Tx, identity, memories, operations};
use serde_json::Value;
use std::collections::BTreeSet;

/// The kind of a merge.
const MERGED: &str = "memory.merge";

/// Erases a memory; `each` gets every removed text.
pub(crate) fn erase_memory(
    tx: &Tx<'_>,
    id: &MemoryId,
    each: &mut dyn FnMut(&[u8]),
) -> Result<bool> {
    memories::erase(tx, id, each)
}

/// Erases what rests on erased messages alone and was made by machines. Other memories lose the
/// citation, in the history of their operations too. Returns how many were erased.
pub(crate) fn erase_memories_of_messages(
    oneiro: &Oneiro,
    tx: &Tx<'_>,
    seqs: &BTreeSet<i64>,
    each: &mut dyn FnMut(&[u8]),
) -> Result<i64> {
    let mut ids = BTreeSet::new();
    for seq in seqs {
        ids.extend(memories::all_citing(tx, *seq)?);
    }
    let Some(identity) = identity::get(tx)? else { return Ok(0) };
    let mut erased = 0;
    let actor = tx.actor().unwrap_or_default();
    let edit = Edit {
        tx,
        actor: &actor,
        identity: &identity,
        ids: &*oneiro.ids,
        group: None,
        reason: Some("a cited message was erased"),
        now: oneiro.now(),
        changed: Default::default(),
        notes: Default::default(),
    };
    for id in ids {
        let Ok(memory) = resolve(tx, &id) else {
            // Its creation was undone.
            memories::erase(tx, &MemoryId::parse(&id)?, each)?;
            erased += 1;
            continue;
        };
        let is_erased = |message: Option<oneiro_model::MessageId>| {
            message.is_some_and(|message| seqs.contains(&message.0))
        };
        let rests_on_them = memory.citations.iter().all(|citation| is_erased(citation.message_id));
        if rests_on_them && !memory.is_stated_or_confirmed() {
            restore_merged(&edit, &memory)?;
            memories::erase(tx, &memory.id, each)?;
            erased += 1;
            continue;
        }
        for citation in memory.citations.iter().filter(|it| is_erased(it.message_id)) {
            each(citation.quote.as_bytes());
        }
        let mut after = memory.clone();
        after.citations.retain(|citation| !is_erased(citation.message_id));
        // Earlier operations hold the quotes.
        operations::scrub(tx, SubjectKind::Memory, memory.id.as_str(), &mut |_| {})?;
        edit.write::<Memory>(OperationVerb::Edit, Some(&memory), Some(&after))?;
        // This operation holds them in its `before`.
        operations::scrub(tx, SubjectKind::Memory, memory.id.as_str(), &mut |_| {})?;
    }
    Ok(erased)
}

/// Restores what a person stated and merged into a memory that is erased.
fn restore_merged(edit: &Edit<'_, '_>, erased: &Memory) -> Result<()> {
    for merged in memories::referring_to(edit.tx, &erased.id)? {
        let history = operations::of_subject(edit.tx, merged.id.as_str())?;
        let last = history.last().filter(|(_, last)| last.kind == MERGED);
        if let Some((_, last)) = last.filter(|_| merged.is_stated_or_confirmed()) {
            let before = last.before.as_ref().and_then(|before| before.get("status"));
            let status = before.and_then(Value::as_str).map(MemoryStatus::parse).transpose()?;
            let status = status.unwrap_or(MemoryStatus::Active);
            let after = Memory { status, superseded_by: None, ..merged.clone() };
            edit.write(OperationVerb::Edit, Some(&merged), Some(&after))?;
        }
    }
    Ok(())
}

/// Refuses an agent the erasure of messages that memories of people rest on.
pub(crate) fn check_erasure(tx: &Tx<'_>, seqs: &BTreeSet<i64>) -> Result<()> {
    if !is_agent(tx) {
        return Ok(());
    }
    for seq in seqs {
        for id in memories::citing(tx, Cited::Message(*seq))? {
            if lifecycle::is_owned(tx, &resolve(tx, &id)?)? {
                return Err(needs_person(&format!(
                    "erase what {id} rests on, which is a person's"
                )));
            }
        }
    }
    Ok(())
}

/// Whether the space has memories of people.
pub(crate) fn has_memories_of_people(tx: &Tx<'_>) -> Result<bool> {
    operations::any_decided_by_person(tx)
}
