//! Applies changes of visibility in hermes to known messages: rewound, restored, compacted or replaced.
//! Messages whose visibility was changed here are not touched.

use super::checkpoint::{Checkpoint, VisibilityRuns};
use super::message_row;
use super::pass::{Pass, SessionStatus, SourceSession};
use crate::context::change_visibility;
use crate::sessions::{fetch_session, refuse_continued};
use oneiro_model::{ChangeKind, ErrorKind, Result, Timestamp, Visibility};
use oneiro_store::sessions::Fields;
use oneiro_store::visibility::{self, ExternalIds, ExternalMessage};
use oneiro_store::{ColumnText, ForeignFile, ForeignRows, SessionRef, Tx, changes, sessions};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The range of external ids of messages from hermes.
pub(super) const HERMES_IDS: ExternalIds<'_> = ExternalIds { from: "hermes:", to: "hermes;" };

/// What was changed in a session.
#[derive(Default)]
struct Reconciled {
    changed: usize,
    replaced: usize,
    kept_here: usize,
}

impl Pass<'_> {
    /// Updates the messages of known sessions. Returns false if the file changed.
    pub(super) fn reconcile(&mut self, file: &ForeignFile) -> Result<bool> {
        let is_changed =
            |seen: &&SourceSession| seen.status == SessionStatus::Known && seen.runs != seen.known;
        let changed: Vec<SourceSession> = self.seen.iter().filter(is_changed).cloned().collect();
        for seen in changed {
            let visibilities = self.visibilities(file, &seen.raw_id)?;
            if !file.is_unchanged() {
                return Ok(false);
            }
            let now = self.oneiro.now();
            let moved = self
                .oneiro
                .store
                .write_bulk(|tx| reconcile_session(tx, &seen, &visibilities, now))?;
            self.done.messages_changed += moved.changed;
            self.done.replaced += moved.replaced;
            self.done.kept_here += moved.kept_here;
        }
        Ok(true)
    }

    /// The visibility of the messages of a session in the file.
    pub(super) fn visibilities(
        &self,
        file: &ForeignFile,
        session: &[u8],
    ) -> Result<BTreeMap<i64, Visibility>> {
        let columns = self.layout.messages.only(&["active", "compacted"]);
        let rows = ForeignRows {
            table: "messages",
            columns: &columns.names,
            from: None,
            equals: Some(ColumnText { column: "session_id", text: session }),
        };
        let mut visibilities = BTreeMap::new();
        file.each(rows, |row| {
            visibilities.insert(row.number, message_row::visibility(&columns, row));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(visibilities)
    }
}

/// The id of a message in hermes.
pub(super) fn hermes_id_of(external_id: &str) -> Option<i64> {
    external_id.strip_prefix(HERMES_IDS.from)?.parse().ok()
}

fn reconcile_session(
    tx: &Tx<'_>,
    seen: &SourceSession,
    visibilities: &BTreeMap<i64, Visibility>,
    now: Timestamp,
) -> Result<Reconciled> {
    let mut moved = Reconciled::default();
    let Some(key) = sessions::key(tx, &seen.id)? else { return Ok(moved) };
    let mut checkpoint = Checkpoint::read(tx, &seen.raw_id)?.unwrap_or_default();
    let mut moves: Vec<(i64, Visibility)> = Vec::new();
    let mut replaced: Vec<(i64, Visibility)> = Vec::new();
    for ExternalMessage { seq, external_id, visibility: held } in
        visibility::by_external_id(tx, key, HERMES_IDS)?
    {
        let Some(number) = hermes_id_of(&external_id) else { continue };
        let Some(known) = checkpoint.runs.at(number) else { continue };
        let wanted = visibilities.get(&number).copied();
        if wanted == Some(known) || wanted == Some(held) {
            continue;
        }
        match (held == known, wanted) {
            (false, _) => moved.kept_here += 1,
            (true, Some(wanted)) => moves.push((seq, wanted)),
            // Hermes deletes rows that it replaces; here they are rewound.
            (true, None) if held != Visibility::Rewound => replaced.push((seq, held)),
            (true, None) => {}
        }
    }
    let session = SessionRef { key, id: &seen.id };
    if may_change(tx, session)? {
        (moved.changed, moved.replaced) = (moves.len(), replaced.len());
        let changes = VisibilityChanges { changed: &moves, replaced: &replaced };
        set_visibilities(tx, session, changes, now)?;
    } else {
        moved.kept_here += moves.len() + replaced.len();
    }
    checkpoint.runs = VisibilityRuns::default();
    let imported = visibilities.iter().filter(|(number, _)| Some(**number) <= checkpoint.until);
    for (number, visibility) in imported {
        checkpoint.runs.push(*number, *visibility);
    }
    checkpoint.write(tx, &seen.raw_id, now)?;
    Ok(moved)
}

/// Whether the visibility of messages may change: not if another session shows their summaries.
fn may_change(tx: &Tx<'_>, session: SessionRef<'_>) -> Result<bool> {
    match refuse_continued(tx, session) {
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(false),
        other => other.map(|()| true),
    }
}

/// Messages with the visibility they get, and messages that hermes replaced with the visibility they
/// had.
struct VisibilityChanges<'m> {
    changed: &'m [(i64, Visibility)],
    replaced: &'m [(i64, Visibility)],
}

/// Changes the visibility of messages, with counters and summaries, and records the change.
fn set_visibilities(
    tx: &Tx<'_>,
    session: SessionRef<'_>,
    changes: VisibilityChanges<'_>,
    now: Timestamp,
) -> Result<()> {
    let VisibilityChanges { changed, replaced } = changes;
    let SessionRef { key, id } = session;
    let seqs = changed.iter().chain(replaced).map(|(seq, _)| *seq);
    let (Some(first), Some(last)) = (seqs.clone().min(), seqs.max()) else { return Ok(()) };
    change_visibility(tx, (key, id), (first, last), || {
        let rewind = fetch_session(tx, key)?.rewind_count;
        for (seq, wanted) in changed {
            visibility::set(tx, *seq, *wanted, rewind)?;
        }
        for (seq, _) in replaced {
            visibility::set(tx, *seq, Visibility::Rewound, rewind)?;
        }
        Ok(())
    })?;
    sessions::recount(tx, key)?;
    if let Some(last) = replaced.iter().map(|(seq, _)| *seq).max() {
        let mut metadata = fetch_session(tx, key)?.metadata;
        metadata.insert("replaced_until".to_owned(), last.into());
        if replaced.iter().any(|(_, held)| *held == Visibility::Compacted) {
            metadata.insert("replaced_all_until".to_owned(), last.into());
        }
        let metadata = Some(Value::Object(metadata).to_string());
        sessions::overwrite(tx, key, &Fields { metadata, ..Fields::default() })?;
    }
    changes::record(tx, ChangeKind::Rewound, Some(id), now)
}
