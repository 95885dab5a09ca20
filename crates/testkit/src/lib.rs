//! Support for tests: spaces on both engines, faults, clocks, servers and seeds of random tests.

mod clock;
mod conversation;
mod faults;
mod growth;
mod matrix;
pub mod months;
mod random;
mod server;

pub use clock::JumpingClock;
pub use conversation::{awkward_messages, words};
pub use faults::Faults;
pub use growth::takes_at_most;
pub use matrix::{Backend, TestSpace};
pub use random::{CASES_VARIABLE, SEED_VARIABLE, proptest_config, test_seed};
pub use server::OwnServer;

/// Transcripts of agents at work, each with the decisions, corrections and outcomes that a summary
/// of it should keep, as `oneiro bench context --work` reads them.
pub const AGENT_WORK: &str = include_str!("../assets/agent_work.json");

/// Transcripts of agents at work, with questions and the messages that answer them, as `oneiro
/// bench recall` reads them; `bench/src/agents.rs` documents the form.
pub const AGENTS: &str = include_str!("../assets/agents.json");

/// Declares tests that run once on SQLite and once on PostgreSQL.
///
/// ```ignore
/// oneiro_testkit::on_both_backends! {
///     fn appends_are_kept(space) { ... }
/// }
/// ```
#[macro_export]
macro_rules! on_both_backends {
    ($($(#[$meta:meta])* fn $name:ident($space:ident) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $(#[$meta])*
            fn check($space: &$crate::TestSpace) $body

            #[test]
            fn on_sqlite() {
                check(&$crate::TestSpace::new($crate::Backend::Sqlite));
            }

            #[test]
            fn on_postgres() {
                check(&$crate::TestSpace::new($crate::Backend::Postgres));
            }
        }
    )*};
}
