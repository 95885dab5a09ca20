//! The contract: how a request of any surface becomes a typed value. A request is a type that
//! derives `Deserialize` and `JsonSchema`; its schema alone says which fields there are, what they
//! may hold and what they default to. Every surface hands its fields to [`decode`], and the
//! published schemas come from [`schema`].

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
    /// Refuses fields that contradict each other.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// How fields are to be read.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// How the surface writes values.
    pub form: Form,
    /// What ages such as `3d` are counted from.
    pub now: Timestamp,
}

/// A request, and what was not taken as it was given.
#[derive(Debug)]
pub struct Decoded<R> {
    /// The request.
    pub request: R,
    /// Values that were brought within their bounds, for people to read.
    pub notes: Vec<String>,
}

/// Reads a request: names, types, bounds and times are checked here and nowhere else.
pub fn decode<R: Request>(given: Map<String, Value>, reading: Reading) -> Result<Decoded<R>> {
    let shape = shape_of::<R>();
    let mut notes = Vec::new();
    let fields = read::fields(shape, given, reading, &mut notes)?;
    PARSE_ERROR.take();
    let request: R = serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let kept = PARSE_ERROR.take();
        let (place, problem) = (error.path().to_string(), error.inner().to_string());
        // What a type says of a value it cannot be read from may begin with the field's name.
        let told = problem.strip_prefix(&format!("{place}: ")).unwrap_or(&problem).to_owned();
        let error = match place.as_str() {
            "." => Error::invalid(problem),
            _ => Error::field(place, told),
        };
        match kept.and_then(|kept| kept.remedy_code().cloned()) {
            Some(remedy) => error.remedy(remedy),
            None => error,
        }
    })?;
    request.check()?;
    Ok(Decoded { request, notes })
}

thread_local! {
    /// The last error of a type that reads itself: serde's errors are only text, and its remedy would
    /// be lost on the way through them.
    static PARSE_ERROR: Cell<Option<Error>> = const { Cell::new(None) };
}

/// The error of a type that reads itself, for serde; [`decode`] finds its remedy again.
pub(crate) fn as_serde_error<E: serde::de::Error>(error: Error) -> E {
    let text = E::custom(&error);
    PARSE_ERROR.set(Some(error));
    text
}

/// A name that is not known, and the nearest one that is.
pub fn unknown_name<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Error {
    /// Characters of an unknown name that are repeated to whoever sent it.
    const SHOWN_CHARS: usize = 64;
    let shown: String = name.chars().take(SHOWN_CHARS).collect();
    // Whatever could be a sentence is quoted: surfaces for agents escape what is.
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
