//! Background jobs: claimed under a lease, then finished or released. Any process may run them. A
//! job whose holder died is claimed again at once by a process on the same machine, and by others
//! when its lease expires.

use crate::Oneiro;
use crate::lease_holder::has_exited;
use crate::views::Jobs;
use oneiro_model::{
    Actor, ActorKind, ActorSurface, Cursor, Error, Job, JobId, JobNeed, NewJob, Page, Ran, Result,
    SessionId, Span, Timestamp,
};
use oneiro_store::jobs::{Claim, Failure};
use oneiro_store::{Tx, jobs};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// Time until a lease expires that is not extended.
const LEASE: Span = Span::seconds(90);

/// Interval at which a holder extends its lease.
const HEARTBEAT: Duration = Duration::from_secs(30);

pub(crate) const COMPACT: &str = "compact";
pub(crate) const DECAY: &str = "decay_memories";
pub(crate) const SCRUB: &str = "scrub";
pub(crate) const PURGE_INDEX: &str = "purge_index";
pub(crate) const REBUILD_INDEX: &str = "rebuild_index";

/// How long one slice of background work learns from new messages.
pub(crate) const LEARN_SLICE: Duration = Duration::from_millis(200);

/// Finished compactions to keep; there are many, and only the latest are of interest.
const KEPT_KEYS: i64 = 1_000;

/// The outcome of a job that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Something it needs is unavailable: retry after this time.
    Postponed(Span),
}

impl Jobs<'_> {
    /// Runs due jobs until none is left or `limit` passes; a started job is finished. Models are
    /// called if a job needs one and this handle has it.
    pub fn run(&self, limit: Duration) -> Result<Ran> {
        let started = Instant::now();
        let mut ran = self.run_local(limit)?;
        let left = || limit.saturating_sub(started.elapsed());
        ran.add(self.oneiro.run_claimable(&self.oneiro.models(), left())?);
        self.oneiro.embed_for(left())?;
        Ok(ran)
    }

    /// The same without remote models, for callers that cannot wait for one.
    pub fn run_local(&self, limit: Duration) -> Result<Ran> {
        let started = Instant::now();
        if let Err(error) = self.oneiro.index_for(limit) {
            // Searches read the unindexed tail; a later process extends the index.
            tracing::info!(%error, "the text index was not extended");
        }
        let left = limit.saturating_sub(started.elapsed());
        if let Err(error) = self.oneiro.learn_for(left.min(LEARN_SLICE)) {
            tracing::info!(%error, "nothing was learnt from new messages");
        }
        self.oneiro.queue_idle_compactions();
        self.oneiro.end_idle_transcripts();
        self.oneiro.run_claimable(&[], limit.saturating_sub(started.elapsed()))
    }

    /// Jobs, newest first.
    pub fn list(&self, cursor: Option<Cursor>, limit: usize) -> Result<Page<Job>> {
        let before = cursor.map_or(i64::MAX, |cursor| cursor.key);
        let found = self.oneiro.store.read(|tx| jobs::list(tx, before, limit.saturating_add(1)))?;
        Ok(Page::of(found, limit))
    }
}

impl Oneiro {
    /// The models that this handle can offer a job.
    pub(crate) fn models(&self) -> Vec<JobNeed> {
        let model = self.llm.is_some().then_some(JobNeed::Model);
        let embedder = self.index.embedder().is_some().then_some(JobNeed::Embedder);
        model.into_iter().chain(embedder).collect()
    }

    /// Runs jobs whose needs are in `can_meet`, until none is due, `limit` passes, or the handle is
    /// cancelled.
    pub(crate) fn run_claimable(&self, can_meet: &[JobNeed], limit: Duration) -> Result<Ran> {
        let started = Instant::now();
        let mut ran = Ran::default();
        while started.elapsed() < limit && !self.cancel.is_cancelled() {
            let holder = self.job_holder();
            let claim = Claim {
                holder: holder.clone(),
                lease: LEASE,
                now: self.now(),
                can_meet: can_meet.to_vec(),
            };
            self.end_leases_of_dead_processes()?;
            // Reading first keeps an idle process from writing.
            if !self.store.read(|tx| jobs::is_due(tx, &claim))? {
                break;
            }
            let Some(job) = self.store.write(move |tx| jobs::claim(tx, &claim))? else { break };
            let worker = self.acting_as(Actor::new(ActorKind::Job, ActorSurface::Background));
            match worker.run_claimed(&job, &holder) {
                Ok(Outcome::Done) => {
                    ran.done += 1;
                    self.finish_job(job, holder)?;
                }
                Ok(Outcome::Postponed(time)) => self.release_job(job.id, holder, time)?,
                Err(_) if self.cancel.is_cancelled() => {
                    self.release_job(job.id, holder, Span::seconds(0))?;
                }
                Err(error) => {
                    ran.failed += 1;
                    tracing::warn!(job = %job.id, kind = job.kind, error = %error, "a job failed");
                    self.fail_job(job, holder, &error)?;
                }
            }
        }
        Ok(ran)
    }

