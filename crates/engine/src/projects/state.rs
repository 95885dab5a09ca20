//! Trusted state of projects: named facts. A new value supersedes the old one, which is kept.

use super::canonical;
use crate::operations::{Edit, Grouping};
use crate::views::Projects;
use oneiro_model::{
    EndState, Error, ListState, OperationVerb, ProjectState, Result, StateId, StateKind,
    StateRequest, check_project_name,
};
use oneiro_store::project_state;

impl Projects<'_> {
    /// Sets a fact of a project; the value before it is superseded.
    pub fn set_state(&self, project: &str, request: StateRequest) -> Result<ProjectState> {
        check_project_name(project)?;
        let (project, reason) = (project.to_owned(), request.reason.clone());
        self.oneiro.edit(reason, Grouping::Group, move |edit| {
            edit.require_person("set the state of a project")?;
            let project = canonical(edit.tx, &project)?;
            let current =
                project_state::current(edit.tx, &project, &request.key)?.into_iter().next();
            let since = request.since.unwrap_or(edit.now);
            let kind = request.kind.or(current.as_ref().map(|state| state.kind));
            let new = ProjectState {
                id: StateId::from_random(edit.ids.random()),
                project,
                key: request.key.clone(),
                kind: kind.unwrap_or(StateKind::Fact),
                value: crate::memories::clean(&request.value),
                since,
                until: None,
                superseded_by: None,
            };
            if let Some(current) = current {
                if current.value == new.value && current.kind == new.kind {
                    return Ok(current);
                }
                end(edit, &current, since.max(current.since), Some(&new.id))?;
            }
            edit.write(OperationVerb::Create, None, Some(&new))?;
            Ok(new)
        })
    }

    /// The facts of a project, by name; with `history` also those that no longer hold.
    pub fn state(&self, project: &str, request: &ListState) -> Result<Vec<ProjectState>> {
        check_project_name(project)?;
        self.oneiro.store.read(|tx| {
            let mut found = project_state::of_project(tx, &canonical(tx, project)?)?;
            found.retain(|state| {
                (request.history || state.until.is_none())
                    && request.key.as_ref().is_none_or(|key| state.key == *key)
            });
            Ok(found)
        })
    }

    /// Ends a fact without a new value.
    pub fn end_state(&self, project: &str, request: EndState) -> Result<ProjectState> {
        check_project_name(project)?;
        let (project, reason) = (project.to_owned(), request.reason.clone());
        self.oneiro.edit(reason, Grouping::Single, move |edit| {
            edit.require_person("end the state of a project")?;
            let project = canonical(edit.tx, &project)?;
            let current =
                project_state::current(edit.tx, &project, &request.key)?.into_iter().next();
            let current = current.ok_or_else(|| {
                Error::not_found(format!("project {project:?} has no state {:?}", request.key))
            })?;
            end(edit, &current, edit.now.max(current.since), None)
        })
    }
}

/// Moves the facts of an alias to its project. Where both have a value, that of the project holds.
pub(super) fn rename(edit: &Edit<'_, '_>, alias: &str, project: &str) -> Result<()> {
    for state in project_state::of_project(edit.tx, alias)? {
        let is_taken = !project_state::current(edit.tx, project, &state.key)?.is_empty();
        let until = state.until.or(is_taken.then_some(edit.now.max(state.since)));
        let moved = ProjectState { project: project.to_owned(), until, ..state.clone() };
        edit.write(OperationVerb::Edit, Some(&state), Some(&moved))?;
    }
    Ok(())
}

pub(super) fn end(
    edit: &Edit<'_, '_>,
    state: &ProjectState,
    until: oneiro_model::Timestamp,
    superseded_by: Option<&StateId>,
) -> Result<ProjectState> {
    let ended =
        ProjectState { until: Some(until), superseded_by: superseded_by.cloned(), ..state.clone() };
    let verb = if superseded_by.is_some() { OperationVerb::Supersede } else { OperationVerb::End };
    edit.write(verb, Some(state), Some(&ended))?;
    Ok(ended)
}
