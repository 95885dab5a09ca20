//! Writes lines on a thread of its own, so that a client that does not read blocks only itself.

use std::io::Write;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Capacity of the queue of lines; senders of more wait.
const BEHIND: usize = 64;

/// How long the last lines may take to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The sender of lines.
#[derive(Clone)]
pub(super) struct Writer {
    lines: mpsc::Sender<String>,
    is_closed: watch::Receiver<bool>,
}

impl Writer {
    /// Starts the thread; the receiver turns true when it has stopped.
    pub(super) fn start(
        mut output: impl Write + Send + 'static,
    ) -> std::io::Result<(Writer, watch::Receiver<bool>)> {
        let (lines, mut waiting) = mpsc::channel::<String>(BEHIND);
        let (ended, is_closed) = watch::channel(false);
        let write = move || {
            while let Some(mut line) = waiting.blocking_recv() {
                line.push('\n');
                if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                    break;
                }
            }
            ended.send_replace(true);
        };
        std::thread::Builder::new().name("oneiro-mcp-out".to_owned()).spawn(write)?;
        Ok((Writer { lines, is_closed: is_closed.clone() }, is_closed))
    }

    /// Waits until there is room for a line.
    pub(super) async fn room(&self) -> std::io::Result<mpsc::Permit<'_, String>> {
        self.lines.reserve().await.map_err(|_| std::io::ErrorKind::BrokenPipe.into())
    }

    /// Sends a line.
    pub(super) async fn line(&self, line: String) -> std::io::Result<()> {
        self.room().await.map(|room| room.send(line))
    }

    /// Waits until all lines are written.
    pub(super) async fn finish(self) {
        let Writer { lines, mut is_closed } = self;
        drop(lines);
        // Do not wait for a client that does not read.
        let _ =
            tokio::time::timeout(FLUSH_TIMEOUT, is_closed.wait_for(|is_closed| *is_closed)).await;
    }
}
