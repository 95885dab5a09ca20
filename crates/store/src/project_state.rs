//! Facts of projects. Rows change through [`operations`](crate::operations) only.

use crate::aggregates::Table;
use crate::backend::Row;
use crate::identity::Identity;
use crate::operations::{Record, sealed::Save};
use crate::{Tx, sequence};
use oneiro_model::{ProjectState, Result, StateId, StateKind, SubjectKind, Timestamp};
use serde_json::{Map, Value};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT id, project, name, kind, value, since, until, superseded_by \
             FROM project_state WHERE removed = 0 ",
            $rest
        )
    };
}

statements! {
    KEY = "SELECT key FROM project_state WHERE id = ?1";
    INSERT = "INSERT INTO project_state (key, id, project, name, kind, value, since, until, \
              superseded_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    UPDATE = "UPDATE project_state SET project = ?3, name = ?4, kind = ?5, value = ?6, since = ?7, \
              until = ?8, superseded_by = ?9, removed = 0 WHERE key = ?1 AND id = ?2";
    REMOVE = "UPDATE project_state SET removed = 1 WHERE id = ?1";
    GET = select!("AND id = ?1");
    OF_PROJECT = select!("AND project = ?1 ORDER BY name, key");
    CURRENT = select!("AND project = ?1 AND name = ?2 AND until IS NULL ORDER BY key");
    EVERY = "SELECT id, project, name, kind, value, since, until, superseded_by, removed \
             FROM project_state ORDER BY key";
    TEXTS = "SELECT value, name FROM project_state";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "project_state",
    columns: "key, id, project, name, kind, value, since, until, superseded_by, removed",
}];

impl Record for ProjectState {
    const KIND: SubjectKind = SubjectKind::State;
    const DERIVED_FIELDS: &'static [&'static str] = &["id"];

    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn load(tx: &Tx<'_>, id: &str) -> Result<Option<ProjectState>> {
        tx.first(GET, &[id.into()], read)
    }

    fn add_derived(fields: &mut Map<String, Value>, id: &str, _: Timestamp) {
        fields.insert("id".to_owned(), id.into());
    }
}

impl Save for ProjectState {
    fn save(&self, tx: &Tx<'_>, _: &Identity, _: Timestamp) -> Result<()> {
        let stored = tx.first(KEY, &[self.id.as_str().into()], |row| row.int(0))?;
        let key = stored.map_or_else(|| sequence::take_key(tx), Ok)?;
        let values = [
            key.into(),
            self.id.as_str().into(),
            (&self.project).into(),
            (&self.key).into(),
            self.kind.as_str().into(),
            (&self.value).into(),
            self.since.micros().into(),
            self.until.map(Timestamp::micros).into(),
            self.superseded_by.as_ref().map(StateId::as_str).into(),
        ];
        tx.execute(if stored.is_some() { UPDATE } else { INSERT }, &values).map(|_| ())
    }

    fn remove(&self, tx: &Tx<'_>) -> Result<()> {
        tx.execute(REMOVE, &[self.id.as_str().into()]).map(|_| ())
    }

    fn claim(&self, _: &Identity) -> Option<String> {
        None
    }
}

/// Every fact of a project, by name, oldest first.
pub fn of_project(tx: &Tx<'_>, project: &str) -> Result<Vec<ProjectState>> {
    tx.all(OF_PROJECT, &[project.into()], read)
}

/// The facts of a name that hold now; there is at most one.
pub fn current(tx: &Tx<'_>, project: &str, key: &str) -> Result<Vec<ProjectState>> {
    tx.all(CURRENT, &[project.into(), key.into()], read)
}

/// Every fact of every project, oldest first, and whether its creation was undone.
pub fn every(tx: &Tx<'_>) -> Result<Vec<(ProjectState, bool)>> {
    tx.all(EVERY, &[], |row| Ok((read(row)?, row.int(8)? != 0)))
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(TEXTS, &[], |row| {
        each(row.text(0)?.as_bytes());
        each(row.text(1)?.as_bytes());
        Ok(())
    })
}

fn read(row: &dyn Row) -> Result<ProjectState> {
    Ok(ProjectState {
        id: StateId::parse(row.text(0)?)?,
        project: row.text(1)?.to_owned(),
        key: row.text(2)?.to_owned(),
        kind: StateKind::parse(row.text(3)?)?,
        value: row.text(4)?.to_owned(),
        since: Timestamp::from_micros(row.int(5)?),
        until: row.opt_int(6)?.map(Timestamp::from_micros),
        superseded_by: row.opt_text(7)?.map(StateId::parse).transpose()?,
    })
}
