//! `oneiro bench dreams --load`: fills a space with candidates and signals, and measures in a process of
//! its own how long a deep dream takes, how much memory it needs, and what it costs to ask too early.

use crate::machine;
use crate::search::percentile;
use oneiro::{
    Actor, ActorKind, ActorSurface, DreamMode, DreamOutcome, DreamPreset, DreamRequest,
    DreamTrigger, Error, ImportLimits, MemoryId, Oneiro, OperationId, Options, Result, Target,
    Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Candidates of one import.
const CANDIDATES_AT_ONCE: usize = 5_000;

/// Requests that come too early.
const EARLY_REQUESTS: usize = 20;

const DAY_MICROS: i64 = 86_400_000_000;

/// The day of the first signal, in microseconds: 6 January 2025.
const FIRST_DAY: i64 = 1_736_121_600_000_000;

/// Days over which signals are spread.
const SIGNAL_DAYS: usize = 200;

/// The configuration.
pub struct DreamLoadRequest {
    /// How many candidates.
    pub candidates: usize,
    /// How many signals.
    pub signals: usize,
    /// The folder of the store; temporary if absent.
    pub folder: Option<PathBuf>,
    /// This program, which measures in a process of its own.
    pub program: PathBuf,
    /// How the engine opens the store.
    pub options: Options,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct DreamLoadResults {
    /// The machine.
    pub machine: String,
    /// How many candidates.
    pub candidates: usize,
    /// How many signals.
    pub signals: usize,
    /// Seconds that the import took.
    pub import_s: f64,
    /// What the other process measured.
    #[serde(flatten)]
    pub measured: DreamLoadTimes,
}

/// What a process measured that did nothing else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DreamLoadTimes {
    /// Seconds of the first deep dream, which sees everything for the first time.
    pub first_s: f64,
    /// Seconds of the second, when nothing is new.
    pub second_s: f64,
    /// Candidates that the second looked at.
    pub looked_at: usize,
    /// The most megabytes that the process had.
    pub peak_mb: f64,
    /// Milliseconds of opening the store and asking for a dream that is not due: the median.
    pub not_due_ms: f64,
}

/// Runs the benchmark.
pub fn run_load(request: &DreamLoadRequest, say: &mut dyn FnMut(&str)) -> Result<DreamLoadResults> {
    let temporary = tempfile::tempdir().map_err(io_failed)?;
    let folder = request.folder.clone().unwrap_or_else(|| temporary.path().to_owned());
    let file = folder.join("dreams.db");
    say(&format!("importing {} candidates", request.candidates));
    let started = Instant::now();
    fill(request, &file)?;
    let import_s = started.elapsed().as_secs_f64();
    say("dreaming");
    let output = Command::new(&request.program)
        .args(["bench", "dreamer", "--file"])
        .arg(&file)
        .output()
        .map_err(io_failed)?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::internal(format!("the process that dreams failed: {problem}")));
    }
    let measured = serde_json::from_slice(&output.stdout)
        .map_err(|error| Error::internal(format!("the process that dreams said: {error}")))?;
    Ok(DreamLoadResults {
        machine: machine::describe(),
        candidates: request.candidates,
        signals: request.signals,
        import_s,
        measured,
    })
}

/// Imports candidates with their signals.
fn fill(request: &DreamLoadRequest, file: &Path) -> Result<()> {
    let oneiro = Oneiro::open(&target(file)?, request.options.clone())?;
    let oneiro = oneiro.acting_as(Actor::new(ActorKind::Person, ActorSurface::Cli));
    let each = request.signals / request.candidates.max(1);
    let mut from = 0;
    while from < request.candidates {
        let until = (from + CANDIDATES_AT_ONCE).min(request.candidates);
        let lines = lines(from, until, each).map_err(io_failed)?;
        oneiro.transfer().import(&mut lines.as_slice(), ImportLimits::default(), &mut |_| {})?;
        from = until;
    }
    Ok(())
}

