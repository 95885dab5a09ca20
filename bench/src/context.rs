//! `oneiro bench context`: what windows, compaction and the ways back cost, on disk with durable
//! commits, each beside the least that raw SQLite could do for the same rows.

mod describe;
mod long;
mod said;
mod storm;
mod workloads;

use crate::load::Folder;
use crate::machine;
use crate::search::percentile as share;
use oneiro::{Durability, Options, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

pub use describe::describe;
pub use long::{Compaction, Long};
pub use storm::{Storm, StormRequest, describe_storm, run as storm};

/// What to measure.
pub struct ContextRequest {
    /// The largest session, in messages.
    pub messages: usize,
    /// Where to put the stores; a temporary folder when absent.
    pub folder: Option<PathBuf>,
    /// How the engine opens its stores; durability and models are as the benchmark needs them.
    pub options: Options,
}

/// How long calls took.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Times {
    /// Half of the calls took no longer.
    pub p50_ms: f64,
    /// Nineteen of twenty took no longer.
    pub p95_ms: f64,
    /// Half of the calls of the raw loop took no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_p50_ms: Option<f64>,
    /// How many times as long as the raw loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Contexts {
    /// On what.
    pub machine: String,
    /// The load on it when the run began and when it ended, over a minute.
    pub load_average: [f64; 2],
    /// The workloads of seahorse's benchmark.
    pub workloads: BTreeMap<&'static str, Times>,
    /// Long sessions, by their number of messages.
    pub sessions: BTreeMap<usize, Long>,
    /// Resident memory at the end.
    pub rss_mb: f64,
}

/// The sizes of long sessions.
const SIZES: [usize; 2] = [10_000, 100_000];

/// Measures.
pub fn run(request: &ContextRequest, say: &mut dyn FnMut(&str)) -> Result<Contexts> {
    let folder = Folder::of(request.folder.as_deref())?;
    let options = options(&request.options);
    let before = machine::load_average();
    let workloads = workloads::run((folder.path(), &options), say)?;
    let mut sessions = BTreeMap::new();
    let sizes = SIZES.iter().copied().filter(|size| *size < request.messages);
    for size in sizes.chain([request.messages]) {
        say(&format!("a session of {size} messages"));
        sessions.insert(size, long::run((folder.path(), &options), size, say)?);
    }
    Ok(Contexts {
        machine: machine::describe(),
        load_average: [before, machine::load_average()],
        workloads,
        sessions,
        rss_mb: machine::resident_mb(),
    })
}

/// Durable, and without a model that writes: its time is not ours.
fn options(given: &Options) -> Options {
    Options { durability: Durability::Full, llm: None, ..given.clone() }
}

/// Times calls of the engine and of the raw loop by turns; the first of each only warms.
fn beside(
    count: usize,
    mut ours: impl FnMut(usize) -> Result<()>,
    mut raw: impl FnMut(usize) -> Result<()>,
) -> Result<Times> {
    let (mut times, mut raws) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for index in 0..=count {
        let one = timed(|| ours(index))?;
        let other = timed(|| raw(index))?;
        if index > 0 {
            times.push(one);
            raws.push(other);
        }
    }
    Ok(Times::of(&mut times).beside(&mut raws))
}

impl Times {
    fn of(times: &mut [f64]) -> Times {
        Times { p50_ms: share(times, 0.5), p95_ms: share(times, 0.95), ..Times::default() }
    }

    fn beside(self, raws: &mut [f64]) -> Times {
        let raw = share(raws, 0.5);
        let ratio = (self.p50_ms / raw.max(0.001) * 100.0).round() / 100.0;
        Times { raw_p50_ms: Some(raw), ratio: Some(ratio), ..self }
    }
}

/// Milliseconds that something took.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1_000.0)
}
