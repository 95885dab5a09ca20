//! Background work and its leases.

use crate::{JobId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

json_name! {
    /// Where a job stands.
    JobState "state" {
        /// Waiting for its time.
        Queued "queued",
        /// Held under a lease.
        Running "running",
        /// Finished.
        Done "done",
        /// Given up after too many attempts.
        Failed "failed",
    }
}

json_name! {
    /// What a job cannot be done without. Only a process that has it claims the job.
    JobNeed "needs" {
        /// A model that writes.
        Model "model",
        /// A model elsewhere that makes vectors.
        Embedder "embedder",
    }
}

/// Work to be done later.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// What to do.
    pub kind: String,
    /// With what.
    pub payload: Value,
    /// At most one queued job per key: a second one with the same key is not added.
    pub unique_key: Option<String>,
    /// What it cannot be done without.
    pub needs: Option<JobNeed>,
    /// Not before.
    pub run_at: Timestamp,
}

/// A stored job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What it does.
    pub kind: String,
    /// Where it stands.
    pub state: JobState,
    /// With what it works.
    pub payload: Value,
    /// Until when its holder may work on it.
    pub lease_until: Option<Timestamp>,
    /// How often it was begun.
    pub attempts: i64,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it runs next.
    pub next_run_at: Timestamp,
    /// What it cannot be done without.
    pub needs: Option<JobNeed>,
}

/// What a drain did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ran {
    /// Jobs finished.
    pub done: usize,
    /// Attempts that failed and will be repeated, or were given up.
    pub failed: usize,
}

impl Ran {
    /// Adds what another drain did.
    pub fn add(&mut self, other: Ran) {
        self.done += other.done;
        self.failed += other.failed;
    }
}
