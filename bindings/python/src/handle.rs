//! The handle: one space, opened, shared by all threads of the process that opened it. A forked
//! child is told to open its own, and never closes what is its parent's.

use crate::decode::Fields;
use crate::error::raised;
use oneiro::{Background, Durability, Error, ErrorKind, Oneiro, Options, SpaceName, Target};
use oneiro_inference::{ChatConfig, OpenAiConfig};
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
        match std::process::id() == self.process {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Unavailable,
                "this handle was opened before the process forked, by its parent",
            )
            .remedy("open the store again in the child")),
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

/// Reads what a request asks for; a wrong field is an exception.
pub(crate) fn decoded<T>(
    fields: &Bound<'_, PyDict>,
    decode: impl FnOnce(&mut Fields) -> oneiro::Result<T>,
) -> PyResult<T> {
    let mut read = Fields::read(fields)?;
    let request = decode(&mut read).and_then(|request| read.end().map(|()| request));
    request.map_err(|error| raised(fields.py(), &error))
}

struct Opening {
    target: Target,
    options: Options,
    runs_jobs: bool,
}

fn opening(target: &str, fields: &mut Fields) -> oneiro::Result<Opening> {
    let space = fields.text("space")?.as_deref().map(SpaceName::new).transpose()?;
    let is_url = target.starts_with("postgres://") || target.starts_with("postgresql://");
    let target = match fields.truth("file")?.unwrap_or(false) && !is_url {
        true => Target::File { path: PathBuf::from(target), space: space.unwrap_or_default() },
        false => Target::parse(target, space.as_ref())?,
    };
    let mut options =
        Options { words: Some(oneiro_inference::static_words()), ..Options::default() };
    match fields.text("durability")?.as_deref() {
        None | Some("full") => options.durability = Durability::Full,
        Some("normal") => options.durability = Durability::Normal,
        Some(other) => {
            return Err(Error::field("durability", format!("{other:?} is not full or normal")));
        }
    }
    if let Some(wait) = fields.count("busy_timeout_ms")? {
        options.busy_timeout = Duration::from_millis(wait as u64);
    }
    if let Some(readers) = fields.count("readers")? {
        options.readers = readers;
    }
    options.must_exist = fields.truth("must_exist")?.unwrap_or(false);
    if let Some(server) = server(fields, ["llm_url", "llm_model", "llm_key"])? {
        let config = ChatConfig::new(server.url, server.model);
        options.llm =
            Some(oneiro_inference::openai_chat(ChatConfig { key: server.key, ..config })?);
    }
    if let Some(server) = server(fields, ["embedder_url", "embedder_model", "embedder_key"])? {
        let config = OpenAiConfig::new(server.url, server.model);
        let config = OpenAiConfig { key: server.key, ..config };
        options.embedder = Some(oneiro_inference::openai_embedder(config)?);
    }
    let runs_jobs = fields.truth("jobs")?.unwrap_or(true);
    Ok(Opening { target, options, runs_jobs })
}

/// A server with a model.
struct ModelServer {
    url: String,
    model: String,
    key: Option<String>,
}

/// The server that three fields name: its address, the model and the key.
fn server(
    fields: &mut Fields,
    [url, model, key]: [&'static str; 3],
) -> oneiro::Result<Option<ModelServer>> {
    let (given_url, given_model) = (fields.text(url)?, fields.text(model)?);
    let given_key = fields.text(key)?;
    match given_url {
        Some(given_url) => Ok(Some(ModelServer {
            url: given_url,
            model: given_model.unwrap_or_default(),
            key: given_key,
        })),
        None if given_model.is_some() || given_key.is_some() => {
            Err(Error::field(url, "is missing").remedy("give the address of the server, too"))
        }
        None => Ok(None),
    }
}

#[pymethods]
impl Handle {
    /// Opens a space, creating it if it does not exist.
    #[staticmethod]
    fn open(py: Python<'_>, target: &str, options: &Bound<'_, PyDict>) -> PyResult<Handle> {
        let Opening { target, options, runs_jobs } =
            decoded(options, |fields| opening(target, fields))?;
        let opened = py.detach(|| {
            let oneiro = Arc::new(Oneiro::open(&target, options)?);
            let background = runs_jobs.then(|| Background::of(oneiro.as_ref().clone()));
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
