//! Find a session by its id, a prefix of its id, or its title.

use crate::views::Sessions;
use oneiro_model::{Error, Remedy, Result, Session, SessionId};
use oneiro_store::{Tx, sessions, titles};

impl Sessions<'_> {
    /// The id of the session that `text` names: exactly, by a prefix that only one session has, or
    /// by title (of a numbered title's base, the most recently started).
    pub fn resolve(&self, text: &str) -> Result<SessionId> {
        self.oneiro.store.read(|tx| Ok(resolve_in(tx, text)?.1))
    }

    /// Finds several sessions in one snapshot; `None` for one that does not exist. Prompts and previews
    /// are included if requested.
    pub fn find_many(&self, ids: &[SessionId], wanted_whole: bool) -> Result<Vec<Option<Session>>> {
        self.oneiro.store.read(|tx| {
            let find = |id| match sessions::key(tx, id)? {
                Some(key) if wanted_whole => sessions::get(tx, key),
                Some(key) => sessions::get_without_prompt(tx, key),
                None => Ok(None),
            };
            ids.iter().map(find).collect()
        })
    }

    /// The session that has exactly this id.
    pub fn find(&self, id: &SessionId) -> Result<Option<Session>> {
        self.oneiro.store.read(|tx| match sessions::key(tx, id)? {
            Some(key) => sessions::get(tx, key),
            None => Ok(None),
        })
    }
}

/// The key and the id of the session that `text` names.
pub(crate) fn resolve_in(tx: &Tx<'_>, text: &str) -> Result<(i64, SessionId)> {
    if let Ok(id) = SessionId::new(text)
        && let Some(key) = sessions::key(tx, &id)?
    {
        return Ok((key, id));
    }
    let with_prefix = if text.is_empty() || text.contains('\0') {
        Vec::new()
    } else {
        sessions::by_prefix(tx, text)?
    };
    match with_prefix.as_slice() {
        [only] => Ok(only.clone()),
        [_, _, ..] => Err(ambiguous(text, &with_prefix)),
        [] => match key_of_title(tx, text)? {
            Some(key) => Ok((key, fetch_session(tx, key)?.id)),
            None => Err(no_session(text)),
        },
    }
}

/// The error for a prefix of several sessions, which lists some of them.
fn ambiguous(prefix: &str, candidates: &[(i64, SessionId)]) -> Error {
    const MAX_LISTED_IDS: usize = 5;
    let ids = candidates.iter().take(MAX_LISTED_IDS).map(|(_, id)| format!("{:?}", id.as_str()));
    let ids = ids.collect::<Vec<_>>().join(", ");
    let more = if candidates.len() > MAX_LISTED_IDS { " and more" } else { "" };
    Error::conflict(format!("several session ids begin with {prefix:?}: {ids}{more}"))
        .remedy("give one of these ids, or more of it")
}

/// The key of the most recently started session with this title or a numbered one of this base.
pub(crate) fn key_of_title(tx: &Tx<'_>, text: &str) -> Result<Option<i64>> {
    if text.contains('\0') {
        return Ok(None);
    }
    Ok(titles::with_base(tx, text)?.into_iter().next().map(|(_, key)| key))
}

/// The error of a session that is not there.
pub(crate) fn no_session(text: &str) -> Error {
    Error::not_found(format!("there is no session {text:?}")).remedy(Remedy::ListSessions)
}

/// The key of a session that must exist.
pub(crate) fn key_of(tx: &Tx<'_>, id: &SessionId) -> Result<i64> {
    sessions::key(tx, id)?.ok_or_else(|| no_session(id.as_str()))
}

/// A session that must exist, whole.
pub(crate) fn fetch_session(tx: &Tx<'_>, key: i64) -> Result<Session> {
    sessions::get(tx, key)?
        .ok_or_else(|| Error::internal("a session vanished inside a transaction"))
}
