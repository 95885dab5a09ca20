//! Oneiro for Python, the native half: decode, call the engine, encode. What people import is the
//! package around it, in `python/oneiro`. It must not know hermes, or any other host.

mod capture;
mod context;
mod decode;
mod dreams;
mod encode;
mod error;
mod files;
mod handle;
mod jobs;
mod memories;
mod messages;
mod notes;
mod search;
mod sessions;
mod slots;
mod space;
mod transfer;

use pyo3::prelude::*;

/// The native half of the package `oneiro`.
#[pymodule]
fn _oneiro(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<handle::Handle>()?;
    module.add_function(wrap_pyfunction!(error::kinds, module)?)?;
    module.add_function(wrap_pyfunction!(transfer::foreign_store, module)?)?;
    module.add_function(wrap_pyfunction!(files::scan, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
