//! Search: messages, and sessions as conversations.

use crate::decode;
use crate::encode;
use crate::handle::Handle;
use oneiro::host::FoundByKind;
use oneiro::{SearchRequest, SessionSearchRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl Handle {
    fn search<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<SearchRequest>(request)?;
        let found = self.call(py, |oneiro| oneiro.search().run(&request))?;
        encode::answer(py, &FoundByKind::from(&found))
    }

    fn search_sessions<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<SessionSearchRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.search().sessions(&request))?)
    }
}
