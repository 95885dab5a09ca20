//! Counts both sides. Where the numbers of a session differ, its messages are looked at one by one:
//! what was imported before and was removed or moved here since is no disagreement.

use super::account::{HermesDifference, NotKept};
use super::note::Note;
use super::pass::{Pass, Seen, Standing};
use super::reconcile::{NAMES, number_of};
use oneiro_model::{Result, Visibility};
use oneiro_store::{ForeignFile, sessions, visibility};
use std::collections::BTreeMap;

/// Sessions to a snapshot.
const BATCH: usize = 1_024;

/// Differences that are told.
const TOLD: usize = 100;

/// What is stored of a session: the counts, and every message where they are not those of the file.
type Held = ([i64; 3], Option<(BTreeMap<i64, Visibility>, Vec<i64>)>);

impl Pass<'_> {
    pub(super) fn compare(&mut self, file: &ForeignFile) -> Result<()> {
        let all = std::mem::take(&mut self.seen);
        for batch in all.chunks(BATCH) {
            let held = self.held(batch)?;
            for (seen, held) in batch.iter().zip(held) {
                self.done.file.add(seen.runs.counts());
                let Some((counts, detail)) = held else { continue };
                self.done.store.add(counts);
                if let Some(detail) = detail {
                    let stands = self.stands(file, &seen.raw_id)?;
                    self.differ(seen, &stands, detail);
                }
            }
        }
        self.seen = all;
        let agrees = self.done.differences.is_empty() && self.done.not_kept.is_empty();
        self.done.agrees = Some(agrees);
        Ok(())
    }

    fn held(&self, batch: &[Seen]) -> Result<Vec<Option<Held>>> {
        self.oneiro.store.read(|tx| {
            let held = |seen: &Seen| {
                if seen.standing == Standing::LeftOut {
                    return Ok(None);
                }
                let Some(key) = sessions::key(tx, &seen.id)? else { return Ok(None) };
                let counts = visibility::count_by_external_id(tx, key, NAMES)?;
                if counts == seen.runs.counts() {
                    return Ok(Some((counts, None)));
                }
                let rows = visibility::by_external_id(tx, key, NAMES)?;
                let rows = rows
                    .into_iter()
                    .filter_map(|row| Some((number_of(&row.external_id)?, row.visibility)));
                let lost = Note::read(tx, &seen.raw_id)?.unwrap_or_default().lost;
                Ok(Some((counts, Some((rows.collect(), lost)))))
            };
            batch.iter().map(held).collect()
        })
    }

    fn differ(
        &mut self,
        seen: &Seen,
        stands: &BTreeMap<i64, Visibility>,
        (held, lost): (BTreeMap<i64, Visibility>, Vec<i64>),
    ) {
        let (mut missing, mut elsewhere) = (0, 0);
        for (number, stands) in stands {
            let is_older = Some(*number) <= seen.until;
            match held.get(number) {
                Some(held) if held == stands => {}
                Some(_) => elsewhere += usize::from(!is_older),
                None if lost.contains(number) => {
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
        let is_told = self.done.differences.len() < TOLD;
        if (missing > 0 || elsewhere > 0) && is_told {
            let session = seen.id.to_string();
            self.done.differences.push(HermesDifference { session, missing, elsewhere });
        }
    }
}
