//! Projects with their aliases. Rows change through [`operations`](crate::operations) only.

use crate::Tx;
use crate::aggregates::Table;
use crate::backend::Row;
use crate::identity::Identity;
use crate::operations::{Record, sealed::Save};
use oneiro_model::{RegisteredProject, Result, SubjectKind, Timestamp};
use serde_json::{Map, Value};

statements! {
    SAVE = "INSERT INTO projects (name, root, created_at) VALUES (?1, ?2, ?3) \
            ON CONFLICT (name) DO UPDATE SET root = excluded.root, \
            created_at = excluded.created_at, removed = 0";
    REMOVE = "UPDATE projects SET removed = 1 WHERE name = ?1";
    GET = "SELECT name, root, created_at FROM projects WHERE name = ?1 AND removed = 0";
    ALL = "SELECT name, root, created_at FROM projects WHERE removed = 0 ORDER BY name";
    EVERY = "SELECT name, root, created_at, removed FROM projects ORDER BY name";
    ALIASES = "SELECT alias FROM project_aliases WHERE name = ?1 ORDER BY alias";
    OF_ALIAS = "SELECT a.name FROM project_aliases a JOIN projects p ON p.name = a.name \
                WHERE a.alias = ?1 AND p.removed = 0";
    ADD_ALIAS = "INSERT INTO project_aliases (alias, name) VALUES (?1, ?2)";
    REMOVE_ALIASES = "DELETE FROM project_aliases WHERE name = ?1";
    OWNERS = "SELECT alias, name FROM project_aliases ORDER BY alias";
}

pub(crate) const TABLES: &[Table] = &[
    Table { name: "projects", columns: "name, root, created_at, removed" },
    Table { name: "project_aliases", columns: "alias, name" },
];

impl Record for RegisteredProject {
    const KIND: SubjectKind = SubjectKind::Project;
    const DERIVED_FIELDS: &'static [&'static str] = &["name"];

    fn id(&self) -> &str {
        &self.name
    }

    fn load(tx: &Tx<'_>, id: &str) -> Result<Option<RegisteredProject>> {
        let found = tx.first(GET, &[id.into()], read)?;
        found.map(|project| with_aliases(tx, project)).transpose()
    }

    fn add_derived(fields: &mut Map<String, Value>, id: &str, _: Timestamp) {
        fields.insert("name".to_owned(), id.into());
    }
}

impl Save for RegisteredProject {
    fn save(&self, tx: &Tx<'_>, _: &Identity, _: Timestamp) -> Result<()> {
        let values =
            [(&self.name).into(), self.root.as_deref().into(), self.created_at.micros().into()];
        tx.execute(SAVE, &values)?;
        tx.execute(REMOVE_ALIASES, &[(&self.name).into()])?;
        for alias in &self.aliases {
            tx.execute(ADD_ALIAS, &[alias.into(), (&self.name).into()])?;
        }
        Ok(())
    }

    fn remove(&self, tx: &Tx<'_>) -> Result<()> {
        tx.execute(REMOVE_ALIASES, &[(&self.name).into()])?;
        tx.execute(REMOVE, &[(&self.name).into()]).map(|_| ())
    }

    fn claim(&self, _: &Identity) -> Option<String> {
        None
    }
}

/// Every project, by name.
pub fn all(tx: &Tx<'_>) -> Result<Vec<RegisteredProject>> {
    let projects = tx.all(ALL, &[], read)?;
    projects.into_iter().map(|project| with_aliases(tx, project)).collect()
}

/// Every project, by name, and whether its registration was undone.
pub fn every(tx: &Tx<'_>) -> Result<Vec<(RegisteredProject, bool)>> {
    let projects = tx.all(EVERY, &[], |row| Ok((read(row)?, row.int(3)? != 0)))?;
    let complete = |(project, is_removed)| Ok((with_aliases(tx, project)?, is_removed));
    projects.into_iter().map(complete).collect()
}

/// The project that has this alias.
pub fn name_of_alias(tx: &Tx<'_>, alias: &str) -> Result<Option<String>> {
    tx.first(OF_ALIAS, &[alias.into()], |row| Ok(row.text(0)?.to_owned()))
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    tx.each(OWNERS, &[], |row| {
        each(row.text(0)?.as_bytes());
        each(row.text(1)?.as_bytes());
        Ok(())
    })
}

fn with_aliases(tx: &Tx<'_>, mut project: RegisteredProject) -> Result<RegisteredProject> {
    project.aliases =
        tx.all(ALIASES, &[(&project.name).into()], |row| Ok(row.text(0)?.to_owned()))?;
    Ok(project)
}

fn read(row: &dyn Row) -> Result<RegisteredProject> {
    Ok(RegisteredProject {
        name: row.text(0)?.to_owned(),
        aliases: Vec::new(),
        root: row.opt_string(1)?,
        created_at: Timestamp::from_micros(row.int(2)?),
    })
}
