//! `oneiro bench load`: writes, reads, lists and opens, interleaved with the raw loop; reports the
//! median of the rounds.

use crate::processes::{run_writers, target};
use crate::raw::{Raw, RawRow};
use crate::text::{SESSION_MESSAGES, Text, import_lines};
use crate::{machine, processes, raw, search};
use oneiro::{
    ImportLimits, ListSessions, NewMessage, NewSession, Oneiro, Options, Result, Role, SessionId,
    Timestamp,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::search::SearchTimes;

pub use processes::Writer;

/// The configuration.
pub struct LoadRequest {
    /// The approximate number of messages in the store at the end.
    pub messages: usize,
    /// Rounds of each measurement.
    pub rounds: usize,
    /// The folder of the stores; temporary if absent.
    pub folder: Option<PathBuf>,
    /// The store for the searches; in the folder if absent.
    pub into: Option<String>,
    /// The program of the writer processes.
    pub program: PathBuf,
    /// How the engine opens its store.
    pub options: Options,
}

/// A rate compared with that of the raw loop.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Rate {
    /// Messages per second.
    pub per_s: f64,
    /// Messages per second of the raw loop.
    pub raw_per_s: f64,
    /// The first divided by the second.
    pub ratio: f64,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct Load {
    /// The machine.
    pub machine: String,
    /// Messages in the store at the end.
    pub messages: usize,
    /// Durable appends by one writer; raw: autocommit inserts.
    pub append_single: Rate,
    /// Durable appends by 16 threads; raw: commits of 16 inserts.
    pub append_16: Rate,
    /// Durable appends by 4 processes; raw: 4 processes of autocommit inserts.
    pub append_4_processes: Rate,
    /// Import of JSONL with its index; raw: inserts with FTS5 in one transaction.
    pub bulk: Rate,
    /// Turns of 16 messages with their index; raw: inserts with FTS5 in the same batches.
    pub ingest: Rate,
    /// Reading a conversation of 120 messages.
    pub read_120_ms: f64,
    /// The same rows by the raw loop.
    pub read_120_raw_ms: f64,
    /// Listing 20 sessions.
    pub list_ms: f64,
    /// 20 bare rows by the raw loop.
    pub list_raw_ms: f64,
    /// Opening the store and answering a first read.
    pub open_ms: f64,
    /// The same with the raw loop.
    pub open_raw_ms: f64,
    /// Bytes on disk per byte of text.
    pub size_ratio: f64,
    /// The same for the raw tables.
    pub size_raw_ratio: f64,
    /// Resident memory at the end.
    pub rss_mb: f64,
    /// Search latency by the size of the store.
    pub search: BTreeMap<&'static str, SearchTimes>,
}

/// Runs the benchmark.
pub fn run(request: &LoadRequest, say: &mut dyn FnMut(&str)) -> Result<Load> {
    let folder = Folder::of(request.folder.as_deref())?;
    let folder = folder.path();
    let mut bench = Bench::new(request, folder)?;
    say("bulk import");
    let bulk = bench.rounds(Bench::bulk)?;
    let (size_ratio, size_raw_ratio) = bench.sizes()?;
    say("append, one writer");
    let append_single = bench.rounds(Bench::single)?;
    say("append, 16 threads");
    let append_16 = bench.rounds(Bench::sixteen)?;
    say("append, 4 processes");
    let append_4_processes = bench.rounds(Bench::four_processes)?;
    say("read, list, open");
    let (read_120_ms, read_120_raw_ms) = bench.pairs(Bench::read)?;
    let (list_ms, list_raw_ms) = bench.pairs(Bench::list)?;
    let (open_ms, open_raw_ms) = bench.pairs(Bench::open)?;
    say("ingest with the index kept up");
    let ingest = bench.rounds(Bench::ingest)?;
    let messages = bench.oneiro.stats()?.messages as usize;
    drop(bench);
    let search = search(request, folder, say)?;
    Ok(Load {
        machine: machine::describe(),
        messages,
        append_single,
        append_16,
        append_4_processes,
        bulk,
        ingest,
        read_120_ms,
        read_120_raw_ms,
        list_ms,
        list_raw_ms,
        open_ms,
        open_raw_ms,
        size_ratio,
        size_raw_ratio,
        rss_mb: machine::resident_mb(),
        search,
    })
}

/// The folder of the stores.
pub(crate) enum Folder<'r> {
    Given(&'r Path),
    Temporary(tempfile::TempDir),
}

impl Folder<'_> {
    pub(crate) fn of(given: Option<&Path>) -> Result<Folder<'_>> {
        let made =
            || tempfile::tempdir().map_err(|error| oneiro::Error::internal(error.to_string()));
        Ok(match given {
            Some(folder) => Folder::Given(folder),
            None => Folder::Temporary(made()?),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Folder::Given(path) => path,
            Folder::Temporary(folder) => folder.path(),
        }
    }
}

