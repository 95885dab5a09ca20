//! Projects with aliases, which are replaced by the project's name wherever they are given, and their
//! state: facts that only people set.

mod imported;
mod state;

pub(crate) use imported::{join, save_joined, settle_imported};

use crate::ProjectFolder;
use crate::operations::{Edit, Grouping};
use crate::views::Projects;
use oneiro_model::{Error, Memory, OperationVerb, ProjectRequest, RegisteredProject, Result};
use oneiro_store::memories::{self, Filter};
use oneiro_store::operations::Record;
use oneiro_store::{Tx, projects};

/// The name of the project that a name, an alias or a folder means. Other names are kept; of another
/// folder the last part is kept, which is what the sessions captured in it have as their project.
pub(crate) fn canonical(tx: &Tx<'_>, name: &str) -> Result<String> {
    let Some(last) = last_part(name) else { return without_alias(tx, name) };
    Ok(find_in(tx, name)?.map_or_else(|| crate::memories::clean(last), |found| found.name))
}

/// The name of the project that a name or an alias means, or the name.
fn without_alias(tx: &Tx<'_>, name: &str) -> Result<String> {
    let name = crate::memories::clean(name);
    Ok(projects::name_of_alias(tx, &name)?.unwrap_or(name))
}

/// The last part of the full name of a folder, of this machine or of one with drives; `None` if it is no
/// such name.
fn last_part(name: &str) -> Option<&str> {
    let name = name.trim();
    let has_drive = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.get(1..3).is_some_and(|mark| matches!(mark, ":\\" | ":/"));
    let is_folder = name.starts_with('/') || has_drive;
    let last = name.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
    last.filter(|last| is_folder && !last.is_empty())
}

/// The project of a session: the registered one in whose folder it works, otherwise the one that its name
/// means.
pub(crate) fn of_session(
    tx: &Tx<'_>,
    name: Option<&str>,
    folder: Option<&str>,
) -> Result<Option<String>> {
    if let Some(folder) = folder
        && let Some(found) = find_by_folder(tx, folder)?
    {
        return Ok(Some(found.name));
    }
    name.map(|name| canonical(tx, name)).transpose()
}

/// The registered project of a folder, by the name given or by its real one.
fn find_by_folder(tx: &Tx<'_>, folder: &str) -> Result<Option<RegisteredProject>> {
    if let Some(found) = find_in(tx, folder)? {
        return Ok(Some(found));
    }
    // Without projects that have a folder, no link is resolved.
    if projects::all(tx)?.iter().all(|project| project.root.is_none()) {
        return Ok(None);
    }
    find_in(tx, &ProjectFolder::resolve(folder).name())
}

/// The project that a name, an alias or a folder means; the deepest folder counts.
fn find_in(tx: &Tx<'_>, name_or_folder: &str) -> Result<Option<RegisteredProject>> {
    let name = without_alias(tx, name_or_folder)?;
    if let Some(project) = RegisteredProject::load(tx, &name)? {
        return Ok(Some(project));
    }
    let folder = std::path::Path::new(name_or_folder);
    let holds = |project: &RegisteredProject| {
        project.root.as_deref().is_some_and(|root| folder.starts_with(root))
    };
    let all = projects::all(tx)?.into_iter().filter(holds);
    Ok(all.max_by_key(|project| project.root.as_deref().map_or(0, str::len)))
}

/// What sessions of a project may be called: its name, its aliases, its folder and the last part of that.
pub(crate) fn names_in_sessions(tx: &Tx<'_>, name: &str) -> Result<Vec<String>> {
    let canonical = canonical(tx, name)?;
    let registered = RegisteredProject::load(tx, &canonical)?;
    let mut names = vec![name.to_owned(), canonical];
    if let Some(project) = registered {
        names.extend(project.aliases);
        // The last part may be the name of another project.
        if let Some(last) = project.root.as_deref().and_then(last_part)
            && RegisteredProject::load(tx, &without_alias(tx, last)?)?.is_none()
        {
            names.push(last.to_owned());
        }
        names.extend(project.root);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Moves the memories and facts under an alias to its project.
fn adopt_alias(edit: &Edit<'_, '_>, alias: &str, name: &str) -> Result<()> {
    let filter = Filter { project: Some(alias.to_owned()), ..Filter::default() };
    for row in memories::all_without_citations(edit.tx, &filter)? {
        let memory = memories::with_citations(edit.tx, row)?.memory;
        let moved = Memory { project: Some(name.to_owned()), ..memory.clone() };
        edit.write(OperationVerb::Edit, Some(&memory), Some(&moved))?;
    }
    state::rename(edit, alias, name)
}

impl Projects<'_> {
    /// Registers a project, or adds aliases and a folder to the one with this name. Memories and facts
    /// under a new alias move to the project.
    pub fn register(&self, request: ProjectRequest) -> Result<RegisteredProject> {
        self.oneiro.edit(None, Grouping::Group, move |edit| {
            edit.require_person("register a project")?;
            let name = without_alias(edit.tx, &request.name)?;
            let before = RegisteredProject::load(edit.tx, &name)?;
            let mut after = before.clone().unwrap_or(RegisteredProject {
                name: name.clone(),
                aliases: Vec::new(),
                root: None,
                created_at: edit.now,
            });
            let mut added = Vec::new();
            for alias in request.aliases.iter().map(|alias| alias.trim()) {
                if alias == name || after.aliases.iter().any(|known| known == alias) {
                    continue;
                }
                if let Some(owner) = projects::name_of_alias(edit.tx, alias)? {
                    return Err(Error::conflict(format!("{alias:?} is an alias of {owner:?}")));
                }
                if RegisteredProject::load(edit.tx, alias)?.is_some() {
                    return Err(Error::conflict(format!("{alias:?} is a project of its own")));
                }
                added.push(alias.to_owned());
            }
            after.aliases.extend(added.iter().cloned());
            after.aliases.sort();
            after.root = request.root.clone().or(after.root);
            edit.write(OperationVerb::Edit, before.as_ref(), Some(&after))?;
            added.iter().try_for_each(|alias| adopt_alias(edit, alias, &name))?;
            Ok(after)
        })
    }

    /// Every project, by name.
    pub fn list(&self) -> Result<Vec<RegisteredProject>> {
        self.oneiro.store.read(projects::all)
    }

    /// The project that a name, an alias or a folder means; the deepest folder counts.
    pub fn find(&self, name_or_folder: &str) -> Result<Option<RegisteredProject>> {
        self.oneiro.store.read(|tx| find_in(tx, name_or_folder))
    }

    /// The name under which memories of a folder are kept: that of its registered project, otherwise the
    /// last part of its name.
    pub fn name_of_folder(&self, folder: &str) -> Result<String> {
        self.oneiro.store.read(|tx| match find_by_folder(tx, folder)? {
            Some(project) => Ok(project.name),
            None => canonical(tx, folder),
        })
    }
}
