//! Notes and their revisions.

use crate::decode;
use crate::encode;
use crate::error::raised;
use crate::handle::Handle;
use oneiro::{
    DeleteNote, DiffNotes, EditNote, ListNotes, ListRevisions, MountNotes, NoteName,
    NotePromptRequest, ReasonRequest, RestoreNotes, ShowRevision, UnmountNotes, WriteNote,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn named(py: Python<'_>, name: &str) -> PyResult<NoteName> {
    NoteName::parse(name).map_err(|error| raised(py, &error))
}

#[pymethods]
impl Handle {
    fn list_notes<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<ListNotes>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().list(&request))?)
    }

    fn note<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let name = named(py, name)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().get(&name))?)
    }

    fn write_note<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (name, request) = (named(py, name)?, decode::request::<WriteNote>(request)?);
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().write(&name, request))?)
    }

    fn edit_note<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (name, request) = (named(py, name)?, decode::request::<EditNote>(request)?);
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().edit(&name, request))?)
    }

    fn delete_note<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (name, request) = (named(py, name)?, decode::request::<DeleteNote>(request)?);
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().delete(&name, request))?)
    }

    fn blame<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let name = named(py, name)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().blame(&name))?)
    }

    fn mount_notes<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<MountNotes>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().mount(&request))?)
    }

    fn unmount_notes<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<UnmountNotes>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().unmount(&request))?)
    }

    fn mounts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().mounts())?)
    }

    fn notes_prompt<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<NotePromptRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().prompt(&request))?)
    }

    fn list_revisions<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<ListRevisions>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().log(&request))?)
    }

    fn revision<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<ShowRevision>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().revision(id, &request))?)
    }

    fn diff_notes<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<DiffNotes>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().diff(&request))?)
    }

    fn restore_notes<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<RestoreNotes>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().restore(id, request))?)
    }

    fn undo_revision<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<ReasonRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.notes().undo(id, request.reason))?)
    }
}
