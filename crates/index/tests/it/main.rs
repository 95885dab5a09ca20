//! The text index, tested from outside over a storage in memory.
#![allow(missing_docs, reason = "the names of tests say what they prove")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may fail")]

mod kinds;
mod memory;
