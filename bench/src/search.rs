//! Search as the store grows: questions in plain words at 10,000, 100,000 and a million messages,
//! beside the plain FTS5 query that ORs the same words over the same data.

use crate::raw::{Raw, RawRow};
use crate::text::{SESSION, Text, import_lines};
use oneiro::{ImportLimits, Oneiro, Result, SearchRequest};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// How long searches took at one size.
#[derive(Debug, Clone, Serialize)]
pub struct SearchTimes {
    /// Half of the questions took no longer.
    pub p50_ms: f64,
    /// Nineteen of twenty took no longer.
    pub p95_ms: f64,
    /// Half of the plain FTS5 queries took no longer; absent when only one engine was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fts_p50_ms: Option<f64>,
}

/// The sizes, and what they are called.
const SIZES: [(usize, &str); 3] = [(10_000, "10k"), (100_000, "100k"), (1_000_000, "1m")];

/// Questions asked at each size.
const QUESTIONS: usize = 200;

/// Queries of plain FTS5 at each size: they take seconds.
const FTS_QUESTIONS: usize = 25;

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
    for (size, name) in SIZES.iter().filter(|(size, _)| *size <= messages) {
        say(&format!("search, {name} messages"));
        let mut asked = Questions::default();
        while stored < *size {
            let sessions = (size - stored).min(60_000).div_ceil(SESSION);
            let (lines, rows) = import_lines(&mut text, &format!("s{stored}"), sessions, |n, m| {
                1_600_000_000_000_000 + ((stored / SESSION + n) * 420 + m * 3) as i64 * 1_000_000
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
            stored += sessions * SESSION;
        }
        oneiro.index().catch_up(&mut |_, _| {})?;
        let questions = asked.done();
        let mut ours = Vec::new();
        for round in 0..2 {
            for question in &questions {
                let started = Instant::now();
                std::hint::black_box(oneiro.search().run(&SearchRequest::new(question.as_str()))?);
                // The first round warms both sides.
                if round == 1 {
                    ours.push(started.elapsed().as_secs_f64() * 1_000.0);
                }
            }
        }
        let fts = match raw.as_deref_mut() {
            None => None,
            Some(raw) => {
                let mut times = Vec::new();
                for question in questions.iter().take(FTS_QUESTIONS) {
                    let started = Instant::now();
                    std::hint::black_box(raw.search_any(question)?);
                    times.push(started.elapsed().as_secs_f64() * 1_000.0);
                }
                Some(share(&mut times, 0.5))
            }
        };
        found.insert(
            *name,
            SearchTimes {
                p50_ms: share(&mut ours, 0.5),
                p95_ms: share(&mut ours, 0.95),
                fts_p50_ms: fts,
            },
        );
    }
    Ok(found)
}

pub(crate) fn share(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    let index = (times.len() as f64 * share) as usize;
    let found = times.get(index.min(times.len().saturating_sub(1))).copied().unwrap_or(0.0);
    (found * 1_000.0).round() / 1_000.0
}

/// Questions about messages that exist: some of their words, frequent and rare, in a sentence.
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
    /// Takes a message as a subject, each as likely as any other.
    pub(crate) fn maybe_about(&mut self, text: &str) {
        self.seen += 1;
        if self.found.len() < QUESTIONS {
            let question = self.ask(text);
            self.found.push(question);
            return;
        }
        let at = self.random.usize(..self.seen);
        if at < QUESTIONS {
            let question = self.ask(text);
            if let Some(slot) = self.found.get_mut(at) {
                *slot = question;
            }
        }
    }

    fn ask(&mut self, text: &str) -> String {
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
