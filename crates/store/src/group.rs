//! Group commit inside a process: writers queue, whoever leads runs every queued write in one
//! transaction and commits once. A caller alone runs at once, on its own thread, without a hop.
//!
//! A group is first run plainly. When a write of it fails, the whole is rolled back and run again
//! with a savepoint around each write, so that one bad write cannot take the others with it; when
//! the engine itself rolls back (a full disk does), the survivors run one by one.
//!
//! A panic of an engine reaches the caller on whose thread it happens. Guards that act on drop give
//! back what that thread holds: the connection, the lead, and the answers that others wait for.

use crate::Tx;
use crate::backend::{Access, Backend, Connection, State};
use oneiro_model::{Error, ErrorKind, Result};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The writers of one store in this process.
pub(crate) struct Writers {
    queue: Mutex<Queue>,
    seat: Mutex<Seat>,
    freed: Condvar,
    patience: Duration,
    figures: Mutex<WriteFigures>,
}

/// How the writes of this process were committed, since it opened the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteFigures {
    /// Writes that were committed.
    pub writes: u64,
    /// Commits, by how many writes shared one: 1, 2, up to 4, 8, 16, 32, and more.
    pub commits: [u64; 7],
}

impl WriteFigures {
    /// The most writes of a commit counted in each place but the last.
    pub const SIZES: [u64; 6] = [1, 2, 4, 8, 16, 32];

    fn count(&mut self, writes: usize) {
        let writes = writes as u64;
        let place = WriteFigures::SIZES.iter().position(|most| writes <= *most);
        if let Some(commits) = self.commits.get_mut(place.unwrap_or(WriteFigures::SIZES.len())) {
            *commits += 1;
        }
        self.writes += writes;
    }
}

/// The one writing connection of the process, and whether somebody has it.
struct Seat {
    is_taken: bool,
    awaited: usize,
    connection: Option<Box<dyn Connection>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arc<dyn Waiting>>,
    led: bool,
    /// Writers that have not been answered yet, those that wait for the disk included.
    unanswered: usize,
    /// How many of those there were at once lately.
    recent: usize,
}

/// How long a leader waits for half of the recent writers: the other half is on its way to the
/// disk, so that the two halves take turns. Much shorter than what each would pay for alone.
const GATHER: Duration = Duration::from_micros(100);

impl Writers {
    pub(crate) fn new(connection: Box<dyn Connection>, patience: Duration) -> Writers {
        Writers {
            queue: Mutex::default(),
            seat: Mutex::new(Seat { is_taken: false, awaited: 0, connection: Some(connection) }),
            freed: Condvar::new(),
            patience,
            figures: Mutex::default(),
        }
    }

    /// Runs `work` in a transaction that other writers of this process may share.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        backend: &dyn Backend,
        work: impl Fn(&Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let deadline = self.deadline();
        let mut queue = lock(&self.queue);
        queue.unanswered += 1;
        queue.recent = queue.recent.max(queue.unanswered);
        let _answered = Answered(self);
        if !queue.led && queue.recent <= 1 {
            queue.led = true;
            drop(queue);
            let lead = Lead { writers: self, write: None };
            let answer = self.commit_alone(backend, deadline, &work);
            drop(lead);
            return durably(backend, answer).inspect(|_| lock(&self.figures).count(1));
        }
        let write = Arc::new(Write {
            work,
            deadline,
            value: Mutex::new(None),
            turn: Mutex::new(Turn::Wait),
            turned: Condvar::new(),
        });
        queue.waiting.push_back(Arc::clone(&write) as _);
        let leads = !std::mem::replace(&mut queue.led, true);
        drop(queue);
        if leads || write.wait() {
            let own = Arc::clone(&write) as Arc<dyn Waiting>;
            let lead = Lead { writers: self, write: Some(Arc::clone(&own)) };
            let mut group = Group(self.gather(backend.group_limit()));
            let ran = self.commit_group(backend, &group.0).unwrap_or_else(|error| {
                if error.kind() == ErrorKind::Busy {
                    self.put_back(&mut group, &own);
                }
                Ran::failed(&group.0, &error)
            });
            // The next group is run while this one waits for the disk.
            drop(lead);
            let durable = match ran.commits.is_empty() {
                true => Ok(()),
                false => backend.make_durable(),
            };
            if durable.is_ok() {
                let mut figures = lock(&self.figures);
                ran.commits.iter().for_each(|writes| figures.count(*writes));
            }
            group.settle(ran.outcomes.into_iter().map(|outcome| outcome.and(durable.clone())));
        }
        write.answer()
    }

