//! `oneiro bench http`: what the way over HTTP costs. Appends by many clients and questions of one,
//! each beside the engine called directly, and how much memory a server takes that does nothing.

mod client;
mod serving;

use crate::processes::target;
use crate::search::{Questions, share};
use crate::text::{SESSION, Text, import_lines};
use crate::{load, machine};
use client::Client;
use oneiro::{
    Error, ImportLimits, NewMessage, NewSession, Oneiro, Options, Result, Role, SearchRequest,
    SessionId,
};
use serde::Serialize;
use serde_json::json;
use serving::Serving;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to measure.
pub struct HttpRequest {
    /// Clients that append at once.
    pub clients: usize,
    /// Messages that each of them appends in a round.
    pub each: usize,
    /// Messages in the store that is searched.
    pub messages: usize,
    /// Questions that are asked in a round, up to 200.
    pub questions: usize,
    /// Rounds of each measurement; the median counts.
    pub rounds: usize,
    /// Where to put the stores; a temporary folder when absent.
    pub folder: Option<PathBuf>,
    /// The program to serve with.
    pub program: PathBuf,
    /// How the engine opens its store.
    pub options: Options,
}

/// Durable appends over HTTP, one message to a request.
#[derive(Debug, Clone, Serialize)]
pub struct Appends {
    /// Messages per second, acknowledged.
    pub per_s: f64,
    /// Half of the requests took no longer.
    pub p50_ms: f64,
    /// All but one of a hundred took no longer.
    pub p99_ms: f64,
    /// Messages per second of as many threads that call the engine.
    pub engine_per_s: f64,
    /// The first over the last.
    pub ratio: f64,
}

/// Questions over HTTP, one after another on one connection.
#[derive(Debug, Clone, Serialize)]
pub struct Questioned {
    /// Messages in the store.
    pub messages: usize,
    /// Half of the questions took no longer.
    pub p50_ms: f64,
    /// Nineteen of twenty took no longer.
    pub p95_ms: f64,
    /// Half of the same questions to the engine took no longer.
    pub engine_p50_ms: f64,
    /// What HTTP adds: the median of the differences, question by question.
    pub added_p50_ms: f64,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Http {
    /// On what.
    pub machine: String,
    /// Clients that appended at once.
    pub clients: usize,
    /// Appends.
    pub append: Appends,
    /// Questions.
    pub search: Questioned,
    /// Resident memory of a server on an empty store that nobody asked anything.
    pub idle_rss_mb: f64,
    /// The same after the appends and the questions.
    pub used_rss_mb: f64,
}

/// Measures.
pub fn run(request: &HttpRequest, say: &mut dyn FnMut(&str)) -> Result<Http> {
    let folder = load::Folder::of(request.folder.as_deref())?;
    say("a server that does nothing");
    let idle_rss_mb = idle(request, folder.path())?;
    let file = folder.path().join("served.db");
    let engine = Oneiro::open(&target(&file)?, request.options.clone())?;
    let mut questions = fill(&engine, request.messages, say)?;
    questions.truncate(request.questions.max(1));
    let server = Serving::start(&request.program, &file)?;
    say("search");
    let search = search(&server, &engine, (request, &questions))?;
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
    let server = Serving::start(&request.program, &folder.join("idle.db"))?;
    // What it does to begin with is over by then.
    std::thread::sleep(Duration::from_secs(2));
    Ok(server.resident_mb())
}

/// Fills the store that is searched, and answers questions about it.
fn fill(oneiro: &Oneiro, messages: usize, say: &mut dyn FnMut(&str)) -> Result<Vec<String>> {
    say(&format!("{messages} messages to search"));
    let mut text = Text::new(3);
    let mut asked = Questions::default();
    let sessions = messages.div_ceil(SESSION).max(1);
    let (lines, rows) = import_lines(&mut text, "held", sessions, |n, m| {
        1_600_000_000_000_000 + (n * 420 + m * 3) as i64 * 1_000_000
    });
    oneiro.transfer().import(&mut lines.as_bytes(), ImportLimits::default(), &mut |_| {})?;
    rows.iter().flat_map(|(_, texts)| texts).for_each(|text| asked.maybe_about(text));
    oneiro.index().catch_up(&mut |_, _| {})?;
    Ok(asked.done())
}

fn search(
    server: &Serving,
    engine: &Oneiro,
    (request, questions): (&HttpRequest, &[String]),
) -> Result<Questioned> {
    let mut client = Client::connect(server.address())?;
    let (mut over, mut direct, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=request.rounds.max(1) {
        for question in questions {
            let body = json!({ "query": question }).to_string();
            let ours = timed(|| client.post("/v1/search", &body).map(|_| ()))?;
            let theirs =
                timed(|| engine.search().run(&SearchRequest::new(question.as_str())).map(|_| ()))?;
            // The first round warms both sides.
            if round > 0 {
                over.push(ours);
                direct.push(theirs);
                added.push(ours - theirs);
            }
        }
    }
    Ok(Questioned {
        messages: request.messages,
        p50_ms: share(&mut over, 0.5),
        p95_ms: share(&mut over, 0.95),
        engine_p50_ms: share(&mut direct, 0.5),
        added_p50_ms: share(&mut added, 0.5),
    })
}

fn append(server: &Serving, folder: &Path, request: &HttpRequest) -> Result<Appends> {
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
        let took = at_once(&texts, &|client, texts| by_http(server, (round, client), texts))?;
        over.push(count / started.elapsed().as_secs_f64());
        times.extend(took);
        let started = Instant::now();
        at_once(&texts, &|client, texts| by_engine(&engine, (round, client), texts))?;
        direct.push(count / started.elapsed().as_secs_f64());
    }
    let (per_s, engine_per_s) = (load::median(over), load::median(direct));
    Ok(Appends {
        per_s: per_s.round(),
        p50_ms: share(&mut times, 0.5),
        p99_ms: share(&mut times, 0.99),
        engine_per_s: engine_per_s.round(),
        ratio: (per_s / engine_per_s * 100.0).round() / 100.0,
    })
}

/// How one client appends its texts; answers how long each took.
type Append<'a> = dyn Fn(usize, &[String]) -> Result<Vec<f64>> + Sync + 'a;

/// Appends by every client at once; answers how long each request took.
fn at_once(texts: &[Vec<String>], append: &Append<'_>) -> Result<Vec<f64>> {
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

fn by_http(
    server: &Serving,
    (round, client): (usize, usize),
    texts: &[String],
) -> Result<Vec<f64>> {
    let mut connection = Client::connect(server.address())?;
    let path = format!("/v1/sessions/load-{round}-{client}/messages?create=true");
    let message = |(n, text): (usize, &String)| {
        let body = json!({"role": "user", "content": text, "external_id": format!("e{n}")});
        timed(|| connection.post(&path, &body.to_string()).map(|_| ()))
    };
    texts.iter().enumerate().map(message).collect()
}

fn by_engine(
    engine: &Oneiro,
    (round, client): (usize, usize),
    texts: &[String],
) -> Result<Vec<f64>> {
    let session = SessionId::new(format!("load-{round}-{client}"))?;
    engine.sessions().create(NewSession::with_id(session.clone()))?;
    let message = |(n, text): (usize, &String)| {
        let message = NewMessage::text(Role::User, text.as_str()).external_id(format!("e{n}"));
        timed(|| engine.messages().append(&session, vec![message]).map(|_| ()))
    };
    texts.iter().enumerate().map(message).collect()
}

/// Milliseconds that something took.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1_000.0)
}

/// The figures as people read them.
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
