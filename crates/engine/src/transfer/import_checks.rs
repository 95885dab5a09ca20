//! Compares what a file says with what is stored and with itself: an operation that is known has the same
//! content, and a record follows from its operations.

use oneiro_model::{Error, Operation, OperationId, Result, Subject, SubjectKind};
use oneiro_store::operation_transfer::{Replayed, Stated};
use oneiro_store::operations::Record;
use serde_json::Value;
use std::collections::HashMap;

/// Fields of a memory that erasing another one clears without an operation.
const REFERENCES: [&str; 2] = ["superseded_by", "suspended_by"];

pub(super) fn not_before(field: &'static str, id: &str) -> Error {
    Error::field(field, format!("{id:?} is on no line before this one"))
}

/// Refuses an undo of an operation that is on no line before, or that changed something else.
pub(super) fn check_undone(
    operation: &Operation,
    subjects: &HashMap<OperationId, Subject>,
) -> Result<()> {
    let Some(undoes) = &operation.undoes else { return Ok(()) };
    match subjects.get(undoes) {
        None => Err(not_before("operation: undoes", undoes.as_str())),
        Some(subject) if *subject != operation.subject => {
            let problem = format!("{undoes} changed {:?}, not the subject", subject.id);
            Err(Error::field("operation: undoes", problem))
        }
        Some(_) => Ok(()),
    }
}

/// Refuses an operation whose id is known with another content. Ids of messages differ between stores,
/// what undid it may be newer, a merge may end references, and what is erased cannot be compared.
pub(super) fn refuse_different(known: &Operation, given: &Operation) -> Result<()> {
    let comparable = |operation: &Operation| {
        let mut after = operation.after.clone();
        if let Some(citations) =
            after.as_mut().and_then(|it| it.get_mut("citations")).and_then(Value::as_array_mut)
        {
            for citation in citations.iter_mut().filter_map(Value::as_object_mut) {
                citation.shift_remove("message_id");
            }
        }
        if let Some(fields) = after.as_mut().and_then(Value::as_object_mut) {
            match operation.subject.kind {
                SubjectKind::Distrust => drop(fields.shift_remove("target")),
                SubjectKind::Memory => REFERENCES.iter().for_each(|name| {
                    fields.shift_remove(*name);
                }),
                _ => {}
            }
        }
        after
    };
    let is_erased = known.erased || given.erased;
    let fields = [
        ("kind", known.kind == given.kind),
        ("actor", known.actor == given.actor),
        ("subject", known.subject == given.subject),
        ("after", is_erased || comparable(known) == comparable(given)),
        ("reason", is_erased || known.reason == given.reason),
        ("group", known.group == given.group),
        ("undoes", known.undoes == given.undoes),
        ("at", known.at == given.at),
        ("store_id", known.store_id == given.store_id),
    ];
    match fields.into_iter().find(|(_, is_same)| !is_same) {
        Some((field, _)) => Err(Error::conflict(format!(
            "operation: {field}: differs from that of {}, which is stored already",
            known.id
        ))),
        None => Ok(()),
    }
}

/// Refuses a record that does not follow from its operations.
pub(super) fn refuse_other_record<R: Record>(
    stated: &Stated<R>,
    replayed: &Replayed<R>,
) -> Result<()> {
    let Some(record) = replayed.record().filter(|_| !stated.is_removed) else {
        return if stated.is_removed == replayed.record().is_none() {
            Ok(())
        } else {
            Err(Error::field("removed", "does not follow from the operations"))
        };
    };
    let (stated, replayed) = (stated.record.fields()?, record.fields()?);
    let differs = |name: &&String| {
        !REFERENCES.contains(&name.as_str()) && stated.get(*name) != replayed.get(*name)
    };
    match stated.keys().find(differs) {
        Some(name) => Err(Error::field(
            format!("{}: {name}", R::KIND.as_str()),
            "does not follow from the operations",
        )),
        None => Ok(()),
    }
}