    /// The writes to commit together: those that wait, and those that are about to.
    fn gather(&self, limit: usize) -> Vec<Arc<dyn Waiting>> {
        let started = Instant::now();
        loop {
            let mut queue = lock(&self.queue);
            let expected = (queue.recent / 2).min(limit);
            if queue.waiting.len() >= expected || started.elapsed() >= GATHER {
                let size = queue.waiting.len().min(limit);
                // One that stopped writing is forgotten after a few groups.
                queue.recent = queue.unanswered.max(queue.recent - queue.recent.div_ceil(8));
                return queue.waiting.drain(..size).collect();
            }
            drop(queue);
            std::thread::yield_now();
        }
    }

    /// Puts the writes of a group whose time is not over back to the front of the queue, in order:
    /// the group waited for another writer only as long as its first could.
    fn put_back(&self, group: &mut Group, own: &Arc<dyn Waiting>) {
        let now = Instant::now();
        let is_over = |write: &Arc<dyn Waiting>| write.deadline() <= now || Arc::ptr_eq(write, own);
        let (over, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut group.0).into_iter().partition(is_over);
        group.0 = over;
        let mut queue = lock(&self.queue);
        waiting.into_iter().rev().for_each(|write| queue.waiting.push_front(write));
    }

    /// Until when a write that begins now waits for others, of this process and of another.
    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// Runs `work` in a transaction of its own, past the queue: for bulk work.
    pub(crate) fn alone<T>(
        &self,
        backend: &dyn Backend,
        work: &dyn Fn(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        durably(backend, self.commit_alone(backend, self.deadline(), work))
    }

    /// The same without bringing it to the disk: the next write that does brings this one along,
    /// since the log is in order.
    pub(crate) fn alone_unsynced<T>(
        &self,
        backend: &dyn Backend,
        work: &dyn Fn(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.commit_alone(backend, self.deadline(), work)
    }

    fn commit_alone<T>(
        &self,
        backend: &dyn Backend,
        deadline: Instant,
        work: &dyn Fn(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut held = self.take(backend, deadline)?;
        let connection = held.begin()?;
        match guarded(|| work(&Tx::new(connection))) {
            Ok(value) => finish(connection).map(|()| value),
            Err(error) => {
                connection.rollback();
                Err(error)
            }
        }
    }

    /// How writes were committed so far.
    pub(crate) fn figures(&self) -> WriteFigures {
        *lock(&self.figures)
    }

    /// How many writes wait for their turn.
    pub(crate) fn queued(&self) -> usize {
        lock(&self.queue).waiting.len()
    }

    /// Takes the connection, waiting until the deadline: a bulk write of this process may hold it
    /// for minutes.
    fn take<'w>(&'w self, backend: &'w dyn Backend, deadline: Instant) -> Result<Held<'w>> {
        let mut seat = lock(&self.seat);
        while seat.is_taken {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let what = "another write of this process has held the store for too long";
                return Err(Error::new(ErrorKind::Busy, what)
                    .remedy("try again; raise busy_timeout_ms if this happens often"));
            }
            seat.awaited += 1;
            seat = self.freed.wait_timeout(seat, left).unwrap_or_else(PoisonError::into_inner).0;
            seat.awaited -= 1;
        }
        seat.is_taken = true;
        Ok(Held { writers: self, backend, deadline, connection: seat.connection.take() })
    }

    /// What became of a group, or why its transaction could not be begun.
    fn commit_group(&self, backend: &dyn Backend, group: &[Arc<dyn Waiting>]) -> Result<Ran> {
        let deadlines = group.iter().map(|write| write.deadline());
        let deadline = deadlines.min().unwrap_or_else(|| self.deadline());
        run_group(&mut self.take(backend, deadline)?, group)
    }
}

/// The writing connection, given back when dropped.
struct Held<'w> {
    writers: &'w Writers,
    backend: &'w dyn Backend,
    /// Until when the next transaction waits for a writer of another process.
    deadline: Instant,
    /// None until the first transaction where the last holder lost it.
    connection: Option<Box<dyn Connection>>,
}

impl Held<'_> {
    /// Begins a write, on a new connection if the old one was lost while idle.
    fn begin(&mut self) -> Result<&mut dyn Connection> {
        let wait = self.deadline.saturating_duration_since(Instant::now());
        if let Some(connection) = &mut self.connection {
            let begun = connection.begin(Access::Write { wait });
            if begun.is_ok() || connection.state() != State::Broken {
                begun?;
            } else {
                self.connection = None;
            }
        }
        if self.connection.is_none() {
            let connection = self.connection.insert(self.backend.connect()?);
            connection.begin(Access::Write { wait })?;
        }
        // What is run again after a failure has had its turn already.
        self.deadline = self.writers.deadline();
        match &mut self.connection {
            Some(connection) => Ok(connection.as_mut()),
            None => Err(Error::internal("the writing connection is gone")),
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // A connection that is lost, or that would not roll back, must not serve the next writer.
        let connection = self.connection.take().filter(|held| held.state() == State::Idle);
        let mut seat = lock(&self.writers.seat);
        seat.is_taken = false;
        seat.connection = connection;
        // Waking nobody still costs a system call.
        if seat.awaited > 0 {
            self.writers.freed.notify_one();
        }
    }
}

/// Answers only what has reached the disk.
fn durably<T>(backend: &dyn Backend, answer: Result<T>) -> Result<T> {
    answer.and_then(|value| backend.make_durable().map(|()| value))
}

/// A writer's place among the unanswered, given up when dropped.
struct Answered<'w>(&'w Writers);

