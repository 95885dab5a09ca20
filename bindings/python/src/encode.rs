//! What the engine answers becomes dicts and lists. Times of sessions and messages are whole
//! microseconds, which cost nothing to read; in every other answer they are RFC 3339.

use oneiro::{Error, Message, Page, Session, Timestamp, Visibility};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::Serialize;
use serde_json::{Number, Value};

/// Any answer, as the JSON surfaces give it.
pub(crate) fn answer<'py, T: Serialize>(
    py: Python<'py>,
    answer: &T,
) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(answer).map_err(|error| {
        crate::error::raised(py, &Error::internal("an answer is not JSON").because(error))
    })?;
    self::value(py, &value)
}

/// A JSON value.
pub(crate) fn value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Number(number) => self::number(py, number),
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(self::value(py, item)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, field) in fields {
                dict.set_item(PyString::intern(py, name), self::value(py, field)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

fn number<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    if let Some(number) = number.as_i64() {
        return number.into_bound_py_any(py);
    }
    let text = number.to_string();
    if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        text.parse::<f64>().unwrap_or(f64::NAN).into_bound_py_any(py)
    } else {
        py.get_type::<pyo3::types::PyInt>().call1((text,))
    }
}

/// A session.
pub(crate) fn session<'py>(py: Python<'py>, session: &Session) -> PyResult<Bound<'py, PyAny>> {
    let dict = answer(py, session)?;
    dict.set_item("started_at", session.started_at.micros())?;
    dict.set_item("ended_at", session.ended_at.map(Timestamp::micros))?;
    dict.set_item("last_active_at", session.last_active_at.micros())?;
    dict.set_item("compacted_count", session.compacted_count)?;
    dict.set_item("compacted_tool_calls", session.compacted_tool_calls)?;
    Ok(dict)
}

/// Sessions.
pub(crate) fn sessions<'py>(py: Python<'py>, sessions: &[Session]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for session in sessions {
        list.append(self::session(py, session)?)?;
    }
    Ok(list)
}

/// A page of sessions.
pub(crate) fn page<'py>(py: Python<'py>, page: &Page<Session>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("items", sessions(py, &page.items)?)?;
    dict.set_item("next", page.next.map(|next| next.to_string()))?;
    Ok(dict)
}

/// A message.
pub(crate) fn message<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(pyo3::intern!(py, "id"), message.id.0)?;
    dict.set_item(pyo3::intern!(py, "session_id"), message.session_id.as_str())?;
    dict.set_item(pyo3::intern!(py, "role"), message.role.as_str())?;
    for (name, field) in &message.body {
        dict.set_item(PyString::intern(py, name), value(py, field)?)?;
    }
    dict.set_item(pyo3::intern!(py, "at"), message.at.micros())?;
    if let Some(external_id) = &message.external_id {
        dict.set_item(pyo3::intern!(py, "external_id"), external_id)?;
    }
    match message.visibility {
        Visibility::Live => {}
        Visibility::Compacted => dict.set_item(pyo3::intern!(py, "visibility"), "compacted")?,
        Visibility::Rewound => dict.set_item(pyo3::intern!(py, "visibility"), "rewound")?,
    }
    Ok(dict)
}

/// Messages.
pub(crate) fn messages<'py>(py: Python<'py>, messages: &[Message]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for message in messages {
        list.append(self::message(py, message)?)?;
    }
    Ok(list)
}
