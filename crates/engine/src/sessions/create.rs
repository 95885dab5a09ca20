//! Create a session, or fill in missing fields of an existing one.

use super::{fetch_session, titles};
use crate::Oneiro;
use crate::views::Sessions;
use oneiro_model::{
    ChangeKind, Error, Lineage, NewSession, Remedy, Result, Session, SessionId, Timestamp, Title,
};
use oneiro_store::{Tx, changes, lineage, sessions};
use serde_json::{Map, Value};

/// A session to create, checked and packed before the transaction.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) id: SessionId,
    source: String,
    parent_id: Option<SessionId>,
    lineage: Option<Lineage>,
    title: Option<Title>,
    metadata: Map<String, Value>,
    fields: sessions::Fields,
    started_at: Timestamp,
    untitled: bool,
}

impl Draft {
    pub(crate) fn new(oneiro: &Oneiro, mut session: NewSession) -> Result<Draft> {
        session.withhold_private();
        session.check()?;
        if session.lineage.is_some() && session.parent_id.is_none() {
            return Err(Error::field("lineage", "is given without a parent_id")
                .remedy("name the parent, or leave the lineage out"));
        }
        let id = session.id.unwrap_or_else(|| SessionId::from_random(oneiro.ids.random()));
        if session.parent_id.as_ref() == Some(&id) {
            return Err(Error::field("parent_id", "is the session itself"));
        }
        let title = session.title.as_deref().map(Title::clean).transpose()?.flatten();
        Ok(Draft {
            id,
            source: session.source.unwrap_or_else(|| "api".to_owned()),
            parent_id: session.parent_id,
            lineage: session.lineage,
            title,
            metadata: session.metadata,
            fields: sessions::Fields {
                user_id: session.user_id,
                model: session.model,
                model_config: session.model_config.map(|config| config.to_string()),
                system_prompt: session
                    .system_prompt
                    .as_deref()
                    .map(sessions::pack_prompt)
                    .transpose()?,
                project: session.project,
                cwd: session.cwd,
                metadata: None,
            },
            started_at: session.started_at.unwrap_or_else(|| oneiro.now()),
            untitled: session.untitled,
        })
    }
}

/// A child with everything that its parent was created with, except the title.
pub(crate) fn child_of(parent: Session, lineage: Lineage) -> NewSession {
    NewSession {
        id: None,
        source: Some(parent.source),
        user_id: parent.user_id,
        model: parent.model,
        model_config: parent.model_config,
        system_prompt: parent.system_prompt,
        parent_id: Some(parent.id),
        lineage: Some(lineage),
        title: None,
        project: parent.project,
        cwd: parent.cwd,
        metadata: parent.metadata,
        started_at: None,
        untitled: false,
    }
}

impl Sessions<'_> {
    /// Creates a session, or fills in missing fields of the one that has this id. The source never
    /// changes.
    pub fn create(&self, session: NewSession) -> Result<Session> {
        self.oneiro.create_checked(session, false)
    }
}

impl Oneiro {
    /// Creates a session or fills it in; with `must_be_new`, an existing one is a conflict.
    pub(crate) fn create_checked(&self, session: NewSession, must_be_new: bool) -> Result<Session> {
        let draft = Draft::new(self, session)?;
        let oneiro = self.clone();
        self.store.write(move |tx| {
            refuse_ignored(&oneiro, tx, &draft.id)?;
            let is_new = sessions::key(tx, &draft.id)?.is_none();
            if must_be_new && !is_new {
                return Err(Error::conflict(format!("session {:?} exists", draft.id.as_str()))
                    .remedy("give it another id, or fill in the existing one"));
            }
            let key = create_in(tx, &draft)?;
            let kind = if is_new { ChangeKind::Created } else { ChangeKind::Changed };
            changes::record(tx, kind, Some(&draft.id), oneiro.now())?;
            fetch_session(tx, key)
        })
    }
}

/// Fails for a session that must not be stored.
pub(crate) fn refuse_ignored(oneiro: &Oneiro, tx: &Tx<'_>, id: &SessionId) -> Result<()> {
    if oneiro.settings_in(tx)?.ignores(id) {
        return Err(Error::conflict(format!(
            "session {:?} matches ignore_session_patterns, so nothing of it is stored",
            id.as_str()
        ))
        .remedy(Remedy::ChangePatterns));
    }
    Ok(())
}

/// Creates or fills in a session, and returns its key.
pub(crate) fn create_in(tx: &Tx<'_>, draft: &Draft) -> Result<i64> {
    let key = match sessions::key(tx, &draft.id)? {
        Some(key) => key,
        None => sessions::insert(tx, &draft.id, &draft.source, draft.started_at)?,
    };
    let stored = fetch_session(tx, key)?;
    let mut fields = draft.fields.clone();
    fields.metadata = merged(&stored.metadata, &draft.metadata);
    sessions::fill(tx, key, &fields)?;
    if let Some(parent_id) = &draft.parent_id
        && stored.parent_id.is_none()
    {
        set_parent(tx, key, parent_id, draft.lineage)?;
    }
    if stored.title.is_none() && !(draft.untitled && draft.title.is_none()) {
        set_title(tx, key, draft.title.as_ref())?;
    }
    Ok(key)
}

/// The stored metadata with missing keys added; `None` if nothing is missing.
fn merged(stored: &Map<String, Value>, given: &Map<String, Value>) -> Option<String> {
    let mut all = stored.clone();
    for (name, value) in given {
        if !all.contains_key(name) {
            all.insert(name.clone(), value.clone());
        }
    }
    (all.len() > stored.len()).then(|| Value::Object(all).to_string())
}

/// Sets the parent of a session, unless the parent descends from it.
fn set_parent(tx: &Tx<'_>, key: i64, parent_id: &SessionId, kind: Option<Lineage>) -> Result<()> {
    let parent = sessions::key(tx, parent_id)?.ok_or_else(|| {
        Error::not_found(format!("there is no parent session {:?}", parent_id.as_str()))
            .remedy("create the parent first")
    })?;
    if lineage::is_descendant(tx, parent, key)? {
        return Err(Error::field("parent_id", "descends from the session itself")
            .remedy("name a parent that is not a descendant"));
    }
    let compressed = fetch_session(tx, parent)?.end_reason.as_deref() == Some(super::COMPRESSION);
    let default = if compressed { Lineage::Continuation } else { Lineage::Branch };
    lineage::attach(tx, key, parent, kind.unwrap_or(default))
}

/// Sets the title. A continuation without one gets its parent's with the next number.
fn set_title(tx: &Tx<'_>, key: i64, title: Option<&Title>) -> Result<()> {
    if let Some(title) = title {
        return titles::set_in(tx, key, Some(title));
    }
    let Some(link) = lineage::link(tx, key)? else { return Ok(()) };
    let (Some(Lineage::Continuation), Some(parent)) = (link.lineage, link.parent_key) else {
        return Ok(());
    };
    match fetch_session(tx, parent)?.title {
        Some(title) => {
            let next = oneiro_store::titles::next(tx, &title)?;
            oneiro_store::titles::set(tx, key, Some(&next))
        }
        None => Ok(()),
    }
}
