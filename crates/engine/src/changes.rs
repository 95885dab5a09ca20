//! Changes since a mark, made by any process. Without changes it costs two look-ups by key, so
//! watchers can poll often.

use crate::Oneiro;
use oneiro_model::{Change, ChangeKind, ChangeMark, Result};
use oneiro_store::changes;

/// Messages reported at once; a watcher that is further behind reloads.
const MAX_REPORTED_CHANGES: i64 = 10_000;

impl Oneiro {
    /// The current mark.
    pub fn change_mark(&self) -> Result<ChangeMark> {
        self.store.read(changes::mark)
    }

    /// Changes after `seen`, in order; the last one holds the new mark.
    pub fn changes_since(&self, seen: ChangeMark) -> Result<Vec<Change>> {
        self.store.read(|tx| {
            let now = changes::mark(tx)?;
            if now == seen {
                return Ok(Vec::new());
            }
            // Changes are kept for a limited time, and the store may have been replaced.
            let swept =
                changes::oldest(tx)?.is_some_and(|oldest| seen.change.saturating_add(1) < oldest);
            let behind = now.message.saturating_sub(seen.message) > MAX_REPORTED_CHANGES
                || (swept && seen.change > 0);
            if behind || now.change < seen.change {
                return Ok(vec![Change::new(now, ChangeKind::Missed, None)]);
            }
            let mut found = changes::recorded_after(tx, seen)?;
            let noted = found.last().map_or(seen, |change| change.id);
            found.extend(changes::appended(tx, noted, now.message)?);
            match found.last_mut() {
                Some(last) => last.id = now,
                // A mark of another store or of a restored backup: the messages it waits for may
                // never come.
                None if now.message < seen.message => {
                    found.push(Change::new(now, ChangeKind::Missed, None));
                }
                None => {}
            }
            Ok(found)
        })
    }
}
