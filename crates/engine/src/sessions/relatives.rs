//! The lineage of a session.

use super::{fetch_session, key_of};
use crate::views::Sessions;
use oneiro_model::{Result, Session, SessionId};
use oneiro_store::lineage;

impl Sessions<'_> {
    /// The first ancestor of a session, through every kind of lineage.
    pub fn root(&self, id: &SessionId) -> Result<SessionId> {
        self.oneiro.store.read(|tx| {
            let above = lineage::ancestors(tx, key_of(tx, id)?, |_| true)?;
            Ok(above.into_iter().next_back().map_or_else(|| id.clone(), |link| link.id))
        })
    }

    /// The last continuation of a session, which is the one to resume.
    pub fn tip(&self, id: &SessionId) -> Result<SessionId> {
        self.oneiro.store.read(|tx| {
            let tip = lineage::tip(tx, key_of(tx, id)?)?;
            Ok(tip.map_or_else(|| id.clone(), |link| link.id))
        })
    }

    /// The first `limit` sessions with the same root, this one included, oldest first. Without system
    /// prompts, as in lists.
    pub fn family(&self, id: &SessionId, limit: usize) -> Result<Vec<Session>> {
        self.oneiro.store.read(|tx| {
            let mut keys = lineage::family(tx, key_of(tx, id)?)?;
            keys.sort_unstable();
            keys.truncate(limit);
            let without_prompt = |session| Session { system_prompt: None, ..session };
            keys.into_iter().map(|key| fetch_session(tx, key).map(without_prompt)).collect()
        })
    }

    /// The direct children of a session, oldest first.
    pub fn children(&self, id: &SessionId) -> Result<Vec<SessionId>> {
        self.oneiro.store.read(|tx| {
            let children = lineage::children(tx, key_of(tx, id)?)?;
            Ok(children.into_iter().map(|link| link.id).collect())
        })
    }
}
