//! A panic of the engine at each step of a group commit, over an engine in memory. The integration
//! tests repeat this on SQLite and PostgreSQL at every call.

use super::*;
use crate::backend::{CopyOutcome, Engine, Row, Value};
use crate::store::{Progress, Scrubbed};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Begin,
    Execute,
    Commit,
    Sync,
}

/// An engine whose rows are the statements that were committed.
#[derive(Clone, Default)]
struct MemoryBackend {
    committed: Arc<Mutex<Vec<String>>>,
    /// The next call of this step panics, once.
    panic_at: Arc<Mutex<Option<Step>>>,
}

impl MemoryBackend {
    fn enter(&self, step: Step) {
        let is_planned = lock(&self.panic_at).take_if(|planned| *planned == step).is_some();
        assert!(!is_planned, "planned panic");
    }
}

impl Backend for MemoryBackend {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let backend = self.clone();
        Ok(Box::new(MemoryConnection { backend, rows: Vec::new(), savepoint: 0, is_open: false }))
    }

    fn make_durable(&self) -> Result<()> {
        self.enter(Step::Sync);
        Ok(())
    }

    fn group_limit(&self) -> usize {
        8
    }

    fn bytes(&self) -> Result<u64> {
        Ok(0)
    }

    fn copy_to(&self, _: &Path, _: &mut dyn FnMut(Progress)) -> Result<CopyOutcome> {
        Ok(CopyOutcome::Unsupported)
    }

    fn spaces(&self) -> Result<Vec<oneiro_model::SpaceInfo>> {
        Ok(Vec::new())
    }

    fn delete(&self) -> Result<()> {
        Ok(())
    }

    fn integrity(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn scrub(&self, _: &[Vec<u8>], _: &(dyn Fn() -> bool + Sync)) -> Result<Scrubbed> {
        Ok(Scrubbed::default())
    }
}

struct MemoryConnection {
    backend: MemoryBackend,
    rows: Vec<String>,
    savepoint: usize,
    is_open: bool,
}

impl Connection for MemoryConnection {
    fn begin(&mut self, _: Access) -> Result<()> {
        self.backend.enter(Step::Begin);
        self.is_open = true;
        Ok(())
    }

    fn execute(&mut self, sql: &str, _: &[Value<'_>]) -> Result<u64> {
        self.backend.enter(Step::Execute);
        match sql.split(' ').next() {
            Some("SAVEPOINT") => self.savepoint = self.rows.len(),
            Some("ROLLBACK") => self.rows.truncate(self.savepoint),
            Some("RELEASE") => {}
            _ => self.rows.push(sql.to_owned()),
        }
        Ok(1)
    }

    fn execute_script(&mut self, sql: &str) -> Result<()> {
        self.execute(sql, &[]).map(|_| ())
    }

    fn query(
        &mut self,
        _: &str,
        _: &[Value<'_>],
        _: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.backend.enter(Step::Commit);
        lock(&self.backend.committed).append(&mut self.rows);
        self.is_open = false;
        Ok(())
    }

    fn rollback(&mut self) {
        self.rows.clear();
        self.is_open = false;
    }

    fn rows_per_insert(&self) -> usize {
        1
    }

    fn state(&self) -> State {
        if self.is_open { State::Open } else { State::Idle }
    }
}

/// Writes `rows` as one group, in which `step` panics: this thread leads until all of them are
/// queued. Returns whether each write was acknowledged.
fn write_group_with_panic(
    commits: &GroupCommit,
    backend: &MemoryBackend,
    rows: &[&'static str],
    step: Step,
) -> Vec<bool> {
    lock(&commits.queue).has_leader = true;
    let leader = LeaderGuard { commits, own_write: None };
    std::thread::scope(|scope| {
        let mut writers = Vec::new();
        for (index, row) in rows.iter().copied().enumerate() {
            let write = move || {
                commits
                    .write(backend, commits.deadline(), move |tx| tx.execute(row, &[]).map(|_| ()))
            };
            writers.push(scope.spawn(move || {
                catch_unwind(AssertUnwindSafe(write)).is_ok_and(|result| result.is_ok())
            }));
            while lock(&commits.queue).pending <= index {
                std::thread::yield_now();
            }
        }
        *lock(&backend.panic_at) = Some(step);
        drop(leader);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    })
}

/// Every writer gets a result, what was acknowledged is committed, and the next write succeeds.
#[test]
fn a_panic_at_any_step_of_a_group_completes_every_write_and_leaves_the_store_writable() {
    for step in [Step::Begin, Step::Execute, Step::Commit, Step::Sync] {
        let backend = MemoryBackend::default();
        let commits = GroupCommit::new(backend.connect().unwrap(), Duration::from_secs(20));
        let rows = ["a", "b", "c"];
        let acknowledged = write_group_with_panic(&commits, &backend, &rows, step);
        assert_eq!(*lock(&backend.panic_at), None, "{step:?} was never reached");
        commits.write(&backend, commits.deadline(), |tx| tx.execute("later", &[])).unwrap();
        let committed = lock(&backend.committed).clone();
        assert!(committed.contains(&"later".to_owned()), "{step:?}: {committed:?}");
        for (row, is_acknowledged) in rows.iter().zip(acknowledged) {
            let is_kept = committed.iter().any(|kept| kept == row);
            assert!(is_kept || !is_acknowledged, "{step:?}: {row} was lost");
        }
    }
}
