//! Decodes requests of all surfaces. A request is a type that derives `Deserialize` and
//! `JsonSchema`; its schema defines the fields, their types, bounds and defaults. Every surface
//! passes its fields to [`decode`], and the published schemas come from [`schema`].

mod read;
pub mod schema;
mod shape;
#[cfg(test)]
mod tests;

pub use read::Form;
pub use shape::{Field, FieldKind, Shape, TextBounds, shape_of};

use crate::{Error, Result, Timestamp};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::cell::Cell;

/// A request of a surface.
pub trait Request: DeserializeOwned + JsonSchema + 'static {
    /// Checks combinations of fields.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// How fields are decoded.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The form in which the surface passes values.
    pub form: Form,
    /// Ages such as `3d` are relative to this time.
    pub now: Timestamp,
}

/// A decoded request.
#[derive(Debug)]
pub struct Decoded<R> {
    /// The request.
    pub request: R,
    /// Values that were clamped to their bounds, for people to read.
    pub notes: Vec<String>,
}

/// Decodes a request. Names, types, bounds and times are checked here and nowhere else.
pub fn decode<R: Request>(given: Map<String, Value>, reading: Reading) -> Result<Decoded<R>> {
    let shape = shape_of::<R>();
    let mut notes = Vec::new();
    let fields = read::fields(shape, given, reading, &mut notes)?;
    let request: R = decode_value(Value::Object(fields))?;
    request.check()?;
    Ok(Decoded { request, notes })
}

/// Decodes a value that has the form in which it is written; an error names the field.
pub fn decode_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    PARSE_ERROR.take();
    serde_path_to_error::deserialize(value).map_err(|error| {
        let kept = PARSE_ERROR.take();
        let (place, problem) = (error.path().to_string(), error.inner().to_string());
        // The message of a type may start with the name of the field.
        let told = problem.strip_prefix(&format!("{place}: ")).unwrap_or(&problem).to_owned();
        let error = match place.as_str() {
            "." => Error::invalid(problem),
            _ => Error::field(place, told),
        };
        match kept.and_then(|kept| kept.remedy_code().cloned()) {
            Some(remedy) => error.remedy(remedy),
            None => error,
        }
    })
}

thread_local! {
    /// The last error of a type that parses itself. Serde's errors are only text, so its remedy
    /// would be lost.
    static PARSE_ERROR: Cell<Option<Error>> = const { Cell::new(None) };
}

/// Passes the error of a type that parses itself through serde; [`decode`] restores its remedy.
pub(crate) fn as_serde_error<E: serde::de::Error>(error: Error) -> E {
    let text = E::custom(&error);
    PARSE_ERROR.set(Some(error));
    text
}

/// The error for an unknown name, with the nearest known one.
pub fn unknown_name<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Error {
    /// Characters of an unknown name that are repeated.
    const SHOWN_CHARS: usize = 64;
    let shown: String = name.chars().take(SHOWN_CHARS).collect();
    // Text that could be a sentence is quoted: surfaces for agents escape quotations.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let error = if shown.chars().all(is_plain) {
        Error::field(shown, "is not a known field")
    } else {
        Error::field(format!("{shown:?}"), "is not a known field")
    };
    let mut known = known.peekable();
    if known.peek().is_none() {
        return error.remedy("nothing can be given here");
    }
    match crate::suggest_names(name, known) {
        Some(suggestion) => error.remedy(suggestion),
        None => error,
    }
}
