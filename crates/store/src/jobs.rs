//! Background jobs with leases. A job whose lease has expired can be claimed again.

use crate::aggregates::Table;
use crate::backend::Value;
use crate::{Tx, sequence};
use oneiro_model::{
    Error, ErrorKind, Job, JobId, JobNeed, JobState, NewJob, Result, Span, Timestamp,
};

/// The jobs that can be claimed: ?1 is the time; a lease after ?2 or a start after ?3 was set by a
/// wrong clock; ?4 and ?5 are needs that the process meets; a job due before ?6 has waited too long for
/// a process that meets its need. A job waits while another with its unique key runs.
macro_rules! claimable {
    () => {
        "FROM jobs j \
         WHERE (j.needs IS NULL OR j.needs IN (?4, ?5) OR j.next_run_at <= CAST(?6 AS BIGINT)) \
         AND ((j.state = 'running' AND (j.lease_until <= ?1 OR j.lease_until > ?2)) \
         OR (j.state = 'queued' AND (j.next_run_at <= ?1 OR j.next_run_at > ?3))) \
         AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.unique_key = j.unique_key \
         AND r.key <> j.key \
         AND r.state = 'running' AND r.lease_until > ?1 AND r.lease_until <= ?2)"
    };
}

statements! {
    INSERT = "INSERT INTO jobs (key, id, kind, state, payload, unique_key, attempts, next_run_at, \
              created_at, updated_at, needs) \
              VALUES (?1, ?2, ?3, 'queued', ?4, ?5, 0, ?6, ?7, ?7, ?8)";
    QUEUED = "SELECT id FROM jobs WHERE unique_key = ?1 AND state = 'queued'";
    RUNNING = "SELECT COUNT(*) FROM jobs WHERE unique_key = ?1 AND state = 'running'";
    SET_NEEDS = "UPDATE jobs SET needs = ?2 WHERE id = ?1 AND needs IS NULL";
    IS_DUE = concat!("SELECT COUNT(*) FROM (SELECT j.key ", claimable!(), " LIMIT 1) due");
    CLAIM = concat!(
        "UPDATE jobs SET state = 'running', holder = ?7, lease_until = ?8, \
         attempts = attempts + 1, updated_at = ?1 WHERE key = (SELECT j.key ", claimable!(),
        " ORDER BY j.next_run_at, j.key LIMIT 1) RETURNING id, kind, state, payload, lease_until, \
         attempts, last_error, next_run_at, needs");
    // A job that crashes its process must not run for ever.
    FAIL_EXHAUSTED = "UPDATE jobs SET state = 'failed', holder = NULL, lease_until = NULL, \
             last_error = 'every process that began it died or ran out of time', updated_at = ?1 \
             WHERE state = 'running' AND (lease_until <= ?1 OR lease_until > ?3) \
             AND attempts >= CAST(?2 AS BIGINT)";
    LEASED = "SELECT id, holder FROM jobs WHERE state = 'running' AND holder IS NOT NULL \
             AND lease_until > ?1";
    END_LEASE = "UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND holder = ?2 \
             AND state = 'running' AND lease_until > ?3";
    CLAIM_BY_ID = "UPDATE jobs SET state = 'running', holder = ?2, lease_until = ?3, \
             attempts = attempts + 1, updated_at = ?4 WHERE id = ?1 AND state = 'queued'";
    FINISH = "UPDATE jobs SET state = 'done', holder = NULL, lease_until = NULL, \
              last_error = NULL, updated_at = ?3 WHERE id = ?1 AND holder = ?2";
    REMOVE_DONE = "DELETE FROM jobs WHERE kind = ?1 AND state = 'done' \
              AND key < (SELECT key FROM sequence WHERE id = 1) - CAST(?2 AS BIGINT)";
    FAIL = "UPDATE jobs SET state = ?3, holder = NULL, lease_until = NULL, last_error = ?4, \
            next_run_at = ?5, updated_at = ?6 WHERE id = ?1 AND holder = ?2";
    RELEASE = "UPDATE jobs SET state = ?3, holder = NULL, lease_until = NULL, \
            attempts = attempts - 1, next_run_at = ?4, updated_at = ?4 \
            WHERE id = ?1 AND holder = ?2";
    FOLLOW_UPS = "SELECT COUNT(*) FROM jobs q JOIN jobs r ON r.unique_key = q.unique_key \
            WHERE r.id = ?1 AND q.state = 'queued'";
    EXTEND = "UPDATE jobs SET lease_until = ?3, updated_at = ?4 WHERE id = ?1 AND holder = ?2";
    LIST = "SELECT id, kind, state, payload, lease_until, attempts, last_error, next_run_at, \
            needs, key \
            FROM jobs WHERE key < CAST(?1 AS BIGINT) ORDER BY key DESC LIMIT CAST(?2 AS BIGINT)";
    UNFINISHED = "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "jobs",
    columns: "key, id, kind, state, payload, unique_key, holder, lease_until, attempts, \
                  last_error, next_run_at, created_at, updated_at, needs",
}];

