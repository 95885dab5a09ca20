//! Background work: what waits, and a slice of it.

use crate::decode;
use crate::encode;
use crate::handle::Handle;
use oneiro::{Error, PageOf};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;

#[pymethods]
impl Handle {
    fn jobs<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let PageOf { cursor, limit } = decode::request::<PageOf>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.jobs().list(cursor, limit))?)
    }

    fn run_jobs<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Bound<'py, PyAny>> {
        let limit = Duration::try_from_secs_f64(seconds).map_err(|error| {
            crate::error::raised(py, &Error::field("seconds", error.to_string()))
        })?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.jobs().run(limit))?)
    }

    /// How far there is anything to see: equal as long as nothing has changed.
    fn change_mark(&self, py: Python<'_>) -> PyResult<(i64, i64)> {
        self.call(py, |oneiro| oneiro.change_mark().map(|mark| (mark.message, mark.change)))
    }

    /// Brings the text index up to the newest message.
    fn index(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, |oneiro| oneiro.index().catch_up(&mut |_, _| {}))
    }

    /// Builds the text index anew from the rows.
    fn rebuild_index(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, |oneiro| oneiro.index().rebuild(&mut |_, _| {}))
    }
}
