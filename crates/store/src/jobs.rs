//! Jobs: rows with leases. A lease that ran out is free to take again.

use crate::aggregates::Table;
use crate::backend::Value;
use crate::{Tx, sequence};
use oneiro_model::{
    Error, ErrorKind, Job, JobId, JobNeed, JobState, NewJob, Result, Span, Timestamp,
};

/// The jobs that may be claimed now: ?1 is the time, ?2 and ?3 are the times past which a lease and a
/// start come from a clock that was wrong, ?4 and ?5 are needs that the process can meet, ?6 is the
/// time since when a job waits in vain for a process that can. A job waits while another with its key
/// runs.
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
    // A job that takes its holder down with it must not do so for ever.
    GIVE_UP = "UPDATE jobs SET state = 'failed', holder = NULL, lease_until = NULL, \
             last_error = 'every process that began it died or ran out of time', updated_at = ?1 \
             WHERE state = 'running' AND (lease_until <= ?1 OR lease_until > ?3) \
             AND attempts >= CAST(?2 AS BIGINT)";
    HELD = "SELECT id, holder FROM jobs WHERE state = 'running' AND holder IS NOT NULL \
             AND lease_until > ?1";
    END_LEASE = "UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND holder = ?2 \
             AND state = 'running' AND lease_until > ?3";
    CLAIM_THIS = "UPDATE jobs SET state = 'running', holder = ?2, lease_until = ?3, \
             attempts = attempts + 1, updated_at = ?4 WHERE id = ?1 AND state = 'queued'";
    FINISH = "UPDATE jobs SET state = 'done', holder = NULL, lease_until = NULL, \
              last_error = NULL, updated_at = ?3 WHERE id = ?1 AND holder = ?2";
    FORGET_DONE = "DELETE FROM jobs WHERE kind = ?1 AND state = 'done' \
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

/// The tables that belong here.
pub(crate) const TABLES: &[Table] = &[Table {
    name: "jobs",
    columns: "key, id, kind, state, payload, unique_key, holder, lease_until, attempts, \
                  last_error, next_run_at, created_at, updated_at, needs",
}];

/// No lease of a job that is still good ends later than this.
const LONGEST_LEASE: Span = Span::seconds(900);

/// No job is put off for longer than this.
const LONGEST_DELAY: Span = Span::seconds(3_600);

/// A job that has been due since so long ago is done without what it needs: the process that had it
/// is gone, and its key would be blocked for ever.
const OVERDUE: Span = Span::seconds(-3_600);

/// How often a job is begun before it is given up.
const ATTEMPTS: i64 = 8;

/// Adds a job, unless one with its unique key is queued already; answers the one that will run. One
/// that runs does not count: it may have read its input before what the new job is for was written.
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

/// Adds a job unless one with its unique key is queued or runs: for work whose result does not
/// depend on when it began.
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

/// Who claims jobs, and which of them.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who holds what is claimed.
    pub holder: String,
    /// How long the lease lasts.
    pub lease: Span,
    /// The time.
    pub now: Timestamp,
    /// What the process can give a job; jobs that need nothing are always claimed.
    pub can_meet: Vec<JobNeed>,
}

impl Claim {
    fn has(&self, need: JobNeed) -> &'static str {
        if self.can_meet.contains(&need) { need.as_str() } else { "" }
    }

    fn condition(&self) -> [Value<'static>; 6] {
        [
            self.now.micros().into(),
            self.now.plus(LONGEST_LEASE).micros().into(),
            self.now.plus(LONGEST_DELAY).micros().into(),
            self.has(JobNeed::Model).into(),
            self.has(JobNeed::Embedder).into(),
            self.now.plus(OVERDUE).micros().into(),
        ]
    }
}

/// Whether there is a job to claim.
pub fn is_due(tx: &Tx<'_>, claim: &Claim) -> Result<bool> {
    tx.one(IS_DUE, &claim.condition(), |row| Ok(row.int(0)? > 0))
}

/// Takes the next job that is due, under a lease.
pub fn claim(tx: &Tx<'_>, claim: &Claim) -> Result<Option<Job>> {
    let far = claim.now.plus(LONGEST_LEASE).micros();
    tx.execute(GIVE_UP, &[claim.now.micros().into(), ATTEMPTS.into(), far.into()])?;
    let until = claim.now.plus(claim.lease).micros();
    let [now, lease, delay, model, embedder, overdue] = claim.condition();
    let holder = claim.holder.as_str().into();
    let values = [now, lease, delay, model, embedder, overdue, holder, until.into()];
    tx.first(CLAIM, &values, read)
}

/// The jobs that are held under a lease that has not run out, and by whom.
pub fn held(tx: &Tx<'_>, now: Timestamp) -> Result<Vec<(JobId, String)>> {
    tx.all(HELD, &[now.micros().into()], |row| {
        Ok((JobId::parse(row.text(0)?)?, row.text(1)?.to_owned()))
    })
}

/// Ends the lease of a holder who is gone: the job may be claimed at once. The attempt counts.
pub fn end_lease(tx: &Tx<'_>, id: &JobId, holder: &str, now: Timestamp) -> Result<()> {
    tx.execute(END_LEASE, &[id.as_str().into(), holder.into(), now.micros().into()]).map(|_| ())
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

/// Puts a failed job back with a growing pause, or gives it up: after too many attempts, or when a
/// newer one with its key is queued and does its work.
pub fn fail(tx: &Tx<'_>, failure: &Failure<'_>, now: Timestamp) -> Result<()> {
    let job = failure.job;
    let is_over = job.attempts >= ATTEMPTS || has_follow_up(tx, &job.id)?;
    let state = if is_over { JobState::Failed } else { JobState::Queued };
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

/// Gives back a job that was interrupted, to be begun again at `run_at`. The attempt does not count.
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

/// How many jobs wait or run.
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
        state: JobState::parse(row.text(2)?).map_err(unknown_word)?,
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
            .map_err(unknown_word)?,
    })
}

/// A word that no version of Oneiro before this one wrote.
fn unknown_word(error: Error) -> Error {
    Error::new(ErrorKind::Corrupt, format!("a stored job: {error}"))
}