/// Measures only searches.
pub fn search_alone(
    request: &LoadRequest,
    say: &mut dyn FnMut(&str),
) -> Result<BTreeMap<&'static str, SearchTimes>> {
    search(request, Folder::of(request.folder.as_deref())?.path(), say)
}

/// Measures searches in their own stores.
fn search(
    request: &LoadRequest,
    folder: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<BTreeMap<&'static str, SearchTimes>> {
    match &request.into {
        Some(store) => {
            let oneiro =
                Oneiro::open(&oneiro::Target::parse(store, None)?, request.options.clone())?;
            search::run(&oneiro, None, request.messages, say)
        }
        None => {
            let oneiro =
                Oneiro::open(&target(&folder.join("search.db"))?, request.options.clone())?;
            let mut raw = Raw::open(&folder.join("search-raw.db"))?;
            search::run(&oneiro, Some(&mut raw), request.messages, say)
        }
    }
}

struct Bench<'r> {
    request: &'r LoadRequest,
    file: PathBuf,
    raw_file: PathBuf,
    oneiro: Oneiro,
    raw: Raw,
    text: Text,
    text_bytes: usize,
    round: usize,
    raw_session: i64,
}

/// Messages per second of the engine and of the raw loop in one round.
type Pair = (f64, f64);

impl<'r> Bench<'r> {
    fn new(request: &'r LoadRequest, folder: &Path) -> Result<Bench<'r>> {
        let (file, raw_file) = (folder.join("oneiro.db"), folder.join("raw.db"));
        Ok(Bench {
            oneiro: Oneiro::open(&target(&file)?, request.options.clone())?,
            raw: Raw::open(&raw_file)?,
            request,
            file,
            raw_file,
            text: Text::new(1),
            text_bytes: 0,
            round: 0,
            raw_session: 0,
        })
    }

    fn rounds(&mut self, measure: fn(&mut Self) -> Result<Pair>) -> Result<Rate> {
        let (per_s, raw_per_s) = self.pairs(measure)?;
        let ratio = (per_s / raw_per_s * 100.0).round() / 100.0;
        Ok(Rate { per_s: per_s.round(), raw_per_s: raw_per_s.round(), ratio })
    }

    /// The medians of both over all rounds.
    fn pairs(&mut self, measure: fn(&mut Self) -> Result<Pair>) -> Result<Pair> {
        let mut ours = Vec::new();
        let mut raws = Vec::new();
        for _ in 0..self.request.rounds.max(1) {
            self.round += 1;
            let (one, raw) = measure(self)?;
            ours.push(one);
            raws.push(raw);
        }
        Ok((median(ours), median(raws)))
    }

    fn texts(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.text.message()).collect()
    }

    fn new_session(&mut self, name: &str) -> Result<SessionId> {
        let session = SessionId::new(format!("{name}-{}", self.round))?;
        self.oneiro.sessions().create(NewSession::with_id(session.clone()))?;
        self.raw_session = self.raw.session(session.as_str())?;
        Ok(session)
    }

