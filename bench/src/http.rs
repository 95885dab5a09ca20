//! `oneiro bench http`: the cost of HTTP. Concurrent appends and sequential searches, each compared
//! with direct calls of the engine, and the memory of an idle server.

mod client;
mod server_process;

use crate::processes::target;
use crate::search::{Questions, percentile};
use crate::text::{SESSION_MESSAGES, Text, import_lines};
use crate::{load, machine};
use client::Client;
use oneiro::{
    Error, ImportLimits, NewMessage, NewSession, Oneiro, Options, Result, Role, SearchRequest,
    SessionId,
};
use serde::Serialize;
use serde_json::json;
use server_process::ServerProcess;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The configuration.
pub struct HttpRequest {
    /// Concurrent clients.
    pub clients: usize,
    /// Messages per client and round.
    pub each: usize,
    /// Messages in the store that is searched.
    pub messages: usize,
    /// Searches per round, up to 200.
    pub questions: usize,
    /// Rounds of each measurement; the median is reported.
    pub rounds: usize,
    /// The folder of the stores; temporary if absent.
    pub folder: Option<PathBuf>,
    /// The server program.
    pub program: PathBuf,
    /// How the engine opens its store.
    pub options: Options,
}

/// Durable appends over HTTP, one message per request.
#[derive(Debug, Clone, Serialize)]
pub struct Appends {
    /// Acknowledged messages per second.
    pub per_s: f64,
    /// Median latency.
    pub p50_ms: f64,
    /// 99th percentile latency.
    pub p99_ms: f64,
    /// Messages per second of the same number of threads that call the engine.
    pub engine_per_s: f64,
    /// HTTP divided by the engine.
    pub ratio: f64,
}

