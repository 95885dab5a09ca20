//! Figures of a space.

use crate::{Oneiro, index};
use oneiro_model::{Result, Stats};
use oneiro_store::{WriteFigures, backups, jobs, messages, payloads, sessions};

impl Oneiro {
    /// How the writes of this process were committed so far.
    pub fn write_figures(&self) -> WriteFigures {
        self.store.write_figures()
    }

    /// How many writes of this process wait for their turn.
    pub fn writes_queued(&self) -> usize {
        self.store.queued()
    }

    /// Figures of the space, read in one snapshot.
    pub fn stats(&self) -> Result<Stats> {
        let bytes = self.store.bytes()? as i64;
        self.store.read(|tx| {
            let (sessions, open_sessions, repaired, last_active_at) = sessions::totals(tx)?;
            let (messages, rewound) = messages::counts(tx)?;
            Ok(Stats {
                space: self.target().space().to_string(),
                store: self.target().to_string(),
                engine: self.store.engine().as_str().to_owned(),
                schema: self.store.schema(),
                sessions,
                open_sessions,
                messages: messages - rewound,
                rewound,
                payloads: payloads::count(tx)?,
                repaired,
                jobs: jobs::unfinished(tx)?,
                bytes,
                index: index::figures(tx)?,
                last_active_at,
                backups: backups::all(tx)?,
            })
        })
    }
}
