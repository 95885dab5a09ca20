//! How a store is opened.

use crate::schema::{CURRENT, SchemaSet};
pub use oneiro_model::host::Durability;
use std::time::Duration;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long a writer waits for other processes before it answers `busy`.
    pub busy_timeout: Duration,
    /// How long a statement may run on a PostgreSQL server before it is given up, the wait for
    /// locks not included. Migrations and the clean-up of an erasure have no limit but that the
    /// server answers.
    pub statement_timeout: Duration,
    /// How many reads may run at once.
    pub readers: usize,
    /// Refuse to create a store that does not exist.
    pub must_exist: bool,
    /// The migrations to bring the store to; tests may add to them.
    pub schema: SchemaSet,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(20),
            // Generous, since it ends real work: a server that hangs is noticed within seconds.
            statement_timeout: Duration::from_secs(300),
            readers: 8,
            must_exist: false,
            schema: CURRENT,
        }
    }
}
