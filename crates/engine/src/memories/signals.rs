//! Signals about memories, and the confidence that follows from them.

use super::{resolve, typed_text};
use crate::Oneiro;
use crate::operations::{Edit, Grouping};
use crate::settings::day_in;
use crate::views::Memories;
use oneiro_model::{
    ConfidenceExplained, ConfidencePart, Error, Memory, MemoryId, MemoryStatus, ReinforceRequest,
    Reinforced, Result, Role, Signal, SignalKind, Timestamp, USE_CONFIDENCE,
};
use oneiro_store::identity::{self, Identity};
use oneiro_store::{Tx, message_rows, signals};
use std::collections::BTreeSet;

impl Memories<'_> {
    /// Records that an answer rests on an active memory. The same query counts once a day.
    pub fn reinforce(&self, id: &str, request: ReinforceRequest) -> Result<Reinforced> {
        let id = id.to_owned();
        self.oneiro.edit(None, Grouping::Single, move |edit| {
            let before = resolve(edit.tx, &id)?;
            if before.status != MemoryStatus::Active {
                let status = before.status.as_str();
                return Err(Error::conflict(format!("{} is {status}, not active", before.id)));
            }
            let used = NewSignal::new(&before.id, SignalKind::Used);
            let is_new = NewSignal { query: request.query.as_deref(), ..used }.add(edit)?;
            let memory = resolve(edit.tx, before.id.as_str())?;
            Ok(Reinforced {
                is_new,
                old_confidence: before.confidence,
                new_confidence: memory.confidence,
                memory,
            })
        })
    }
}

/// A memory that a prompt brought up, and how much of the prompt it has.
#[derive(Debug, Clone)]
pub(crate) struct RecalledMemory {
    pub(crate) id: MemoryId,
    pub(crate) relevance: f64,
}

/// What a person typed, and when.
#[derive(Debug, Clone)]
pub(crate) struct TypedPrompt {
    pub(crate) text: String,
    pub(crate) at: Timestamp,
    /// The person, if they are known.
    pub(crate) speaker: Option<String>,
}

impl TypedPrompt {
    /// Whether the person of this name typed it.
    pub(crate) fn is_by(&self, name: &str) -> bool {
        self.speaker.as_deref().is_some_and(|speaker| speaker.eq_ignore_ascii_case(name))
    }
}

/// Records that a person's prompt brought up these memories, on the day of the prompt; the same prompt
/// counts once a day.
pub(crate) fn record_recalled(
    oneiro: &Oneiro,
    recalled: Vec<RecalledMemory>,
    prompt: TypedPrompt,
) -> Result<()> {
    oneiro.edit(None, Grouping::Single, move |edit| {
        for memory in &recalled {
            let signal = NewSignal {
                query: Some(&prompt.text),
                at: Some(prompt.at),
                relevance: Some(memory.relevance),
                ..NewSignal::new(&memory.id, SignalKind::Recalled)
            };
            signal.add(edit)?;
        }
        Ok(())
    })
}

/// Evidence about a memory that is to be recorded.
pub(crate) struct NewSignal<'s> {
    pub(crate) memory: &'s MemoryId,
    pub(crate) kind: SignalKind,
    pub(crate) query: Option<&'s str>,
    /// When it happened; absent or in the future it is now.
    pub(crate) at: Option<Timestamp>,
    /// How much of the query the memory has, between 0 and 1.
    pub(crate) relevance: Option<f64>,
}

impl<'s> NewSignal<'s> {
    pub(crate) fn new(memory: &'s MemoryId, kind: SignalKind) -> NewSignal<'s> {
        NewSignal { memory, kind, query: None, at: None, relevance: None }
    }

    /// Records it; false if it is known.
    pub(crate) fn add(&self, edit: &Edit<'_, '_>) -> Result<bool> {
        let at = self.at.map_or(edit.now, |at| at.min(edit.now));
        let query = self.query.map(|query| crate::redact_secrets(query.trim()).into_owned());
        let hash = query_hash(edit.identity, query.as_deref());
        let signal = Signal {
            memory_id: self.memory.clone(),
            kind: self.kind,
            date: day_in(edit.tx, at)?,
            at,
            query,
            relevance: self.relevance,
        };
        signals::add(edit.tx, &signal, &hash)
    }
}

/// Removes the signals that the prompts of erased messages gave, which hold their words.
pub(crate) fn remove_signals_of_messages(tx: &Tx<'_>, seqs: &BTreeSet<i64>) -> Result<()> {
    let Some(identity) = identity::get(tx)? else { return Ok(()) };
    let seqs: Vec<i64> = seqs.iter().copied().collect();
    let mut hashes = BTreeSet::new();
    for some in seqs.chunks(ERASE_BATCH_ROWS) {
        for row in message_rows::by_ids(tx, some)?.iter().filter(|row| row.role == Role::User) {
            let typed = typed_text(&row.body);
            let query = crate::redact_secrets(typed.trim());
            hashes.insert(query_hash(&identity, Some(query.as_ref())));
        }
    }
    signals::remove_of_queries(tx, &hashes)
}

/// Messages that are read at once for their erasure.
const ERASE_BATCH_ROWS: usize = 256;

/// What stands for a query, which may be absent.
pub(crate) fn query_hash(identity: &Identity, query: Option<&str>) -> String {
    identity.hash(&[&oneiro_text::normalise(query.unwrap_or_default())])
}

/// The parts that add up to the confidence of a memory.
pub(super) fn explain(tx: &Tx<'_>, memory: &Memory) -> Result<ConfidenceExplained> {
    let part = |name: &str, value: f64| ConfidencePart { name: name.to_owned(), value };
    let uses = memory.reference_count as f64 * USE_CONFIDENCE;
    let without_decay =
        Memory::derive_confidence(memory.initial_confidence, memory.reference_count, 0);
    let mut parts = vec![part("initial", memory.initial_confidence), part("uses", uses)];
    if memory.confidence < without_decay {
        parts.push(part("decay", memory.confidence - without_decay));
    }
    parts.push(part("confidence", memory.confidence));
    Ok(ConfidenceExplained { parts, signals: signals::counts(tx, &memory.id)? })
}
