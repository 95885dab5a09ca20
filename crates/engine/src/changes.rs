//! What happened since somebody last looked, whichever process did it. Two look-ups by key when
//! nothing did, so whoever watches can ask often, on both engines alike.

use crate::Oneiro;
use oneiro_model::{Change, ChangeKind, ChangeMark, Result};
use oneiro_store::changes;

/// Messages that are told of at once; who is further behind reads again what it shows.
const TOLD: i64 = 10_000;

impl Oneiro {
    /// How far there is anything to see now.
    pub fn change_mark(&self) -> Result<ChangeMark> {
        self.store.read(changes::mark)
    }

    /// What happened after `seen`, in order; the last change says how far it goes.
    pub fn changes_since(&self, seen: ChangeMark) -> Result<Vec<Change>> {
        self.store.read(|tx| {
            let now = changes::mark(tx)?;
            if now == seen {
                return Ok(Vec::new());
            }
            // Notes are kept for a while; and another store may have taken the place of this one.
            let swept =
                changes::oldest(tx)?.is_some_and(|oldest| seen.change.saturating_add(1) < oldest);
            let behind =
                now.message.saturating_sub(seen.message) > TOLD || (swept && seen.change > 0);
            if behind || now.change < seen.change {
                return Ok(vec![Change::new(now, ChangeKind::Missed, None)]);
            }
            let mut told = changes::recorded_after(tx, seen)?;
            let noted = told.last().map_or(seen, |change| change.id);
            told.extend(changes::appended(tx, noted, now.message)?);
            match told.last_mut() {
                Some(last) => last.id = now,
                // A mark of another store, or of before a copy was put back: the messages that it
                // waits for may never come.
                None if now.message < seen.message => {
                    told.push(Change::new(now, ChangeKind::Missed, None));
                }
                None => {}
            }
            Ok(told)
        })
    }
}
