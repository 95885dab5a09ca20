//! Long sessions: how fast they grow, how long a window of one takes before and after compaction,
//! how fast it is compacted, and how fast everything is read back.

use super::said::{Said, TURN};
use super::workloads::{appended, around, grep, pattern, two_words};
use super::{Times, beside, timed};
use crate::load::Rate;
use crate::machine;
use crate::processes::target;
use crate::raw::{Raw, RawRow, tokens};
use oneiro::{
    CompactRequest, ContextScope, EXPAND_TOKENS, Error, ExpandRequest, ExpandWhat, NewSession,
    Oneiro, Options, Result, SessionId, Window, WindowRequest,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The budgets of windows, and what they are called.
const BUDGETS: [(usize, &str); 3] = [(128_000, "128k"), (32_000, "32k"), (8_000, "8k")];

/// A budget that any session fits.
const EVERYTHING: usize = 100_000_000;

/// Windows assembled at each budget.
const WINDOWS: usize = 200;

/// Turns of the agent's loop.
const TURNS: usize = 200;

/// Greps of each kind.
const GREPS: usize = 40;

/// What was measured of one session.
#[derive(Debug, Clone, Serialize)]
pub struct Long {
    /// Bytes of text in it, in millions.
    pub text_mb: f64,
    /// Tokens of its context before compaction.
    pub tokens: usize,
    /// Messages stored and indexed per second, a turn of four to a commit, beside the same rows
    /// with FTS5.
    pub ingest: Rate,
    /// The first window, which counts what every message costs.
    pub first_window_ms: f64,
    /// Windows before compaction, by budget, beside reading as many rows and taking them apart.
    pub before: BTreeMap<&'static str, Times>,
    /// The same after compaction to half of the budget.
    pub after: BTreeMap<&'static str, Times>,
    /// A message appended and the window of 32,000 tokens after it, the agent's loop; what is due
    /// in the background is done between the turns.
    pub append_then_window: Times,
    /// Compaction of everything that is worth it, without a model, of the same session in a store
    /// of its own.
    pub compact: Compaction,
    /// Compaction until half of a window of 128,000 tokens is left.
    pub compact_until_64k: Compaction,
    /// Messages per second when the session is expanded through the summaries of its window,
    /// beside reading all rows and taking them apart.
    pub expand: Rate,
    /// Two words, beside FTS5.
    pub grep_words: Times,
    /// A regular expression, beside reading every row for it.
    pub grep_pattern: Times,
}

/// How fast a session was compacted.
#[derive(Debug, Clone, Serialize)]
pub struct Compaction {
    /// Text of messages that came under summaries, in millions of bytes per second.
    pub mb_per_s: f64,
    /// How long it took.
    pub seconds: f64,
    /// For how much of that it had a processor: on a busy machine it waits for the rest.
    pub cpu_s: f64,
    /// Summaries made.
    pub summaries: usize,
    /// The deepest of them.
    pub depth: i64,
    /// What the context costs after it.
    pub tokens: usize,
}

/// Measures a session of this many messages.
pub(super) fn run(
    (folder, options): (&Path, &Options),
    messages: usize,
    say: &mut dyn FnMut(&str),
) -> Result<Long> {
    let file = |end: &str| folder.join(format!("long-{messages}{end}"));
    let id = SessionId::new("long")?;
    let mut bench = Bench {
        oneiro: Oneiro::open(&target(&file(".db"))?, options.clone())?,
        raw: Raw::open(&file("-raw.db"))?,
        session: 0,
        said: Said::new(messages as u64),
        words: Vec::new(),
        bytes: 0,
        id,
    };
    bench.oneiro.sessions().create(NewSession::with_id(bench.id.clone()))?;
    bench.session = bench.raw.session("long")?;
    say("  ingest");
    let ingest = bench.ingest(messages)?;
    say("  windows before compaction");
    let first_window_ms = timed(|| bench.window(8_000, true).map(|_| ()))?;
    let mut before = BTreeMap::new();
    for (budget, name) in BUDGETS {
        before.insert(name, bench.windows(budget, true)?);
    }
    say("  compaction");
    let whole = Oneiro::open(&target(&file("-whole.db"))?, options.clone())?;
    let compact = compact_whole(&whole, messages)?;
    let tokens = bench.window(EVERYTHING, true)?.tokens;
    let until = CompactRequest { until: Some(64_000), redo: false };
    let compact_until_64k = compacted((&bench.oneiro, &bench.id), &until, bench.bytes)?;
    say("  windows after it");
    let mut after = BTreeMap::new();
    let mut append_then_window = Times::default();
    for (budget, name) in BUDGETS {
        let until = CompactRequest { until: Some(budget / 2), redo: false };
        bench.oneiro.context().compact(&bench.id, &until)?;
        after.insert(name, bench.windows(budget, false)?);
        if name == "32k" {
            append_then_window = bench.turns(budget)?;
        }
    }
    say("  reading back");
    let expand = bench.expand()?;
    bench.oneiro.index().catch_up(&mut |_, _| {})?;
    let (grep_words, grep_pattern) = bench.greps(messages)?;
    Ok(Long {
        text_mb: (bench.bytes as f64 / 1e4).round() / 100.0,
        tokens,
        ingest,
        first_window_ms: first_window_ms.round(),
        before,
        after,
        append_then_window,
        compact,
        compact_until_64k,
        expand,
        grep_words,
        grep_pattern,
    })
}

struct Bench {
    oneiro: Oneiro,
    raw: Raw,
    session: i64,
    id: SessionId,
    said: Said,
    /// Pairs of words that some messages have.
    words: Vec<String>,
    bytes: usize,
}

impl Bench {
    /// Both sides take turns, a thousand messages each, so that what else the machine does meets
    /// both.
    fn ingest(&mut self, messages: usize) -> Result<Rate> {
        let (mut ours, mut raw, mut count) = (Duration::ZERO, Duration::ZERO, 0);
        while count < messages {
            let made = self.said.messages((messages - count).min(1_000));
            count += made.len();
            self.bytes += made.iter().map(|made| made.bytes).sum::<usize>();
            self.words.extend(made.iter().step_by(97).map(|made| two_words(made.content())));
            let rows: Vec<(String, String)> =
                made.iter().map(|made| (made.body(), tokens(made.content()))).collect();
            let turns = made.chunks(TURN).map(appended).collect::<Result<Vec<_>>>()?;
            let started = Instant::now();
            for turn in turns {
                self.oneiro.messages().append(&self.id, turn)?;
            }
            ours += started.elapsed();
            let started = Instant::now();
            self.insert(&rows)?;
            raw += started.elapsed();
        }
        let started = Instant::now();
        self.oneiro.index().catch_up(&mut |_, _| {})?;
        ours += started.elapsed();
        Ok(rate(count, ours, raw))
    }

    fn insert(&self, rows: &[(String, String)]) -> Result<()> {
        let rows: Vec<RawRow<'_>> = rows
            .iter()
            .map(|(body, tokens)| RawRow {
                session: self.session,
                external_id: None,
                body,
                tokens: Some(tokens),
            })
            .collect();
        self.raw.insert(&rows, TURN)
    }

    fn window(&self, budget: usize, peek: bool) -> Result<Window> {
        let request = WindowRequest { budget, peek, ..WindowRequest::default() };
        Ok(std::hint::black_box(self.oneiro.context().window(&self.id, &request)?))
    }

    fn windows(&self, budget: usize, peek: bool) -> Result<Times> {
        let rows = self.window(budget, peek)?.messages.len();
        beside(
            WINDOWS,
            |_| self.window(budget, peek).map(|_| ()),
            |_| self.raw.newest(self.session, rows).map(|_| ()),
        )
    }

    /// Turns of an agent: a message is appended and the window assembled. What is due in the
    /// background is done between them, as it would while a model thinks.
    fn turns(&mut self, budget: usize) -> Result<Times> {
        let made = self.said.messages(TURNS);
        let rows = self.window(budget, false)?.messages.len();
        let (mut times, mut raws) = (Vec::with_capacity(TURNS), Vec::with_capacity(TURNS));
        for made in &made {
            let (message, body) = (made.message()?, made.body());
            times.push(timed(|| {
                self.oneiro.messages().append(&self.id, vec![message])?;
                self.window(budget, false).map(|_| ())
            })?);
            let row =
                RawRow { session: self.session, external_id: None, body: &body, tokens: None };
            raws.push(timed(|| {
                self.raw.insert(&[row], 1)?;
                self.raw.newest(self.session, rows).map(|_| ())
            })?);
            self.oneiro.jobs().run(Duration::from_secs(60))?;
        }
        Ok(Times::of(&mut times).beside(&mut raws))
    }

    /// Everything under the summaries of the smallest window, page by page.
    fn expand(&self) -> Result<Rate> {
        let window = self.window(8_000, true)?;
        let scope = ContextScope::Lineage(self.id.clone());
        let (mut count, mut expected) = (0, 0);
        for id in &window.summaries {
            let covered = self.oneiro.context().summary(id.as_str(), &scope)?.message_count;
            expected += usize::try_from(covered).unwrap_or(0);
        }
        let started = Instant::now();
        for id in &window.summaries {
            let mut request = ExpandRequest {
                what: ExpandWhat::Summary(id.as_str().to_owned()),
                scope: scope.clone(),
                tokens: EXPAND_TOKENS,
                cursor: None,
            };
            loop {
                let page = self.oneiro.context().expand(&request)?;
                count += page.messages.len();
                request.cursor = page.next;
                if request.cursor.is_none() {
                    break;
                }
            }
        }
        let ours = started.elapsed();
        if count != expected {
            return Err(Error::internal(format!(
                "{count} messages were expanded, and {expected} are under the summaries"
            )));
        }
        let started = Instant::now();
        self.raw.newest(self.session, count)?;
        Ok(rate(count, ours, started.elapsed()))
    }

    fn greps(&self, messages: usize) -> Result<(Times, Times)> {
        let words = beside(
            GREPS,
            |n| {
                self.oneiro
                    .search()
                    .grep(&grep(&self.id, around(&self.words, n)?.as_str()))
                    .map(|_| ())
            },
            |n| self.raw.search_all(around(&self.words, n)?).map(|_| ()),
        )?;
        // Ten files of the session each, from its beginning to its end.
        let named = |n: usize| format!("part_0*{}[0-9]\\.rs", n * messages / TURN / GREPS / 10);
        let patterns = beside(
            GREPS,
            |n| self.oneiro.search().grep(&grep(&self.id, format!("/{}/", named(n)))).map(|_| ()),
            |n| self.raw.scan(self.session, &pattern(&named(n))?).map(|_| ()),
        )?;
        Ok((words, patterns))
    }
}

/// Compacts a session of its own, as far as it is worth it.
fn compact_whole(oneiro: &Oneiro, messages: usize) -> Result<Compaction> {
    let id = SessionId::new("long")?;
    let made = Said::new(messages as u64).messages(messages);
    oneiro.sessions().create(NewSession::with_id(id.clone()))?;
    for some in made.chunks(1_000) {
        oneiro.messages().append(&id, appended(some)?)?;
    }
    oneiro.index().catch_up(&mut |_, _| {})?;
    // What messages cost is counted by the first window, and measured there.
    oneiro.context().window(&id, &WindowRequest { peek: true, ..WindowRequest::default() })?;
    let bytes = made.iter().map(|made| made.bytes).sum();
    compacted((oneiro, &id), &CompactRequest::default(), bytes)
}

/// Compacts a session of this many bytes of text.
fn compacted(
    (oneiro, id): (&Oneiro, &SessionId),
    request: &CompactRequest,
    bytes: usize,
) -> Result<Compaction> {
    let (started, had) = (Instant::now(), machine::thread_cpu_s());
    let compacted = oneiro.context().compact(id, request)?;
    let (seconds, cpu_s) = (started.elapsed().as_secs_f64(), machine::thread_cpu_s() - had);
    let summaries = oneiro.context().summaries(id)?;
    let roots = summaries.iter().filter(|one| one.in_context);
    let covered: i64 = roots.map(|one| one.message_count).sum();
    let all = oneiro.sessions().show(id, false)?.session.message_count;
    let bytes = bytes as f64 * covered as f64 / (all as f64).max(1.0);
    Ok(Compaction {
        mb_per_s: (bytes / 1e4 / seconds).round() / 100.0,
        seconds: (seconds * 100.0).round() / 100.0,
        cpu_s: (cpu_s * 100.0).round() / 100.0,
        summaries: summaries.len(),
        depth: summaries.iter().map(|one| one.depth).max().unwrap_or(0),
        tokens: compacted.tokens_after,
    })
}

fn rate(count: usize, ours: Duration, raw: Duration) -> Rate {
    let per_s = |took: Duration| count as f64 / took.as_secs_f64().max(1e-9);
    Rate {
        per_s: per_s(ours).round(),
        raw_per_s: per_s(raw).round(),
        ratio: (per_s(ours) / per_s(raw) * 100.0).round() / 100.0,
    }
}