impl Drop for Answered<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).unanswered -= 1;
    }
}

/// The right to write; passed to the next waiter when dropped.
struct Lead<'w> {
    writers: &'w Writers,
    /// The leader's own write, if it is queued.
    write: Option<Arc<dyn Waiting>>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.writers.queue);
        if let Some(own) = self.write.take().filter(|_| std::thread::panicking()) {
            // Nobody waits for it any more, so it could not lead.
            queue.waiting.retain(|write| !Arc::ptr_eq(write, &own));
        }
        match queue.waiting.front() {
            Some(next) => next.lead(),
            None => queue.led = false,
        }
    }
}

/// The writes that a leader took from the queue. Each is settled, if only by dropping this: the
/// threads they came from wait for it.
struct Group(Vec<Arc<dyn Waiting>>);

impl Group {
    /// Settles each write, in order.
    fn settle(mut self, outcomes: impl Iterator<Item = Result<()>>) {
        let group = std::mem::take(&mut self.0);
        group.iter().zip(outcomes).for_each(|(write, outcome)| write.settle(outcome));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for write in &self.0 {
            let what = "the commit that this write shared with others panicked";
            write.settle(Err(Error::internal(what).remedy(
                "whether this write was kept is unknown: send it again with the same external_id",
            )));
        }
    }
}

/// What became of a group.
struct Ran {
    /// The outcome of each write, in order.
    outcomes: Vec<Result<()>>,
    /// How many writes each commit that was made holds.
    commits: Vec<usize>,
}

impl Ran {
    fn failed(group: &[Arc<dyn Waiting>], error: &Error) -> Ran {
        Ran { outcomes: group.iter().map(|_| Err(error.clone())).collect(), commits: Vec::new() }
    }

    /// All of it in one commit, except for the writes that failed.
    fn together(outcomes: Vec<Result<()>>) -> Ran {
        let kept = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        Ran { outcomes, commits: Some(kept).filter(|kept| *kept > 0).into_iter().collect() }
    }
}

fn finish(connection: &mut dyn Connection) -> Result<()> {
    connection.commit().inspect_err(|_| connection.rollback())
}

fn run_group(held: &mut Held<'_>, group: &[Arc<dyn Waiting>]) -> Result<Ran> {
    Ok(match plainly(held, group) {
        Ok(()) => Ran::together(group.iter().map(|_| Ok(())).collect()),
        Err(Plain::NotBegun(error)) => return Err(error),
        Err(Plain::Unknown(error)) => Ran::failed(group, &error),
        Err(Plain::RolledBack(error)) if group.len() == 1 => Ran::failed(group, &error),
        Err(Plain::RolledBack(_)) => carefully(held, group),
    })
}

enum Plain {
    /// The transaction could not be opened.
    NotBegun(Error),
    /// A write or the commit failed and nothing was kept.
    RolledBack(Error),
    /// The connection was lost: whether the commit was kept cannot be known, so nothing may be
    /// run again.
    Unknown(Error),
}

fn plainly(held: &mut Held<'_>, group: &[Arc<dyn Waiting>]) -> Result<(), Plain> {
    let connection = held.begin().map_err(Plain::NotBegun)?;
    let ran = group.iter().try_for_each(|write| guarded(|| write.run(&Tx::new(&mut *connection))));
    let done = ran.map_err(Plain::RolledBack).and_then(|()| {
        connection.commit().map_err(|error| match connection.state() {
            State::Broken => Plain::Unknown(error),
            State::Open | State::Idle => Plain::RolledBack(error),
        })
    });
    done.inspect_err(|_| connection.rollback())
}

