//! The tools as a host calls them, and the HTTP service as a server mounts it.

// A test says what is wrong by failing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod budget;
mod context;
mod expand;
mod hostile_ids;
mod http;
mod list;
mod memories;
mod modes;
mod resources;
mod support;
