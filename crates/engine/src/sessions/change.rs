//! Change the fields of a session.

use super::{fetch_session, key_of, titles};
use crate::views::Sessions;
use oneiro_model::{ChangeKind, Error, Lineage, Result, Session, SessionId, SessionPatch, Title};
use oneiro_store::{Tx, changes, lineage, session_updates, sessions};
use serde_json::{Map, Value};

impl Sessions<'_> {
    /// Changes a session. Archiving applies to its whole chain.
    pub fn change(&self, id: &SessionId, mut patch: SessionPatch) -> Result<Session> {
        patch.withhold_private();
        patch.check()?;
        let title = match &patch.title {
            Some(Some(text)) => Some(Title::clean(text)?),
            Some(None) => Some(None),
            None => None,
        };
        let fields = sessions::Fields {
            model: patch.model.clone().flatten(),
            model_config: patch.model_config.iter().flatten().next().map(Value::to_string),
            system_prompt: patch
                .system_prompt
                .iter()
                .flatten()
                .next()
                .map(|prompt| sessions::pack_prompt(prompt))
                .transpose()?,
            project: patch.project.clone().flatten(),
            cwd: patch.cwd.clone().flatten(),
            user_id: patch.user_id.clone().flatten(),
            ..sessions::Fields::default()
        };
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let stored = fetch_session(tx, key)?;
            check_expected(&stored.metadata, &patch.metadata_is)?;
            let mut fields = fields.clone();
            fields.metadata = patched(&stored.metadata, &patch.metadata);
            session_updates::clear(tx, key, &patch)?;
            sessions::overwrite(tx, key, &fields)?;
            if let Some(source) = &patch.source {
                session_updates::set_source(tx, key, source)?;
            }
            if let Some(title) = &title
                && !(patch.title_if_unset && stored.title.is_some())
            {
                titles::set_in(tx, key, title.as_ref())?;
            }
            if let Some(kind) = patch.lineage
                && !lineage::set_kind(tx, key, kind)?
            {
                return Err(Error::field("lineage", "is given for a session without a parent"));
            }
            if let Some(archived) = patch.archived {
                archive_chain(tx, key, archived)?;
            }
            changes::record(tx, ChangeKind::Changed, Some(&id), now)?;
            fetch_session(tx, key)
        })
    }
}

/// Fails unless the metadata has the expected values.
fn check_expected(stored: &Map<String, Value>, wanted: &Map<String, Value>) -> Result<()> {
    for (name, value) in wanted {
        let held = stored.get(name).unwrap_or(&Value::Null);
        if held != value {
            return Err(Error::conflict(format!("metadata {name:?} is {held}, not {value}"))
                .remedy("read the session again and retry"));
        }
    }
    Ok(())
}

/// The metadata after the change; null removes a key.
fn patched(stored: &Map<String, Value>, patch: &Map<String, Value>) -> Option<String> {
    if patch.is_empty() {
        return None;
    }
    let mut all = stored.clone();
    for (name, value) in patch {
        match value {
            Value::Null => all.shift_remove(name),
            value => all.insert(name.clone(), value.clone()),
        };
    }
    Some(Value::Object(all).to_string())
}

fn archive_chain(tx: &Tx<'_>, key: i64, archived: bool) -> Result<()> {
    let root = lineage::chain_root(tx, key)?.map_or(key, |root| root.key);
    for link in lineage::descendants(tx, root, Lineage::Continuation)? {
        session_updates::set_archived(tx, link.key, archived)?;
    }
    Ok(())
}
