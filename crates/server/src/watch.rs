//! Watches a space for changes: while there are listeners, one thread polls the change mark and
//! wakes them. It sees the changes of all processes at the cost of two look-ups by key.

use oneiro::{ChangeMark, Error, Oneiro, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;
use tokio::sync::watch;

/// Poll interval while there are listeners.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Interval at which a thread without listeners checks for new ones.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Wakes the listeners of a space.
pub(crate) struct Watch {
    mark: Arc<Mutex<Option<watch::Sender<ChangeMark>>>>,
    thread: Mutex<Option<Thread>>,
    oneiro: Mutex<Option<Oneiro>>,
}

impl Watch {
    pub(crate) fn new(oneiro: Oneiro) -> Result<Watch> {
        let mark = watch::Sender::new(ChangeMark::default());
        Ok(Watch {
            mark: Arc::new(Mutex::new(Some(mark))),
            thread: Mutex::default(),
            oneiro: Mutex::new(Some(oneiro)),
        })
    }

    /// Starts to listen; `None` if the space is being closed.
    pub(crate) fn listen(&self) -> Result<Option<watch::Receiver<ChangeMark>>> {
        let receiver = match &*lock(&self.mark) {
            Some(mark) => mark.subscribe(),
            None => return Ok(None),
        };
        let mut thread = lock(&self.thread);
        match &*thread {
            Some(thread) => thread.unpark(),
            None => *thread = self.start()?,
        }
        Ok(Some(receiver))
    }

    fn start(&self) -> Result<Option<Thread>> {
        let Some(oneiro) = lock(&self.oneiro).take() else { return Ok(None) };
        let mark = Arc::clone(&self.mark);
        let watching = move || {
            loop {
                let pause = match &*lock(&mark) {
                    None => return,
                    Some(mark) if mark.receiver_count() == 0 => IDLE_CHECK_INTERVAL,
                    Some(_) => POLL_INTERVAL,
                };
                if pause == POLL_INTERVAL {
                    match oneiro.change_mark() {
                        Ok(now) => publish(&mark, now),
                        Err(error) => tracing::info!(%error, "watching waits"),
                    }
                }
                std::thread::park_timeout(pause);
            }
        };
        std::thread::Builder::new()
            .name("oneiro-watch".to_owned())
            .spawn(watching)
            .map(|handle| Some(handle.thread().clone()))
            .map_err(|error| Error::internal("no thread to watch the space").because(error))
    }

    /// Ends all listeners and the thread.
    pub(crate) fn stop(&self) {
        lock(&self.mark).take();
        if let Some(thread) = &*lock(&self.thread) {
            thread.unpark();
        }
        if let Some(oneiro) = lock(&self.oneiro).take() {
            std::thread::spawn(move || drop(oneiro));
        }
    }
}

fn publish(mark: &Mutex<Option<watch::Sender<ChangeMark>>>, now: ChangeMark) {
    if let Some(mark) = &*lock(mark) {
        mark.send_if_modified(|seen| std::mem::replace(seen, now) != now);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
