//! Group commit: concurrent writes of one process share a transaction and a commit.
//!
//! Writers queue. One of them, the leader, runs every queued write in one transaction and commits
//! once; the next leader starts as soon as the transaction is committed, while the first waits for
//! the disk. A writer without competition runs at once on its own thread.
//!
//! A group first runs without savepoints. If a write fails, the transaction is rolled back and runs
//! again with a savepoint around each write, so that a failed write cannot affect the others. If
//! the engine itself rolls back (a full disk does that), the writes run one by one.
//!
//! A panic in a closure becomes the error of that write. A panic in an engine reaches the caller on
//! whose thread it happens; guards that act on drop release what that thread holds: the connection,
//! the leadership, and the writes whose threads wait for their results.

mod queued_write;
#[cfg(test)]
mod tests;

use crate::Tx;
use crate::backend::{Access, Backend, Connection, State};
use oneiro_model::{Error, ErrorKind, Result};
use queued_write::{PendingWrite, QueuedWrite, Wakeup, lock};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a leader waits for more writes: until half of the recent writers are queued, since the
/// other half waits for the disk. Much shorter than a sync, so waiting costs less than it saves.
const GROUP_WAIT: Duration = Duration::from_micros(100);

/// After each group the estimate of concurrent writers shrinks by one part in this many.
const RECENT_WRITERS_DECAY: usize = 8;

/// The writers of one store in this process.
pub(crate) struct GroupCommit {
    queue: Mutex<Queue>,
    slot: Mutex<WriterSlot>,
    slot_freed: Condvar,
    busy_timeout: Duration,
    stats: Mutex<CommitStats>,
}

/// Writes and commits of this process since it opened the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitStats {
    /// Writes that were committed.
    pub writes: u64,
    /// Commits by the number of writes they hold; the buckets end at [`CommitStats::BUCKET_BOUNDS`],
    /// and the last bucket has no bound.
    pub commits: [u64; 7],
}

impl CommitStats {
    /// The largest number of writes in each bucket but the last.
    pub const BUCKET_BOUNDS: [u64; 6] = [1, 2, 4, 8, 16, 32];

    fn record_commit(&mut self, writes: usize) {
        let writes = writes as u64;
        let bucket = CommitStats::BUCKET_BOUNDS.iter().position(|bound| writes <= *bound);
        let bucket = bucket.unwrap_or(CommitStats::BUCKET_BOUNDS.len());
        if let Some(commits) = self.commits.get_mut(bucket) {
            *commits += 1;
        }
        self.writes += writes;
    }
}

/// The one writing connection of the process.
struct WriterSlot {
    in_use: bool,
    waiters: usize,
    /// `None` while it is in use, and after it was lost.
    connection: Option<Box<dyn Connection>>,
}

#[derive(Default)]
struct Queue {
    writes: VecDeque<Arc<dyn QueuedWrite>>,
    has_leader: bool,
    /// Writers without a result yet, including those that wait for the disk.
    pending: usize,
    /// The highest recent value of `pending`.
    recent_pending: usize,
}

impl GroupCommit {
    pub(crate) fn new(connection: Box<dyn Connection>, busy_timeout: Duration) -> GroupCommit {
        let slot = WriterSlot { in_use: false, waiters: 0, connection: Some(connection) };
        GroupCommit {
            queue: Mutex::default(),
            slot: Mutex::new(slot),
            slot_freed: Condvar::new(),
            busy_timeout,
            stats: Mutex::default(),
        }
    }

    /// Runs `work` in a transaction that other writers of this process may share, and returns when
    /// the commit is durable. `work` runs again if another write of the group fails.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        backend: &dyn Backend,
        deadline: Instant,
        work: impl Fn(&Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let mut queue = lock(&self.queue);
        queue.pending += 1;
        queue.recent_pending = queue.recent_pending.max(queue.pending);
        let _pending = PendingGuard(self);
        if !queue.has_leader && queue.recent_pending <= 1 {
            queue.has_leader = true;
            drop(queue);
            let leader = LeaderGuard { commits: self, own_write: None };
            let result = self.write_unsynced(backend, deadline, &work);
            drop(leader);
            return sync_then_return(backend, result)
                .inspect(|_| lock(&self.stats).record_commit(1));
        }
        let write = Arc::new(PendingWrite::new(work, deadline));
        queue.writes.push_back(Arc::clone(&write) as _);
        let is_leader = !std::mem::replace(&mut queue.has_leader, true);
        drop(queue);
        if is_leader || write.wait() == Wakeup::Lead {
            self.lead_group(backend, Arc::clone(&write) as _);
        }
        write.take_result()
    }

