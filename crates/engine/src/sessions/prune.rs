//! Prune: delete ended sessions by age and filters, or say which would go.

use super::delete::{delete_in, plan, purge_later, record_deleted};
use crate::views::Sessions;
use oneiro_model::{PruneRequest, Pruned, Result, Session};
use oneiro_store::{Tx, sessions};

impl Sessions<'_> {
    /// Deletes every ended session that passes all filters.
    pub fn prune(&self, request: PruneRequest) -> Result<Pruned> {
        if request.dry_run {
            let planned = self.oneiro.store.read(|tx| plan(tx, &candidates(tx, &request)?))?;
            return Ok(Pruned { dry_run: true, deleted: planned.1 });
        }
        let deleted = self.oneiro.store.write_bulk(|tx| {
            let keys = candidates(tx, &request)?;
            purge_later(self.oneiro, tx, &keys)?;
            let deleted = delete_in(tx, &keys)?;
            record_deleted(tx, &deleted, self.oneiro.now())?;
            Ok(deleted)
        })?;
        Ok(Pruned { dry_run: false, deleted })
    }
}

fn candidates(tx: &Tx<'_>, request: &PruneRequest) -> Result<Vec<i64>> {
    let found = sessions::ended_before(tx, request.ended_before)?.into_iter();
    Ok(found.filter(|listed| goes(request, &listed.session)).map(|listed| listed.key).collect())
}

fn goes(request: &PruneRequest, session: &Session) -> bool {
    let same = |want: &Option<String>, have: Option<&str>| {
        want.as_deref().is_none_or(|want| have == Some(want))
    };
    let holds = |want: &Option<String>, have: Option<&str>| {
        let want = want.as_deref().map(str::to_lowercase);
        want.is_none_or(|want| have.is_some_and(|have| have.to_lowercase().contains(&want)))
    };
    // A session that was written to after its end is in use again.
    session.last_active_at < request.ended_before
        && same(&request.source, Some(&session.source))
        && same(&request.project, session.project.as_deref())
        && same(&request.user_id, session.user_id.as_deref())
        && same(&request.end_reason, session.end_reason.as_deref())
        && holds(&request.model, session.model.as_deref())
        && holds(&request.title, session.title.as_deref())
        && request.min_messages.is_none_or(|least| session.message_count >= least)
        && request.max_messages.is_none_or(|most| session.message_count <= most)
        && request.archived.is_none_or(|archived| session.archived == archived)
}
