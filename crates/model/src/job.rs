//! Background work and its leases.

use crate::{Error, JobId, Result, Timestamp};
use serde::Serialize;
use serde_json::Value;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Waiting for its time.
    Queued,
    /// Held under a lease.
    Running,
    /// Finished.
    Done,
    /// Given up after too many attempts.
    Failed,
}

impl JobState {
    /// Reads a state.
    pub fn parse(name: &str) -> Result<JobState> {
        Ok(match name {
            "queued" => JobState::Queued,
            "running" => JobState::Running,
            "done" => JobState::Done,
            "failed" => JobState::Failed,
            _ => {
                return Err(Error::new(
                    crate::ErrorKind::Corrupt,
                    format!("unknown job state {name:?}"),
                ));
            }
        })
    }

    /// The state as text.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
        }
    }
}

/// What a job cannot be done without. Only a process that has it claims the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobNeed {
    /// A model that writes.
    Model,
    /// A model elsewhere that makes vectors.
    Embedder,
}

impl JobNeed {
    /// Reads a need.
    pub fn parse(name: &str) -> Result<JobNeed> {
        match name {
            "model" => Ok(JobNeed::Model),
            "embedder" => Ok(JobNeed::Embedder),
            _ => Err(Error::new(
                crate::ErrorKind::Corrupt,
                format!("unknown need {name:?} of a job"),
            )),
        }
    }

    /// The need as text.
    pub fn as_str(self) -> &'static str {
        match self {
            JobNeed::Model => "model",
            JobNeed::Embedder => "embedder",
        }
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
#[derive(Debug, Clone, Serialize)]
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
