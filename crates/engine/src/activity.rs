//! Messages per day, counted from the index documents in memory: milliseconds for a million
//! messages, and no row is read.

use crate::index::{Segments, texts};
use crate::{EmbedderChoice, Oneiro};
use oneiro_index::{Kind, Snapshot, role};
use oneiro_model::{Activity, DayActivity, Error, Result, Timestamp};

/// Maximum number of days.
const DAYS: usize = 3_660;

const MINUTES_OF_DAY: i64 = 24 * 60;

impl Oneiro {
    /// Messages on each of the last `days` days, today included.
    pub fn activity(&self, days: usize) -> Result<Activity> {
        if days == 0 || days > DAYS {
            return Err(Error::field("days", format!("is not between 1 and {DAYS}")));
        }
        let today = self.now().micros().div_euclid(60_000_000).div_euclid(MINUTES_OF_DAY);
        let first = today - days as i64 + 1;
        let mut counted = vec![DayActivity::default(); days];
        let mut reader = self.index.reader(EmbedderChoice::Static);
        self.store.read(|tx| {
            let segments = Segments::answering(tx)?;
            let (storage, texts) = (&segments, &texts(tx));
            let view = self.index.cache.view(Snapshot { storage, texts }, &mut reader, None)?;
            let mut last = 0;
            view.each_doc(|doc| {
                // A long message has several documents.
                let is_new =
                    doc.seq != std::mem::replace(&mut last, doc.seq) && doc.kind == Kind::Message;
                let day = usize::try_from(doc.minute.div_euclid(MINUTES_OF_DAY) - first);
                if let (true, Some(day)) = (is_new, day.ok().and_then(|day| counted.get_mut(day))) {
                    *match doc.role {
                        role::USER => &mut day.user,
                        role::ASSISTANT => &mut day.assistant,
                        role::TOOL => &mut day.tool,
                        _ => &mut day.other,
                    } += 1;
                }
            });
            Ok(())
        })?;
        self.index.give_back(reader);
        for (day, number) in counted.iter_mut().zip(first..) {
            let at = Timestamp::from_micros(number * MINUTES_OF_DAY * 60_000_000).to_string();
            day.date = at.get(..10).unwrap_or_default().to_owned();
        }
        Ok(Activity { days: counted })
    }
}
