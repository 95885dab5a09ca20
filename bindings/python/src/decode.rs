//! What Python hands in becomes requests: values become JSON values, and fields are taken one by
//! one, so that one that nobody takes is named.

use oneiro::{Error, MessageId, NewMessage, Result, SessionId, Timestamp};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Deeper values are refused by the engine; this keeps the reading of them off the stack's end.
const DEPTH: usize = 400;

/// Values read from Python, and how many lone surrogates became U+FFFD on the way.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) repaired: usize,
}

impl Reader {
    /// Any value that JSON can say.
    pub(crate) fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        if depth > DEPTH {
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
        let mut message = read().map_err(|error| crate::error::raised(message.py(), &error))?;
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
    crate::error::raised(py, &Error::invalid(problem))
}

fn micros(name: &'static str, value: &Value) -> Result<Timestamp> {
    value
        .as_i64()
        .map(Timestamp::from_micros)
        .ok_or_else(|| Error::field(name, "is not a number of microseconds"))
}

/// The fields of a request, taken one by one.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn read(fields: &Bound<'_, PyDict>) -> PyResult<Fields> {
        Ok(Fields(Reader::default().fields(fields, 0)?))
    }

    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name).filter(|value| !value.is_null())
    }

    /// Whether a field is given, be it as nothing.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a field is given as nothing.
    pub(crate) fn is_nothing(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(Value::is_null)
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Error::field(name, "is not a string")),
        }
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>> {
        let wrong = || Error::field(name, "is not a list of strings");
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
                .collect(),
            Some(_) => Err(wrong()),
        }
    }

    pub(crate) fn truth(&mut self, name: &'static str) -> Result<Option<bool>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(truth)),
            Some(_) => Err(Error::field(name, "is not True or False")),
        }
    }

    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<i64>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => {
                value.as_i64().map(Some).ok_or_else(|| Error::field(name, "is not a whole number"))
            }
        }
    }

    pub(crate) fn count(&mut self, name: &'static str) -> Result<Option<usize>> {
        let number = self.number(name)?;
        number
            .map(|number| {
                usize::try_from(number).map_err(|_| Error::field(name, "is less than zero"))
            })
            .transpose()
    }

    pub(crate) fn amount(&mut self, name: &'static str) -> Result<Option<f64>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => {
                value.as_f64().map(Some).ok_or_else(|| Error::field(name, "is not a number"))
            }
        }
    }

    /// A moment: microseconds since the epoch, or RFC 3339.
    pub(crate) fn time(&mut self, name: &'static str) -> Result<Option<Timestamp>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => {
                Timestamp::parse(&text).map(Some).map_err(|error| Error::field(name, error))
            }
            Some(value) => micros(name, &value).map(Some),
        }
    }

    pub(crate) fn session(&mut self, name: &'static str) -> Result<Option<SessionId>> {
        self.text(name)?.map(SessionId::new).transpose()
    }

    pub(crate) fn message_id(&mut self, name: &'static str) -> Result<Option<MessageId>> {
        Ok(self.number(name)?.map(MessageId))
    }

    pub(crate) fn object(&mut self, name: &'static str) -> Result<Map<String, Value>> {
        match self.value(name) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) => Err(Error::field(name, "is not a dict")),
        }
    }

    /// Refuses fields that nobody took.
    pub(crate) fn end(self) -> Result<()> {
        match self.0.into_iter().find(|(_, value)| !value.is_null()) {
            Some((name, _)) => Err(Error::field(name, "is not known here")),
            None => Ok(()),
        }
    }
}
