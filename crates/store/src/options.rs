//! Options for opening a store.

use crate::schema::{CURRENT, SchemaSet};
pub use oneiro_model::host::Durability;
use std::time::Duration;

/// Options for opening a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long a writer waits for other writers before it fails with `busy`.
    pub busy_timeout: Duration,
    /// How long a statement may run on a PostgreSQL server, without the wait for locks. Migrations
    /// and the clean-up of an erasure may take longer, as long as the server responds.
    pub statement_timeout: Duration,
    /// The maximum number of concurrent reads.
    pub readers: usize,
    /// Fail instead of creating a store that does not exist.
    pub must_exist: bool,
    /// The migrations to apply; tests add to them.
    pub schema: SchemaSet,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(20),
            // Long, because it aborts real work; a server that hangs is noticed within seconds.
            statement_timeout: Duration::from_secs(300),
            readers: 8,
            must_exist: false,
            schema: CURRENT,
        }
    }
}
