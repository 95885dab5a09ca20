//! Slots: a host's values.

use crate::decode::Reader;
use crate::encode;
use crate::error::raised;
use crate::handle::Handle;
use crate::sessions::session_id;
use oneiro::host::SetSlots;
use oneiro::{SlotName, SlotSwap};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

fn slot_name(py: Python<'_>, scope: &str, name: &str) -> PyResult<SlotName> {
    SlotName::new(scope, name).map_err(|error| raised(py, &error))
}

fn optional(value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if value.is_none() { Ok(None) } else { Reader::default().value(value, 0).map(Some) }
}

#[pymethods]
impl Handle {
    fn slot<'py>(&self, py: Python<'py>, scope: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let slot = slot_name(py, scope, name)?;
        match self.call(py, |oneiro| oneiro.host().slot(&slot))? {
            Some(slot) => encode::value(py, &slot.value),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn slots<'py>(&self, py: Python<'py>, scope: &str) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for slot in self.call(py, |oneiro| oneiro.host().slots(scope))? {
            let value = encode::value(py, &slot.value)?;
            list.append((slot.name, value, slot.updated_at.micros()))?;
        }
        Ok(list)
    }

    fn slot_scopes(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        self.call(py, |oneiro| oneiro.host().slot_scopes(prefix))
    }

    #[pyo3(signature = (scope, values, replace=false, session=None))]
    fn set_slots(
        &self,
        py: Python<'_>,
        scope: &str,
        values: &Bound<'_, PyDict>,
        replace: bool,
        session: Option<&str>,
    ) -> PyResult<()> {
        let fields = Reader::default().fields(values, 0)?;
        let values = fields.into_iter().map(|(name, value)| (name, Some(value)));
        let request = SetSlots {
            scope: scope.to_owned(),
            values: values.map(|(name, value)| (name, value.filter(|v| !v.is_null()))).collect(),
            replace,
            session: session.map(|id| session_id(py, id)).transpose()?,
        };
        self.call(py, |oneiro| oneiro.host().set_slots(request))
    }

    #[pyo3(signature = (scope, name, expected, value, session=None))]
    fn swap_slot(
        &self,
        py: Python<'_>,
        scope: &str,
        name: &str,
        expected: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        session: Option<&str>,
    ) -> PyResult<bool> {
        let swap = SlotSwap {
            slot: slot_name(py, scope, name)?,
            expected: optional(expected)?,
            value: optional(value)?,
            session: session.map(|id| session_id(py, id)).transpose()?,
        };
        self.call(py, |oneiro| oneiro.host().swap_slot(swap))
    }
}
