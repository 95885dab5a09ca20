//! What the views promise, on made-up answers of the engine.
#![allow(missing_docs, reason = "the names of tests say what they prove")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may fail"
)]

mod beliefs;
mod context;
mod dreams;
mod notes;
mod safety;
mod size;
mod states;
mod views;
