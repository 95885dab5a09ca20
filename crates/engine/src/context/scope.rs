//! Which sessions may be read back: the lineage of a session or, if requested and allowed, the
//! whole space. All reads of summaries and messages go through here.

use crate::Oneiro;
use crate::sessions::{key_of, no_session};
use crate::settings::OtherSessions;
use oneiro_model::{ContextScope, Error, ErrorKind, Remedy, Result};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, lineage};
use std::collections::BTreeSet;

/// The sessions in scope; `None` is all.
pub(crate) struct Reach(Option<BTreeSet<i64>>);

impl Reach {
    pub(crate) fn of(oneiro: &Oneiro, tx: &Tx<'_>, scope: &ContextScope) -> Result<Reach> {
        match scope {
            ContextScope::Lineage(id) => {
                if oneiro.settings_in(tx)?.ignores(id) {
                    return Err(no_session(id.as_str()));
                }
                let key = key_of(tx, id)?;
                let mut family: BTreeSet<i64> = lineage::family(tx, key)?.into_iter().collect();
                // What its window names is in reach, even if a session between them is gone.
                family.extend(summaries::sessions_under_roots(tx, key)?);
                Ok(Reach(Some(family)))
            }
            ContextScope::Space
                if oneiro.settings_in(tx)?.other_sessions == OtherSessions::Allow =>
            {
                Ok(Reach(None))
            }
            ContextScope::Space => Err(Error::new(
                ErrorKind::Forbidden,
                "this space does not allow to read beyond a session's own lineage",
            )
            .remedy(Remedy::AllowOtherSessions)),
        }
    }

    /// The sessions, if limited.
    pub(crate) fn keys(&self) -> Option<&BTreeSet<i64>> {
        self.0.as_ref()
    }

    pub(super) fn holds(&self, session_key: i64) -> bool {
        self.0.as_ref().is_none_or(|keys| keys.contains(&session_key))
    }

    /// The only summary in scope with this id prefix. Summaries out of scope are treated as
    /// nonexistent.
    pub(super) fn summary(&self, tx: &Tx<'_>, prefix: &str) -> Result<Node> {
        let not_there = || {
            Error::not_found(format!("there is no summary {prefix:?} here"))
                .remedy(Remedy::ListSummaries)
        };
        let mut found = summaries::by_id_prefix(tx, prefix)?;
        found.sort_by_key(|node| node.id.as_str() != prefix);
        let is_whole = found.first().is_some_and(|node| node.id.as_str() == prefix);
        if let (Some(keys), false) = (&self.0, is_whole) {
            // Summaries out of scope do not make a prefix ambiguous.
            found.clear();
            for key in keys {
                let nodes = summaries::of_session(tx, *key)?.into_iter();
                found.extend(nodes.filter(|node| node.id.as_str().starts_with(prefix)));
            }
        }
        if found.len() > 1 && !is_whole {
            return Err(Error::conflict(format!("several summaries begin with {prefix:?}"))
                .remedy("give more of the id"));
        }
        let node = found.into_iter().next().ok_or_else(not_there)?;
        let mut sessions = summaries::sessions_under(tx, node.key)?;
        sessions.push(node.session_key);
        if sessions.iter().all(|key| self.holds(*key)) { Ok(node) } else { Err(not_there()) }
    }
}
