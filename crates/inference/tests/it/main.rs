//! The clients of model servers, tested from outside.
#![allow(missing_docs, reason = "the names of tests say what they prove")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests may fail"
)]

mod chat;
mod chat_errors;
mod embeddings;
mod guard;
mod server;
