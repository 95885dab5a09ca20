//! Dreams: consolidation runs that gather evidence for claims, reflect on it, and settle what is promoted,
//! merged, superseded or retired. Scores, gates and plans are pure; each change is an operation of the dream.

mod audit;
mod decide;
mod diary;
mod evidence;
mod explain;
mod gates;
mod gather;
mod ledger;
mod note_lines;
mod paraphrase;
mod plan;
mod reflect;
mod replay;
mod run;
mod schedule;
mod score;
mod settle;
mod staleness;
mod tags;
mod undo;

pub(crate) use audit::audit;
pub use audit::{DreamIssue, Severity};
pub(crate) use gates::{preset, preset_of_mode};
pub(crate) use schedule::Schedule;
use score::normalised;

use crate::Oneiro;
use crate::settings::{DREAM_APPLY, SettingKind, Settings};
use crate::views::Dreams;
use oneiro_model::contract::Request;
use oneiro_model::{
    Cursor, Dream, DreamCandidate, DreamDetail, DreamId, DreamMode, DreamStatus, DreamThresholds,
    DreamWeights, Error, ListCandidates, Page, PageOf, Result, SCORE_STEPS, ScheduleDreams,
};
use oneiro_store::{dream_candidates, dreams};
use serde_json::{Value, json};

impl Dreams<'_> {
    /// Dreams, newest first.
    pub fn list(&self, request: &PageOf) -> Result<Page<Dream>> {
        request.check()?;
        let before = request.cursor.map_or(i64::MAX, |cursor| cursor.key);
        let limit = request.limit.saturating_add(1);
        let found = self.oneiro.store.read(|tx| dreams::list(tx, before, limit))?;
        Ok(Page::of(found, request.limit))
    }

    /// Candidates, the best first.
    pub fn candidates(&self, request: &ListCandidates) -> Result<Page<DreamCandidate>> {
        request.check()?;
        let mut found = self.oneiro.store.read(|tx| dream_candidates::list(tx, request))?;
        let has_more = found.len() > request.limit;
        found.truncate(request.limit);
        let last = found.last().filter(|_| has_more);
        let next = last.map(|last| Cursor {
            order: (last.candidate.score * SCORE_STEPS).round() as i64,
            key: last.key,
        });
        Ok(Page { items: found.into_iter().map(|stored| stored.candidate).collect(), next })
    }

    /// The last dream, if it was a dry run that would change something: it waits for somebody to apply it.
    pub fn digest(&self) -> Result<Option<DreamDetail>> {
        let last = self.oneiro.store.read(dreams::last_run)?;
        let waits = last.filter(Dream::is_dry_with_changes);
        waits.map(|dream| self.show(dream.id.as_str())).transpose()
    }

    /// Whether the space dreams, when next, and what was last.
    pub fn status(&self) -> Result<DreamStatus> {
        let now = self.oneiro.now();
        self.oneiro.store.read(|tx| {
            let settings = self.oneiro.settings_in(tx)?;
            let mode = settings.dream_mode;
            let schedule = Oneiro::dream_schedule(&settings)?;
            let thresholds = preset(preset_of_mode(mode)).thresholds();
            Ok(DreamStatus {
                mode,
                apply: settings.dream_apply,
                cron: settings.dream_cron(),
                timezone: settings.dream_zone(),
                thresholds: settings.dream_thresholds(thresholds),
                next_at: schedule.next_after(now).filter(|_| mode != DreamMode::Off),
                last: dreams::last_run(tx)?,
                candidates: dream_candidates::counts(tx)?,
            })
        })
    }

    /// Removes dreams from the ledger, for a demonstration that is taken out with all that they changed. Nothing
    /// is undone.
    pub fn remove_rows(&self, ids: &[DreamId]) -> Result<usize> {
        let ids = ids.to_vec();
        self.oneiro.store.write(move |tx| {
            let mut removed = 0;
            for id in &ids {
                removed += usize::from(dreams::remove(tx, id)?);
            }
            Ok(removed)
        })
    }

    /// Changes whether and when the space dreams by itself. Times before this moment count as done.
    /// Only a person lets such dreams change something.
    pub fn schedule(&self, request: &ScheduleDreams) -> Result<DreamStatus> {
        request.check()?;
        // First what may be refused, so that a refusal changes nothing.
        let wanted = [
            (DREAM_APPLY, request.apply.map(Value::Bool)),
            ("dream_mode", request.mode.map(|mode| json!(mode.as_str()))),
            ("dream_cron", request.cron.as_ref().map(|cron| json!(cron))),
            ("dream_timezone", request.timezone.as_ref().map(|zone| json!(zone))),
        ];
        for (name, value) in wanted {
            if let Some(value) = value {
                self.oneiro.settings().set(name, Some(value))?;
            }
        }
        let settings = self.oneiro.store.read(|tx| self.oneiro.settings_in(tx))?;
        self.oneiro.skip_past_periods(&settings)?;
        self.status()
    }
}

