//! Errors as Python sees them: the class that the table of kinds names, from `oneiro.errors`.

use oneiro::{Error, KINDS};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Every kind of error and the name of its class.
#[pyfunction]
pub(crate) fn kinds() -> Vec<(&'static str, &'static str)> {
    KINDS.iter().map(|row| (row.name, row.python)).collect()
}

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    match class(py, error.kind().row().python) {
        Ok(class) => PyErr::from_type(
            class,
            (
                error.message().to_owned(),
                error.kind().name(),
                error.field_name().map(str::to_owned),
                error.remedy_text().map(std::borrow::Cow::into_owned),
            ),
        ),
        Err(error) => error,
    }
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let class = py.import("oneiro.errors")?.getattr(name)?;
    Ok(class.cast_into::<PyType>()?)
}
