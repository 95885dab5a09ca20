//! Compares the file with what is stored, by counts. If the counts of a session differ, its messages are
//! compared one by one: a message that was deleted or changed here after an import is no difference.

use super::checkpoint::Checkpoint;
use super::pass::{Pass, SessionStatus, SourceSession};
use super::reconcile::{HERMES_IDS, hermes_id_of};
use super::report::{HermesDifference, NotKept};
use oneiro_model::{Result, Visibility};
use oneiro_store::{ForeignFile, sessions, visibility};
use std::collections::BTreeMap;

/// Sessions per snapshot.
const BATCH_SESSIONS: usize = 1_024;

/// Differences that are reported.
const MAX_DIFFERENCES: usize = 100;

/// What is stored of a session.
struct StoredSession {
    /// Live, compacted and rewound messages.
    counts: [i64; 3],
    /// Set if the counts differ from those of the file.
    messages: Option<StoredMessages>,
}

struct StoredMessages {
    visibilities: BTreeMap<i64, Visibility>,
    /// Messages that earlier imports could not store.
    lost: Vec<i64>,
}

impl Pass<'_> {
    pub(super) fn compare(&mut self, file: &ForeignFile) -> Result<()> {
        let all = std::mem::take(&mut self.seen);
        for batch in all.chunks(BATCH_SESSIONS) {
            let stored = self.stored_sessions(batch)?;
            for (seen, stored) in batch.iter().zip(stored) {
                self.done.file.add(seen.runs.counts());
                let Some(stored) = stored else { continue };
                self.done.store.add(stored.counts);
                if let Some(messages) = stored.messages {
                    let visibilities = self.visibilities(file, &seen.raw_id)?;
                    self.record_difference(seen, &visibilities, &messages);
                }
            }
        }
        self.seen = all;
        let agrees = self.done.differences.is_empty() && self.done.not_kept.is_empty();
        self.done.agrees = Some(agrees);
        Ok(())
    }

    fn stored_sessions(&self, batch: &[SourceSession]) -> Result<Vec<Option<StoredSession>>> {
        self.oneiro.store.read(|tx| {
            let stored = |seen: &SourceSession| {
                if seen.status == SessionStatus::Skipped {
                    return Ok(None);
                }
                let Some(key) = sessions::key(tx, &seen.id)? else { return Ok(None) };
                let counts = visibility::count_by_external_id(tx, key, HERMES_IDS)?;
                if counts == seen.runs.counts() {
                    return Ok(Some(StoredSession { counts, messages: None }));
                }
                let rows = visibility::by_external_id(tx, key, HERMES_IDS)?;
                let visibilities = rows
                    .into_iter()
                    .filter_map(|row| Some((hermes_id_of(&row.external_id)?, row.visibility)))
                    .collect();
                let lost = Checkpoint::read(tx, &seen.raw_id)?.unwrap_or_default().lost;
                let messages = Some(StoredMessages { visibilities, lost });
                Ok(Some(StoredSession { counts, messages }))
            };
            batch.iter().map(stored).collect()
        })
    }

    fn record_difference(
        &mut self,
        seen: &SourceSession,
        visibilities: &BTreeMap<i64, Visibility>,
        stored: &StoredMessages,
    ) {
        let (mut missing, mut elsewhere) = (0, 0);
        for (number, visibility) in visibilities {
            let is_older = Some(*number) <= seen.until;
            match stored.visibilities.get(number) {
                Some(stored) if stored == visibility => {}
                Some(_) => elsewhere += usize::from(!is_older),
                None if stored.lost.contains(number) => {
                    missing += 1;
                    let is_named = |named: &NotKept| named.id == *number;
                    if is_older && !self.done.not_kept.iter().any(is_named) {
                        let reason = "an earlier import could not keep it".to_owned();
                        let id = *number;
                        self.done.not_kept.push(NotKept { table: "messages", id, reason });
                    }
                }
                None if is_older => self.done.left_out += 1,
                None => missing += 1,
            }
        }
        let is_reported = self.done.differences.len() < MAX_DIFFERENCES;
        if (missing > 0 || elsewhere > 0) && is_reported {
            let session = seen.id.to_string();
            self.done.differences.push(HermesDifference { session, missing, elsewhere });
        }
    }
}