/// The longest valid lease; a later one was set by a wrong clock.
const MAX_LEASE: Span = Span::seconds(900);

/// The longest valid delay; a later start was set by a wrong clock, and such a job runs at once.
pub const MAX_DELAY: Span = Span::seconds(3_600);

/// How long a job waits for a process that meets its need. Then it runs without: such a process may
/// never come back, and the job would block its unique key for ever.
const NEED_TIMEOUT_SECONDS: i64 = 3_600;

/// The longest backoff is 2 to this power, in seconds.
const MAX_BACKOFF_EXPONENT: i64 = 12;

/// How often a job is started before it fails for good.
const MAX_ATTEMPTS: i64 = 8;

/// Adds a job unless one with its unique key is queued; returns the one that will run. A running job
/// does not count: it may have read its input before the new job's was written.
pub fn add(tx: &Tx<'_>, job: &NewJob, now: Timestamp) -> Result<JobId> {
    let needs = job.needs.map(JobNeed::as_str);
    if let Some(unique) = &job.unique_key
        && let Some(id) = tx.first(QUEUED, &[unique.into()], |row| JobId::parse(row.text(0)?))?
    {
        if needs.is_some() {
            tx.execute(SET_NEEDS, &[id.as_str().into(), needs.into()])?;
        }
        return Ok(id);
    }
    let key = sequence::take_key(tx)?;
    let payload = job.payload.to_string();
    let values = [
        key.into(),
        job.id.as_str().into(),
        job.kind.as_str().into(),
        payload.as_str().into(),
        job.unique_key.as_deref().into(),
        job.run_at.micros().into(),
        now.micros().into(),
        needs.into(),
    ];
    tx.execute(INSERT, &values)?;
    Ok(job.id.clone())
}

/// Adds a job unless one with its unique key is queued or running: for work whose result does not
/// depend on when it started.
pub fn add_unless_running(tx: &Tx<'_>, job: &NewJob, now: Timestamp) -> Result<()> {
    let running = match &job.unique_key {
        Some(unique) => tx.one(RUNNING, &[unique.into()], |row| row.int(0))?,
        None => 0,
    };
    if running > 0 {
        return Ok(());
    }
    add(tx, job, now).map(|_| ())
}

/// A request for a job.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The name of the process that claims.
    pub holder: String,
    /// How long the lease lasts.
    pub lease: Span,
    /// The time.
    pub now: Timestamp,
    /// The needs that the process meets; jobs without a need are always claimed.
    pub can_meet: Vec<JobNeed>,
}

impl Claim {
    fn met(&self, need: JobNeed) -> &'static str {
        if self.can_meet.contains(&need) { need.as_str() } else { "" }
    }

    fn condition(&self) -> [Value<'static>; 6] {
        [
            self.now.micros().into(),
            self.now.plus(MAX_LEASE).micros().into(),
            self.now.plus(MAX_DELAY).micros().into(),
            self.met(JobNeed::Model).into(),
            self.met(JobNeed::Embedder).into(),
            self.now.plus(Span::seconds(-NEED_TIMEOUT_SECONDS)).micros().into(),
        ]
    }
}

/// The end of a lease, and the time at which it is set.
#[derive(Debug, Clone, Copy)]
pub struct Lease {
    /// When it ends.
    pub until: Timestamp,
    /// The current time.
    pub now: Timestamp,
}

/// Whether a job can be claimed.
pub fn is_due(tx: &Tx<'_>, claim: &Claim) -> Result<bool> {
    tx.one(IS_DUE, &claim.condition(), |row| Ok(row.int(0)? > 0))
}

/// Claims the next job that is due.
pub fn claim(tx: &Tx<'_>, claim: &Claim) -> Result<Option<Job>> {
    let far = claim.now.plus(MAX_LEASE).micros();
    tx.execute(FAIL_EXHAUSTED, &[claim.now.micros().into(), MAX_ATTEMPTS.into(), far.into()])?;
    let until = claim.now.plus(claim.lease).micros();
    let [now, lease, delay, model, embedder, overdue] = claim.condition();
    let holder = claim.holder.as_str().into();
    let values = [now, lease, delay, model, embedder, overdue, holder, until.into()];
    tx.first(CLAIM, &values, read)
}

/// The jobs with a valid lease, and their holders.
pub fn leased(tx: &Tx<'_>, now: Timestamp) -> Result<Vec<(JobId, String)>> {
    tx.all(LEASED, &[now.micros().into()], |row| {
        Ok((JobId::parse(row.text(0)?)?, row.text(1)?.to_owned()))
    })
}

