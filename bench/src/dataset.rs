//! The data files of the benchmarks: lists of JSON objects, read from a path.

use oneiro::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// Reads a file that holds a list with at least one entry.
pub(crate) fn read_list(path: &Path) -> Result<Vec<Value>> {
    let bytes = std::fs::read(path).map_err(|error| invalid(path, error))?;
    match serde_json::from_slice(&bytes).map_err(|error| invalid(path, error))? {
        Value::Array(list) if !list.is_empty() => Ok(list),
        Value::Array(_) => Err(invalid(path, "is an empty list")),
        _ => Err(invalid(path, "is not a list")),
    }
}

/// The error for a file that cannot be used.
pub(crate) fn invalid(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::field("data", format!("{}: {problem}", path.display())).remedy(
        "give locomo10.json of the LoCoMo data set, or transcripts with questions in the form of \
         crates/testkit/assets/agents.json",
    )
}
