//! The history of the notes: log, show, compare, restore to a revision, undo one, and where each line
//! comes from.

use super::blame::{Blamed, blame};
use super::diff::difference;
use super::put;
use crate::operations::Edit;
use crate::views::Notes;
use oneiro_model::{
    ActorKind, BlameLine, Cursor, DiffNotes, Error, ListRevisions, NoteDiff, NoteName, NotesDiff,
    OperationVerb, Page, Remedy, RestoreNotes, Result, Revision, RevisionDetail, RevisionId,
    ShowRevision, Span,
};
use oneiro_store::notes::NoteState;
use oneiro_store::operations::Record;
use oneiro_store::revisions::{self, StoredRevision, TextAt};
use oneiro_store::{Tx, notes};
use std::collections::HashMap;

impl Notes<'_> {
    /// Revisions, newest first.
    pub fn log(&self, request: &ListRevisions) -> Result<Page<Revision>> {
        self.oneiro.sync_mounts();
        self.oneiro.store.read(|tx| {
            let mut found = revisions::list(tx, request)?;
            let has_more = found.len() > request.limit;
            found.truncate(request.limit);
            let next = found.last().filter(|_| has_more).map(|last| last.key);
            let next = next.map(|key| Cursor { order: key, key });
            let items = found.into_iter().map(|stored| complete(tx, stored));
            Ok(Page { items: items.collect::<Result<Vec<_>>>()?, next })
        })
    }

    /// A revision with what it changed, by its id or a unique prefix.
    pub fn revision(&self, id: &str, request: &ShowRevision) -> Result<RevisionDetail> {
        self.oneiro.sync_mounts();
        self.oneiro.store.read(|tx| detail(tx, resolve(tx, id)?, request.words))
    }

    /// The difference between two revisions.
    pub fn diff(&self, request: &DiffNotes) -> Result<NotesDiff> {
        self.oneiro.sync_mounts();
        self.oneiro.store.read(|tx| {
            let to = match &request.new {
                Some(id) => Some(resolve(tx, id)?),
                None => revisions::last(tx)?,
            };
            let from = match (&request.old, &to) {
                (Some(id), _) => Some(resolve(tx, id)?),
                (None, Some(to)) => revisions::before(tx, to.key)?,
                (None, None) => None,
            };
            let key = |stored: &Option<StoredRevision>| stored.as_ref().map_or(0, |it| it.key);
            let names = match &request.note {
                Some(name) => vec![name.clone()],
                None => notes::names(tx)?,
            };
            let mut diffs = Vec::new();
            for name in names {
                let texts = (text_of(tx, &name, key(&from))?, text_of(tx, &name, key(&to))?);
                diffs.extend(compare(&name, texts, request.words));
            }
            let id = |stored: Option<StoredRevision>| stored.map(|stored| stored.revision.id);
            Ok(NotesDiff { old: id(from), new: id(to), diffs })
        })
    }

    /// Sets the notes, or one of them, to what they were after a revision. That is a revision too, and
    /// can be undone; nothing is made if nothing differs, and the newest revision is returned.
    pub fn restore(&self, id: &str, request: RestoreNotes) -> Result<RevisionDetail> {
        let id = id.to_owned();
        let revision = self.edit_in_step(request.message.clone(), move |edit| {
            let point = resolve(edit.tx, &id)?;
            edit.notes.describe(&format!("Restore {}", point.revision.id));
            let names = match &request.note {
                Some(name) => vec![name.clone()],
                None => notes::names(edit.tx)?,
            };
            for name in names {
                if revisions::text_at(edit.tx, &name, point.key)? == TextAt::Erased {
                    return Err(Error::conflict(format!(
                        "{name} cannot be restored to {}: its text is erased",
                        point.revision.id
                    )));
                }
                let target = text_of(edit.tx, &name, point.key)?;
                restore_text(edit, &name, target.as_deref())?;
            }
            let newest = revisions::last(edit.tx)?.map(|stored| stored.revision.id);
            let made = edit.group.filter(|_| !edit.notes.is_empty()).map(RevisionId::of_group);
            made.or(newest).ok_or_else(|| Error::internal("a restored revision is not stored"))
        })?;
        self.revision(revision.as_str(), &ShowRevision::default())
    }

    /// Undoes one revision: the inverse of its changes alone. The same as undoing one of its
    /// operations.
    pub fn undo(&self, id: &str, reason: Option<String>) -> Result<RevisionDetail> {
        self.oneiro.sync_mounts();
        let group = self.oneiro.store.read(|tx| Ok(resolve(tx, id)?.revision.id.group()))?;
        let undone = self.oneiro.operations().undo(group.as_str(), reason)?;
        let made = undone.revision.ok_or_else(|| Error::internal("an undo made no revision"))?;
        self.revision(made.as_str(), &ShowRevision::default())
    }

    /// The lines of a note, each with the revision that wrote it.
    pub fn blame(&self, name: &NoteName) -> Result<Vec<BlameLine>> {
        self.oneiro.sync_mounts();
        let now = self.oneiro.now();
        self.oneiro.store.read(|tx| {
            let note = super::fetch(tx, name)?;
            let Blamed { ids, origins } = blame(tx, name)?;
            let mut known: HashMap<usize, Revision> = HashMap::new();
            let mut lines = Vec::with_capacity(note.content.lines().count());
            for (place, (text, origin)) in origins.lines().enumerate() {
                let revision = match known.get(&origin) {
                    Some(revision) => revision.clone(),
                    None => {
                        let id = ids.get(origin).map(String::as_str).unwrap_or_default();
                        let revision = resolve(tx, id)?.revision;
                        known.insert(origin, revision.clone());
                        revision
                    }
                };
                let age = now.micros().saturating_sub(revision.at.micros()).max(0);
                lines.push(BlameLine {
                    line: place + 1,
                    text: text.to_owned(),
                    revision: revision.id,
                    at: revision.at,
                    author: revision.author,
                    author_kind: revision.author_kind,
                    dream_id: revision.dream_id,
                    age_days: age / Span::DAY.micros(),
                });
            }
            Ok(lines)
        })
    }
}