/// The lines of an export that has these candidates.
fn lines(from: usize, until: usize, signals: usize) -> std::io::Result<Vec<u8>> {
    const STORE: &str = "sto_benchdreamsbench";
    let mut out = Vec::new();
    writeln!(out, "{}", json!({"store": {"id": STORE, "format": 1}}))?;
    let created = Timestamp::from_micros(FIRST_DAY).to_string();
    let candidate = |number: usize| {
        let subject = format!("person{}", number % 50);
        let content =
            format!("I prefer thing{number} over item{} for task{}.", number / 7, number % 997);
        json!({
            "kind": "preference", "subject": subject, "content": content, "status": "candidate",
            "trust": "owner", "project": null, "tags": [], "valid_from": created,
            "valid_until": null, "superseded_by": null, "suspended_by": null, "replaces": null,
            "confirmed_at": null, "origin": "job", "initial_confidence": 0.5,
            "created_at": created, "citations": [],
        })
    };
    for number in from..until {
        let mut memory = candidate(number);
        if let Some(fields) = memory.as_object_mut() {
            fields.insert("id".to_owned(), memory_id(number).to_string().into());
            fields.insert("confidence".to_owned(), 0.5.into());
            fields.insert("reference_count".to_owned(), 0.into());
            fields.insert("last_referenced_at".to_owned(), serde_json::Value::Null);
            fields.insert("updated_at".to_owned(), created.clone().into());
        }
        writeln!(out, "{}", json!({"memory": memory}))?;
    }
    for number in from..until {
        let operation = json!({
            "id": OperationId::from_random(bytes(number)).to_string(), "kind": "memory.create",
            "actor": {"kind": "job", "surface": "background"},
            "subject": {"kind": "memory", "id": memory_id(number).to_string()},
            "before": null, "after": candidate(number), "reason": "benchmark", "group": null,
            "undoes": null, "undone_by": null, "at": created, "store_id": STORE,
        });
        writeln!(out, "{}", json!({"operation": operation}))?;
    }
    for number in from..until {
        for place in 0..signals {
            // Few of them have what a promotion needs; the others lack prompts or days.
            let day = if number % 10 == 0 { place * 17 + number } else { number } % SIGNAL_DAYS;
            let micros = FIRST_DAY + day as i64 * DAY_MICROS + place as i64 * 1_000_000;
            let at = Timestamp::from_micros(micros).to_string();
            let date: String = at.chars().take("2025-01-06".len()).collect();
            let signal = json!({
                "memory_id": memory_id(number).to_string(), "kind": "recalled",
                "query": format!("prompt {place} about thing{number}"), "date": date, "at": at,
            });
            writeln!(out, "{}", json!({"signal": signal}))?;
        }
    }
    Ok(out)
}

fn memory_id(number: usize) -> MemoryId {
    MemoryId::from_random(bytes(number))
}

fn bytes(number: usize) -> [u8; 10] {
    let mut bytes = [0xB; 10];
    bytes[2..].copy_from_slice(&(number as u64).to_be_bytes());
    bytes
}

/// Dreams over a store and measures itself.
pub fn dream_once(file: &Path, options: &Options) -> Result<DreamLoadTimes> {
    let target = target(file)?;
    let oneiro = Oneiro::open(&target, options.clone())?;
    let request = DreamRequest {
        preset: Some(DreamPreset::Deep),
        apply: Some(true),
        ..DreamRequest::default()
    };
    let dream = || -> Result<(f64, usize)> {
        let started = Instant::now();
        let run = oneiro.dreams().run(&request)?;
        let looked_at = run.dream.map_or(0, |detail| detail.dream.counts.candidates);
        Ok((started.elapsed().as_secs_f64(), looked_at))
    };
    let (first_s, _) = dream()?;
    let (second_s, looked_at) = dream()?;
    let peak_mb = machine::peak_mb();
    let mode = DreamMode::Core.as_str();
    oneiro.settings().set("dream_mode", Some(json!(mode)))?;
    let scheduled = DreamRequest { trigger: DreamTrigger::Cron, ..DreamRequest::default() };
    oneiro.dreams().run(&scheduled)?;
    drop(oneiro);
    let mut times = Vec::new();
    for _ in 0..EARLY_REQUESTS {
        let started = Instant::now();
        let run = Oneiro::open(&target, options.clone())?.dreams().run(&scheduled)?;
        times.push(started.elapsed().as_secs_f64() * 1_000.0);
        if run.outcome != DreamOutcome::NotDue {
            let outcome = run.outcome.as_str();
            return Err(Error::internal(format!("a dream that is not due is {outcome}")));
        }
    }
    let not_due_ms = percentile(&mut times, 0.5);
    Ok(DreamLoadTimes { first_s, second_s, looked_at, peak_mb, not_due_ms })
}

fn target(file: &Path) -> Result<Target> {
    Target::parse(&file.to_string_lossy(), None)
}

fn io_failed(error: std::io::Error) -> Error {
    Error::internal(format!("the benchmark of dreams: {error}")).because(error)
}

/// Formats the metrics for people.
pub fn describe_load(results: &DreamLoadResults) -> String {
    let measured = &results.measured;
    format!(
        "{}, {} candidates, {} signals (imported in {:.1} s)\n\
         deep dream, everything new {:>8.2} s\n\
         deep dream, nothing new    {:>8.2} s ({} candidates)\n\
         memory, at most            {:>8.1} MB\n\
         asked too early            {:>8.2} ms",
        results.machine,
        results.candidates,
        results.signals,
        results.import_s,
        measured.first_s,
        measured.second_s,
        measured.looked_at,
        measured.peak_mb,
        measured.not_due_ms
    )
}
