//! Temporary spaces on each engine. Without a PostgreSQL server the tests of that engine fail.

use oneiro_model::SpaceName;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Which engine a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// A file in a temporary folder.
    Sqlite,
    /// A schema of the server that `ONEIRO_TEST_POSTGRES` names.
    Postgres,
}

/// A space that is removed on drop.
pub struct TestSpace {
    /// Which engine it is on.
    pub backend: Backend,
    /// The value for `--store`.
    pub store: String,
    /// The name of the space.
    pub space: SpaceName,
    folder: tempfile::TempDir,
}

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

impl TestSpace {
    /// An empty space.
    #[expect(clippy::panic, clippy::disallowed_methods, reason = "tests may read and fail")]
    pub fn new(backend: Backend) -> TestSpace {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => panic!("no temporary folder: {error}"),
        };
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{number}_{}", std::process::id(), unique());
        let store = match backend {
            Backend::Sqlite => folder.path().to_string_lossy().into_owned(),
            Backend::Postgres => match std::env::var("ONEIRO_TEST_POSTGRES") {
                Ok(url) => url,
                Err(_) => panic!(
                    "ONEIRO_TEST_POSTGRES is not set, and a skipped back end is a failure: run \
                     scripts/test, which starts a server"
                ),
            },
        };
        let space = match SpaceName::new(&name) {
            Ok(space) => space,
            Err(error) => panic!("{error}"),
        };
        TestSpace { backend, store, space, folder }
    }

    /// A folder that lives as long as the space.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The database file, where there is one.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join(format!("{}.db", self.space))
    }
}

/// Keeps schemas of runs on one server apart.
fn unique() -> String {
    let hash = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    format!("{:08x}", hash as u32)
}

impl Drop for TestSpace {
    fn drop(&mut self) {
        if self.backend == Backend::Postgres
            && let Ok(mut client) = postgres::Client::connect(&self.store, postgres::NoTls)
        {
            let drop = format!("DROP SCHEMA IF EXISTS \"oneiro_{}\" CASCADE", self.space);
            let _ = client.batch_execute(&drop);
        }
    }
}