/// The longest half-life, a century; a longer one is a mistake.
const HALF_LIFE_MAX_DAYS: f64 = 36_525.0;

impl Settings {
    /// The schedule: what the settings say, or that of the mode.
    pub(crate) fn dream_cron(&self) -> String {
        match self.dream_cron.trim() {
            "" => preset(preset_of_mode(self.dream_mode)).cron.to_owned(),
            cron => cron.to_owned(),
        }
    }

    /// The time zone of the schedule: its own, or that of the space.
    pub(crate) fn dream_zone(&self) -> String {
        match self.dream_timezone.trim() {
            "" => self.timezone.iana_name().unwrap_or("UTC").to_owned(),
            zone => zone.to_owned(),
        }
    }

    /// Thresholds with what the settings change; what is out of range changes nothing.
    pub(crate) fn dream_thresholds(&self, base: DreamThresholds) -> DreamThresholds {
        let count = |value: Option<f64>| {
            value
                .map(f64::floor)
                .filter(|value| (0.0..=1e9).contains(value))
                .map(|value| value as u32)
        };
        DreamThresholds {
            limit: count(self.dream_limit).map_or(base.limit, |limit| limit as usize),
            min_score: self
                .dream_min_score
                .filter(|score| (0.0..=1.0).contains(score))
                .unwrap_or(base.min_score),
            min_recall_count: count(self.dream_min_recall_count).unwrap_or(base.min_recall_count),
            min_unique_queries: count(self.dream_min_unique_queries)
                .unwrap_or(base.min_unique_queries),
            half_life_days: self
                .dream_half_life_days
                .filter(|days| (0.0..=HALF_LIFE_MAX_DAYS).contains(days))
                .unwrap_or(base.half_life_days),
            weights: self.dream_weights.map_or(base.weights, normalised),
        }
    }
}

/// A number as hosts write it: a number, or text with one; blank text, null and anything else are no number,
/// and the preset holds.
pub(crate) struct LooseNumber;

impl SettingKind for LooseNumber {
    type Value = Option<f64>;

    fn read(_: &str, value: &Value) -> Result<Option<f64>> {
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        Ok(number.filter(|number: &f64| number.is_finite()))
    }
}

/// The weights of a score; null for the defaults. Parts that are not named keep theirs.
pub(crate) struct Weights;

impl SettingKind for Weights {
    type Value = Option<DreamWeights>;

    fn read(name: &str, value: &Value) -> Result<Option<DreamWeights>> {
        serde_json::from_value(value.clone()).map_err(|error| {
            Error::field(name.to_owned(), format!("is not an object of weights: {error}"))
                .remedy(r#"write {"frequency": 0.24, "relevance": 0.3}"#)
        })
    }
}

/// A mode as hosts write it: unknown words mean off.
pub(crate) struct LooseMode;

impl SettingKind for LooseMode {
    type Value = DreamMode;

    fn read(_: &str, value: &Value) -> Result<DreamMode> {
        let word = value.as_str().unwrap_or_default().trim().to_lowercase();
        Ok(DreamMode::parse(&word).unwrap_or(DreamMode::Off))
    }
}

/// A cron expression; empty for that of the mode.
pub(crate) struct CronText;

impl SettingKind for CronText {
    type Value = String;

    fn read(name: &str, value: &Value) -> Result<String> {
        let text = value.as_str().ok_or_else(|| Error::field(name.to_owned(), "is not text"))?;
        if !text.trim().is_empty() {
            Schedule::parse(text, "UTC")?;
        }
        Ok(text.trim().to_owned())
    }
}

/// The name of a time zone; empty for that of the space.
pub(crate) struct ZoneName;

impl SettingKind for ZoneName {
    type Value = String;

    fn read(name: &str, value: &Value) -> Result<String> {
        let text = value.as_str().ok_or_else(|| Error::field(name.to_owned(), "is not text"))?;
        Schedule::parse("0 3 * * *", text)?;
        Ok(text.trim().to_owned())
    }
}
