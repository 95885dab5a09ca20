//! Dreams: run, list, undo, replay, and their candidates.

use crate::decode;
use crate::encode;
use crate::handle::Handle;
use oneiro::{DreamRequest, ListCandidates, PageOf, ScheduleDreams, UndoDream};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl Handle {
    fn dream<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<DreamRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().run(&request))?)
    }

    fn dreams<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<PageOf>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().list(&request))?)
    }

    fn show_dream<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().show(id))?)
    }

    fn undo_dream<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<UndoDream>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().undo(id, &request))?)
    }

    fn replay_dream<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().replay(id))?)
    }

    fn dream_candidates<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<ListCandidates>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().candidates(&request))?)
    }

    fn explain_candidate<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().explain(id))?)
    }

    fn dream_status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().status())?)
    }

    fn schedule_dreams<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<ScheduleDreams>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.dreams().schedule(&request))?)
    }
}
