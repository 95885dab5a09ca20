//! Prune: delete ended sessions by age and filters, or say which would go.

use super::delete_in;
use crate::Oneiro;
use oneiro_model::{Deleted, PruneRequest, Pruned, Result, Session};
use oneiro_store::{Tx, sessions};

impl Oneiro {
    /// Deletes every ended session that passes all filters.
    pub fn prune_sessions(&self, request: PruneRequest) -> Result<Pruned> {
        if request.dry_run {
            let deleted = self.store.read(|tx| {
                let found = candidates(tx, &request)?;
                Ok(Deleted {
                    messages: found.iter().map(|listed| listed.session.message_count).sum(),
                    sessions: found.into_iter().map(|listed| listed.session.id).collect(),
                    orphaned: Vec::new(),
                })
            })?;
            return Ok(Pruned { dry_run: true, deleted });
        }
        let deleted = self.store.write_bulk(|tx| {
            let keys: Vec<i64> =
                candidates(tx, &request)?.iter().map(|listed| listed.key).collect();
            delete_in(tx, &keys)
        })?;
        Ok(Pruned { dry_run: false, deleted })
    }
}

fn candidates(tx: &Tx<'_>, request: &PruneRequest) -> Result<Vec<sessions::Listed>> {
    let mut found = sessions::ended_before(tx, request.ended_before)?;
    found.retain(|listed| goes(request, &listed.session));
    Ok(found)
}

fn goes(request: &PruneRequest, session: &Session) -> bool {
    let same = |want: &Option<String>, have: Option<&str>| {
        want.as_deref().is_none_or(|want| have == Some(want))
    };
    let holds = |want: &Option<String>, have: Option<&str>| {
        let want = want.as_deref().map(str::to_lowercase);
        want.is_none_or(|want| have.is_some_and(|have| have.to_lowercase().contains(&want)))
    };
    same(&request.source, Some(&session.source))
        && same(&request.project, session.project.as_deref())
        && same(&request.user_id, session.user_id.as_deref())
        && same(&request.end_reason, session.end_reason.as_deref())
        && holds(&request.model, session.model.as_deref())
        && holds(&request.title, session.title.as_deref())
        && request.min_messages.is_none_or(|least| session.message_count >= least)
        && request.max_messages.is_none_or(|most| session.message_count <= most)
        && request.archived.is_none_or(|archived| session.archived == archived)
}
