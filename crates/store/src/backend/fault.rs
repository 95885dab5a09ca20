//! A back end for tests: wraps another and fails, panics or crashes at the n-th call. After a crash
//! every later call fails and nothing is rolled back, as when the process dies.

use super::{Access, Backend, Connection, CopyOutcome, Engine, Row, State, Value};
use crate::store::{Progress, Scrubbed};
use oneiro_model::{Error, ErrorKind, Result, SpaceInfo};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Which call fails, and how. Calls are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPlan {
    /// No fault; calls are only counted.
    Count,
    /// The n-th call fails and has no effect.
    FailAt(u64),
    /// The n-th call fails and has no effect; every later call fails too.
    CrashBefore(u64),
    /// The n-th call panics and has no effect.
    PanicAt(u64),
    /// The n-th call takes effect, but its result is lost; every later call fails.
    CrashAfter(u64),
}

/// A planned fault and what came of it; clones share their state.
#[derive(Debug, Clone)]
pub struct Fault {
    plan: FaultPlan,
    calls: Arc<AtomicU64>,
    has_crashed: Arc<AtomicBool>,
    hit_sync: Arc<AtomicBool>,
    refuses_writes: Arc<AtomicBool>,
}

impl Fault {
    /// A fault by `plan`.
    pub fn new(plan: FaultPlan) -> Fault {
        Fault {
            plan,
            calls: Arc::default(),
            has_crashed: Arc::default(),
            hit_sync: Arc::default(),
            refuses_writes: Arc::default(),
        }
    }

    /// From now on no write can begin, as when the disk is full.
    pub fn refuse_writes(&self) {
        self.refuses_writes.store(true, Ordering::SeqCst);
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Whether the fault hit the sync of a commit. The writer then cannot know whether its write was
    /// kept.
    pub fn hit_sync(&self) -> bool {
        self.hit_sync.load(Ordering::SeqCst)
    }

    fn run<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.has_crashed.load(Ordering::SeqCst) {
            return Err(crashed());
        }
        let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        match self.plan {
            FaultPlan::FailAt(at) if at == n => Err(failed()),
            #[expect(clippy::panic, reason = "planned by a test")]
            FaultPlan::PanicAt(at) if at == n => panic!("planned fault: this call panicked"),
            FaultPlan::CrashBefore(at) if at == n => {
                self.has_crashed.store(true, Ordering::SeqCst);
                Err(crashed())
            }
            FaultPlan::CrashAfter(at) if at == n => {
                let _ = call();
                self.has_crashed.store(true, Ordering::SeqCst);
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
        let inner = self.fault.run(|| self.inner.connect())?;
        Ok(Box::new(FaultConnection { inner, fault: self.fault.clone() }))
    }

    fn make_durable(&self) -> Result<()> {
        let had_crashed = self.fault.has_crashed.load(Ordering::SeqCst);
        let mut was_called = false;
        if self.fault.plan == FaultPlan::PanicAt(self.fault.calls() + 1) {
            self.fault.hit_sync.store(true, Ordering::SeqCst);
        }
        let result = self.fault.run(|| {
            was_called = true;
            self.inner.make_durable()
        });
        if result.is_err() && !had_crashed && !was_called {
            self.fault.hit_sync.store(true, Ordering::SeqCst);
        }
        result
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
        self.fault.run(|| self.inner.delete())
    }

    fn copy_to(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<CopyOutcome> {
        self.fault.run(|| self.inner.copy_to(path, progress))
    }

    fn integrity(&self) -> Result<Vec<String>> {
        self.inner.integrity()
    }

    fn scrub(
        &self,
        needles: &[Vec<u8>],
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scrubbed> {
        self.fault.run(|| self.inner.scrub(needles, is_cancelled))
    }
}

struct FaultConnection {
    inner: Box<dyn Connection>,
    fault: Fault,
}

impl Connection for FaultConnection {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.fault.run(|| match access {
            Access::Write { .. } if self.fault.refuses_writes.load(Ordering::SeqCst) => {
                Err(Error::new(ErrorKind::Unavailable, "planned fault: the disk is full"))
            }
            _ => self.inner.begin(access),
        })
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.fault.run(|| self.inner.execute(sql, values))
    }

    fn execute_script(&mut self, sql: &str) -> Result<()> {
        self.fault.run(|| self.inner.execute_script(sql))
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.fault.run(|| self.inner.query(sql, values, each))
    }

    fn commit(&mut self) -> Result<()> {
        self.fault.run(|| self.inner.commit())
    }

    fn rollback(&mut self) {
        if !self.fault.has_crashed.load(Ordering::SeqCst) {
            self.inner.rollback();
        }
    }

    fn rows_per_insert(&self) -> usize {
        self.inner.rows_per_insert()
    }

    fn state(&self) -> State {
        self.inner.state()
    }
}
