//! The demonstration, tested from outside: what it fills, that it fills it once, and that what it
//! says is found.
#![allow(missing_docs, reason = "the names of tests say what they prove")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may fail"
)]

mod condensed;
mod content;
mod fill;
mod memories;
mod nights;
mod questions;
mod remove;
mod support;
