//! Compacts contexts that exceed their budget: above the hard threshold before the window is
//! returned, within a time limit; above the soft threshold in the background. Idle sessions are
//! compacted as well, if the space is configured for it.

use super::compact::Goal;
use crate::Oneiro;
use crate::jobs::{self, Outcome};
use oneiro_model::{
    CompactRequest, Job, JobNeed, NewJob, Result, SessionId, Span, Timestamp, WindowRequest,
};
use oneiro_store::contexts;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Smaller windows never compact: they are probably only a look.
const COMPACT_BUDGET_TOKENS_MIN: i64 = 4_000;

/// Time limit of a compaction before a window is returned.
const FOREGROUND_TIME_LIMIT: Duration = Duration::from_millis(250);

/// Targets in percent of the budget: in the foreground and in the background.
const ENDS: (i64, i64) = (70, 50);

/// Delay before a failed model is called again for a compaction.
const MODEL_RETRY: Span = Span::seconds(600);

/// How far back idle sessions are searched.
const IDLE_WITHIN_MINUTES: i64 = 60 * 24 * 7;

/// Idle sessions queued at once.
const IDLE_AT_ONCE: usize = 64;

impl Oneiro {
    /// Compacts a context that exceeds the budget of a window; returns true if it changed.
    pub(super) fn compact_over_budget(
        &self,
        (key, id): (i64, &SessionId),
        request: &WindowRequest,
        tokens: i64,
    ) -> Result<bool> {
        let budget = (request.budget - request.reserve) as i64;
        if budget < COMPACT_BUDGET_TOKENS_MIN {
            return Ok(false);
        }
        let rules = self.store.read(|tx| self.settings_in(tx))?;
        if tokens <= budget.saturating_mul(rules.context_threshold as i64) / 100 {
            return Ok(false);
        }
        let mut made = 0;
        if tokens > budget {
            let goal = Goal {
                until: Some(budget * ENDS.0 / 100),
                model: false,
                deadline: Some(Instant::now() + FOREGROUND_TIME_LIMIT),
            };
            made = match self.compact_now((key, id), goal) {
                Ok(made) => made,
                // The window is returned in any case, and names what it leaves out.
                Err(error) => {
                    tracing::info!(%error, "a context was not compacted at once");
                    0
                }
            };
        }
        self.queue_compaction((key, id), budget * ENDS.1 / 100);
        Ok(made > 0)
    }

    /// Leaves a job that compacts a session, unless one waits or nothing came since the last.
    fn queue_compaction(&self, (key, id): (i64, &SessionId), until: i64) {
        let last = self.store.read(|tx| oneiro_store::visibility::head(tx, key));
        let last = last.ok().flatten().map_or(0, |head| head.0);
        if let Ok(mut seen) = self.compacted_at.lock() {
            if seen.get(&key).is_some_and(|seen| *seen == last) {
                return;
            }
            if seen.len() > 4_096 {
                seen.clear();
            }
            seen.insert(key, last);
        }
        let job = self.compact_job(id, Some(until), self.now());
        let now = self.now();
        let added = self.store.write(move |tx| oneiro_store::jobs::add(tx, &job, now).map(|_| ()));
        if let Err(error) = added {
            tracing::info!(%error, "a compaction was not put off to the background");
        }
    }

    fn compact_job(&self, id: &SessionId, until: Option<i64>, at: Timestamp) -> NewJob {
        let payload = json!({"session": id.as_str(), "until": until});
        let unique_key = Some(format!("{}:{}", jobs::COMPACT, id.as_str()));
        // A process without the model would finish the job with extracts, permanently.
        let needs = self.llm.is_some().then_some(JobNeed::Model);
        NewJob { unique_key, needs, ..self.new_job(jobs::COMPACT, payload, at) }
    }

    /// Runs a queued compaction.
    pub(crate) fn run_compaction(&self, job: &Job) -> Result<Outcome> {
        let session = job.payload.get("session").and_then(Value::as_str).unwrap_or_default();
        let until = job.payload.get("until").and_then(Value::as_u64);
        let id = SessionId::new(session)?;
        let may_call_model = job.needs == Some(JobNeed::Model) && self.llm.is_some();
        let failures = self.model_calls.failures();
        let request = CompactRequest {
            until: until.map(|until| usize::try_from(until).unwrap_or(usize::MAX)),
            // Extracts made in the foreground are rewritten while the window changes anyway.
            redo: may_call_model,
        };
        match self.compact_by(&id, &request, may_call_model) {
            // The session was deleted, and its context with it.
            Err(error) if error.kind() == oneiro_model::ErrorKind::NotFound => Ok(Outcome::Done),
            // Extracts stand in while the model is unavailable, and are rewritten later.
            Ok(_) if self.model_calls.failures() > failures => Ok(Outcome::Postponed(MODEL_RETRY)),
            compacted => compacted.map(|_| Outcome::Done),
        }
    }

    /// Queues compactions of idle sessions; failures are retried a minute later.
    pub(crate) fn queue_idle_compactions(&self) {
        if let Err(error) = self.queue_idle() {
            tracing::info!(%error, "idle sessions were not queued for compaction");
        }
    }

    /// Queues compactions of sessions without recent messages, if the space is configured for it;
    /// at most once a minute.
    fn queue_idle(&self) -> Result<()> {
        let now = self.now();
        {
            let Ok(mut looked) = self.idle_checked_at.lock() else { return Ok(()) };
            let minute = now.micros().div_euclid(60_000_000);
            if *looked == Some(minute) {
                return Ok(());
            }
            *looked = Some(minute);
        }
        let after = self.store.read(|tx| self.settings_in(tx))?.idle_compact_after;
        if after == 0 {
            return Ok(());
        }
        let minutes = i64::try_from(after).unwrap_or(i64::MAX / 60);
        let until = now.plus(Span::seconds(-minutes * 60)).micros().div_euclid(60_000_000);
        let idle = self
            .store
            .read(|tx| contexts::idle(tx, (until - IDLE_WITHIN_MINUTES, until), IDLE_AT_ONCE))?;
        for id in idle {
            let job = self.compact_job(&id, None, now);
            self.store.write(move |tx| oneiro_store::jobs::add(tx, &job, now).map(|_| ()))?;
        }
        Ok(())
    }
}
