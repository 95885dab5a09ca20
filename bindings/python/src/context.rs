//! Windows, compaction, and the ways back to the exact words.

use crate::decode;
use crate::encode;
use crate::error::raised;
use crate::handle::Handle;
use crate::sessions::session_id;
use oneiro::host::{ExpandAnywhere, Grep};
use oneiro::{CompactRequest, ContextScope, GrepRequest, WindowRequest};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

type Answer<'py> = PyResult<Bound<'py, PyAny>>;

#[pymethods]
impl Handle {
    fn context<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, request) = (session_id(py, session)?, decode::request::<WindowRequest>(request)?);
        encode::answer(py, &self.call(py, |oneiro| oneiro.context().window(&id, &request))?)
    }

    fn compact<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let id = session_id(py, session)?;
        let request = decode::request::<CompactRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.context().compact(&id, &request))?)
    }

    fn expand<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = decode::request::<ExpandAnywhere>(request)?.into_request();
        let request = request.map_err(|error| raised(py, &error))?;
        let expanded = self.call(py, |oneiro| oneiro.context().expand(&request))?;
        let dict = PyDict::new(py);
        dict.set_item("messages", encode::messages(py, &expanded.messages)?)?;
        dict.set_item("tokens", expanded.tokens)?;
        dict.set_item("next", expanded.next.map(|next| next.to_string()))?;
        Ok(dict)
    }

    fn grep<'py>(&self, py: Python<'py>, request: &Bound<'py, PyDict>) -> Answer<'py> {
        let request = GrepRequest::from(decode::request::<Grep>(request)?);
        encode::answer(py, &self.call(py, |oneiro| oneiro.search().grep(&request))?)
    }

    fn summaries<'py>(&self, py: Python<'py>, session: &str) -> Answer<'py> {
        let id = session_id(py, session)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.context().summaries(&id))?)
    }

    #[pyo3(signature = (id, session=None))]
    fn summary<'py>(&self, py: Python<'py>, id: &str, session: Option<&str>) -> Answer<'py> {
        let session = session.map(|id| session_id(py, id)).transpose()?;
        let scope = session.map_or(ContextScope::Space, ContextScope::Lineage);
        encode::answer(py, &self.call(py, |oneiro| oneiro.context().summary(id, &scope))?)
    }

    fn session_summary(&self, py: Python<'_>, session: &str) -> PyResult<String> {
        let id = session_id(py, session)?;
        self.call(py, |oneiro| oneiro.context().summary_text(&id))
    }

    fn set_summary<'py>(&self, py: Python<'py>, session: &str, text: &str) -> Answer<'py> {
        let id = session_id(py, session)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.context().set_summary(&id, text))?)
    }

    fn pin(&self, py: Python<'_>, session: &str, message: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (id, message) = (session_id(py, session)?, decode::message_ref(message)?);
        self.call(py, |oneiro| oneiro.messages().pin(&id, message))
    }

    fn unpin(&self, py: Python<'_>, session: &str, message: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (id, message) = (session_id(py, session)?, decode::message_ref(message)?);
        self.call(py, |oneiro| oneiro.messages().unpin(&id, message))
    }

    fn pins<'py>(&self, py: Python<'py>, session: &str) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, session)?;
        encode::messages(py, &self.call(py, |oneiro| oneiro.messages().pinned(&id))?)
    }
}
