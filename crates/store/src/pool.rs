//! A bounded pool of read connections, opened as needed.

use crate::backend::{Access, Backend, Connection, State};
use oneiro_model::{Error, ErrorKind, Result};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Pool {
    state: Mutex<PoolState>,
    released: Condvar,
    limit: usize,
    busy_timeout: Duration,
}

struct PoolState {
    idle: Vec<Box<dyn Connection>>,
    in_use: usize,
}

impl Pool {
    pub(crate) fn new(limit: usize, busy_timeout: Duration) -> Pool {
        Pool {
            state: Mutex::new(PoolState { idle: Vec::new(), in_use: 0 }),
            released: Condvar::new(),
            limit: limit.max(1),
            busy_timeout,
        }
    }

    /// Runs `work` on a connection with a read transaction open.
    pub(crate) fn read<T>(
        &self,
        backend: &dyn Backend,
        work: impl FnOnce(&mut dyn Connection) -> Result<T>,
    ) -> Result<T> {
        let mut guard = PoolGuard { pool: self, connection: self.acquire()? };
        let connection = match guard.connection.take() {
            // A pooled connection may have been lost while idle.
            Some(mut pooled) => match pooled.begin(Access::Read) {
                Ok(()) => pooled,
                Err(_) if pooled.state() == State::Broken => new_reader(backend)?,
                Err(error) => return Err(error),
            },
            None => new_reader(backend)?,
        };
        let connection = guard.connection.insert(connection);
        let result = work(connection.as_mut());
        connection.rollback();
        result
    }

    fn acquire(&self) -> Result<Option<Box<dyn Connection>>> {
        let deadline = Instant::now() + self.busy_timeout;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.in_use >= self.limit {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(ErrorKind::Busy, "too many reads at once")
                    .remedy("try again, or open the store with more readers"));
            }
            state =
                self.released.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.in_use += 1;
        Ok(state.idle.pop())
    }
}

fn new_reader(backend: &dyn Backend) -> Result<Box<dyn Connection>> {
    let mut connection = backend.connect()?;
    connection.begin(Access::Read)?;
    Ok(connection)
}

/// A connection in use; returned to the pool on drop, even when the reader panics.
struct PoolGuard<'p> {
    pool: &'p Pool,
    connection: Option<Box<dyn Connection>>,
}

impl Drop for PoolGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_use -= 1;
        if let Some(connection) = self.connection.take()
            && connection.state() == State::Idle
        {
            state.idle.push(connection);
        }
        drop(state);
        self.pool.released.notify_one();
    }
}
