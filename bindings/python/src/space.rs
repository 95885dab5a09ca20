//! The space as a whole: figures, settings, copies, checks.

use crate::decode::Reader;
use crate::encode;
use crate::handle::Handle;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

#[pymethods]
impl Handle {
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.stats())?)
    }

    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for setting in self.call(py, |oneiro| oneiro.settings().list())? {
            dict.set_item(setting.name, encode::value(py, &setting.value)?)?;
        }
        Ok(dict)
    }

    fn set_setting(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = if value.is_none() { None } else { Some(Reader::default().value(value, 0)?) };
        self.call(py, |oneiro| oneiro.settings().set(name, value).map(|_| ()))
    }

    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.call(py, |oneiro| oneiro.transfer().backup(&path, &mut |_| {}))
    }

    /// Gives the room of what was deleted back; how many bytes.
    fn vacuum(&self, py: Python<'_>) -> PyResult<i64> {
        self.call(py, |oneiro| oneiro.vacuum())
    }

    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.check())?)
    }
}
