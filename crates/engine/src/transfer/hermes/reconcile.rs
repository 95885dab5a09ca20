//! Brings known messages to where hermes has put them since: taken back, shown again, compacted, or
//! replaced. What was moved here meanwhile stays where it is.

use super::message_row;
use super::note::{Note, Runs};
use super::pass::{Pass, Seen, Standing};
use crate::context::change_visibility;
use crate::sessions::{fetch_session, refuse_continued};
use oneiro_model::{ChangeKind, ErrorKind, Result, SessionId, Timestamp, Visibility};
use oneiro_store::sessions::Fields;
use oneiro_store::visibility::{self, ExternalIds, ExternalMessage};
use oneiro_store::{ForeignFile, ForeignRows, Tx, changes, sessions};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The external ids of everything that comes from hermes.
pub(super) const NAMES: ExternalIds<'_> = ExternalIds { from: "hermes:", to: "hermes;" };

/// What changed in a session.
#[derive(Default)]
struct Moved {
    changed: usize,
    replaced: usize,
    kept_here: usize,
}

impl Pass<'_> {
    /// Moves messages of known sessions; false when the file changed.
    pub(super) fn reconcile(&mut self, file: &ForeignFile) -> Result<bool> {
        let moved_on = |seen: &&Seen| seen.standing == Standing::Known && seen.runs != seen.known;
        let places: Vec<Seen> = self.seen.iter().filter(moved_on).cloned().collect();
        for seen in places {
            let stands = self.stands(file, &seen.raw_id)?;
            if !file.is_unchanged() {
                return Ok(false);
            }
            let now = self.oneiro.now();
            let moved = self.oneiro.store.write_bulk(|tx| follow(tx, &seen, &stands, now))?;
            self.done.messages_changed += moved.changed;
            self.done.replaced += moved.replaced;
            self.done.kept_here += moved.kept_here;
        }
        Ok(true)
    }

    /// Where the messages of a session stand in the file.
    pub(super) fn stands(
        &self,
        file: &ForeignFile,
        session: &[u8],
    ) -> Result<BTreeMap<i64, Visibility>> {
        let columns = self.layout.messages.only(&["active", "compacted"]);
        let rows = ForeignRows {
            table: "messages",
            columns: &columns.names,
            from: None,
            having: Some(("session_id", session)),
        };
        let mut stands = BTreeMap::new();
        file.each(rows, |row| {
            stands.insert(row.number, message_row::visibility(&columns, row));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(stands)
    }
}

/// The number that a message has in hermes.
pub(super) fn number_of(external_id: &str) -> Option<i64> {
    external_id.strip_prefix(NAMES.from)?.parse().ok()
}

fn follow(
    tx: &Tx<'_>,
    seen: &Seen,
    stands: &BTreeMap<i64, Visibility>,
    now: Timestamp,
) -> Result<Moved> {
    let mut moved = Moved::default();
    let Some(key) = sessions::key(tx, &seen.id)? else { return Ok(moved) };
    let mut note = Note::read(tx, &seen.raw_id)?.unwrap_or_default();
    let mut moves: Vec<(i64, Visibility)> = Vec::new();
    let mut replaced: Vec<(i64, Visibility)> = Vec::new();
    for ExternalMessage { seq, external_id, visibility: held } in
        visibility::by_external_id(tx, key, NAMES)?
    {
        let Some(number) = number_of(&external_id) else { continue };
        let Some(known) = note.runs.at(number) else { continue };
        let wanted = stands.get(&number).copied();
        if wanted == Some(known) || wanted == Some(held) {
            continue;
        }
        match (held == known, wanted) {
            (false, _) => moved.kept_here += 1,
            (true, Some(wanted)) => moves.push((seq, wanted)),
            // A row that is gone was replaced by others. Here nothing is destroyed.
            (true, None) if held != Visibility::Rewound => replaced.push((seq, held)),
            (true, None) => {}
        }
    }
    if may_change(tx, (key, &seen.id))? {
        (moved.changed, moved.replaced) = (moves.len(), replaced.len());
        move_messages(tx, (key, &seen.id), (&moves, &replaced), now)?;
    } else {
        moved.kept_here += moves.len() + replaced.len();
    }
    note.runs = Runs::default();
    let taken = stands.iter().filter(|(number, _)| Some(**number) <= note.until);
    for (number, stands) in taken {
        note.runs.push(*number, *stands);
    }
    note.write(tx, &seen.raw_id, now)?;
    Ok(moved)
}

/// Whether what a session shows may change: not when its summaries are in another's window.
fn may_change(tx: &Tx<'_>, session: (i64, &SessionId)) -> Result<bool> {
    match refuse_continued(tx, session) {
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(false),
        other => other.map(|()| true),
    }
}

type Moves<'m> = (&'m [(i64, Visibility)], &'m [(i64, Visibility)]);

/// Moves messages to where they stand, and lets counters, summaries and listeners know of it.
fn move_messages(
    tx: &Tx<'_>,
    (key, id): (i64, &SessionId),
    (moves, replaced): Moves<'_>,
    now: Timestamp,
) -> Result<()> {
    let seqs = moves.iter().chain(replaced).map(|(seq, _)| *seq);
    let (Some(first), Some(last)) = (seqs.clone().min(), seqs.max()) else { return Ok(()) };
    change_visibility(tx, (key, id), (first, last), || {
        let rewind = fetch_session(tx, key)?.rewind_count;
        for (seq, wanted) in moves {
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
