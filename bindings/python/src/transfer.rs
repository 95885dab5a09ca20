//! Sessions out of a space and into it, as JSONL.

use crate::encode;
use crate::handle::Handle;
use crate::sessions::session_id;
use oneiro::{Error, ErrorKind, ExportRequest, ImportFile, ImportLimits};
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

fn unreadable(path: &std::path::Path, error: std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::NotFound,
        std::io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("{}: {error}", path.display())).because(error)
}

/// Whose database a file is, if it is one and not a store of Oneiro.
#[pyfunction]
pub(crate) fn foreign_store(py: Python<'_>, path: PathBuf) -> Option<&'static str> {
    py.detach(|| oneiro::foreign_store(&path)).map(oneiro::ForeignStore::as_str)
}

#[pymethods]
impl Handle {
    #[pyo3(signature = (path, sessions=None, source=None))]
    fn export<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        sessions: Option<Vec<String>>,
        source: Option<String>,
    ) -> PyResult<u64> {
        let sessions = sessions.unwrap_or_default();
        let sessions: Vec<_> =
            sessions.iter().map(|id| session_id(py, id)).collect::<PyResult<_>>()?;
        let request = ExportRequest { sessions, source };
        self.call(py, |oneiro| {
            let file = File::create(&path).map_err(|error| unreadable(&path, error))?;
            let mut out = BufWriter::new(file);
            let done = oneiro.transfer().export(&request, &mut out, &mut |_| {})?;
            let file = out.into_inner().map_err(|error| unreadable(&path, error.into_error()))?;
            file.sync_all().map_err(|error| unreadable(&path, error))?;
            Ok(done.sessions)
        })
    }

    /// Everything of some sessions as one JSONL text.
    fn export_text(&self, py: Python<'_>, sessions: Vec<String>) -> PyResult<String> {
        let sessions: Vec<_> =
            sessions.iter().map(|id| session_id(py, id)).collect::<PyResult<_>>()?;
        let request = ExportRequest { sessions, source: None };
        self.call(py, |oneiro| {
            let mut out = Vec::new();
            oneiro.transfer().export(&request, &mut out, &mut |_| {})?;
            out.flush().map_err(|error| Error::internal(error.to_string()))?;
            String::from_utf8(out).map_err(|error| Error::internal(error.to_string()))
        })
    }

    fn import_file<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let imported = self.call(py, |oneiro| {
            let limits = ImportLimits::default();
            oneiro.transfer().import_file(&ImportFile::open(&path, limits)?, limits, &mut |_| {})
        })?;
        encode::answer(py, &imported)
    }

    /// Everything of a `state.db` of hermes, each message once, however often it is called.
    fn import_hermes<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let imported =
            self.call(py, |oneiro| oneiro.transfer().import_hermes(&path, &mut |_| {}))?;
        encode::answer(py, &imported)
    }

    /// What an import of a `state.db` would do.
    fn preview_hermes<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let previewed =
            self.call(py, |oneiro| oneiro.transfer().preview_hermes(&path, &mut |_| {}))?;
        encode::answer(py, &previewed)
    }

    fn import_text<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let imported = self.call(py, |oneiro| {
            oneiro.transfer().import(&mut text.as_bytes(), ImportLimits::default(), &mut |_| {})
        })?;
        encode::answer(py, &imported)
    }
}
