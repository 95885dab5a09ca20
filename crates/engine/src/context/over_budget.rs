//! Prepares summaries before they are needed: for a window that does not show everything at once,
//! within a time limit; the rest, and whatever a model writes, in the background. Idle sessions are
//! compacted as well, if the space is configured for it.

use super::compact::Goal;
use super::plan::Reach;
use crate::Oneiro;
use crate::jobs::{self, Outcome};
use oneiro_model::{
    CompactRequest, Job, JobNeed, NewJob, Result, SessionId, Span, Timestamp, WindowRequest,
};
use oneiro_store::{contexts, costs};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Time limit of a compaction before a window is returned.
const FOREGROUND_TIME_LIMIT: Duration = Duration::from_millis(250);

/// Sessions of which a process remembers that they were compacted or prepared.
const SESSIONS_KNOWN_MAX: usize = 4_096;

/// Delay before a failed model is called again for a compaction.
const MODEL_RETRY: Span = Span::seconds(600);

/// How far back idle sessions are searched.
const IDLE_WITHIN_MINUTES: i64 = 60 * 24 * 7;

/// Idle sessions queued at once.
const IDLE_AT_ONCE: usize = 64;

impl Oneiro {
    /// Makes the summaries that a window lacks, as extracts; true if it made any.
    pub(super) fn prepare_at_once(&self, session: (i64, &SessionId)) -> bool {
        let goal = Goal {
            reach: Reach::NewestTurn,
            model: false,
            deadline: Some(Instant::now() + FOREGROUND_TIME_LIMIT),
        };
        match self.compact_now(session, goal) {
            Ok(prepared) => {
                self.set_is_prepared(session.0, !prepared.ran_out_of_time);
                prepared.summaries > 0
            }
            // The window is returned in any case, and names what it leaves out.
            Err(error) => {
                tracing::info!(%error, "summaries were not made at once");
                false
            }
        }
    }

    /// Whether this process has made all summaries that the last window of a session lacked. Another
    /// process may have run out of time, so what was not made here is tried here.
    pub(super) fn is_prepared(&self, session_key: i64) -> bool {
        self.prepared.lock().is_ok_and(|sessions| sessions.contains(&session_key))
    }

    fn set_is_prepared(&self, session_key: i64, is_prepared: bool) {
        let Ok(mut sessions) = self.prepared.lock() else { return };
        if !is_prepared {
            sessions.remove(&session_key);
            return;
        }
        if sessions.len() > SESSIONS_KNOWN_MAX {
            sessions.clear();
        }
        sessions.insert(session_key);
    }

    /// Leaves a job that prepares summaries for a window that is nearly full, unless little came
    /// since the last.
    pub(super) fn prepare_later(
        &self,
        (key, id): (i64, &SessionId),
        (request, tokens): (&WindowRequest, usize),
    ) {
        if let Err(error) = self.queue_compaction((key, id), (request, tokens)) {
            tracing::info!(%error, "a compaction was not put off to the background");
        }
    }

    fn queue_compaction(
        &self,
        (key, id): (i64, &SessionId),
        (request, tokens): (&WindowRequest, usize),
    ) -> Result<()> {
        let budget = request.budget - request.reserve;
        let rules = self.store.read(|tx| self.settings_in(tx))?;
        if tokens <= budget.saturating_mul(rules.context_threshold) / 100 {
            return Ok(());
        }
        let last = self.store.read(|tx| costs::last(tx, key))?.map_or(0, |cost| cost.total);
        if let Ok(mut queued) = self.compacted_at.lock() {
            let enough = |at: &i64| last - at >= rules.leaf_chunk_tokens as i64;
            if !queued.get(&key).is_none_or(enough) {
                return Ok(());
            }
            if queued.len() > SESSIONS_KNOWN_MAX {
                queued.clear();
            }
            queued.insert(key, last);
        }
        let (job, now) = (self.compact_job(id, Some(budget), self.now()), self.now());
        let added = self.store.write(move |tx| oneiro_store::jobs::add(tx, &job, now).map(|_| ()));
        if added.is_err()
            && let Ok(mut queued) = self.compacted_at.lock()
        {
            queued.remove(&key);
        }
        added
    }

    fn compact_job(&self, id: &SessionId, until: Option<usize>, at: Timestamp) -> NewJob {
        let payload = json!({"session": id.as_str(), "until": until});
        let unique_key = Some(format!("{}:{}", jobs::COMPACT, id.as_str()));
        // A process without the model would finish the job with extracts, permanently.
        let needs = self.llm.is_some().then_some(JobNeed::Model);
        NewJob { unique_key, needs, ..self.new_job(jobs::COMPACT, payload, at) }
    }

    /// Runs a queued compaction.
    pub(crate) fn run_compaction(&self, job: &Job) -> Result<Outcome> {
        let session = job.payload.get("session").and_then(Value::as_str).unwrap_or_default();
        // For a window that is nearly full everything is prepared, for an idle session what is worth
        // it.
        let budget = job.payload.get("until").and_then(Value::as_u64);
        let id = SessionId::new(session)?;
        if let Some(budget) = budget.and_then(|budget| usize::try_from(budget).ok()) {
            self.learn_before_leaving();
            self.call_leaving_hook(&id, budget);
        }
        let may_call_model = job.needs == Some(JobNeed::Model) && self.llm.is_some();
        let failures = self.model_calls.failures();
        let goal = Goal {
            reach: if budget.is_some() { Reach::NewestTurn } else { Reach::FreshTail },
            model: may_call_model,
            deadline: None,
        };
        // Extracts that were made for a window are rewritten by the model.
        let request = CompactRequest { until: None, redo: may_call_model };
        match self.compact_by(&id, &request, goal) {
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