/// Ends the lease of a process that has ended, so that the job can be claimed at once. The attempt
/// counts.
pub fn end_lease(tx: &Tx<'_>, id: &JobId, holder: &str, now: Timestamp) -> Result<()> {
    tx.execute(END_LEASE, &[id.as_str().into(), holder.into(), now.micros().into()]).map(|_| ())
}

/// Claims one particular job if it is still queued.
pub fn claim_by_id(tx: &Tx<'_>, id: &JobId, holder: &str, lease: Lease) -> Result<()> {
    let (until, now) = (lease.until.micros(), lease.now.micros());
    let values = [id.as_str().into(), holder.into(), until.into(), now.into()];
    tx.execute(CLAIM_BY_ID, &values).map(|_| ())
}

/// Marks a job as done; false if the lease was lost.
pub fn finish(tx: &Tx<'_>, id: &JobId, holder: &str, now: Timestamp) -> Result<bool> {
    Ok(tx.execute(FINISH, &[id.as_str().into(), holder.into(), now.micros().into()])? > 0)
}

/// Removes done jobs of a kind, except those whose key is among the last `keys` that were issued.
pub fn remove_done(tx: &Tx<'_>, kind: &str, keys: i64) -> Result<()> {
    tx.execute(REMOVE_DONE, &[kind.into(), keys.into()]).map(|_| ())
}

/// Extends a lease; false if it was lost.
pub fn extend(tx: &Tx<'_>, id: &JobId, holder: &str, lease: Lease) -> Result<bool> {
    let (until, now) = (lease.until.micros(), lease.now.micros());
    let values = [id.as_str().into(), holder.into(), until.into(), now.into()];
    Ok(tx.execute(EXTEND, &values)? > 0)
}

/// A failed attempt.
pub struct Failure<'a> {
    /// The job, as claimed.
    pub job: &'a Job,
    /// Who held it.
    pub holder: &'a str,
    /// Why it failed.
    pub error: &'a str,
}

/// Queues a failed job again with exponential backoff. It fails for good after too many attempts, or if
/// a newer job with its unique key is queued.
pub fn fail(tx: &Tx<'_>, failure: &Failure<'_>, now: Timestamp) -> Result<()> {
    let job = failure.job;
    let is_final = job.attempts >= MAX_ATTEMPTS || has_follow_up(tx, &job.id)?;
    let state = if is_final { JobState::Failed } else { JobState::Queued };
    let backoff = Span::seconds(1 << job.attempts.clamp(0, MAX_BACKOFF_EXPONENT));
    let values = [
        job.id.as_str().into(),
        failure.holder.into(),
        state.as_str().into(),
        failure.error.into(),
        now.plus(backoff).micros().into(),
        now.micros().into(),
    ];
    tx.execute(FAIL, &values).map(|_| ())
}

/// Returns an interrupted job to the queue, to start again at `run_at`. The attempt does not count.
pub fn release(tx: &Tx<'_>, id: &JobId, holder: &str, run_at: Timestamp) -> Result<()> {
    let state = if has_follow_up(tx, id)? { JobState::Done } else { JobState::Queued };
    let values = [id.as_str().into(), holder.into(), state.as_str().into(), run_at.micros().into()];
    tx.execute(RELEASE, &values).map(|_| ())
}

/// Whether a newer job with the same key is queued.
fn has_follow_up(tx: &Tx<'_>, id: &JobId) -> Result<bool> {
    tx.one(FOLLOW_UPS, &[id.as_str().into()], |row| Ok(row.int(0)? > 0))
}

/// Jobs, newest first, below `before`.
pub fn list(tx: &Tx<'_>, before: i64, limit: usize) -> Result<Vec<(i64, Job)>> {
    let values = [before.into(), (limit as i64).into()];
    tx.all(LIST, &values, |row| Ok((row.int(9)?, read(row)?)))
}

/// The number of queued and running jobs.
pub fn unfinished(tx: &Tx<'_>) -> Result<i64> {
    tx.one(UNFINISHED, &[], |row| row.int(0))
}

fn read(row: &dyn crate::backend::Row) -> Result<Job> {
    let payload = serde_json::from_str(row.text(3)?).map_err(|error| {
        Error::new(ErrorKind::Corrupt, "a job's payload is not JSON").because(error)
    })?;
    Ok(Job {
        id: JobId::parse(row.text(0)?)?,
        kind: row.text(1)?.to_owned(),
        state: JobState::parse(row.text(2)?).map_err(unknown_value)?,
        payload,
        lease_until: row.opt_int(4)?.map(Timestamp::from_micros),
        attempts: row.int(5)?,
        last_error: row.opt_string(6)?,
        next_run_at: Timestamp::from_micros(row.int(7)?),
        needs: row
            .opt_string(8)?
            .as_deref()
            .map(JobNeed::parse)
            .transpose()
            .map_err(unknown_value)?,
    })
}

/// A stored value that this version does not know.
fn unknown_value(error: Error) -> Error {
    Error::new(ErrorKind::Corrupt, format!("a stored job: {error}"))
}
