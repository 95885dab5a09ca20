//! `oneiro bench context --storm`: what writers notice of sessions that are compacted in the
//! background, in one run, by turns with and without them.

use super::said::Said;
use super::workloads::appended;
use super::{options, timed};
use crate::load::Folder;
use crate::machine;
use crate::processes::target;
use crate::search::percentile as share;
use oneiro::{Error, NewSession, Oneiro, Options, Result, SessionId, WindowRequest};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What to measure.
pub struct StormRequest {
    /// Sessions that are compacted.
    pub sessions: usize,
    /// Where to put the store; a temporary folder when absent.
    pub folder: Option<PathBuf>,
    /// How the engine opens it; durability and models are as the benchmark needs them.
    pub options: Options,
}

/// How long appends took.
#[derive(Debug, Clone, Serialize)]
pub struct Appended {
    /// Messages appended.
    pub messages: usize,
    /// Messages per second, over all writers.
    pub per_s: f64,
    /// Half of the appends took no longer.
    pub p50_ms: f64,
    /// All but one of a hundred took no longer.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Storm {
    /// On what.
    pub machine: String,
    /// The load on it when the run began and when it ended, over a minute.
    pub load_average: [f64; 2],
    /// Writers that append at once.
    pub writers: usize,
    /// Sessions that were compacted.
    pub sessions: usize,
    /// How long that took.
    pub compacting_s: f64,
    /// Appends while nothing was compacted.
    pub without: Appended,
    /// Appends while sessions were.
    pub with: Appended,
    /// How many times as long the slowest of a hundred appends took.
    pub p99_ratio: f64,
}

/// Writers that append at once.
const WRITERS: usize = 8;

/// Threads that do what is due in the background.
const DRAINERS: usize = 2;

/// Messages of a session that is compacted.
const MESSAGES: usize = 120;

/// The sessions are compacted in this many parts, with a stretch without between them, so that what
/// else the machine does meets both.
const PARTS: usize = 4;

/// How long a stretch without compaction is.
const STRETCH: Duration = Duration::from_secs(3);

/// Measures.
pub fn run(request: &StormRequest, say: &mut dyn FnMut(&str)) -> Result<Storm> {
    let folder = Folder::of(request.folder.as_deref())?;
    let before = machine::load_average();
    let file = folder.path().join("storm.db");
    let oneiro = Oneiro::open(&target(&file)?, options(&request.options))?;
    say(&format!("{} sessions", request.sessions));
    let ids = (0..request.sessions).map(|n| SessionId::new(format!("storm-{n}")));
    let ids = ids.collect::<Result<Vec<_>>>()?;
    let mut said = Said::new(8);
    for id in &ids {
        let made = appended(&said.messages(MESSAGES))?;
        oneiro.messages().append_or_create(id, made, NewSession::with_id(id.clone()))?;
    }
    oneiro.index().catch_up(&mut |_, _| {})?;
    let (mut without, mut with) = (Side::default(), Side::default());
    for (part, ids) in ids.chunks(request.sessions.div_ceil(PARTS).max(1)).enumerate() {
        say("append alone");
        without.add(stretch(&oneiro, part * 2, false)?);
        for id in ids {
            leave_job(&oneiro, id)?;
        }
        say("append while sessions are compacted");
        with.add(stretch(&oneiro, part * 2 + 1, true)?);
    }
    let compacted = ids.iter().map(|id| oneiro.context().summaries(id).map(|all| !all.is_empty()));
    let compacted = compacted.collect::<Result<Vec<_>>>()?.into_iter().filter(|one| *one).count();
    if compacted < ids.len() {
        return Err(Error::internal(format!("{compacted} of {} were compacted", ids.len())));
    }
    let compacting_s = (with.took.as_secs_f64() * 10.0).round() / 10.0;
    let (without, with) = (without.done(), with.done());
    Ok(Storm {
        machine: machine::describe(),
        load_average: [before, machine::load_average()],
        writers: WRITERS,
        sessions: ids.len(),
        compacting_s,
        p99_ratio: (with.p99_ms / without.p99_ms.max(0.001) * 100.0).round() / 100.0,
        without,
        with,
    })
}

/// Has a session compacted in the background: its window is asked for with a budget that the
/// session nearly fills.
fn leave_job(oneiro: &Oneiro, id: &SessionId) -> Result<()> {
    let peek = WindowRequest { budget: 1_000_000, peek: true, ..WindowRequest::default() };
    let tokens = oneiro.context().window(id, &peek)?.tokens;
    let request = WindowRequest { budget: tokens * 10 / 9, ..WindowRequest::default() };
    oneiro.context().window(id, &request).map(|_| ())
}

/// Appends of some stretches.
#[derive(Default)]
struct Side {
    times: Vec<f64>,
    took: Duration,
}

impl Side {
    fn add(&mut self, (times, took): (Vec<f64>, Duration)) {
        self.times.extend(times);
        self.took += took;
    }

    fn done(mut self) -> Appended {
        Appended {
            messages: self.times.len(),
            per_s: (self.times.len() as f64 / self.took.as_secs_f64()).round(),
            p50_ms: share(&mut self.times, 0.5),
            p99_ms: share(&mut self.times, 0.99),
            max_ms: share(&mut self.times, 1.0),
        }
    }
}

/// All writers append, for [`STRETCH`] or until what is due in the background is done.
fn stretch(oneiro: &Oneiro, number: usize, background: bool) -> Result<(Vec<f64>, Duration)> {
    let over = AtomicBool::new(false);
    let started = Instant::now();
    let write = |writer: usize| -> Result<Vec<f64>> {
        let id = SessionId::new(format!("writer-{number}-{writer}"))?;
        oneiro.sessions().create(NewSession::with_id(id.clone()))?;
        let mut said = Said::new((number * WRITERS + writer) as u64);
        let mut times = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let message = said.words(crate::text::MESSAGE_WORDS).message()?;
            times.push(timed(|| oneiro.messages().append(&id, vec![message]).map(|_| ()))?);
        }
        Ok(times)
    };
    let write = &write;
    let panicked = || Error::internal("a thread of the benchmark panicked");
    let times = std::thread::scope(|scope| {
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let drained = if !background {
            std::thread::sleep(STRETCH);
            Ok(())
        } else {
            let drain = || oneiro.jobs().run(Duration::from_secs(600)).map(|_| ());
            let drainers: Vec<_> = (0..DRAINERS).map(|_| scope.spawn(drain)).collect();
            drainers
                .into_iter()
                .try_for_each(|drainer| drainer.join().unwrap_or_else(|_| Err(panicked())))
        };
        over.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for writer in writers {
            all.extend(writer.join().map_err(|_| panicked())??);
        }
        drained.map(|()| all)
    })?;
    Ok((times, started.elapsed()))
}

/// The metrics as people read them.
pub fn describe_storm(storm: &Storm) -> String {
    let [before, after] = storm.load_average;
    let line = |name: &str, one: &Appended| {
        format!(
            "{name:<24} {:>7.0}/s   p50 {:>7.3} ms   p99 {:>7.3} ms   longest {:>8.3} ms",
            one.per_s, one.p50_ms, one.p99_ms, one.max_ms
        )
    };
    [
        format!("{}, load {before:.1} to {after:.1}", storm.machine),
        format!(
            "{} writers; {} sessions compacted in {:.1} s",
            storm.writers, storm.sessions, storm.compacting_s
        ),
        line("append alone", &storm.without),
        line("while they are compacted", &storm.with),
        format!("{:<24} {:.2}x", "p99", storm.p99_ratio),
    ]
    .join("\n")
}