/// The lines of a note with the kinds of those who wrote them.
pub(crate) fn line_authors(tx: &Tx<'_>, name: &NoteName) -> Result<HashMap<String, ActorKind>> {
    let Blamed { ids, origins } = blame(tx, name)?;
    let mut kinds: HashMap<usize, ActorKind> = HashMap::new();
    let mut authors = HashMap::new();
    for (text, origin) in origins.lines() {
        let kind = match kinds.get(&origin) {
            Some(kind) => *kind,
            None => {
                let id = ids.get(origin).map(String::as_str).unwrap_or_default();
                let kind = resolve(tx, id)?.revision.author_kind;
                kinds.insert(origin, kind);
                kind
            }
        };
        authors.insert(text.to_owned(), kind);
    }
    Ok(authors)
}

/// The revision with this id or unambiguous id prefix.
pub(crate) fn resolve(tx: &Tx<'_>, id: &str) -> Result<StoredRevision> {
    let is_prefix = id.len() > RevisionId::PREFIX.len() && id.starts_with(RevisionId::PREFIX);
    let found = if is_prefix { revisions::by_id_prefix(tx, id)? } else { Vec::new() };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), other) if other.is_none() || one.revision.id.as_str() == id => Ok(one),
        (Some(_), _) => Err(Error::conflict(format!("several revision ids begin with {id:?}"))
            .remedy("give more of the id")),
        (None, _) => {
            Err(Error::not_found(format!("there is no revision {id:?}"))
                .remedy(Remedy::ListRevisions))
        }
    }
}

/// The text of a note after the revision with this key; `None` if there was none, or it is erased.
pub(super) fn text_of(tx: &Tx<'_>, name: &NoteName, key: i64) -> Result<Option<String>> {
    match revisions::text_at(tx, name, key)? {
        TextAt::Hash(hash) => notes::text(tx, &hash),
        TextAt::Absent | TextAt::Erased => Ok(None),
    }
}

/// Adds the names of its notes, and what undid it.
fn complete(tx: &Tx<'_>, stored: StoredRevision) -> Result<Revision> {
    let mut revision = stored.revision;
    revision.notes =
        revisions::changes(tx, &revision.id)?.into_iter().map(|change| change.name).collect();
    revision.undone_by = revisions::undone_by(tx, &revision.id)?;
    Ok(revision)
}

fn detail(tx: &Tx<'_>, stored: StoredRevision, by_words: bool) -> Result<RevisionDetail> {
    let key = stored.key;
    let revision = complete(tx, stored)?;
    let mut diffs = Vec::new();
    for name in &revision.notes {
        let texts = (text_of(tx, name, key - 1)?, text_of(tx, name, key)?);
        diffs.extend(compare(name, texts, by_words));
    }
    Ok(RevisionDetail { revision, diffs })
}

fn compare(
    name: &NoteName,
    (old, new): (Option<String>, Option<String>),
    by_words: bool,
) -> Option<NoteDiff> {
    if old == new {
        return None;
    }
    let found = difference(name.as_str(), (old.as_deref(), new.as_deref()), by_words);
    Some(NoteDiff {
        name: name.clone(),
        added: found.added,
        removed: found.removed,
        text: found.text,
    })
}

/// Sets a note to a text that it had, or deletes it.
fn restore_text(edit: &Edit<'_, '_>, name: &NoteName, target: Option<&str>) -> Result<()> {
    let stored = NoteState::load(edit.tx, name.as_str())?;
    match (target, stored) {
        (Some(text), _) => put(edit, OperationVerb::Restore, name, text),
        (None, Some(stored)) => edit.write(OperationVerb::Restore, Some(&stored), None).map(|_| ()),
        (None, None) => Ok(()),
    }
}
