//! Search latency by store size: questions in plain words at 10,000, 100,000 and a million
//! messages, compared with an FTS5 query for any of the words.

use crate::raw::{Raw, RawRow};
use crate::text::{SESSION_MESSAGES, Text, import_lines};
use oneiro::{ImportLimits, Oneiro, Result, SearchRequest};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Search latencies at one size.
#[derive(Debug, Clone, Serialize)]
pub struct SearchTimes {
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// Median of the FTS5 queries; absent if only one engine was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fts_p50_ms: Option<f64>,
}

/// Sizes and their names.
const STORE_SIZES: [(usize, &str); 3] = [(10_000, "10k"), (100_000, "100k"), (1_000_000, "1m")];

/// Searches at each size.
const QUERY_COUNT: usize = 200;

/// FTS5 queries at each size: they take seconds.
const FTS_QUERY_COUNT: usize = 25;

/// Measures at every size up to `messages`.
pub(crate) fn run(
    oneiro: &Oneiro,
    raw: Option<&mut Raw>,
    messages: usize,
    say: &mut dyn FnMut(&str),
) -> Result<BTreeMap<&'static str, SearchTimes>> {
    let mut text = Text::new(2);
    let mut raw = raw;
    let mut stored = 0;
    let mut found = BTreeMap::new();
    for (size, name) in STORE_SIZES.iter().filter(|(size, _)| *size <= messages) {
        say(&format!("search, {name} messages"));
        let mut asked = Questions::default();
        while stored < *size {
            let sessions = (size - stored).min(60_000).div_ceil(SESSION_MESSAGES);
            let (lines, rows) = import_lines(&mut text, &format!("s{stored}"), sessions, |n, m| {
                1_600_000_000_000_000
                    + ((stored / SESSION_MESSAGES + n) * 420 + m * 3) as i64 * 1_000_000
            });
            oneiro.transfer().import(
                &mut lines.as_bytes(),
                ImportLimits::default(),
                &mut |_| {},
            )?;
            rows.iter().flat_map(|(_, texts)| texts).for_each(|text| asked.maybe_about(text));
            if let Some(raw) = raw.as_deref_mut() {
                let session = raw.session(&format!("s{stored}"))?;
                let texts: Vec<&str> =
                    rows.iter().flat_map(|(_, texts)| texts).map(String::as_str).collect();
                let tokens: Vec<String> =
                    texts.iter().map(|text| crate::raw::tokens(text)).collect();
                let rows: Vec<RawRow<'_>> = texts
                    .iter()
                    .zip(&tokens)
                    .map(|(body, tokens)| RawRow {
                        session,
                        external_id: None,
                        body,
                        tokens: Some(tokens),
                    })
                    .collect();
                raw.insert(&rows, usize::MAX)?;
            }
            stored += sessions * SESSION_MESSAGES;
        }
        oneiro.index().catch_up(&mut |_, _| {})?;
        let questions = asked.done();
        let mut ours = Vec::new();
        for round in 0..2 {
            for question in &questions {
                let started = Instant::now();
                std::hint::black_box(oneiro.search().run(&SearchRequest::new(question.as_str()))?);
                // The first round is a warm-up.
                if round == 1 {
                    ours.push(started.elapsed().as_secs_f64() * 1_000.0);
                }
            }
        }
        let fts = match raw.as_deref_mut() {
            None => None,
            Some(raw) => {
                let mut times = Vec::new();
                for question in questions.iter().take(FTS_QUERY_COUNT) {
                    let started = Instant::now();
                    std::hint::black_box(raw.search_any(question)?);
                    times.push(started.elapsed().as_secs_f64() * 1_000.0);
                }
                Some(percentile(&mut times, 0.5))
            }
        };
        found.insert(
            *name,
            SearchTimes {
                p50_ms: percentile(&mut ours, 0.5),
                p95_ms: percentile(&mut ours, 0.95),
                fts_p50_ms: fts,
            },
        );
    }
    Ok(found)
}

pub(crate) fn percentile(times: &mut [f64], percentile: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    let index = (times.len() as f64 * percentile) as usize;
    let found = times.get(index.min(times.len().saturating_sub(1))).copied().unwrap_or(0.0);
    (found * 1_000.0).round() / 1_000.0
}

/// Generates questions about existing messages: some of their words, frequent and rare, in a
/// sentence.
pub(crate) struct Questions {
    found: Vec<String>,
    seen: usize,
    random: fastrand::Rng,
}

impl Default for Questions {
    fn default() -> Questions {
        Questions { found: Vec::new(), seen: 0, random: fastrand::Rng::with_seed(5) }
    }
}

impl Questions {
    /// Considers a message as a subject, with equal probability for all (reservoir sampling).
    pub(crate) fn maybe_about(&mut self, text: &str) {
        self.seen += 1;
        if self.found.len() < QUERY_COUNT {
            let question = self.question_about(text);
            self.found.push(question);
            return;
        }
        let at = self.random.usize(..self.seen);
        if at < QUERY_COUNT {
            let question = self.question_about(text);
            if let Some(slot) = self.found.get_mut(at) {
                *slot = question;
            }
        }
    }

    fn question_about(&mut self, text: &str) -> String {
        let words: Vec<&str> = text.split(' ').collect();
        let count = self.random.usize(3..=6);
        let some: Vec<&str> =
            self.random.choose_multiple(words.iter().copied(), count).into_iter().collect();
        format!("what did we say about {}?", some.join(" and the "))
    }

    pub(crate) fn done(self) -> Vec<String> {
        self.found
    }
}
