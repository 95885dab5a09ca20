//! A VACUUM that can be cancelled. It is atomic: cancelled or interrupted, it changes nothing.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often cancellation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Rewrites the file without deleted content; fails if `is_cancelled` returns true meanwhile. If no
/// thread can be started to check that, it runs to its end.
pub(super) fn vacuum(
    connection: &rusqlite::Connection,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> rusqlite::Result<()> {
    let interrupt = connection.get_interrupt_handle();
    std::thread::scope(|scope| {
        let (working, done) = channel::<()>();
        let check = move || {
            while done.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if is_cancelled() {
                    interrupt.interrupt();
                }
            }
        };
        let check = std::thread::Builder::new().spawn_scoped(scope, check);
        if let Err(error) = check {
            tracing::info!(%error, "this VACUUM cannot be cancelled");
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

    /// A file that takes much longer to rewrite than [`POLL_INTERVAL`].
    fn new_large_file(folder: &std::path::Path) -> rusqlite::Connection {
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
    fn a_cancelled_vacuum_ends_early_and_keeps_every_row() {
        let folder = tempfile::tempdir().unwrap();
        let connection = new_large_file(folder.path());
        let count = |connection: &rusqlite::Connection| {
            connection.query_row("SELECT COUNT(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let checks = AtomicUsize::new(0);
        let interrupted = vacuum(&connection, &|| {
            checks.fetch_add(1, Ordering::SeqCst);
            true
        });
        // On a machine that rewrites the file before the first check there is nothing to cancel.
        assert_eq!(interrupted.is_err(), checks.load(Ordering::SeqCst) > 0);
        assert_eq!(count(&connection), 400_000);
        vacuum(&connection, &|| false).unwrap();
        assert_eq!(count(&connection), 400_000);
    }
}
