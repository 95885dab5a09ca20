//! What Python hands in becomes requests: values become JSON values, which the contract reads.

use crate::error::raised;
use oneiro::contract::{self, Form, Reading, Request};
use oneiro::{Error, MessageId, MessageRef, NewMessage, Result, Timestamp};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Deeper values are refused by the engine; this keeps the reading of them off the stack's end.
const MAX_DEPTH: usize = 400;

/// A message by its id (an int) or its place in a session (a str such as `monday#3`).
pub(crate) fn message_ref(message: &Bound<'_, PyAny>) -> PyResult<MessageRef> {
    if let Ok(text) = message.extract::<String>() {
        return MessageRef::parse(&text).map_err(|error| raised(message.py(), &error));
    }
    Ok(MessageRef::Id(MessageId(message.extract()?)))
}

/// Values read from Python, and how many lone surrogates became U+FFFD on the way.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) repaired: usize,
}

impl Reader {
    /// Any value that JSON can say.
    pub(crate) fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        if depth > MAX_DEPTH {
            return Err(refused(value.py(), "a value is nested too deeply"));
        }
        if value.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Value::String(self.text(text)?));
        }
        if let Ok(truth) = value.cast::<PyBool>() {
            return Ok(Value::Bool(truth.is_true()));
        }
        if let Ok(number) = value.cast::<PyInt>() {
            return match number.extract::<i64>() {
                Ok(small) => Ok(Value::Number(small.into())),
                Err(_) => large(number),
            };
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            let number = Number::from_f64(number.value());
            return number.map(Value::Number).ok_or_else(|| {
                refused(value.py(), "NaN and infinity are no values of JSON; give None or a string")
            });
        }
        if let Ok(fields) = value.cast::<PyDict>() {
            return Ok(Value::Object(self.fields(fields, depth)?));
        }
        if let Ok(items) = value.cast::<PyList>() {
            let items = items.iter().map(|item| self.value(&item, depth + 1));
            return Ok(Value::Array(items.collect::<PyResult<_>>()?));
        }
        if let Ok(items) = value.cast::<PyTuple>() {
            let items = items.iter().map(|item| self.value(&item, depth + 1));
            return Ok(Value::Array(items.collect::<PyResult<_>>()?));
        }
        let class = value.get_type().name()?;
        Err(refused(
            value.py(),
            &format!(
                "a {class} is no value of JSON; give str, int, float, bool, None, list or dict"
            ),
        ))
    }

    /// A dict whose keys are text.
    pub(crate) fn fields(
        &mut self,
        fields: &Bound<'_, PyDict>,
        depth: usize,
    ) -> PyResult<Map<String, Value>> {
        let mut out = Map::with_capacity(fields.len());
        for (name, value) in fields.iter() {
            let name = name.cast::<PyString>().map_err(|_| {
                refused(fields.py(), "a key of a dict is not a str, and JSON knows no other")
            })?;
            out.insert(self.text(name)?, self.value(&value, depth + 1)?);
        }
        Ok(out)
    }

    /// Text; what UTF-8 cannot say becomes U+FFFD.
    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<String> {
        if let Ok(text) = text.to_str() {
            return Ok(text.to_owned());
        }
        // Halves that belong together become one character again; the others are replaced.
        let wide = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
        let wide: Vec<u8> = wide.extract()?;
        let units = wide.chunks_exact(2).map(|pair| match pair {
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0xFFFD,
        });
        Ok(char::decode_utf16(units)
            .map(|letter| {
                letter.unwrap_or_else(|_| {
                    self.repaired += 1;
                    char::REPLACEMENT_CHARACTER
                })
            })
            .collect())
    }

    /// A message to append.
    pub(crate) fn message(&mut self, message: &Bound<'_, PyDict>) -> PyResult<NewMessage> {
        let before = self.repaired;
        let mut body = self.fields(message, 0)?;
        let at = match body.get("at") {
            Some(Value::Number(_)) => body.shift_remove("at"),
            _ => None,
        };
        let read = || {
            let at = at.map(|at| micros("at", &at)).transpose()?;
            let mut message = NewMessage::from_json(Value::Object(body))?;
            message.at = at.or(message.at);
            Ok(message)
        };
        let mut message = read().map_err(|error| raised(message.py(), &error))?;
        message.repaired = self.repaired - before;
        Ok(message)
    }

    /// Messages to append.
    pub(crate) fn messages(&mut self, messages: &Bound<'_, PyAny>) -> PyResult<Vec<NewMessage>> {
        let mut out = Vec::new();
        for (index, message) in messages.try_iter()?.enumerate() {
            let message = message?;
            let message = message.cast::<PyDict>().map_err(|_| {
                refused(messages.py(), &format!("message {}: is not a dict", index + 1))
            })?;
            out.push(self.message(message)?);
        }
        Ok(out)
    }
}

fn large(number: &Bound<'_, PyInt>) -> PyResult<Value> {
    let text = number.str()?;
    let number = text.to_str()?.parse::<Number>();
    number.map(Value::Number).map_err(|_| refused(text.py(), "an int cannot be written as JSON"))
}

/// The exception for something that cannot be taken.
pub(crate) fn refused(py: Python<'_>, problem: &str) -> PyErr {
    raised(py, &Error::invalid(problem))
}

fn micros(name: &'static str, value: &Value) -> Result<Timestamp> {
    value
        .as_i64()
        .map(Timestamp::from_micros)
        .ok_or_else(|| Error::field(name, "is not a number of microseconds"))
}

/// A request, read by the contract that all surfaces share; what is wrong is an exception.
pub(crate) fn request<R: Request>(fields: &Bound<'_, PyDict>) -> PyResult<R> {
    let given = Reader::default().fields(fields, 0)?;
    // Hosts write no ages, so that nothing is counted from now.
    let reading = Reading { form: Form::Host, now: Timestamp::from_micros(0) };
    let decoded = contract::decode(given, reading);
    decoded.map(|decoded| decoded.request).map_err(|error| raised(fields.py(), &error))
}
