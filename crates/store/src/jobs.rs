//! Jobs: rows with leases. A lease that ran out is free to take again.

use crate::{Tx, sequence};
use oneiro_model::{Error, ErrorKind, Job, JobId, JobState, NewJob, Result, Span, Timestamp};

statements! {
    INSERT = "INSERT INTO jobs (key, id, kind, state, payload, unique_key, attempts, next_run_at, \
              created_at, updated_at) VALUES (?1, ?2, ?3, 'queued', ?4, ?5, 0, ?6, ?7, ?7)";
    WAITING = "SELECT id FROM jobs WHERE unique_key = ?1 AND state IN ('queued', 'running')";
    CLAIM = "UPDATE jobs SET state = 'running', holder = ?1, lease_until = ?2, \
             attempts = attempts + 1, updated_at = ?3 WHERE key = (\
             SELECT key FROM jobs WHERE (state = 'queued' AND next_run_at <= ?3) \
             OR (state = 'running' AND lease_until <= ?3) \
             ORDER BY next_run_at, key LIMIT 1) \
             RETURNING id, kind, state, payload, lease_until, attempts, last_error, next_run_at";
    // A job that takes its holder down with it must not do so for ever.
    GIVE_UP = "UPDATE jobs SET state = 'failed', holder = NULL, lease_until = NULL, \
             last_error = 'every process that began it died or ran out of time', updated_at = ?1 \
             WHERE state = 'running' AND lease_until <= ?1 AND attempts >= CAST(?2 AS BIGINT)";
    CLAIM_THIS = "UPDATE jobs SET state = 'running', holder = ?2, lease_until = ?3, \
             attempts = attempts + 1, updated_at = ?4 WHERE id = ?1 AND state = 'queued'";
    FINISH = "UPDATE jobs SET state = 'done', holder = NULL, lease_until = NULL, \
              last_error = NULL, updated_at = ?3 WHERE id = ?1 AND holder = ?2";
    FORGET_DONE = "DELETE FROM jobs WHERE kind = ?1 AND state = 'done' \
              AND key < (SELECT key FROM sequence WHERE id = 1) - CAST(?2 AS BIGINT)";
    FAIL = "UPDATE jobs SET state = ?3, holder = NULL, lease_until = NULL, last_error = ?4, \
            next_run_at = ?5, updated_at = ?6 WHERE id = ?1 AND holder = ?2";
    EXTEND = "UPDATE jobs SET lease_until = ?3, updated_at = ?4 WHERE id = ?1 AND holder = ?2";
    LIST = "SELECT id, kind, state, payload, lease_until, attempts, last_error, next_run_at, key \
            FROM jobs WHERE key < CAST(?1 AS BIGINT) ORDER BY key DESC LIMIT CAST(?2 AS BIGINT)";
    UNFINISHED = "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')";
    NEXT_AT = "SELECT MIN(CASE WHEN state = 'queued' THEN next_run_at ELSE lease_until END) \
               FROM jobs WHERE state IN ('queued', 'running')";
}

/// How often a job is begun before it is given up.
const ATTEMPTS: i64 = 8;

/// Adds a job, unless one with its unique key waits already; answers the one that will run.
pub fn add(tx: &Tx<'_>, job: &NewJob, now: Timestamp) -> Result<JobId> {
    if let Some(unique) = &job.unique_key
        && let Some(id) = tx.first(WAITING, &[unique.into()], |row| JobId::parse(row.text(0)?))?
    {
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
    ];
    tx.execute(INSERT, &values)?;
    Ok(job.id.clone())
}

/// Takes the next job that is due, under a lease.
pub fn claim(tx: &Tx<'_>, holder: &str, lease: Span, now: Timestamp) -> Result<Option<Job>> {
    tx.execute(GIVE_UP, &[now.micros().into(), ATTEMPTS.into()])?;
    let until = now.plus(lease).micros();
    tx.first(CLAIM, &[holder.into(), until.into(), now.micros().into()], read)
}

/// Takes one particular job, if it still waits.
pub fn claim_this(
    tx: &Tx<'_>,
    id: &JobId,
    holder: &str,
    until: (Timestamp, Timestamp),
) -> Result<()> {
    let (until, now) = until;
    let values = [id.as_str().into(), holder.into(), until.micros().into(), now.micros().into()];
    tx.execute(CLAIM_THIS, &values).map(|_| ())
}

/// Marks a job done; false when the lease was lost meanwhile.
pub fn finish(tx: &Tx<'_>, id: &JobId, holder: &str, now: Timestamp) -> Result<bool> {
    Ok(tx.execute(FINISH, &[id.as_str().into(), holder.into(), now.micros().into()])? > 0)
}

/// Forgets jobs of a kind that were done long ago: before the last so many keys were given.
pub fn forget_done(tx: &Tx<'_>, kind: &str, keys: i64) -> Result<()> {
    tx.execute(FORGET_DONE, &[kind.into(), keys.into()]).map(|_| ())
}

/// Gives a job more time, until the first of `until`, seen at the second; false when the lease was
/// lost meanwhile.
pub fn extend(
    tx: &Tx<'_>,
    id: &JobId,
    holder: &str,
    until: (Timestamp, Timestamp),
) -> Result<bool> {
    let (until, now) = until;
    let values = [id.as_str().into(), holder.into(), until.micros().into(), now.micros().into()];
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

/// Puts a failed job back with a growing pause, or gives it up.
pub fn fail(tx: &Tx<'_>, failure: &Failure<'_>, now: Timestamp) -> Result<()> {
    let job = failure.job;
    let state = if job.attempts >= ATTEMPTS { JobState::Failed } else { JobState::Queued };
    let pause = Span::seconds(1 << job.attempts.clamp(0, 12));
    let values = [
        job.id.as_str().into(),
        failure.holder.into(),
        state.as_str().into(),
        failure.error.into(),
        now.plus(pause).micros().into(),
        now.micros().into(),
    ];
    tx.execute(FAIL, &values).map(|_| ())
}

/// Jobs, newest first, below `before`.
pub fn list(tx: &Tx<'_>, before: i64, limit: usize) -> Result<Vec<(i64, Job)>> {
    let values = [before.into(), (limit as i64).into()];
    tx.all(LIST, &values, |row| Ok((row.int(8)?, read(row)?)))
}

/// How many jobs wait or run.
pub fn unfinished(tx: &Tx<'_>) -> Result<i64> {
    tx.one(UNFINISHED, &[], |row| row.int(0))
}

/// When the next job is due, if any waits.
pub fn next_at(tx: &Tx<'_>) -> Result<Option<Timestamp>> {
    tx.one(NEXT_AT, &[], |row| Ok(row.opt_int(0)?.map(Timestamp::from_micros)))
}

fn read(row: &dyn crate::backend::Row) -> Result<Job> {
    let payload = serde_json::from_str(row.text(3)?).map_err(|error| {
        Error::new(ErrorKind::Corrupt, "a job's payload is not JSON").because(error)
    })?;
    Ok(Job {
        id: JobId::parse(row.text(0)?)?,
        kind: row.text(1)?.to_owned(),
        state: JobState::parse(row.text(2)?)?,
        payload,
        lease_until: row.opt_int(4)?.map(Timestamp::from_micros),
        attempts: row.int(5)?,
        last_error: row.opt_string(6)?,
        next_run_at: Timestamp::from_micros(row.int(7)?),
    })
}
