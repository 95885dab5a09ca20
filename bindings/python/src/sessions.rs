//! Sessions: begin, find, list, change, end, remove, and their accounts.

use crate::decode;
use crate::encode;
use crate::error::raised;
use crate::handle::Handle;
use oneiro::host::{DeleteRequest, SessionTimes};
use oneiro::{
    BranchRequest, Ending, Error, ListSessions, NewSession, NewUsage, PruneRequest, SessionId,
    SessionPatch, SplitRequest, Usage, UsageKey,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A session's id; one that cannot be is an exception.
pub(crate) fn session_id(py: Python<'_>, id: &str) -> PyResult<SessionId> {
    SessionId::new(id).map_err(|error| raised(py, &error))
}

/// An account of a session, and what it is charged.
fn usage(request: &Bound<'_, PyDict>) -> PyResult<(UsageKey, Usage)> {
    let parts = decode::request::<NewUsage>(request)?.into_parts();
    parts.map_err(|error| raised(request.py(), &error))
}

type Answer<'py> = PyResult<Bound<'py, PyAny>>;

#[pymethods]
impl Handle {
    fn create_session<'py>(&self, py: Python<'py>, fields: &Bound<'py, PyDict>) -> Answer<'py> {
        let session = decode::request::<NewSession>(fields)?;
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().create(session))?)
    }

    fn insert_session<'py>(&self, py: Python<'py>, fields: &Bound<'py, PyDict>) -> Answer<'py> {
        let session = decode::request::<NewSession>(fields)?;
        encode::session(py, &self.call(py, |oneiro| oneiro.host().begin_session(session))?)
    }

    fn find_session<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        // An id that no session can have is one that none has.
        let Ok(id) = SessionId::new(id) else { return Ok(None) };
        let found = self.call(py, |oneiro| oneiro.sessions().find(&id))?;
        found.map(|session| encode::session(py, &session)).transpose()
    }

    fn resolve_session(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        self.call(py, |oneiro| Ok(oneiro.sessions().resolve(text)?.to_string()))
    }

    fn list_sessions<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = decode::request::<ListSessions>(request)?;
        encode::page(py, &self.call(py, |oneiro| oneiro.sessions().list(&request))?)
    }

    fn change_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        change: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, change) = (session_id(py, id)?, decode::request::<SessionPatch>(change)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().change(&id, change))?)
    }

    fn end_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, ending) = (session_id(py, id)?, decode::request::<Ending>(request)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().end(&id, ending))?)
    }

    fn reopen_session<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().reopen(&id))?)
    }

    /// When a session began, and when and why it ended, as a host knows better.
    fn amend_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        times: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, times) = (session_id(py, id)?, decode::request::<SessionTimes>(times)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.host().amend_session(&id, times))?)
    }

    fn branch_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, request) = (session_id(py, id)?, decode::request::<BranchRequest>(request)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().branch(&id, request))?)
    }

    fn split_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, request) = (session_id(py, id)?, decode::request::<SplitRequest>(request)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().split(&id, request))?)
    }

    fn delete_session<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.sessions().delete(&id))?)
    }

    #[pyo3(signature = (ids, options=None))]
    fn delete_sessions<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<String>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> Answer<'py> {
        // An id that no session can have is one that none has.
        let ids = ids.into_iter().filter_map(|id| SessionId::new(id).ok()).collect();
        let options = options.map(decode::request::<DeleteRequest>).transpose()?;
        let request = DeleteRequest { ids, ..options.unwrap_or_default() };
        encode::answer(py, &self.call(py, |oneiro| oneiro.host().delete_sessions(request))?)
    }

    fn count_sessions(&self, py: Python<'_>, request: &Bound<'_, PyDict>) -> PyResult<usize> {
        let request = decode::request::<ListSessions>(request)?;
        self.call(py, |oneiro| oneiro.sessions().count(&request))
    }

    /// Those of these sessions that are there; without their prompts and previews where nobody
    /// wants them.
    #[pyo3(signature = (ids, whole=true))]
    fn find_sessions<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<String>,
        whole: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let known: Vec<Option<SessionId>> =
            ids.into_iter().map(|id| SessionId::new(id).ok()).collect();
        let asked: Vec<SessionId> = known.iter().flatten().cloned().collect();
        let mut found =
            self.call(py, |oneiro| oneiro.sessions().find_many(&asked, whole))?.into_iter();
        let list = PyList::empty(py);
        for id in known {
            match id.and_then(|_| found.next().flatten()) {
                Some(session) => list.append(encode::session(py, &session)?)?,
                None => list.append(py.None())?,
            }
        }
        Ok(list)
    }

    fn find_title(&self, py: Python<'_>, title: &str) -> PyResult<Option<String>> {
        self.call(py, |oneiro| Ok(oneiro.host().find_title(title)?.map(|id| id.to_string())))
    }

    fn resolve_title(&self, py: Python<'_>, title: &str) -> PyResult<Option<String>> {
        self.call(py, |oneiro| Ok(oneiro.host().resolve_title(title)?.map(|id| id.to_string())))
    }

    fn prune_sessions<'py>(&self, py: Python<'py>, request: &Bound<'py, PyDict>) -> Answer<'py> {
        let request = decode::request::<PruneRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.sessions().prune(request))?)
    }

    fn session_children(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        let id = session_id(py, id)?;
        let children = self.call(py, |oneiro| oneiro.sessions().children(&id))?;
        Ok(children.iter().map(ToString::to_string).collect())
    }

    fn session_root(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        let id = session_id(py, id)?;
        self.call(py, |oneiro| Ok(oneiro.sessions().root(&id)?.to_string()))
    }

    fn session_tip(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        let id = session_id(py, id)?;
        self.call(py, |oneiro| Ok(oneiro.sessions().tip(&id)?.to_string()))
    }

    fn session_family<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        limit: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, id)?;
        encode::sessions(py, &self.call(py, |oneiro| oneiro.sessions().family(&id, limit))?)
    }

    fn counts<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.messages().counts(&id))?)
    }

    fn next_title(&self, py: Python<'_>, base: &str) -> PyResult<String> {
        self.call(py, |oneiro| oneiro.sessions().next_title(base))
    }

    fn add_usage<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, (account, used)) = (session_id(py, id)?, usage(request)?);
        encode::session(
            py,
            &self.call(py, |oneiro| oneiro.sessions().add_usage(&id, account, used))?,
        )
    }

    fn set_usage<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, (account, used)) = (session_id(py, id)?, usage(request)?);
        if account != UsageKey::default() {
            let wrong = Error::invalid("totals of a session belong to no account");
            return Err(raised(py, &wrong));
        }
        encode::session(py, &self.call(py, |oneiro| oneiro.sessions().set_usage(&id, used))?)
    }

    fn usage<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.sessions().usage(&id))?)
    }
}
