//! Connections for reading: a few, opened as needed, handed out one to a reader.

use crate::backend::{Access, Backend, Connection, State};
use oneiro_model::{Error, ErrorKind, Result};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Pool {
    state: Mutex<Idle>,
    freed: Condvar,
    limit: usize,
    patience: Duration,
}

struct Idle {
    connections: Vec<Box<dyn Connection>>,
    handed_out: usize,
}

impl Pool {
    pub(crate) fn new(limit: usize, patience: Duration) -> Pool {
        Pool {
            state: Mutex::new(Idle { connections: Vec::new(), handed_out: 0 }),
            freed: Condvar::new(),
            limit: limit.max(1),
            patience,
        }
    }

    /// Runs `work` on a connection with a read transaction open.
    pub(crate) fn read<T>(
        &self,
        backend: &dyn Backend,
        work: impl FnOnce(&mut dyn Connection) -> Result<T>,
    ) -> Result<T> {
        let mut held = Held { pool: self, connection: self.take()? };
        let connection = match held.connection.take() {
            // A pooled connection may have died while idle; then a new one is tried.
            Some(mut pooled) => match pooled.begin(Access::Read) {
                Ok(()) => pooled,
                Err(_) if pooled.state() == State::Broken => fresh(backend)?,
                Err(error) => return Err(error),
            },
            None => fresh(backend)?,
        };
        let connection = held.connection.insert(connection);
        let answer = work(connection.as_mut());
        connection.rollback();
        answer
    }

    fn take(&self) -> Result<Option<Box<dyn Connection>>> {
        let deadline = Instant::now() + self.patience;
        let mut idle = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while idle.handed_out >= self.limit {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(ErrorKind::Busy, "too many reads at once")
                    .remedy("try again, or open the store with more readers"));
            }
            idle = self.freed.wait_timeout(idle, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        idle.handed_out += 1;
        Ok(idle.connections.pop())
    }
}

fn fresh(backend: &dyn Backend) -> Result<Box<dyn Connection>> {
    let mut connection = backend.connect()?;
    connection.begin(Access::Read)?;
    Ok(connection)
}

/// A place in the pool, given back even when the reader panics.
struct Held<'p> {
    pool: &'p Pool,
    connection: Option<Box<dyn Connection>>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        idle.handed_out -= 1;
        if let Some(connection) = self.connection.take()
            && connection.state() == State::Idle
        {
            idle.connections.push(connection);
        }
        drop(idle);
        self.pool.freed.notify_one();
    }
}