    /// Commits a group on this thread and completes its writes.
    fn lead_group(&self, backend: &dyn Backend, own_write: Arc<dyn QueuedWrite>) {
        let leader = LeaderGuard { commits: self, own_write: Some(Arc::clone(&own_write)) };
        let mut group = Group(self.take_group(backend.group_limit()));
        let outcome = self.commit_group(backend, &group.0).unwrap_or_else(|error| {
            if error.kind() == ErrorKind::Busy {
                self.requeue_unexpired(&mut group, &own_write);
            }
            GroupOutcome::failed(&group.0, &error)
        });
        // The next group runs while this one waits for the disk.
        drop(leader);
        let synced = if outcome.commit_sizes.is_empty() { Ok(()) } else { backend.make_durable() };
        if synced.is_ok() {
            let mut stats = lock(&self.stats);
            outcome.commit_sizes.iter().for_each(|writes| stats.record_commit(*writes));
        }
        group.complete(outcome.results.into_iter().map(|result| result.and(synced.clone())));
    }

    /// Takes the writes to commit together off the queue, after a short wait for more of them.
    fn take_group(&self, limit: usize) -> Vec<Arc<dyn QueuedWrite>> {
        let started = Instant::now();
        loop {
            let mut queue = lock(&self.queue);
            let expected = (queue.recent_pending / 2).min(limit);
            if queue.writes.len() >= expected || started.elapsed() >= GROUP_WAIT {
                let size = queue.writes.len().min(limit);
                let decayed =
                    queue.recent_pending - queue.recent_pending.div_ceil(RECENT_WRITERS_DECAY);
                queue.recent_pending = queue.pending.max(decayed);
                return queue.writes.drain(..size).collect();
            }
            drop(queue);
            std::thread::yield_now();
        }
    }

    /// Returns writes whose deadline has not passed to the front of the queue, in order: the group
    /// waited for the lock only until the earliest deadline. The leader's own write stays, since
    /// its thread no longer waits in the queue.
    fn requeue_unexpired(&self, group: &mut Group, own_write: &Arc<dyn QueuedWrite>) {
        let now = Instant::now();
        let (expired, unexpired): (Vec<_>, Vec<_>) = std::mem::take(&mut group.0)
            .into_iter()
            .partition(|write| write.deadline() <= now || Arc::ptr_eq(write, own_write));
        group.0 = expired;
        let mut queue = lock(&self.queue);
        unexpired.into_iter().rev().for_each(|write| queue.writes.push_front(write));
    }

    /// Until when a write that starts now waits for other writers, of this process or another.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.busy_timeout
    }

    /// Runs `work` in a transaction of its own, without the queue, and returns when it is durable.
    pub(crate) fn write_bulk<T>(
        &self,
        backend: &dyn Backend,
        deadline: Instant,
        work: impl FnOnce(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        sync_then_return(backend, self.write_unsynced(backend, deadline, work))
    }

    /// Like [`GroupCommit::write_bulk`], but returns before the commit is durable. The log is in
    /// order, so the next write that is synced makes this one durable too.
    pub(crate) fn write_unsynced<T>(
        &self,
        backend: &dyn Backend,
        deadline: Instant,
        work: impl FnOnce(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut writer = self.acquire_writer(backend, deadline)?;
        let connection = writer.begin()?;
        let result = catch_panic(|| work(&Tx::new(&mut *connection)));
        let committed = result.and_then(|value| connection.commit().map(|()| value));
        committed.inspect_err(|_| connection.rollback())
    }

    pub(crate) fn stats(&self) -> CommitStats {
        *lock(&self.stats)
    }

    /// How many writes are queued.
    pub(crate) fn queue_len(&self) -> usize {
        lock(&self.queue).writes.len()
    }

    /// How many writes have no result yet, including those that wait for the disk.
    pub(crate) fn pending(&self) -> usize {
        lock(&self.queue).pending
    }

    /// Waits for the writing connection until `deadline`: a bulk write may hold it for minutes.
    fn acquire_writer<'w>(
        &'w self,
        backend: &'w dyn Backend,
        deadline: Instant,
    ) -> Result<WriterGuard<'w>> {
        let mut slot = lock(&self.slot);
        while slot.in_use {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let what = "another write of this process has held the store for too long";
                return Err(Error::new(ErrorKind::Busy, what)
                    .remedy("try again; raise busy_timeout_ms if this happens often"));
            }
            slot.waiters += 1;
            slot =
                self.slot_freed.wait_timeout(slot, left).unwrap_or_else(PoisonError::into_inner).0;
            slot.waiters -= 1;
        }
        slot.in_use = true;
        Ok(WriterGuard { commits: self, backend, deadline, connection: slot.connection.take() })
    }

    /// Runs and commits a group. An error means that its transaction could not begin.
    fn commit_group(
        &self,
        backend: &dyn Backend,
        group: &[Arc<dyn QueuedWrite>],
    ) -> Result<GroupOutcome> {
        let deadlines = group.iter().map(|write| write.deadline());
        let deadline = deadlines.min().unwrap_or_else(|| self.deadline());
        run_group(&mut self.acquire_writer(backend, deadline)?, group)
    }
}

