//! Background work: claimed under a lease, finished or put back. Any process may drain the queue;
//! a job whose holder died is taken again when its lease runs out.

use crate::Oneiro;
use oneiro_model::{Cursor, Error, Job, JobId, NewJob, Page, Result, Span, Timestamp};
use oneiro_store::jobs::Failure;
use oneiro_store::{Tx, jobs};
use serde_json::Value;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long a job stays with a holder that no longer says it is alive.
const LEASE: Span = Span::seconds(90);

/// How often a holder says so.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// A drain that may take at least this long may ask a model.
const PATIENT: Duration = Duration::from_secs(1);

/// The kinds of work there are.
pub(crate) const COMPACT: &str = "compact";
pub(crate) const SCRUB: &str = "scrub";
pub(crate) const PURGE_INDEX: &str = "purge_index";
pub(crate) const REBUILD_INDEX: &str = "rebuild_index";

/// Compactions are many, and only the last of them are of interest: as many keys are given by the
/// time an old one is forgotten.
const KEPT_KEYS: i64 = 1_000;

/// What a drain did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Ran {
    /// Jobs finished.
    pub done: usize,
    /// Attempts that failed and will be repeated, or were given up.
    pub failed: usize,
}

impl Oneiro {
    /// Runs due jobs until none is left or `limit` is over; a job that has begun is finished.
    pub fn run_jobs(&self, limit: Duration) -> Result<Ran> {
        let started = Instant::now();
        let mut ran = Ran::default();
        if let Err(error) = self.fold_for(limit) {
            // The tail is searched as it is, and folded another time.
            tracing::info!(%error, "the text index waits");
        }
        if let Err(error) = self.compact_idle() {
            tracing::info!(%error, "idle sessions wait");
        }
        while started.elapsed() < limit {
            let (holder, now) = (self.holder.clone(), self.now());
            // Looking before claiming keeps an idle process from writing.
            let due = self.store.read(jobs::next_at)?.is_some_and(|at| at <= now);
            if !due {
                break;
            }
            let Some(job) = self.store.write(move |tx| jobs::claim(tx, &holder, LEASE, now))?
            else {
                break;
            };
            // Whoever has little time must not wait for a model.
            let patient = limit >= PATIENT;
            match self.holding(&job, || self.run_job(&job, patient)) {
                Ok(()) => {
                    ran.done += 1;
                    self.finish_job(job)?;
                }
                Err(error) => {
                    ran.failed += 1;
                    tracing::warn!(job = %job.id, kind = job.kind, error = %error, "a job failed");
                    self.fail_job(job, &error)?;
                }
            }
        }
        self.embed_for(limit.saturating_sub(started.elapsed()))?;
        Ok(ran)
    }

    /// Runs `work` while a thread beside it keeps the lease.
    fn holding<T>(&self, job: &Job, work: impl FnOnce() -> T) -> T {
        let beat = || {
            let (id, holder, now) = (job.id.clone(), self.holder.clone(), self.now());
            let until = (now.plus(LEASE), now);
            self.store.write(move |tx| jobs::extend(tx, &id, &holder, until)).map(|_| ())
        };
        beating(beat, work)
    }

    fn run_job(&self, job: &Job, patient: bool) -> Result<()> {
        match job.kind.as_str() {
            COMPACT => self.run_compaction(job, patient),
            SCRUB => self.store.scrub(&[]).map(|_| ()),
            PURGE_INDEX => self.purge_index(),
            REBUILD_INDEX => self.rebuild_index(&mut |_, _| {}),
            other => {
                Err(Error::invalid(format!("this Oneiro does not know the job kind {other:?}"))
                    .remedy("upgrade oneiro"))
            }
        }
    }

    fn finish_job(&self, job: Job) -> Result<()> {
        let (holder, now) = (self.holder.clone(), self.now());
        self.store.write(move |tx| {
            if job.kind == COMPACT {
                jobs::forget_done(tx, COMPACT, KEPT_KEYS)?;
            }
            jobs::finish(tx, &job.id, &holder, now).map(|_| ())
        })
    }

    fn fail_job(&self, job: Job, error: &Error) -> Result<()> {
        let (holder, now, error) = (self.holder.clone(), self.now(), error.to_string());
        self.store.write(move |tx| {
            jobs::fail(tx, &Failure { job: &job, holder: &holder, error: &error }, now)
        })
    }

    /// Jobs, newest first.
    pub fn list_jobs(&self, cursor: Option<Cursor>, limit: usize) -> Result<Page<Job>> {
        let before = cursor.map_or(i64::MAX, |cursor| cursor.key);
        let found = self.store.read(|tx| jobs::list(tx, before, limit.saturating_add(1)))?;
        Ok(Page::of(found, limit))
    }

    /// A job to add inside a transaction.
    pub(crate) fn new_job(&self, kind: &str, payload: Value, run_at: Timestamp) -> NewJob {
        NewJob {
            id: JobId::from_random(self.ids.random()),
            kind: kind.to_owned(),
            payload,
            unique_key: Some(kind.to_owned()),
            run_at,
        }
    }
}

/// Runs `work` while a thread beside it says every half minute that it goes on. A beat that fails
/// is tried again: leases outlast two of them.
pub(crate) fn beating<T>(beat: impl Fn() -> Result<()> + Send, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (working, done) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            // The channel closes when the work ends, and then the wait ends at once.
            while done.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                let _ = beat();
            }
        });
        let answer = work();
        drop(working);
        answer
    })
}

/// Marks a job that this process did itself, right after it was added, as done.
pub(crate) fn done_by(tx: &Tx<'_>, id: &JobId, holder: &str, now: Timestamp) -> Result<()> {
    jobs::claim_this(tx, id, holder, (now.plus(LEASE), now))?;
    jobs::finish(tx, id, holder, now).map(|_| ())
}
