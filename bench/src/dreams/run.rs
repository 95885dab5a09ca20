//! Runs the benchmark: each preset over each year, and formats the results.

use super::baseline::{Promotions, openclaw, said_on_two_days};
use super::claim::{Claim, MINIMA, Minimum};
use super::metrics::{PromotionMetrics, measure};
use super::player::{Player, YearClock, YearIds};
use super::year::{Year, YearRequest};
use crate::machine;
use oneiro::{
    DreamOutcome, DreamPreset, DreamRequest, Durability, Error, Oneiro, Options, Result, SpaceName,
    Target,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The configuration.
pub struct DreamsRequest {
    /// The years that are played; the metrics are over all of them.
    pub seeds: Vec<u64>,
    /// Days of each.
    pub days: usize,
    /// People in each.
    pub people: usize,
    /// Whether the person's own words are believed at once, as is the default of a space. A
    /// promotion is then a line in MEMORY.md alone.
    pub own_words: bool,
    /// The folder or server of the spaces; temporary if absent.
    pub store: Option<String>,
    /// How the engine opens its stores; the benchmark sets the clock and the ids.
    pub options: Options,
}

/// The results.
#[derive(Debug, Clone, Serialize)]
pub struct DreamsResults {
    /// The machine.
    pub machine: String,
    /// The seeds of the years.
    pub seeds: Vec<u64>,
    /// Days of each year.
    pub days: usize,
    /// Messages of all years.
    pub messages: usize,
    /// Claims of all years, by kind.
    pub claims: BTreeMap<&'static str, usize>,
    /// By preset.
    pub presets: BTreeMap<&'static str, PresetResults>,
}

/// The results of one preset.
#[derive(Debug, Clone, Serialize)]
pub struct PresetResults {
    /// What our dreams promoted.
    pub oneiro: PromotionMetrics,
    /// What the formula of openclaw would have promoted from the same evidence.
    pub openclaw: PromotionMetrics,
    /// What the rule "the person said it on two days" would have promoted.
    pub said_on_two_days: PromotionMetrics,
    /// What MEMORY.md was like.
    pub note: NoteMetrics,
    /// Whether precision is at least 0.95, F1 at least 10 points above the better of the others, the
    /// median of days lower, nothing forbidden was promoted, and the note kept to its rules.
    pub meets_targets: bool,
    /// Seconds of a night's dream, the median.
    pub dream_p50_ms: f64,
}

/// What MEMORY.md was like.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NoteMetrics {
    /// The most characters it had.
    pub chars_max: usize,
    /// Its limit.
    pub chars_limit: usize,
    /// Nights on which it was over its limit.
    pub nights_over_limit: usize,
    /// Due claims that hold at the end of the year.
    pub standing: usize,
    /// Those of them that it holds then.
    pub held: usize,
    /// Ended claims that it still held a week after their end.
    pub stale: usize,
    /// Some of them.
    pub stale_examples: Vec<String>,
    /// Lines about a person or a project that do not name it.
    pub unnamed: usize,
}

/// The least precision.
const PRECISION_TARGET: f64 = 0.95;

/// How much better F1 is than the better baseline's.
const F1_TARGET: f64 = 0.10;

/// Runs the benchmark.
pub fn run(request: &DreamsRequest, say: &mut dyn FnMut(&str)) -> Result<DreamsResults> {
    let temporary = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let store = match &request.store {
        Some(store) => store.clone(),
        None => temporary.path().to_string_lossy().into_owned(),
    };
    let mut results = DreamsResults {
        machine: machine::describe(),
        seeds: request.seeds.clone(),
        days: request.days,
        messages: 0,
        claims: BTreeMap::new(),
        presets: BTreeMap::new(),
    };
    for minimum in &MINIMA {
        let mut pool = Pool::default();
        for seed in &request.seeds {
            say(&format!("{} with seed {seed}", minimum.preset));
            let year = Year::generate(&YearRequest {
                people: request.people,
                ..YearRequest::new(*seed, request.days)
            });
            let space = SpaceName::new(&format!("dreams-{}-{seed}", minimum.preset))?;
            let target = Target::parse(&store, Some(&space))?;
            pool.play(request, &target, (&year, minimum))?;
        }
        if minimum.preset == MINIMA[0].preset {
            results.messages = pool.messages;
            for claim in &pool.claims {
                *results.claims.entry(claim.kind.as_str()).or_default() += 1;
            }
        }
        results.presets.insert(minimum.preset, pool.results(minimum));
    }
    Ok(results)
}

/// Several years, as if they were one.
#[derive(Default)]
struct Pool {
    claims: Vec<Claim>,
    ours: Promotions,
    openclaw: Promotions,
    two_days: Promotions,
    unknown: BTreeSet<String>,
    note: NoteMetrics,
    messages: usize,
    times: Vec<f64>,
}