/// Exclusive use of the writing connection; returns it to the slot when dropped.
struct WriterGuard<'w> {
    commits: &'w GroupCommit,
    backend: &'w dyn Backend,
    /// Until when the next transaction waits for a writer of another process.
    deadline: Instant,
    /// `None` until the first transaction if the previous user lost it.
    connection: Option<Box<dyn Connection>>,
}

impl WriterGuard<'_> {
    /// Begins a write transaction, on a new connection if the pooled one was lost while idle.
    fn begin(&mut self) -> Result<&mut dyn Connection> {
        let access =
            Access::Write { wait: self.deadline.saturating_duration_since(Instant::now()) };
        let is_reused = self.connection.is_some();
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.backend.connect()?,
        };
        let connection = self.connection.insert(connection);
        let begun = connection.begin(access);
        if begun.is_err() && is_reused && connection.state() == State::Broken {
            *connection = self.backend.connect()?;
            connection.begin(access)?;
        } else {
            begun?;
        }
        // A second transaction of the same group gets the full time-out again.
        self.deadline = self.commits.deadline();
        Ok(connection.as_mut())
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        // A connection that is lost, or that did not roll back, must not serve the next writer.
        let connection =
            self.connection.take().filter(|connection| connection.state() == State::Idle);
        let mut slot = lock(&self.commits.slot);
        slot.in_use = false;
        slot.connection = connection;
        // A notification without waiters still costs a system call.
        if slot.waiters > 0 {
            self.commits.slot_freed.notify_one();
        }
    }
}

/// Returns a successful result only after its commit has reached the disk.
fn sync_then_return<T>(backend: &dyn Backend, result: Result<T>) -> Result<T> {
    result.and_then(|value| backend.make_durable().map(|()| value))
}

/// Counts a writer as pending until dropped.
struct PendingGuard<'w>(&'w GroupCommit);

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).pending -= 1;
    }
}

/// The right to run writes; passes to the next queued write when dropped.
struct LeaderGuard<'w> {
    commits: &'w GroupCommit,
    /// The leader's own write, if it is queued.
    own_write: Option<Arc<dyn QueuedWrite>>,
}

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.commits.queue);
        if let Some(own_write) = self.own_write.take().filter(|_| std::thread::panicking()) {
            // Its thread is unwinding, so it could not lead.
            queue.writes.retain(|write| !Arc::ptr_eq(write, &own_write));
        }
        match queue.writes.front() {
            Some(next) => next.make_leader(),
            None => queue.has_leader = false,
        }
    }
}

/// The writes that a leader took off the queue. Dropping it completes those that are left with an
/// error, because their threads wait for a result.
struct Group(Vec<Arc<dyn QueuedWrite>>);

impl Group {
    fn complete(mut self, results: impl Iterator<Item = Result<()>>) {
        let group = std::mem::take(&mut self.0);
        group.iter().zip(results).for_each(|(write, result)| write.complete(result));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for write in &self.0 {
            let what = "the commit that this write shared with others panicked";
            write.complete(Err(Error::internal(what).remedy(
                "whether this write was kept is unknown: send it again with the same external_id",
            )));
        }
    }
}

struct GroupOutcome {
    /// The result of each write, in order.
    results: Vec<Result<()>>,
    /// How many writes each commit holds; empty if nothing was committed.
    commit_sizes: Vec<usize>,
}

impl GroupOutcome {
    fn failed(group: &[Arc<dyn QueuedWrite>], error: &Error) -> GroupOutcome {
        let results = group.iter().map(|_| Err(error.clone())).collect();
        GroupOutcome { results, commit_sizes: Vec::new() }
    }

