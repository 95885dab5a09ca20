//! The handle: one space, opened, shared by all threads of the process that opened it. A forked
//! child is told to open its own, and never closes what is its parent's.

use crate::decode;
use crate::error::raised;
use oneiro::host::OpenRequest;
use oneiro::{
    Actor, ActorKind, ActorSurface, Background, Error, ErrorKind, Oneiro, Options, SpaceName,
    Target,
};
use oneiro_inference::{ChatConfig, EmbeddingConfig};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// One space, opened.
#[pyclass(frozen, module = "oneiro._oneiro")]
pub(crate) struct Handle {
    space: RwLock<Option<Arc<Oneiro>>>,
    background: Mutex<Option<Background>>,
    target: String,
    /// The process that opened it.
    process: u32,
}

impl Handle {
    /// Runs an engine call without the interpreter's lock.
    pub(crate) fn call<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Oneiro) -> oneiro::Result<T> + Send,
    ) -> PyResult<T> {
        self.check_process().map_err(|error| raised(py, &error))?;
        let done = py.detach(|| {
            let space = self.space.read().unwrap_or_else(PoisonError::into_inner).clone();
            work(space.ok_or_else(closed)?.as_ref())
        });
        done.map_err(|error| raised(py, &error))
    }

    /// Locks and connections of the parent are of no use in a child, and harm both.
    fn check_process(&self) -> oneiro::Result<()> {
        if std::process::id() == self.process {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Unavailable,
                "this handle was opened before the process forked, by its parent",
            )
            .remedy("open the store again in the child"))
        }
    }

    fn stop_background(&self) {
        let background = self.background.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(background);
    }

    fn take(&self) -> Option<Arc<Oneiro>> {
        self.space.write().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store was closed").remedy("open it again")
}

/// Where the space is.
fn target_of(target: &str, request: &OpenRequest) -> oneiro::Result<Target> {
    let space = request.space.as_deref().map(SpaceName::new).transpose()?;
    let is_url = target.starts_with("postgres://") || target.starts_with("postgresql://");
    if request.file && !is_url {
        Ok(Target::File { path: PathBuf::from(target), space: space.unwrap_or_default() })
    } else {
        Target::parse(target, space.as_ref())
    }
}

fn options_of(request: OpenRequest) -> oneiro::Result<Options> {
    let plain = Options::default();
    let llm = request.llm.map(|server| {
        let mut config = ChatConfig::new(server.url, server.model);
        config.server.key = server.key;
        oneiro_inference::openai_chat(config)
    });
    let embedder = request.embedder.map(|server| {
        let mut config = EmbeddingConfig::new(server.url, server.model);
        config.server.key = server.key;
        oneiro_inference::openai_embedder(config)
    });
    Ok(Options {
        durability: request.durability,
        busy_timeout: request.busy_timeout_ms.map_or(plain.busy_timeout, Duration::from_millis),
        readers: request.readers.unwrap_or(plain.readers),
        must_exist: request.must_exist,
        words: Some(oneiro_inference::static_words()),
        llm: llm.transpose()?,
        embedder: embedder.transpose()?,
        ..plain
    })
}

#[pymethods]
impl Handle {
    /// Opens a space, creating it if it does not exist.
    #[staticmethod]
    fn open(py: Python<'_>, target: &str, options: &Bound<'_, PyDict>) -> PyResult<Handle> {
        let request = decode::request::<OpenRequest>(options)?;
        let runs_jobs = request.jobs;
        let target = target_of(target, &request).map_err(|error| raised(py, &error))?;
        let opened = py.detach(|| {
            let options = options_of(request)?;
            let actor = Actor::new(ActorKind::Agent, ActorSurface::Library).with_client("python");
            let oneiro = Arc::new(Oneiro::open(&target, options)?.acting_as(actor));
            let background = runs_jobs.then(|| Background::of(oneiro.as_ref().clone(), Vec::new()));
            Ok((oneiro, background))
        });
        let (oneiro, background) = opened.map_err(|error: Error| raised(py, &error))?;
        Ok(Handle {
            space: RwLock::new(Some(oneiro)),
            background: Mutex::new(background),
            target: target.to_string(),
            process: std::process::id(),
        })
    }

    /// Lets go of the space; calls under way in other threads are finished.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if std::process::id() != self.process {
            return Ok(());
        }
        py.detach(|| {
            self.stop_background();
            drop(self.take());
        });
        Ok(())
    }

    /// Whether it was closed.
    fn closed(&self) -> bool {
        self.check_process().is_ok()
            && self.space.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Where the space is kept, without secrets.
    fn target(&self) -> &str {
        &self.target
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if std::process::id() == self.process {
            self.stop_background();
            return;
        }
        // In a forked child: to close the parent's files here would take its locks away, and could
        // remove its log; the threads of the background are not there to be waited for.
        std::mem::forget(self.background.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        std::mem::forget(self.space.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}
