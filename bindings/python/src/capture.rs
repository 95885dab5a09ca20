//! Capture: which projects are captured, and pauses.

use crate::decode;
use crate::encode;
use crate::handle::Handle;
use oneiro::{PauseRequest, ProjectChoice};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl Handle {
    fn capture_status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.capture().status())?)
    }

    fn choose_capture<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let choice = decode::request::<ProjectChoice>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.capture().choose(vec![choice]))?)
    }

    fn pause_capture<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let pause = decode::request::<PauseRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.capture().pause(pause))?)
    }

    fn resume_capture<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.capture().resume())?)
    }
}
