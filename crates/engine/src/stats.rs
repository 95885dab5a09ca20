//! Statistics of a space.

use crate::views::Sessions;
use crate::{Oneiro, index};
use oneiro_model::{Result, SessionGroup, Stats};
use oneiro_store::{
    CommitStats, backups, jobs, messages, notes, payloads, revisions, session_groups, sessions,
};

impl Sessions<'_> {
    /// Sessions by source and by project, the largest groups first.
    pub fn groups(&self) -> Result<(Vec<SessionGroup>, Vec<SessionGroup>)> {
        self.oneiro
            .store
            .read(|tx| Ok((session_groups::by_source(tx)?, session_groups::by_project(tx)?)))
    }
}

impl Oneiro {
    /// Commit statistics of this process.
    pub fn commit_stats(&self) -> CommitStats {
        self.store.commit_stats()
    }

    /// The number of queued writes of this process.
    pub fn writes_queued(&self) -> usize {
        self.store.queued_writes()
    }

    /// Statistics of the space, read in one snapshot.
    pub fn stats(&self) -> Result<Stats> {
        let bytes = self.store.bytes()? as i64;
        self.store.read(|tx| {
            let totals = sessions::totals(tx)?;
            let (all, messages) = (messages::count(tx)?, session_groups::visible_messages(tx)?);
            Ok(Stats {
                space: self.target().space().to_string(),
                store: self.target().to_string(),
                engine: self.store.engine().as_str().to_owned(),
                schema: self.store.schema(),
                sessions: totals.sessions,
                open_sessions: totals.open,
                sources: session_groups::by_source(tx)?,
                projects: session_groups::by_project(tx)?,
                messages,
                rewound: all - messages,
                payloads: payloads::count(tx)?,
                repaired: totals.repaired,
                notes: notes::count(tx)?,
                revisions: revisions::count(tx)?,
                jobs: jobs::unfinished(tx)?,
                bytes,
                index: index::stats(tx)?,
                first_active_at: totals.first_active_at,
                last_active_at: totals.last_active_at,
                backups: backups::all(tx)?,
            })
        })
    }
}
