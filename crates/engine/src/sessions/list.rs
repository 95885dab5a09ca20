//! List sessions, newest first: conversations shown as their tip, or every row.

use crate::views::Sessions;
use oneiro_model::{
    Cursor, Error, Lineage, ListOrder, ListSessions, Page, Result, Session, Timestamp,
};
use oneiro_store::sessions::Listed;
use oneiro_store::{Tx, lineage, sessions};

/// Rows read at a time; filters that SQL does not know may drop most of them.
const BATCH: usize = 64;

/// Rows read at a time when they are only counted.
const COUNTED: usize = 1_024;

impl Sessions<'_> {
    /// A page of sessions.
    pub fn list(&self, request: &ListSessions) -> Result<Page<Session>> {
        if request.limit == 0 || request.limit > 1_000 {
            return Err(Error::field("limit", "is not between 1 and 1000"));
        }
        self.oneiro.store.read(|tx| page(tx, request))
    }

    /// How many sessions pass the filters.
    pub fn count(&self, request: &ListSessions) -> Result<usize> {
        self.oneiro.store.read(|tx| {
            let (mut count, mut before) = (0, (i64::MAX, i64::MAX));
            loop {
                let batch = sessions::list(tx, request, before, COUNTED)?;
                let Some(last) = batch.last() else { return Ok(count) };
                before = place(last, request.order);
                count += batch.iter().filter(|listed| request.takes(&listed.session)).count();
            }
        })
    }
}

fn page(tx: &Tx<'_>, request: &ListSessions) -> Result<Page<Session>> {
    let mut items = Vec::new();
    let mut before = request.cursor.map_or((i64::MAX, i64::MAX), |at| (at.order, at.key));
    loop {
        let batch = sessions::list(tx, request, before, BATCH.max(request.limit + 1))?;
        let Some(last) = batch.last() else { return Ok(Page { items, next: None }) };
        before = place(last, request.order);
        for listed in batch {
            if !request.takes(&listed.session) {
                continue;
            }
            let at = place(&listed, request.order);
            let Some(session) = listed_session(tx, request, listed)? else { continue };
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

fn place(listed: &Listed, order: ListOrder) -> (i64, i64) {
    let time: Timestamp = match order {
        ListOrder::Active => listed.session.last_active_at,
        ListOrder::Started => listed.session.started_at,
    };
    (time.micros(), listed.key)
}

/// The session as the list shows it; `None` for the tip of a delegate's chain.
fn listed_session(tx: &Tx<'_>, request: &ListSessions, listed: Listed) -> Result<Option<Session>> {
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