    /// Ends the leases of processes that died on this machine.
    fn end_leases_of_dead_processes(&self) -> Result<()> {
        let now = self.now();
        let mut left = self.store.read(|tx| jobs::leased(tx, now))?;
        left.retain(|(_, holder)| has_exited(holder));
        if left.is_empty() {
            return Ok(());
        }
        self.store.write(move |tx| {
            left.iter().try_for_each(|(id, holder)| jobs::end_lease(tx, id, holder, now))
        })
    }

    /// Runs a job under its lease. A panic fails the job and nothing else.
    fn run_claimed(&self, job: &Job, holder: &str) -> Result<Outcome> {
        let run = || catch_unwind(AssertUnwindSafe(|| self.run_job(job)));
        self.while_held(&job.id, holder, run)
            .unwrap_or_else(|_| Err(Error::internal(format!("the job {} panicked", job.kind))))
    }

    /// Runs `work` while the lease of a job is extended.
    pub(crate) fn while_held<T>(&self, id: &JobId, holder: &str, work: impl FnOnce() -> T) -> T {
        let beat = || {
            let (id, holder, now) = (id.clone(), holder.to_owned(), self.now());
            let lease = jobs::Lease { until: now.plus(LEASE), now };
            self.store.write(move |tx| jobs::extend(tx, &id, &holder, lease)).map(|_| ())
        };
        with_heartbeat(beat, work)
    }

    /// A unique holder name per claim, because another lane of this process may claim the job when
    /// its lease expires.
    pub(crate) fn job_holder(&self) -> String {
        format!("{}.{}", self.holder, SessionId::from_random(self.ids.random()))
    }

    fn run_job(&self, job: &Job) -> Result<Outcome> {
        let done = match job.kind.as_str() {
            COMPACT => return self.run_compaction(job),
            SCRUB => self.store.scrub(&[], &|| self.cancel.is_cancelled()).map(|_| ()),
            DECAY => self.decay_memories(),
            PURGE_INDEX => self.purge_index(),
            REBUILD_INDEX => self.index().rebuild(&mut |_, _| {}),
            other => {
                Err(Error::invalid(format!("this Oneiro does not know the job kind {other:?}"))
                    .remedy("upgrade oneiro"))
            }
        };
        done.map(|()| Outcome::Done)
    }

    fn finish_job(&self, job: Job, holder: String) -> Result<()> {
        let now = self.now();
        self.store.write(move |tx| {
            if job.kind == COMPACT {
                jobs::remove_done(tx, COMPACT, KEPT_KEYS)?;
            }
            jobs::finish(tx, &job.id, &holder, now).map(|_| ())
        })
    }

    pub(crate) fn release_job(&self, id: JobId, holder: String, pause: Span) -> Result<()> {
        let run_at = self.now().plus(pause);
        self.store.write(move |tx| jobs::release(tx, &id, &holder, run_at))
    }

    fn fail_job(&self, job: Job, holder: String, error: &Error) -> Result<()> {
        let (now, error) = (self.now(), error.to_string());
        self.store.write(move |tx| {
            jobs::fail(tx, &Failure { job: &job, holder: &holder, error: &error }, now)
        })
    }

    /// A job to add inside a transaction.
    pub(crate) fn new_job(&self, kind: &str, payload: Value, run_at: Timestamp) -> NewJob {
        NewJob {
            id: JobId::from_random(self.ids.random()),
            kind: kind.to_owned(),
            payload,
            unique_key: Some(kind.to_owned()),
            needs: None,
            run_at,
        }
    }
}

/// Runs `work` while another thread calls `beat` every half minute. A failed beat is retried: a
/// lease outlasts two of them. If no thread can be started, the work runs without heartbeat, and
/// another process may claim it when the lease expires.
pub(crate) fn with_heartbeat<T>(
    beat: impl Fn() -> Result<()> + Send,
    work: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        let (working, done) = std::sync::mpsc::channel::<()>();
        let beats = move || {
            // The channel closes when the work ends, which ends the wait at once.
            while done.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                let _ = beat();
            }
        };
        let started =
            std::thread::Builder::new().name("oneiro-lease".to_owned()).spawn_scoped(scope, beats);
        if let Err(error) = started {
            tracing::warn!(%error, "no thread to extend a lease");
        }
        let answer = work();
        drop(working);
        answer
    })
}

/// Adds a job that the caller is about to run; if the caller dies, any process may claim it.
pub(crate) fn add_held(tx: &Tx<'_>, job: &NewJob, holder: &str, now: Timestamp) -> Result<JobId> {
    let id = jobs::add(tx, job, now)?;
    jobs::claim_by_id(tx, &id, holder, jobs::Lease { until: now.plus(LEASE), now })?;
    Ok(id)
}