    /// Import and index; raw: rows and the same tokens in FTS5 in one transaction.
    fn bulk(&mut self) -> Result<Pair> {
        let sessions =
            (self.request.messages / self.request.rounds.max(1) / SESSION_MESSAGES).max(1);
        let round = self.round;
        let at = |n: usize, m: usize| message_time(round, n, m).micros();
        let (lines, rows) = import_lines(&mut self.text, &format!("bulk-{round}"), sessions, at);
        let bytes = rows.iter().flat_map(|(_, texts)| texts).map(String::len).sum::<usize>();
        self.text_bytes += bytes;
        let count = (sessions * SESSION_MESSAGES) as f64;
        let started = Instant::now();
        self.oneiro.transfer().import(
            &mut lines.as_bytes(),
            ImportLimits::default(),
            &mut |_| {},
        )?;
        self.oneiro.index().catch_up(&mut |_, _| {})?;
        let ours = count / started.elapsed().as_secs_f64();
        drop(lines);
        // Bodies and tokens are prepared before the measurement: the raw loop only inserts.
        let externals: Vec<String> = (0..SESSION_MESSAGES).map(|m| format!("e{m}")).collect();
        let mut made: Vec<(i64, Vec<(String, String)>)> = Vec::with_capacity(rows.len());
        for (id, texts) in rows {
            let one = |text: &String| (body(text), raw::tokens(text));
            made.push((self.raw.session(&id)?, texts.iter().map(one).collect()));
        }
        let raw_rows: Vec<RawRow<'_>> = made
            .iter()
            .flat_map(|(session, bodies)| {
                bodies.iter().zip(&externals).map(|((body, tokens), external_id)| RawRow {
                    session: *session,
                    external_id: Some(external_id),
                    body,
                    tokens: Some(tokens),
                })
            })
            .collect();
        let started = Instant::now();
        self.raw.insert(&raw_rows, usize::MAX)?;
        Ok((ours, count / started.elapsed().as_secs_f64()))
    }

    /// Turns of an agent with index updates; raw: rows and FTS5 in the same batches.
    fn ingest(&mut self) -> Result<Pair> {
        const TURN_MESSAGES: usize = 16;
        const TURN_COUNT: usize = 500;
        let session = self.new_session("ingest")?;
        let texts = self.texts(TURN_MESSAGES * TURN_COUNT);
        let made: Vec<(String, String)> =
            texts.iter().map(|text| (body(text), raw::tokens(text))).collect();
        let externals: Vec<String> = (0..texts.len()).map(|n| format!("e{n}")).collect();
        let started = Instant::now();
        for (texts, externals) in texts.chunks(TURN_MESSAGES).zip(externals.chunks(TURN_MESSAGES)) {
            let messages = texts.iter().zip(externals).map(|(text, external_id)| {
                NewMessage::text(Role::User, text).external_id(external_id.clone())
            });
            self.oneiro.messages().append(&session, messages.collect())?;
        }
        self.oneiro.index().catch_up(&mut |_, _| {})?;
        let ours = texts.len() as f64 / started.elapsed().as_secs_f64();
        let rows: Vec<RawRow<'_>> = made
            .iter()
            .zip(&externals)
            .map(|((body, tokens), external_id)| RawRow {
                session: self.raw_session,
                external_id: Some(external_id),
                body,
                tokens: Some(tokens),
            })
            .collect();
        let started = Instant::now();
        self.raw.insert(&rows, TURN_MESSAGES)?;
        Ok((ours, rows.len() as f64 / started.elapsed().as_secs_f64()))
    }

    fn single(&mut self) -> Result<Pair> {
        const MESSAGE_COUNT: usize = 2_000;
        let session = self.new_session("single")?;
        let texts = self.texts(MESSAGE_COUNT);
        let bodies: Vec<String> = texts.iter().map(|text| body(text)).collect();
        let externals: Vec<String> = (0..MESSAGE_COUNT).map(|n| format!("e{n}")).collect();
        let started = Instant::now();
        for (text, external_id) in texts.into_iter().zip(&externals) {
            let message = NewMessage::text(Role::User, text).external_id(external_id.clone());
            self.oneiro.messages().append(&session, vec![message])?;
        }
        let ours = MESSAGE_COUNT as f64 / started.elapsed().as_secs_f64();
        Ok((ours, self.insert_raw(&bodies, &externals, 1)?))
    }

    /// Messages per second of the raw loop with commits of `group` rows.
    fn insert_raw(&self, bodies: &[String], externals: &[String], group: usize) -> Result<f64> {
        let rows: Vec<RawRow<'_>> = bodies
            .iter()
            .zip(externals)
            .map(|(body, external_id)| RawRow {
                session: self.raw_session,
                external_id: Some(external_id),
                body,
                tokens: None,
            })
            .collect();
        let started = Instant::now();
        self.raw.insert(&rows, group)?;
        Ok(rows.len() as f64 / started.elapsed().as_secs_f64())
    }