    /// One commit of the writes that succeeded.
    fn one_commit(results: Vec<Result<()>>) -> GroupOutcome {
        let committed = results.iter().filter(|result| result.is_ok()).count();
        let commit_sizes = if committed > 0 { vec![committed] } else { Vec::new() };
        GroupOutcome { results, commit_sizes }
    }
}

/// Why a transaction of a group failed.
enum GroupError {
    /// The transaction did not begin.
    NotBegun(Error),
    /// A write or the commit failed, and nothing was kept.
    RolledBack(Error),
    /// The connection was lost during the commit. The commit may have been kept, so nothing may run
    /// again.
    Unknown(Error),
}

fn run_group(writer: &mut WriterGuard<'_>, group: &[Arc<dyn QueuedWrite>]) -> Result<GroupOutcome> {
    Ok(match run_without_savepoints(writer, group) {
        Ok(()) => GroupOutcome::one_commit(group.iter().map(|_| Ok(())).collect()),
        Err(GroupError::NotBegun(error)) => return Err(error),
        Err(GroupError::Unknown(error)) => GroupOutcome::failed(group, &error),
        Err(GroupError::RolledBack(error)) if group.len() == 1 => {
            GroupOutcome::failed(group, &error)
        }
        Err(GroupError::RolledBack(_)) => run_with_savepoints(writer, group),
    })
}

fn run_without_savepoints(
    writer: &mut WriterGuard<'_>,
    group: &[Arc<dyn QueuedWrite>],
) -> Result<(), GroupError> {
    let connection = writer.begin().map_err(GroupError::NotBegun)?;
    let ran =
        group.iter().try_for_each(|write| catch_panic(|| write.run(&Tx::new(&mut *connection))));
    let committed = ran.map_err(GroupError::RolledBack).and_then(|()| {
        connection.commit().map_err(|error| match connection.state() {
            State::Broken => GroupError::Unknown(error),
            State::Open | State::Idle => GroupError::RolledBack(error),
        })
    });
    committed.inspect_err(|_| connection.rollback())
}

fn run_with_savepoints(
    writer: &mut WriterGuard<'_>,
    group: &[Arc<dyn QueuedWrite>],
) -> GroupOutcome {
    let mut results: Vec<Result<()>> = Vec::with_capacity(group.len());
    let connection = match writer.begin() {
        Ok(connection) => connection,
        Err(error) => return GroupOutcome::failed(group, &error),
    };
    for write in group {
        match run_in_savepoint(connection, write.as_ref()) {
            Ok(result) if connection.state() == State::Open => results.push(result),
            // The engine rolled the transaction back, or the savepoint could not be closed and may
            // hold half a write.
            _ => {
                connection.rollback();
                return run_one_by_one(writer, group);
            }
        }
    }
    match connection.commit() {
        Ok(()) => GroupOutcome::one_commit(results),
        Err(error) if connection.state() == State::Broken => GroupOutcome::failed(group, &error),
        Err(_) => {
            connection.rollback();
            run_one_by_one(writer, group)
        }
    }
}

/// The inner result is that of the write, the outer one that of the savepoint around it.
fn run_in_savepoint(
    connection: &mut dyn Connection,
    write: &dyn QueuedWrite,
) -> Result<Result<()>> {
    connection.execute("SAVEPOINT write_of_group", &[])?;
    let result = catch_panic(|| write.run(&Tx::new(&mut *connection)));
    if result.is_err() && connection.state() == State::Open {
        connection.execute("ROLLBACK TO SAVEPOINT write_of_group", &[])?;
    }
    if connection.state() == State::Open {
        connection.execute("RELEASE SAVEPOINT write_of_group", &[])?;
    }
    Ok(result)
}

fn run_one_by_one(writer: &mut WriterGuard<'_>, group: &[Arc<dyn QueuedWrite>]) -> GroupOutcome {
    let run = |write: &Arc<dyn QueuedWrite>| {
        run_without_savepoints(writer, std::slice::from_ref(write)).map_err(|error| match error {
            GroupError::NotBegun(error)
            | GroupError::RolledBack(error)
            | GroupError::Unknown(error) => error,
        })
    };
    let results: Vec<Result<()>> = group.iter().map(run).collect();
    let commit_sizes = results.iter().filter(|result| result.is_ok()).map(|_| 1).collect();
    GroupOutcome { results, commit_sizes }
}

/// Turns a panic in the closure of a write into the error of that write.
fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(Error::internal(format!("a write panicked: {}", panic_message(panic.as_ref()))))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(message), _) => message,
        (_, Some(message)) => message,
        _ => "no message",
    }
}
