//! Why: the way from a memory to its quotes, the messages that hold them with their neighbours, and the
//! operations that made it what it is.

use super::as_of::{KnownAt, known_at};
use super::{find, resolve};
use crate::operations as recorded;
use crate::views::Memories;
use oneiro_model::{
    Citation, ErrorKind, Memory, MessageId, Operation, OperationId, PackItem, Result, Why, WhyKind,
    WhyRequest, searchable_split,
};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{Tx, operations};

/// Messages before and after a cited one.
const NEIGHBOURS: usize = 1;

/// Characters of a message that are shown.
const MESSAGE_CHARS: usize = 400;

impl Memories<'_> {
    /// Why a memory is believed, or was at a time. For an operation, why its memory is.
    pub fn why(&self, id: &str, request: &WhyRequest) -> Result<Why> {
        self.oneiro.store.read(|tx| {
            let is_operation = id.starts_with(OperationId::PREFIX);
            let subject = is_operation.then(|| recorded::resolve(tx, id)).transpose()?;
            let id = subject.as_ref().map_or(id, |(_, operation)| operation.subject.id.as_str());
            let Some(at) = request.known_at else {
                return memory_node(tx, &resolve(tx, id)?, None);
            };
            let memory = known_at(tx, id, at)?;
            memory_node(tx, &memory, Some(KnownAt::new(tx, at)?))
        })
    }
}

/// Why a memory is believed, if it is stored.
pub(crate) fn why_memory(tx: &Tx<'_>, id: &str) -> Result<Option<Why>> {
    match find(tx, id) {
        Ok((_, memory)) => memory_node(tx, &memory, None).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A message with those beside it, if it is stored.
pub(crate) fn why_message(tx: &Tx<'_>, seq: i64) -> Result<Option<Why>> {
    let rows = message_rows::by_ids(tx, &[seq])?;
    rows.first().map(|row| message_node(tx, row)).transpose()
}

/// A fact of a project with the operations that set it.
pub(crate) fn why_state(tx: &Tx<'_>, item: &PackItem) -> Result<Why> {
    let operations = operations::of_subject(tx, &item.id)?;
    let children = operations.into_iter().map(|(_, operation)| operation_node(operation)).collect();
    Ok(Why {
        at: Some(item.at),
        children,
        ..leaf(WhyKind::State, item.id.clone(), item.text.clone())
    })
}

/// A source that is not stored.
pub(crate) fn missing_node(id: &str, text: &str) -> Why {
    leaf(WhyKind::Missing, id.to_owned(), text.to_owned())
}

fn memory_node(tx: &Tx<'_>, memory: &Memory, known_at: Option<KnownAt>) -> Result<Why> {
    let mut children = Vec::new();
    for citation in &memory.citations {
        children.push(quote_node(tx, citation)?);
    }
    let operations = operations::of_subject(tx, memory.id.as_str())?;
    let recorded = operations
        .into_iter()
        .filter(|(key, _)| known_at.is_none_or(|known_at| known_at.has(*key)));
    children.extend(recorded.map(|(_, operation)| operation_node(operation)));
    Ok(Why {
        kind: WhyKind::Memory,
        id: memory.id.to_string(),
        text: memory.content.clone(),
        at: Some(memory.created_at),
        actor: None,
        children,
    })
}

fn quote_node(tx: &Tx<'_>, citation: &Citation) -> Result<Why> {
    let id = citation.message_id.map(|id| id.to_string()).unwrap_or_default();
    let rows = match citation.message_id {
        Some(MessageId(seq)) => message_rows::by_ids(tx, &[seq])?,
        None => Vec::new(),
    };
    let message = match rows.first() {
        Some(row) => message_node(tx, row)?,
        None => {
            let text = match citation.message_id {
                Some(_) => "the message is no longer stored",
                None => "no captured message holds the quote",
            };
            leaf(WhyKind::Missing, id.clone(), text.to_owned())
        }
    };
    let text = citation.quote.clone();
    Ok(Why { children: vec![message], ..leaf(WhyKind::Quote, id, text) })
}

fn message_node(tx: &Tx<'_>, row: &MessageRow) -> Result<Why> {
    let mut around = message_rows::session_before(tx, row.session_key, row.seq, NEIGHBOURS)?;
    around.extend(message_rows::session_after(tx, row.session_key, row.seq, NEIGHBOURS)?);
    let children = around.iter().map(|row| message_text(WhyKind::Neighbour, row)).collect();
    Ok(Why { children, ..message_text(WhyKind::Message, row) })
}

fn message_text(kind: WhyKind, row: &MessageRow) -> Why {
    let searchable = searchable_split(&row.role, &row.body);
    let text: String = searchable.text.chars().take(MESSAGE_CHARS).collect();
    let text = format!("{}: {text}", row.role.as_str());
    Why { at: Some(row.at), ..leaf(kind, row.seq.to_string(), text) }
}

fn operation_node(operation: Operation) -> Why {
    let mut text = operation.kind.clone();
    if let Some(reason) = &operation.reason {
        text = format!("{text}: {reason}");
    }
    if operation.undone_by.is_some() {
        text = format!("{text} (undone)");
    }
    Why {
        at: Some(operation.at),
        actor: Some(operation.actor),
        ..leaf(WhyKind::Operation, operation.id.to_string(), text)
    }
}

fn leaf(kind: WhyKind, id: String, text: String) -> Why {
    Why { kind, id, text, at: None, actor: None, children: Vec::new() }
}
