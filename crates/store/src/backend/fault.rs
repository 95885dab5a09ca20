//! A back end for tests that wraps another and fails, or "crashes", at the n-th call: after a
//! crash every later call fails too and nothing is rolled back by us, as when the process dies.

use super::{Access, Backend, Connection, Engine, Row, State, Value};
use crate::store::{Progress, Scrubbed};
use oneiro_model::{Error, ErrorKind, Result, SpaceInfo};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What happens at which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPlan {
    /// Nothing; calls are only counted.
    Count,
    /// The n-th call (from 1) fails; what it would have done is not done.
    FailAt(u64),
    /// The n-th call fails without being done, and so does every call after it.
    CrashBefore(u64),
    /// The n-th call panics without being done.
    PanicAt(u64),
    /// The n-th call is done, but its answer is lost, and every call after it fails.
    CrashAfter(u64),
}

/// The shared switchboard of a fault back end.
#[derive(Debug, Clone)]
pub struct Fault {
    plan: FaultPlan,
    calls: Arc<AtomicU64>,
    dead: Arc<AtomicBool>,
    hit_a_sync: Arc<AtomicBool>,
}

impl Fault {
    /// Faults as planned.
    pub fn new(plan: FaultPlan) -> Fault {
        Fault { plan, calls: Arc::default(), dead: Arc::default(), hit_a_sync: Arc::default() }
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Whether the planned fault hit the sync of a commit: what was kept is then unknown to the
    /// writer, as after any lost answer.
    pub fn hit_a_sync(&self) -> bool {
        self.hit_a_sync.load(Ordering::SeqCst)
    }

    fn around<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.dead.load(Ordering::SeqCst) {
            return Err(crashed());
        }
        let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        match self.plan {
            FaultPlan::FailAt(at) if at == n => Err(failed()),
            #[expect(clippy::panic, reason = "planned by a test")]
            FaultPlan::PanicAt(at) if at == n => panic!("planned fault: this call panicked"),
            FaultPlan::CrashBefore(at) if at == n => {
                self.dead.store(true, Ordering::SeqCst);
                Err(crashed())
            }
            FaultPlan::CrashAfter(at) if at == n => {
                let _ = call();
                self.dead.store(true, Ordering::SeqCst);
                Err(crashed())
            }
            _ => call(),
        }
    }
}

fn failed() -> Error {
    Error::new(ErrorKind::Unavailable, "planned fault: this call failed")
}

fn crashed() -> Error {
    Error::new(ErrorKind::Unavailable, "planned fault: the process crashed")
}

pub(crate) struct FaultBackend {
    pub(crate) inner: Box<dyn Backend>,
    pub(crate) fault: Fault,
}

impl Backend for FaultBackend {
    fn engine(&self) -> Engine {
        self.inner.engine()
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let inner = self.fault.around(|| self.inner.connect())?;
        Ok(Box::new(FaultConnection { inner, fault: self.fault.clone() }))
    }

    fn make_durable(&self) -> Result<()> {
        let was_dead = self.fault.dead.load(Ordering::SeqCst);
        let mut synced = false;
        if self.fault.plan == FaultPlan::PanicAt(self.fault.calls() + 1) {
            self.fault.hit_a_sync.store(true, Ordering::SeqCst);
        }
        let answer = self.fault.around(|| {
            synced = true;
            self.inner.make_durable()
        });
        if answer.is_err() && !was_dead && !synced {
            self.fault.hit_a_sync.store(true, Ordering::SeqCst);
        }
        answer
    }

    fn group_limit(&self) -> usize {
        self.inner.group_limit()
    }

    fn bytes(&self) -> Result<u64> {
        self.inner.bytes()
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        self.inner.spaces()
    }

    fn delete(&self) -> Result<()> {
        self.fault.around(|| self.inner.delete())
    }

    fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Option<()>> {
        self.fault.around(|| self.inner.copy_to(path, progress))
    }

    fn integrity(&self) -> Result<Vec<String>> {
        self.inner.integrity()
    }

    fn scrub(&self, needles: &[Vec<u8>], stopped: &(dyn Fn() -> bool + Sync)) -> Result<Scrubbed> {
        self.fault.around(|| self.inner.scrub(needles, stopped))
    }
}

struct FaultConnection {
    inner: Box<dyn Connection>,
    fault: Fault,
}

impl Connection for FaultConnection {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.fault.around(|| self.inner.begin(access))
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.fault.around(|| self.inner.execute(sql, values))
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.fault.around(|| self.inner.query(sql, values, each))
    }

    fn commit(&mut self) -> Result<()> {
        self.fault.around(|| self.inner.commit())
    }

    fn rollback(&mut self) {
        if !self.fault.dead.load(Ordering::SeqCst) {
            self.inner.rollback();
        }
    }

    fn rows_at_once(&self) -> usize {
        self.inner.rows_at_once()
    }

    fn state(&self) -> State {
        self.inner.state()
    }
}
