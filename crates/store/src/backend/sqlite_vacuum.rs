//! VACUUM that can be interrupted: it takes as long as the file is large, and is whole or absent
//! whenever it ends.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often it is checked whether to go on.
const POLL: Duration = Duration::from_millis(50);

/// Rewrites the file without what was deleted, unless `stopped` says so meanwhile. Where no thread
/// can be started to check that, it runs to its end.
pub(super) fn vacuum(
    connection: &rusqlite::Connection,
    stopped: &(dyn Fn() -> bool + Sync),
) -> rusqlite::Result<()> {
    let interrupt = connection.get_interrupt_handle();
    std::thread::scope(|scope| {
        let (working, done) = channel::<()>();
        let check = move || {
            while done.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if stopped() {
                    interrupt.interrupt();
                }
            }
        };
        let check = std::thread::Builder::new().spawn_scoped(scope, check);
        if let Err(error) = check {
            tracing::info!(%error, "a VACUUM cannot be interrupted");
        }
        let vacuumed = connection.execute_batch("PRAGMA secure_delete = ON; VACUUM;");
        drop(working);
        vacuumed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A file that takes much longer to rewrite than the first check comes.
    fn large_file(folder: &std::path::Path) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(folder.join("large.db")).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (x BLOB); \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) \
                 INSERT INTO t SELECT randomblob(100) FROM n;",
            )
            .unwrap();
        connection
    }

    #[test]
    fn it_ends_early_when_told_to_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let connection = large_file(folder.path());
        let count = |connection: &rusqlite::Connection| {
            connection.query_row("SELECT COUNT(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let checks = AtomicUsize::new(0);
        let interrupted = vacuum(&connection, &|| {
            checks.fetch_add(1, Ordering::SeqCst);
            true
        });
        // A machine that rewrites the file before the first check has nothing to interrupt.
        assert_eq!(interrupted.is_err(), checks.load(Ordering::SeqCst) > 0);
        assert_eq!(count(&connection), 400_000);
        vacuum(&connection, &|| false).unwrap();
        assert_eq!(count(&connection), 400_000);
    }
}
