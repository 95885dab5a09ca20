//! The rules of this repository, one file each, over a [`tree::Tree`] of its files.
//!
//! Every check takes the tree and returns all it found, so one run shows everything there is to
//! repair; `tests/tidy.rs` runs them on this repository. A rule that an exception must be made to
//! carries its allow-list, with reasons, in its own file.

pub mod decisions;
pub mod documents;
pub mod drivers;

pub mod invariants;
pub mod layering;
pub mod leftovers;
pub mod manifest;
pub mod migrations;
pub mod module_docs;
pub mod naming;
pub mod origin;
pub mod random_tests;
pub mod rust_source;
pub mod size;
pub mod sql_subset;
pub mod surfaces;
pub mod test_binaries;
pub mod test_script;
pub mod tree;
pub mod whitespace;

use std::fmt;

/// A broken rule: where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    path: String,
    line: usize,
    remedy: String,
}

impl Problem {
    /// A problem at a line, counted from 1.
    pub fn new(path: &str, line: usize, remedy: impl Into<String>) -> Self {
        Problem { path: path.to_owned(), line, remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.remedy)
    }
}
