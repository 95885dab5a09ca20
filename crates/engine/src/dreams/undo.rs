//! Takes one whole dream back, without touching what others did since. What cannot be taken back is reported,
//! or with `strict` nothing is.

use super::ledger::resolve;
use crate::Oneiro;
use crate::notes::note_entries;
use crate::operations::{Grouping, undo_group_except};
use crate::views::Dreams;
use oneiro_model::{
    Dream, DreamVerdict, Error, ErrorKind, GroupId, LeftOperation, NoteName, OperationId, Result,
    RevisionId, Timestamp, UndoDream, UndoneDream,
};
use oneiro_store::dream_candidates::{self, DreamEntry};
use oneiro_store::dreams::{self, StoredDecision};
use oneiro_store::{Tx, notes};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Operations that an undo leaves, at most, before it gives up.
const LEFT_MAX: usize = 200;

impl Dreams<'_> {
    /// Undoes what a dream did. What it promoted is not promoted again without newer evidence.
    pub fn undo(&self, id: &str, request: &UndoDream) -> Result<UndoneDream> {
        let dream = self.oneiro.store.read(|tx| resolve(tx, id))?;
        if dream.undone_at.is_some() {
            return Err(Error::conflict(format!("{} is undone already", dream.id)));
        }
        let Some(group) = dream.group.clone() else {
            return Err(Error::conflict(format!("{} changed nothing", dream.id))
                .remedy("there is nothing to undo"));
        };
        let mut left: BTreeMap<OperationId, LeftOperation> = BTreeMap::new();
        loop {
            match self.oneiro.undo_dream((&dream, &group), &left, request.reason.clone())? {
                Attempt::Done { undone, revision } => {
                    let dream = self.oneiro.store.read(|tx| resolve(tx, dream.id.as_str()))?;
                    let left = left.into_values().collect();
                    return Ok(UndoneDream { dream, undone, left, revision });
                }
                Attempt::Refused(operation, error) => {
                    if request.strict || left.len() >= LEFT_MAX {
                        return Err(error);
                    }
                    left.insert(operation.operation.clone(), operation);
                }
            }
        }
    }
}

/// One attempt to undo a dream.
enum Attempt {
    Done {
        undone: Vec<OperationId>,
        revision: Option<RevisionId>,
    },
    /// One operation cannot be undone; nothing was.
    Refused(LeftOperation, Error),
}

impl Oneiro {
    fn undo_dream(
        &self,
        (dream, group): (&Dream, &GroupId),
        left: &BTreeMap<OperationId, LeftOperation>,
        reason: Option<String>,
    ) -> Result<Attempt> {
        let (dream, group) = (dream.clone(), group.clone());
        let skipped: Vec<OperationId> = left.keys().cloned().collect();
        let refused = std::sync::Arc::new(std::sync::Mutex::new(None));
        let noted = std::sync::Arc::clone(&refused);
        let reason = reason.or_else(|| Some(format!("{} is undone", dream.id)));
        let done = self.edit(reason, Grouping::Group, move |edit| {
            let undone = undo_group_except(edit, &group, &skipped, &mut |operation, error| {
                let one = LeftOperation {
                    operation: operation.id.clone(),
                    subject: operation.subject.id.clone(),
                    reason: error.message().to_owned(),
                };
                *noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(one);
            })?;
            dreams::set_undone(edit.tx, &dream.id, edit.now)?;
            if let Some(key) = dreams::key(edit.tx, &dream.id)? {
                let decisions = dreams::decisions(edit.tx, key)?;
                restore_entries(edit.tx, &dream, &decisions, edit.now)?;
                for stored in decisions {
                    let decision = stored.decision;
                    if decision.decision == DreamVerdict::Promoted {
                        let by = format!("{} promoted it and was undone", dream.id);
                        let id = &decision.candidate_id;
                        let is_first = dream_candidates::by_id_prefix(edit.tx, id.as_str())?
                            .iter()
                            .any(|one| one.candidate.promoted_at == Some(dream.started_at));
                        if is_first {
                            dream_candidates::refuse(edit.tx, id, edit.now, &by)?;
                        }
                    }
                }
            }
            let revision = edit.group.filter(|_| !edit.notes.is_empty()).map(RevisionId::of_group);
            Ok((undone, revision))
        });
        match done {
            Ok((undone, revision)) => Ok(Attempt::Done { undone, revision }),
            Err(error) => {
                let one = refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                let is_refusal = matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Forbidden);
                match one.filter(|_| is_refusal) {
                    Some(one) => Ok(Attempt::Refused(one, error)),
                    None => Err(error),
                }
            }
        }
    }
}

/// Records which entries of an undone dream stand in their notes again, and which left them: what came back
/// is still an entry of dreams, and what left was not removed by hand.
fn restore_entries(
    tx: &Tx<'_>,
    dream: &Dream,
    decisions: &[StoredDecision],
    now: Timestamp,
) -> Result<()> {
    let entries = dream_candidates::entries(tx)?;
    let entries: BTreeMap<(&str, &str), &DreamEntry> = entries
        .iter()
        .map(|entry| ((entry.note.as_str(), entry.candidate.as_str()), entry))
        .collect();
    let mut lines: BTreeMap<&NoteName, BTreeSet<String>> = BTreeMap::new();
    for stored in decisions {
        let Some(note) = &stored.note else { continue };
        let id = &stored.decision.candidate_id;
        let Some(entry) = entries.get(&(note.as_str(), id.as_str())) else { continue };
        let there = match lines.entry(note) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let text = notes::get(tx, note)?.map(|note| note.text).unwrap_or_default();
                unknown.insert(note_entries(&text).into_iter().collect())
            }
        };
        let stands = |line: &str| there.contains(line);
        // What another dream removed is not this one's to restore.
        let is_own = entry.removed_at.is_none_or(|at| at == dream.started_at);
        match &stored.written {
            Some(line) if is_own && stands(line) => {
                let entry =
                    DreamEntry { line: line.clone(), removed_at: None, ..DreamEntry::clone(entry) };
                dream_candidates::put_entry(tx, &entry, &dream.id, now)?;
            }
            None if entry.removed_at.is_none() && !stands(&entry.line) => {
                dream_candidates::remove_entry(tx, note, id, now)?;
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}
