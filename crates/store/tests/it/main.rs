//! The store, tested from outside: each behaviour on both engines.
#![allow(missing_docs, reason = "the names of tests say what they prove")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may fail"
)]

mod backups;
mod busy;
mod child;
mod files;
mod group_commit;
mod links;
mod migrations;
mod parity;
mod server_hung;
mod server_loss;
mod statements;
mod support;
mod sync_failure;
mod tls;
