//! Memories as they were recorded at an earlier time: the stored one, with later operations reverted.

use super::find;
use oneiro_model::{Error, Memory, Result, Timestamp};
use oneiro_store::Tx;
use oneiro_store::memories::{self, Filter, MemoryRow, Stored};
use oneiro_store::memory_texts::MemoryText;
use oneiro_store::operations::{self, Record};
use serde_json::Value;

/// The last operation that was recorded at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownAt(i64);

impl KnownAt {
    pub(super) fn new(tx: &Tx<'_>, at: Timestamp) -> Result<KnownAt> {
        operations::last_key_at(tx, at).map(KnownAt)
    }

    /// Whether an operation was recorded by then.
    pub(super) fn has(self, operation: i64) -> bool {
        operation <= self.0
    }

    /// The memory as it was; `None` if it did not exist.
    pub(super) fn memory(
        self,
        tx: &Tx<'_>,
        (stored, memory): (Stored, &Memory),
    ) -> Result<Option<Memory>> {
        let later = operations::of_subject_after(tx, memory.id.as_str(), self.0)?;
        if later.is_empty() {
            return Ok((stored == Stored::Present).then(|| memory.clone()));
        }
        let mut fields = match stored {
            Stored::Present => Some(memory.fields()?),
            Stored::Removed => None,
        };
        for (_, operation) in &later {
            fields = match operation.before.as_ref().and_then(Value::as_object) {
                None => None,
                Some(before) => {
                    let mut earlier = fields.unwrap_or_default();
                    earlier.extend(before.clone());
                    Some(earlier)
                }
            };
        }
        let Some(fields) = fields else { return Ok(None) };
        let mut was = Memory::from_fields(fields, memory.id.as_str(), memory.created_at)?;
        was.confidence = was.initial_confidence;
        Ok(Some(was))
    }
}

/// The memory with this id or unambiguous id prefix, as it was recorded at a time.
pub(super) fn known_at(tx: &Tx<'_>, id: &str, at: Timestamp) -> Result<Memory> {
    let (stored, memory) = find(tx, id)?;
    let was = KnownAt::new(tx, at)?.memory(tx, (stored, &memory))?;
    was.ok_or_else(|| Error::not_found(format!("{} was not known at {at}", memory.id)))
}

/// All memories as they were recorded at a time, without their citations. Their keys stand for the
/// numbers of their texts, in the same order.
pub(crate) fn texts_known_at(tx: &Tx<'_>, at: Timestamp) -> Result<Vec<MemoryText>> {
    let known_at = KnownAt::new(tx, at)?;
    let filter = Filter { with_removed: true, ..Filter::default() };
    let rows = memories::all_without_citations(tx, &filter)?;
    let mut texts = Vec::new();
    for MemoryRow { key, stored, memory } in rows.into_iter().rev() {
        let was = known_at.memory(tx, (stored, &memory))?;
        texts.extend(was.map(|memory| MemoryText { number: key, key, memory }));
    }
    Ok(texts)
}