impl Pool {
    fn play(
        &mut self,
        request: &DreamsRequest,
        target: &Target,
        (year, minimum): (&Year, &Minimum),
    ) -> Result<()> {
        let clock = Arc::new(YearClock::default());
        let options = Options {
            durability: Durability::Normal,
            clock: Arc::clone(&clock) as _,
            ids: Arc::new(YearIds::default()),
            llm: None,
            ..request.options.clone()
        };
        let oneiro = Oneiro::open(target, options)?;
        let mut player = Player::new(year, oneiro, clock, request.own_words)?;
        let times = std::cell::RefCell::new(Vec::new());
        player.play(&|oneiro| {
            let started = std::time::Instant::now();
            let dreamt = dream(oneiro, minimum);
            times.borrow_mut().push(started.elapsed().as_secs_f64() * 1_000.0);
            dreamt
        })?;
        let (played, recalls) = player.finish();
        let first = self.claims.len();
        let pooled = |promotions: &Promotions| -> Promotions {
            promotions.iter().map(|(claim, night)| (first + claim, *night)).collect()
        };
        self.times.extend(times.into_inner());
        self.ours.extend(pooled(&played.promoted));
        self.openclaw.extend(pooled(&openclaw(&year.claims, &recalls, minimum, request.days)));
        self.two_days.extend(pooled(&said_on_two_days(&year.claims)));
        self.unknown.extend(played.unknown.iter().cloned());
        self.messages += played.messages;
        let note = &mut self.note;
        note.chars_max = note.chars_max.max(played.chars_max);
        note.chars_limit = played.chars_limit;
        note.nights_over_limit += played.nights_over_limit;
        note.stale += played.stale.len();
        note.unnamed += played.unnamed.len();
        for number in played.stale.keys() {
            let claim = year.claims.get(*number);
            note.stale_examples.extend(claim.map(|it| format!("{} {}", it.subject, it.value)));
        }
        let last = request.days.saturating_sub(1);
        for (number, claim) in year.claims.iter().enumerate() {
            if claim.due_on(minimum).is_some() && claim.holds_on(last) {
                note.standing += 1;
                note.held += usize::from(played.held.contains(&number));
            }
        }
        self.claims.extend(year.claims.iter().cloned());
        Ok(())
    }

    fn results(mut self, minimum: &Minimum) -> PresetResults {
        let measured = |promotions: &Promotions, unknown: &BTreeSet<String>| {
            measure(&self.claims, promotions, unknown, minimum)
        };
        let nothing = BTreeSet::new();
        let oneiro = measured(&self.ours, &self.unknown);
        let openclaw = measured(&self.openclaw, &nothing);
        let said_on_two_days = measured(&self.two_days, &nothing);
        let better = openclaw.f1.max(said_on_two_days.f1);
        let days = |metrics: &PromotionMetrics| metrics.median_days.unwrap_or(f64::INFINITY);
        let meets_targets = oneiro.precision >= PRECISION_TARGET
            && oneiro.f1 >= better + F1_TARGET
            && days(&oneiro) < days(&openclaw)
            && days(&oneiro) < days(&said_on_two_days)
            && oneiro.forbidden == 0
            && self.note.nights_over_limit == 0
            && self.note.stale == 0;
        PresetResults {
            oneiro,
            openclaw,
            said_on_two_days,
            meets_targets,
            dream_p50_ms: crate::search::percentile(&mut self.times, 0.5),
            note: self.note,
        }
    }
}

/// Dreams with the thresholds of a preset, and applies what comes out.
pub fn dream(oneiro: &Oneiro, minimum: &Minimum) -> Result<()> {
    let preset = DreamPreset::parse(minimum.preset)?;
    let request =
        DreamRequest { preset: Some(preset), apply: Some(true), ..DreamRequest::default() };
    let run = oneiro.dreams().run(&request)?;
    if run.outcome != DreamOutcome::Processed {
        return Err(Error::internal(format!("a dream did not run: {}", run.reason)));
    }
    Ok(())
}

/// Formats the metrics for people.
pub fn describe(results: &DreamsResults) -> String {
    let kinds: Vec<String> =
        results.claims.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut lines = vec![
        results.machine.clone(),
        format!(
            "{} days, seeds {:?}, {} messages; claims: {}",
            results.days,
            results.seeds,
            results.messages,
            kinds.join(", ")
        ),
        "preset  by                  due  promoted  precision  recall     F1  median days  forbidden"
            .to_owned(),
    ];
    for (preset, of) in &results.presets {
        let rows = [
            ("oneiro", &of.oneiro),
            ("openclaw", &of.openclaw),
            ("said on two days", &of.said_on_two_days),
        ];
        lines.extend(rows.iter().map(|(by, row)| {
            let median = row.median_days.map_or("never".to_owned(), |days| format!("{days:.1}"));
            format!(
                "{preset:<7} {by:<18} {:>4} {:>9} {:>10.3} {:>7.3} {:>6.3} {median:>12} {:>10}",
                row.due, row.promoted, row.precision, row.recall, row.f1, row.forbidden
            )
        }));
        let note = &of.note;
        lines.push(format!(
            "        MEMORY.md: at most {} of {} characters, {} nights over; holds {} of {} standing \
             facts; {} stale, {} unnamed; in time {} of {}; undue {}; a dream {:.1} ms; targets {}",
            note.chars_max,
            note.chars_limit,
            note.nights_over_limit,
            note.held,
            note.standing,
            note.stale,
            note.unnamed,
            of.oneiro.in_time,
            of.oneiro.due,
            of.oneiro.undue,
            of.dream_p50_ms,
            if of.meets_targets { "met" } else { "not met" }
        ));
        let examples = |name: &str, of: &[String]| -> Vec<String> {
            of.iter().map(|example| format!("        {name}: {example}")).collect()
        };
        lines.extend(examples("wrong", &of.oneiro.wrong));
        lines.extend(examples("missed", &of.oneiro.missed));
        lines.extend(examples("stale", &note.stale_examples));
    }
    lines.join("\n")
}
