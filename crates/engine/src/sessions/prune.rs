//! Prune: delete ended sessions by age and filters, or list those that would be deleted.

use super::delete::{delete_in, plan, record_deleted, schedule_purge};
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
            schedule_purge(self.oneiro, tx, &keys)?;
            let deleted = delete_in(tx, &keys)?;
            record_deleted(tx, &deleted, self.oneiro.now())?;
            Ok(deleted)
        })?;
        Ok(Pruned { dry_run: false, deleted })
    }
}

fn candidates(tx: &Tx<'_>, request: &PruneRequest) -> Result<Vec<i64>> {
    let found = sessions::ended_before(tx, request.ended_before)?.into_iter();
    Ok(found.filter(|listed| matches(request, &listed.session)).map(|listed| listed.key).collect())
}

fn matches(request: &PruneRequest, session: &Session) -> bool {
    let same = |want: &Option<String>, have: Option<&str>| {
        want.as_deref().is_none_or(|want| have == Some(want))
    };
    let contains = |want: &Option<String>, have: Option<&str>| {
        let want = want.as_deref().map(str::to_lowercase);
        want.is_none_or(|want| have.is_some_and(|have| have.to_lowercase().contains(&want)))
    };
    // A session that was written to after its end is in use again.
    session.last_active_at < request.ended_before
        && same(&request.source, Some(&session.source))
        && same(&request.project, session.project.as_deref())
        && same(&request.user_id, session.user_id.as_deref())
        && same(&request.end_reason, session.end_reason.as_deref())
        && contains(&request.model, session.model.as_deref())
        && contains(&request.title, session.title.as_deref())
        && request.min_messages.is_none_or(|min| session.message_count >= min)
        && request.max_messages.is_none_or(|max| session.message_count <= max)
        && request.archived.is_none_or(|archived| session.archived == archived)
}
