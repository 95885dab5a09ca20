//! Memories: durable statements that are proposed, reviewed, corrected and forgotten. Every change is
//! an operation.

mod as_of;
mod asked_words;
mod bulk;
mod change;
mod decay;
mod distrust;
mod erase;
mod evidence;
mod imported;
mod lifecycle;
mod list;
mod pack_usage;
mod refusal;
mod related;
mod relation;
mod relation_text;
mod relation_words;
mod remember;
mod settle;
mod signals;
mod why;

pub(crate) use as_of::texts_known_at;
pub(crate) use asked_words::with_asked_words;
pub(crate) use change::{mark_superseded, merge_into, supersede};
pub(crate) use erase::{
    check_erasure, erase_memories_of_messages, erase_memory, has_memories_of_people,
};
pub(crate) use evidence::{Evidence, judge as judge_message, typed_text};
pub(crate) use imported::{ImportedMemories, propose_imported, settle_imported};
pub(crate) use lifecycle::{check_undo, is_only_learnt};
pub(crate) use refusal::refuse_undone;
pub(crate) use related::find_related;
pub use relation::{Compared, compare_statements};
pub(crate) use remember::{NewClaim, USER_SUBJECT, add_citation, clean, new_memory};
pub(crate) use settle::{settle, suspend};
pub(crate) use signals::{
    NewSignal, RecalledMemory, TypedPrompt, query_hash, record_recalled, remove_signals_of_messages,
};

pub(crate) use why::{missing_node, why_memory, why_message, why_state};

use oneiro_model::{Error, Memory, MemoryId, Remedy, Result};
use oneiro_store::memories::{self, Stored};
use oneiro_store::{Tx, operations};

/// The memory with this id or unambiguous id prefix.
pub(crate) fn resolve(tx: &Tx<'_>, id: &str) -> Result<Memory> {
    match find(tx, id)? {
        (Stored::Present, memory) => Ok(memory),
        (Stored::Removed, memory) => {
            let last = operations::of_subject(tx, memory.id.as_str())?.pop();
            let by = last.map(|(_, operation)| operation.id.to_string()).unwrap_or_default();
            Err(Error::not_found(format!("{} was removed: its creation is undone", memory.id))
                .remedy(format!("undo {by} to restore it")))
        }
    }
}

/// The same, also for a memory whose creation was undone.
pub(crate) fn find(tx: &Tx<'_>, id: &str) -> Result<(Stored, Memory)> {
    let is_prefix = id.len() > MemoryId::PREFIX.len() && id.starts_with(MemoryId::PREFIX);
    let found = if is_prefix { memories::by_id_prefix(tx, id)? } else { Vec::new() };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), other) if other.is_none() || one.1.id.as_str() == id => Ok(one),
        (Some(_), _) => Err(Error::conflict(format!("several memory ids begin with {id:?}"))
            .remedy("give more of the id")),
        (None, _) => {
            Err(Error::not_found(format!("there is no memory {id:?}")).remedy(Remedy::ListMemories))
        }
    }
}
