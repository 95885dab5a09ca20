//! Token and cost accounts.

use super::{fetch_session, key_of};
use crate::views::Sessions;
use oneiro_model::{Result, Session, SessionId, Usage, UsageKey, UsageRow};
use oneiro_store::usage;
use oneiro_store::usage::Charge;

impl Sessions<'_> {
    /// Adds to an account of a session.
    pub fn add_usage(&self, id: &SessionId, key: UsageKey, used: Usage) -> Result<Session> {
        key.check()?;
        used.check()?;
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let session = key_of(tx, &id)?;
            usage::add(
                tx,
                session,
                Charge { account: &key, used: &used, first_at: now, last_at: now },
            )?;
            fetch_session(tx, session)
        })
    }

    /// Sets a session's totals, for hosts that count for themselves.
    pub fn set_usage(&self, id: &SessionId, used: Usage) -> Result<Session> {
        used.check()?;
        let id = id.clone();
        self.oneiro.store.write(move |tx| {
            let session = key_of(tx, &id)?;
            usage::set_totals(tx, session, &used)?;
            fetch_session(tx, session)
        })
    }

    /// The accounts of a session.
    pub fn usage(&self, id: &SessionId) -> Result<Vec<UsageRow>> {
        self.oneiro.store.read(|tx| usage::of_session(tx, key_of(tx, id)?))
    }
}