/// Each write in its own savepoint.
fn carefully(held: &mut Held<'_>, group: &[Arc<dyn Waiting>]) -> Ran {
    let mut outcomes: Vec<Result<()>> = Vec::with_capacity(group.len());
    let connection = match held.begin() {
        Ok(connection) => connection,
        Err(error) => return Ran::failed(group, &error),
    };
    for write in group {
        match in_savepoint(connection, write.as_ref()) {
            Ok(outcome) if connection.state() == State::Open => outcomes.push(outcome),
            // The engine took the whole group back, or the savepoint could not be closed and may
            // hold half a write: what ran before must run again, singly.
            _ => {
                connection.rollback();
                return one_by_one(held, group);
            }
        }
    }
    match connection.commit() {
        Ok(()) => Ran::together(outcomes),
        Err(error) if connection.state() == State::Broken => Ran::failed(group, &error),
        Err(_) => {
            connection.rollback();
            one_by_one(held, group)
        }
    }
}

/// The outcome of the write, or the error of the savepoint around it.
fn in_savepoint(connection: &mut dyn Connection, write: &dyn Waiting) -> Result<Result<()>> {
    connection.execute("SAVEPOINT write_of_group", &[])?;
    let outcome = guarded(|| write.run(&Tx::new(&mut *connection)));
    if outcome.is_err() && connection.state() == State::Open {
        connection.execute("ROLLBACK TO SAVEPOINT write_of_group", &[])?;
    }
    if connection.state() == State::Open {
        connection.execute("RELEASE SAVEPOINT write_of_group", &[])?;
    }
    Ok(outcome)
}

fn one_by_one(held: &mut Held<'_>, group: &[Arc<dyn Waiting>]) -> Ran {
    let run = |write: &Arc<dyn Waiting>| {
        plainly(held, std::slice::from_ref(write)).map_err(|plain| match plain {
            Plain::NotBegun(error) | Plain::RolledBack(error) | Plain::Unknown(error) => error,
        })
    };
    let outcomes: Vec<Result<()>> = group.iter().map(run).collect();
    let commits = outcomes.iter().filter(|outcome| outcome.is_ok()).map(|_| 1).collect();
    Ran { outcomes, commits }
}

/// Runs a write of a caller; a panic in it becomes its error and nobody else's.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(Error::internal(format!("a write panicked: {}", panic_text(panic.as_ref()))))
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

/// A queued write, whatever it answers.
trait Waiting: Send + Sync {
    fn run(&self, tx: &Tx<'_>) -> Result<()>;
    fn settle(&self, outcome: Result<()>);
    fn lead(&self);
    /// Until when it waits for others.
    fn deadline(&self) -> Instant;
}

struct Write<T, F> {
    work: F,
    deadline: Instant,
    value: Mutex<Option<T>>,
    turn: Mutex<Turn>,
    turned: Condvar,
}

enum Turn {
    Wait,
    Lead,
    Settled(Result<()>),
}

impl<T: Send, F: Fn(&Tx<'_>) -> Result<T> + Send + Sync> Waiting for Write<T, F> {
    fn run(&self, tx: &Tx<'_>) -> Result<()> {
        let value = (self.work)(tx)?;
        *lock(&self.value) = Some(value);
        Ok(())
    }

    fn settle(&self, outcome: Result<()>) {
        *lock(&self.turn) = Turn::Settled(outcome);
        self.turned.notify_one();
    }

    fn lead(&self) {
        *lock(&self.turn) = Turn::Lead;
        self.turned.notify_one();
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl<T, F> Write<T, F> {
    /// Waits for an outcome (false) or for the right to lead (true).
    fn wait(&self) -> bool {
        let mut turn = lock(&self.turn);
        loop {
            match *turn {
                Turn::Wait => turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner),
                Turn::Lead => return true,
                Turn::Settled(_) => return false,
            }
        }
    }

    fn answer(&self) -> Result<T> {
        match std::mem::replace(&mut *lock(&self.turn), Turn::Wait) {
            Turn::Settled(outcome) => outcome?,
            _ => return Err(Error::internal("a write was never settled")),
        }
        lock(&self.value).take().ok_or_else(|| Error::internal("a write answered nothing"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
