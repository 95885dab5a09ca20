//! Files of a host as notes: recorded together, read back as of a revision, and scanned.

use crate::decode::Reader;
use crate::error::raised;
use crate::handle::Handle;
use oneiro::host::{CommitNotes, scan_all};
use oneiro::{NoteName, RevisionId};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

/// A finding: rule, category, and where it starts and ends in characters.
type Found = (&'static str, &'static str, usize, usize);

/// What the scan for text that tries to steer an agent finds.
#[pyfunction]
pub(crate) fn scan(py: Python<'_>, text: &str) -> Vec<Found> {
    py.detach(|| {
        let chars = |end: usize| text.get(..end).map_or(0, |before| before.chars().count());
        let found = scan_all(text).into_iter();
        found
            .map(|one| {
                let (start, end) = (chars(one.span.start), chars(one.span.end));
                (one.rule, one.category.as_str(), start, end)
            })
            .collect()
    })
}

#[pymethods]
impl Handle {
    #[pyo3(signature = (texts, message, scope=None, value=None))]
    fn commit_notes(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyDict>,
        message: &str,
        scope: Option<String>,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let mut named = Vec::with_capacity(texts.len());
        for (name, text) in texts.iter() {
            let name = NoteName::parse(&name.extract::<String>()?);
            let name = name.map_err(|error| raised(py, &error))?;
            named.push((name, text.extract::<Option<String>>()?));
        }
        let value = match value {
            Some(value) => Reader::default().value(value, 0)?,
            None => Value::Null,
        };
        let slot = scope.map(|scope| (scope, value));
        let request = CommitNotes { texts: named, message: message.to_owned(), slot };
        let made = self.call(py, |oneiro| oneiro.host().commit_notes(request))?;
        Ok(made.as_ref().map(RevisionId::to_string))
    }

    fn notes_at<'py>(&self, py: Python<'py>, revision: &str) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, text) in self.call(py, |oneiro| oneiro.host().notes_at(revision))? {
            dict.set_item(name.as_str(), text)?;
        }
        Ok(dict)
    }
}
