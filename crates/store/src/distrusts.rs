//! Sources that are no longer trusted. Rows change through [`operations`](crate::operations) only.

use crate::Tx;
use crate::aggregates::Table;
use crate::backend::Row;
use crate::identity::Identity;
use crate::operations::{Record, sealed::Save};
use oneiro_model::{Distrust, DistrustId, DistrustKind, Result, SubjectKind, Timestamp};
use serde_json::{Map, Value};

statements! {
    SAVE = "INSERT INTO distrusts (id, target_kind, target, at) VALUES (?1, ?2, ?3, ?4) \
            ON CONFLICT (id) DO UPDATE SET target_kind = excluded.target_kind, \
            target = excluded.target, at = excluded.at, removed = 0";
    REMOVE = "UPDATE distrusts SET removed = 1 WHERE id = ?1";
    GET = "SELECT id, target_kind, target, at FROM distrusts WHERE id = ?1 AND removed = 0";
    EVERY = "SELECT id, target_kind, target, at, removed FROM distrusts ORDER BY at, id";
    FIND = "SELECT id, target_kind, target, at FROM distrusts \
            WHERE target_kind = ?1 AND target = ?2 AND removed = 0";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "distrusts", columns: "id, target_kind, target, at, removed" }];

impl Record for Distrust {
    const KIND: SubjectKind = SubjectKind::Distrust;
    const DERIVED_FIELDS: &'static [&'static str] = &["id"];

    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn load(tx: &Tx<'_>, id: &str) -> Result<Option<Distrust>> {
        tx.first(GET, &[id.into()], read)
    }

    fn add_derived(fields: &mut Map<String, Value>, id: &str, _: Timestamp) {
        fields.insert("id".to_owned(), id.into());
    }
}

impl Save for Distrust {
    fn save(&self, tx: &Tx<'_>, _: &Identity, _: Timestamp) -> Result<()> {
        let values = [
            self.id.as_str().into(),
            self.target_kind.as_str().into(),
            (&self.target).into(),
            self.at.micros().into(),
        ];
        tx.execute(SAVE, &values).map(|_| ())
    }

    fn remove(&self, tx: &Tx<'_>) -> Result<()> {
        tx.execute(REMOVE, &[self.id.as_str().into()]).map(|_| ())
    }

    fn claim(&self, _: &Identity) -> Option<String> {
        None
    }
}

/// The entry for a source, if it is not trusted.
pub fn find(tx: &Tx<'_>, kind: DistrustKind, target: &str) -> Result<Option<Distrust>> {
    tx.first(FIND, &[kind.as_str().into(), target.into()], read)
}

/// Every entry, oldest first, and whether its creation was undone.
pub fn every(tx: &Tx<'_>) -> Result<Vec<(Distrust, bool)>> {
    tx.all(EVERY, &[], |row| Ok((read(row)?, row.int(4)? != 0)))
}

fn read(row: &dyn Row) -> Result<Distrust> {
    Ok(Distrust {
        id: DistrustId::parse(row.text(0)?)?,
        target_kind: DistrustKind::parse(row.text(1)?)?,
        target: row.text(2)?.to_owned(),
        at: Timestamp::from_micros(row.int(3)?),
    })
}