/// Searches over HTTP, one after another on one connection.
#[derive(Debug, Clone, Serialize)]
pub struct SearchLatency {
    /// Messages in the store.
    pub messages: usize,
    /// Median latency.
    pub p50_ms: f64,
    /// 95th percentile latency.
    pub p95_ms: f64,
    /// Median latency of the same searches in the engine.
    pub engine_p50_ms: f64,
    /// The median overhead of HTTP, search by search.
    pub added_p50_ms: f64,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct Http {
    /// The machine.
    pub machine: String,
    /// Concurrent clients.
    pub clients: usize,
    /// Appends.
    pub append: Appends,
    /// Searches.
    pub search: SearchLatency,
    /// Resident memory of an idle server on an empty store.
    pub idle_rss_mb: f64,
    /// Resident memory after the appends and searches.
    pub used_rss_mb: f64,
}

/// Runs the benchmark.
pub fn run(request: &HttpRequest, say: &mut dyn FnMut(&str)) -> Result<Http> {
    let folder = load::Folder::of(request.folder.as_deref())?;
    say("a server that does nothing");
    let idle_rss_mb = idle(request, folder.path())?;
    let file = folder.path().join("served.db");
    let engine = Oneiro::open(&target(&file)?, request.options.clone())?;
    let mut questions = fill(&engine, request.messages, say)?;
    questions.truncate(request.questions.max(1));
    let server = ServerProcess::start(&request.program, &file)?;
    say("search");
    let search = search(&server, &engine, request, &questions)?;
    drop(engine);
    say("append");
    let append = append(&server, folder.path(), request)?;
    Ok(Http {
        machine: machine::describe(),
        clients: request.clients,
        append,
        search,
        idle_rss_mb,
        used_rss_mb: server.resident_mb(),
    })
}

fn idle(request: &HttpRequest, folder: &Path) -> Result<f64> {
    let server = ServerProcess::start(&request.program, &folder.join("idle.db"))?;
    // Startup work is done by then.
    std::thread::sleep(Duration::from_secs(2));
    Ok(server.resident_mb())
}

/// Fills the store that is searched, and returns queries for it.
fn fill(oneiro: &Oneiro, messages: usize, say: &mut dyn FnMut(&str)) -> Result<Vec<String>> {
    say(&format!("{messages} messages to search"));
    let mut text = Text::new(3);
    let mut asked = Questions::default();
    let sessions = messages.div_ceil(SESSION_MESSAGES).max(1);
    let (lines, rows) = import_lines(&mut text, "held", sessions, |n, m| {
        1_600_000_000_000_000 + (n * 420 + m * 3) as i64 * 1_000_000
    });
    oneiro.transfer().import(&mut lines.as_bytes(), ImportLimits::default(), &mut |_| {})?;
    rows.iter().flat_map(|(_, texts)| texts).for_each(|text| asked.maybe_about(text));
    oneiro.index().catch_up(&mut |_, _| {})?;
    Ok(asked.done())
}

fn search(
    server: &ServerProcess,
    engine: &Oneiro,
    request: &HttpRequest,
    questions: &[String],
) -> Result<SearchLatency> {
    let mut client = Client::connect(server.address())?;
    let (mut http, mut engine_only, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=request.rounds.max(1) {
        for question in questions {
            let body = json!({ "query": question }).to_string();
            let http_ms = timed(|| client.post("/v1/search", &body).map(|_| ()))?;
            let engine_ms =
                timed(|| engine.search().run(&SearchRequest::new(question.as_str())).map(|_| ()))?;
            // The first round is a warm-up.
            if round > 0 {
                http.push(http_ms);
                engine_only.push(engine_ms);
                added.push(http_ms - engine_ms);
            }
        }
    }
    Ok(SearchLatency {
        messages: request.messages,
        p50_ms: percentile(&mut http, 0.5),
        p95_ms: percentile(&mut http, 0.95),
        engine_p50_ms: percentile(&mut engine_only, 0.5),
        added_p50_ms: percentile(&mut added, 0.5),
    })
}

fn append(server: &ServerProcess, folder: &Path, request: &HttpRequest) -> Result<Appends> {
    let engine = Oneiro::open(&target(&folder.join("direct.db"))?, request.options.clone())?;
    let texts: Vec<Vec<String>> = (0..request.clients.max(1))
        .map(|client| {
            let mut text = Text::new(100 + client as u64);
            (0..request.each.max(1)).map(|_| text.message()).collect()
        })
        .collect();
    let count = texts.iter().map(Vec::len).sum::<usize>() as f64;
    let (mut over, mut direct, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..request.rounds.max(1) {
        let started = Instant::now();
        let latencies = append_concurrently(&texts, &|client, texts| {
            append_by_http(server, &format!("load-{round}-{client}"), texts)
        })?;
        over.push(count / started.elapsed().as_secs_f64());
        times.extend(latencies);
        let started = Instant::now();
        append_concurrently(&texts, &|client, texts| {
            append_by_engine(&engine, &format!("load-{round}-{client}"), texts)
        })?;
        direct.push(count / started.elapsed().as_secs_f64());
    }
    let (per_s, engine_per_s) = (load::median(over), load::median(direct));
    Ok(Appends {
        per_s: per_s.round(),
        p50_ms: percentile(&mut times, 0.5),
        p99_ms: percentile(&mut times, 0.99),
        engine_per_s: engine_per_s.round(),
        ratio: (per_s / engine_per_s * 100.0).round() / 100.0,
    })
}

/// Appends the texts of one client and returns the latencies.
type Append<'a> = dyn Fn(usize, &[String]) -> Result<Vec<f64>> + Sync + 'a;

/// Appends by all clients at once and returns the latencies.
fn append_concurrently(texts: &[Vec<String>], append: &Append<'_>) -> Result<Vec<f64>> {
    std::thread::scope(|scope| {
        let clients: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(client, texts)| scope.spawn(move || append(client, texts)))
            .collect();
        let mut all = Vec::new();
        for client in clients {
            all.extend(client.join().map_err(|_| Error::internal("a client panicked"))??);
        }
        Ok(all)
    })
}

fn append_by_http(server: &ServerProcess, session: &str, texts: &[String]) -> Result<Vec<f64>> {
    let mut connection = Client::connect(server.address())?;
    let path = format!("/v1/sessions/{session}/messages?create=true");
    let message = |(n, text): (usize, &String)| {
        let body = json!({"role": "user", "content": text, "external_id": format!("e{n}")});
        timed(|| connection.post(&path, &body.to_string()).map(|_| ()))
    };
    texts.iter().enumerate().map(message).collect()
}

fn append_by_engine(engine: &Oneiro, session: &str, texts: &[String]) -> Result<Vec<f64>> {
    let session = SessionId::new(session)?;
    engine.sessions().create(NewSession::with_id(session.clone()))?;
    let message = |(n, text): (usize, &String)| {
        let message = NewMessage::text(Role::User, text.as_str()).external_id(format!("e{n}"));
        timed(|| engine.messages().append(&session, vec![message]).map(|_| ()))
    };
    texts.iter().enumerate().map(message).collect()
}

/// The milliseconds that a call takes.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1_000.0)
}

/// Formats the metrics for people.
pub fn describe(http: &Http) -> String {
    let (append, search) = (&http.append, &http.search);
    [
        http.machine.clone(),
        format!(
            "{:<24} {:>9.0}/s   p50 {:.2} ms   p99 {:.2} ms   engine {:.0}/s   {:.2}x",
            format!("append, {} clients", http.clients),
            append.per_s,
            append.p50_ms,
            append.p99_ms,
            append.engine_per_s,
            append.ratio
        ),
        format!(
            "{:<24} p50 {:.2} ms   p95 {:.2} ms   engine p50 {:.2} ms   HTTP adds {:.2} ms",
            format!("search, {}", search.messages),
            search.p50_ms,
            search.p95_ms,
            search.engine_p50_ms,
            search.added_p50_ms
        ),
        format!(
            "{:<24} idle {:.1} MB   after this {:.1} MB",
            "resident", http.idle_rss_mb, http.used_rss_mb
        ),
    ]
    .join("\n")
}