    fn sixteen(&mut self) -> Result<Pair> {
        const THREAD_COUNT: usize = 16;
        const MESSAGES_EACH: usize = 1_000;
        let session = self.new_session("sixteen")?;
        let texts: Vec<Vec<String>> =
            (0..THREAD_COUNT).map(|_| self.texts(MESSAGES_EACH)).collect();
        let bodies: Vec<String> = texts.iter().flatten().map(|text| body(text)).collect();
        let started = Instant::now();
        let append = |(thread, texts): (usize, Vec<String>)| -> Result<()> {
            for (n, text) in texts.into_iter().enumerate() {
                let message =
                    NewMessage::text(Role::User, text).external_id(format!("{thread}-{n}"));
                self.oneiro.messages().append(&session, vec![message])?;
            }
            Ok(())
        };
        let append = &append;
        std::thread::scope(|scope| {
            let threads: Vec<_> = texts
                .into_iter()
                .enumerate()
                .map(|work| scope.spawn(move || append(work)))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|_| Err(oneiro::Error::internal("a writer panicked")))
            })
        })?;
        let ours = (THREAD_COUNT * MESSAGES_EACH) as f64 / started.elapsed().as_secs_f64();
        // The same ids in the order of interleaved threads, so that the index has as much work.
        let externals: Vec<String> = (0..MESSAGES_EACH)
            .flat_map(|n| (0..THREAD_COUNT).map(move |thread| format!("{thread}-{n}")))
            .collect();
        Ok((ours, self.insert_raw(&bodies, &externals, THREAD_COUNT)?))
    }

    fn four_processes(&mut self) -> Result<Pair> {
        const MESSAGES_EACH: usize = 1_000;
        let ours = run_writers(&self.request.program, &self.file, false, MESSAGES_EACH)?;
        Ok((ours, run_writers(&self.request.program, &self.raw_file, true, MESSAGES_EACH)?))
    }

    fn read(&mut self) -> Result<Pair> {
        let session = SessionId::new(format!("bulk-{}-0", 1))?;
        let ours = per_call(50, || {
            self.oneiro.sessions().show(&session, false).map(|view| view.messages.len())
        })?;
        Ok((ours, per_call(50, || self.raw.read(1))?))
    }

    fn list(&mut self) -> Result<Pair> {
        let request = ListSessions::default();
        let ours =
            per_call(50, || self.oneiro.sessions().list(&request).map(|page| page.items.len()))?;
        Ok((ours, per_call(50, || self.raw.list())?))
    }

    fn open(&mut self) -> Result<Pair> {
        let target = target(&self.file)?;
        let ours = per_call(5, || {
            Oneiro::open(&target, self.request.options.clone())?
                .settings()
                .list()
                .map(|settings| settings.len())
        })?;
        Ok((ours, per_call(5, || Raw::open(&self.raw_file)?.list())?))
    }

    /// Bytes per byte of text after the bulk import, with empty logs.
    fn sizes(&self) -> Result<(f64, f64)> {
        let bytes = |file: &Path| -> Result<f64> {
            let raw = rusqlite::Connection::open(file)
                .and_then(|raw| raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
            raw.map_err(|error| oneiro::Error::internal(error.to_string()))?;
            Ok(std::fs::metadata(file).map_or(0, |data| data.len()) as f64)
        };
        let ratio = |bytes: f64| (bytes / self.text_bytes as f64 * 1_000.0).round() / 1_000.0;
        Ok((ratio(bytes(&self.file)?), ratio(bytes(&self.raw_file)?)))
    }
}

/// Conversations one after another, as in a history.
fn message_time(round: usize, session: usize, message: usize) -> Timestamp {
    let minutes = (round * 100_000 + session) as i64 * 7;
    Timestamp::from_micros(
        1_700_000_000_000_000 + minutes * 60_000_000 + message as i64 * 3_000_000,
    )
}

/// A body as it is stored.
fn body(text: &str) -> String {
    serde_json::json!({"content": text}).to_string()
}

/// The milliseconds of the median call.
fn per_call<T>(count: usize, mut call: impl FnMut() -> Result<T>) -> Result<f64> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        std::hint::black_box(call()?);
        times.push(started.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok((median(times) * 1_000.0).round() / 1_000.0)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
