//! Projects and facts of other stores beside those of this one.

use super::{adopt_alias, state};
use crate::operations::Edit;
use oneiro_model::{OperationVerb, RegisteredProject, Result};
use oneiro_store::operations::Record;
use oneiro_store::{Tx, project_state, projects};
use std::collections::BTreeSet;

/// An imported project as it can be here: with the aliases and the folder that the project of this name
/// had here, without aliases that mean another project here.
pub(crate) fn join(
    tx: &Tx<'_>,
    imported: &RegisteredProject,
    here: Option<&RegisteredProject>,
) -> Result<RegisteredProject> {
    let mut joined = imported.clone();
    let aliases = imported.aliases.iter().chain(here.iter().flat_map(|here| &here.aliases));
    let mut kept = BTreeSet::new();
    for alias in aliases {
        let owner = projects::name_of_alias(tx, alias)?;
        let is_free = owner.is_none_or(|owner| owner == imported.name);
        if is_free && *alias != imported.name && RegisteredProject::load(tx, alias)?.is_none() {
            kept.insert(alias.clone());
        }
    }
    joined.aliases = kept.into_iter().collect();
    joined.root = joined.root.or_else(|| here.and_then(|here| here.root.clone()));
    Ok(joined)
}

/// Saves a joined project with the operation that joined it.
pub(crate) fn save_joined(
    edit: &Edit<'_, '_>,
    imported: &RegisteredProject,
    joined: &RegisteredProject,
) -> Result<()> {
    edit.write(OperationVerb::Edit, Some(imported), Some(joined)).map(|_| ())
}

/// Moves what stands under an alias to its project, and leaves one value of each fact: the newest.
pub(crate) fn settle_imported(edit: &Edit<'_, '_>) -> Result<()> {
    for project in projects::all(edit.tx)? {
        project.aliases.iter().try_for_each(|alias| adopt_alias(edit, alias, &project.name))?;
    }
    let facts = project_state::every(edit.tx)?.into_iter();
    let names: BTreeSet<(String, String)> = facts
        .filter(|(fact, is_removed)| !is_removed && fact.until.is_none())
        .map(|(fact, _)| (fact.project, fact.key))
        .collect();
    for (project, key) in names {
        let mut current = project_state::current(edit.tx, &project, &key)?;
        // The id decides between equal times, so that every store has the same value.
        current.sort_by(|one, other| (one.since, &one.id).cmp(&(other.since, &other.id)));
        let Some(newest) = current.pop() else { continue };
        for older in current {
            state::end(edit, &older, newest.since.max(older.since), Some(&newest.id))?;
        }
    }
    Ok(())
}
