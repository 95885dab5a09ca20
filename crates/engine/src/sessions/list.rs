//! List sessions, newest first: one row per conversation (its last continuation), or every session.

use crate::views::Sessions;
use oneiro_model::{
    Cursor, Error, Lineage, ListOrder, ListSessions, Page, Result, Session, Timestamp,
};
use oneiro_store::sessions::Listed;
use oneiro_store::{Tx, lineage, sessions};

/// Rows read at a time after the first page, because some filters are applied to the rows.
const BATCH_ROWS: usize = 64;

/// Rows read at a time when they are only counted.
const COUNT_BATCH_ROWS: usize = 1_024;

/// Maximum number of sessions in a page.
const MAX_LIMIT: usize = 1_000;

impl Sessions<'_> {
    /// A page of sessions.
    pub fn list(&self, request: &ListSessions) -> Result<Page<Session>> {
        if request.limit == 0 || request.limit > MAX_LIMIT {
            return Err(Error::field("limit", format!("is not between 1 and {MAX_LIMIT}")));
        }
        self.oneiro.store.read(|tx| page(tx, request))
    }

    /// The number of sessions that match the filters.
    pub fn count(&self, request: &ListSessions) -> Result<usize> {
        self.oneiro.store.read(|tx| {
            let (mut count, mut before) = (0, (i64::MAX, i64::MAX));
            loop {
                let batch = sessions::list(tx, request, before, COUNT_BATCH_ROWS)?;
                let Some(last) = batch.last() else { return Ok(count) };
                before = position(last, request.order);
                count += batch.iter().filter(|listed| request.takes(&listed.session)).count();
            }
        })
    }
}

fn page(tx: &Tx<'_>, request: &ListSessions) -> Result<Page<Session>> {
    let mut items = Vec::new();
    let mut before = request.cursor.map_or((i64::MAX, i64::MAX), |at| (at.order, at.key));
    let mut batch_rows = request.limit + 1;
    loop {
        let batch = sessions::list(tx, request, before, batch_rows)?;
        batch_rows = batch_rows.max(BATCH_ROWS);
        let Some(last) = batch.last() else { return Ok(Page { items, next: None }) };
        before = position(last, request.order);
        for listed in batch {
            if !request.takes(&listed.session) {
                continue;
            }
            let at = position(&listed, request.order);
            let Some(session) = list_item(tx, request, listed)? else { continue };
            if items.len() == request.limit {
                return Ok(Page {
                    items,
                    next: Some(inclusive(Cursor { order: at.0, key: at.1 })),
                });
            }
            items.push(session);
        }
    }
}

/// The cursor names the first session of the next page; a page begins after its cursor.
fn inclusive(cursor: Cursor) -> Cursor {
    Cursor { order: cursor.order, key: cursor.key.saturating_add(1) }
}

fn position(listed: &Listed, order: ListOrder) -> (i64, i64) {
    let time: Timestamp = match order {
        ListOrder::Active => listed.session.last_active_at,
        ListOrder::Started => listed.session.started_at,
    };
    (time.micros(), listed.key)
}

/// The session as the list shows it; `None` for a continuation of a delegate.
fn list_item(tx: &Tx<'_>, request: &ListSessions, listed: Listed) -> Result<Option<Session>> {
    let key = listed.key;
    let listed = if request.with_prompts { sessions::with_prompt(tx, listed)? } else { listed };
    let mut session = sessions::with_preview(tx, listed)?;
    if request.all || session.lineage != Some(Lineage::Continuation) {
        return Ok(Some(session));
    }
    if let Some(root) = lineage::chain_root(tx, key)?.filter(|root| root.key != key) {
        if root.lineage == Some(Lineage::Delegate) {
            return Ok(None);
        }
        session.started_at = root.started_at;
        session.root_id = Some(root.id);
    }
    Ok(Some(session))
}
