//! Runs a dream: whether it is due and nobody else runs it, then gather, reflect and settle, under a lease.

use super::decide::decide;
use super::diary;
use super::gates::{Gates, preset, preset_of_mode};
use super::gather::gather;
use super::ledger::{Due, Started};
use super::reflect::stale_lines;
use super::settle::{self, Prepared};
use crate::Oneiro;
use crate::operations::Grouping;
use crate::settings::Settings;
use crate::views::Dreams;
use oneiro_model::contract::Request;
use oneiro_model::{
    Actor, ActorKind, Dream, DreamDecision, DreamDetail, DreamMode, DreamOutcome, DreamPreset,
    DreamRequest, DreamRun, DreamThresholds, DreamTrigger, Error, ErrorKind, ExtractRequest,
    Result,
};
use oneiro_store::dreams::{self, StoredDecision};
use std::sync::Arc;

/// How often a dream is prepared again because the space changed meanwhile.
const PREPARE_ATTEMPTS: usize = 3;

/// Decisions that are recorded in one transaction, so that others can write in between.
const RECORD_BATCH_ROWS: usize = 500;

/// What hosts send to start a dream, alone in a line.
const HEARTBEAT_TOKENS: [&str; 2] =
    ["__openclaw_memory_core_short_term_promotion_dream__", "__oneiro_dream__"];

/// How a dream is to run.
#[derive(Debug, Clone)]
pub(super) struct DreamPlan {
    pub(super) mode: DreamMode,
    pub(super) preset: DreamPreset,
    pub(super) thresholds: DreamThresholds,
    pub(super) trigger: DreamTrigger,
    pub(super) apply: bool,
}

impl Dreams<'_> {
    /// Dreams: at once if somebody asks for it, otherwise if it is due.
    pub fn run(&self, request: &DreamRequest) -> Result<DreamRun> {
        request.check()?;
        let oneiro = self.oneiro;
        let settings = oneiro.store.read(|tx| oneiro.settings_in(tx))?;
        if request.trigger == DreamTrigger::Heartbeat && !asks_for_dream(request.body.as_deref()) {
            return Ok(DreamRun {
                handled: false,
                outcome: DreamOutcome::NotDue,
                reason: "the heartbeat does not ask for a dream".to_owned(),
                dream: None,
            });
        }
        let plan = DreamPlan::new(request, &settings);
        let is_asked_for = request.trigger == DreamTrigger::Manual;
        if !is_asked_for && plan.mode == DreamMode::Off {
            oneiro.skip_periods(&plan, &settings)?;
            return Ok(without(DreamOutcome::Disabled, "dreams are switched off"));
        }
        if plan.thresholds.limit == 0 {
            return Ok(without(DreamOutcome::DisabledByLimit, "the limit of promotions is 0"));
        }
        let due = if is_asked_for { Due::Now } else { oneiro.due(&plan, &settings)? };
        match oneiro.start_dream(&plan, due)? {
            Started::No(outcome, reason) => Ok(without(outcome, &reason)),
            Started::Yes(dream, holder) => oneiro.dream_under_lease(*dream, holder),
        }
    }
}

impl DreamPlan {
    pub(super) fn new(request: &DreamRequest, settings: &Settings) -> DreamPlan {
        let mode = settings.dream_mode;
        let is_asked_for = request.trigger == DreamTrigger::Manual;
        let default = if is_asked_for { DreamPreset::Core } else { preset_of_mode(mode) };
        let mut name = request.preset.unwrap_or(default);
        let mut thresholds = preset(name).thresholds();
        if name == DreamPreset::Custom || !is_asked_for && request.preset.is_none() {
            let changed = settings.dream_thresholds(thresholds.clone());
            if changed != thresholds {
                name = DreamPreset::Custom;
            }
            thresholds = changed;
        }
        let apply = request.apply.unwrap_or(is_asked_for || settings.dream_apply);
        DreamPlan { mode, preset: name, thresholds, trigger: request.trigger, apply }
    }
}

/// An answer without a dream.
fn without(outcome: DreamOutcome, reason: &str) -> DreamRun {
    DreamRun { handled: true, outcome, reason: reason.to_owned(), dream: None }
}

/// Whether a host's message asks for a dream: the token alone in a line, or no message at all.
fn asks_for_dream(body: Option<&str>) -> bool {
    body.is_none_or(|body| body.lines().any(|line| HEARTBEAT_TOKENS.contains(&line.trim())))
}

impl Oneiro {
    fn dream_under_lease(&self, dream: Dream, holder: String) -> Result<DreamRun> {
        let id = dream.id.clone();
        let result = self.with_lease(&id, &holder, || self.dream(dream, &holder));
        match result {
            Ok(dream) => {
                let reason = if dream.apply { "applied" } else { "a dry run: nothing changed" };
                let (outcome, reason) = (dream.outcome, reason.to_owned());
                let detail = self.dreams().show(dream.id.as_str())?;
                Ok(DreamRun { handled: true, outcome, reason, dream: Some(detail) })
            }
            Err(error) => {
                self.end_failed_dream(&id, &holder, &error);
                Err(error)
            }
        }
    }

    /// The phases of a dream.
    fn dream(&self, dream: Dream, holder: &str) -> Result<Dream> {
        let actor = self.store.actor();
        let dreamer = Actor { kind: ActorKind::Dream, ..(*actor).clone() };
        let dreamer = self.acting_as(dreamer);
        dreamer.repair_before_dream()?;
        // What sessions still owe belongs to this night.
        dreamer.learning().extract(&ExtractRequest::default())?;
        let mut last = None;
        for _ in 0..PREPARE_ATTEMPTS {
            let prepared = Arc::new(dreamer.prepare_dream(dream.clone(), holder)?);
            match dreamer.settle_dream(&prepared) {
                Err(error) if error.kind() == ErrorKind::Busy => last = Some(error),
                result => return result,
            }
        }
        Err(last.unwrap_or_else(settle::space_changed_error))
    }

    /// Gathers, decides and reflects, in one snapshot.
    fn prepare_dream(&self, dream: Dream, holder: &str) -> Result<Prepared> {
        let gates = Gates::new(dream.preset, dream.thresholds.clone());
        let (limit, now) = (dream.thresholds.limit, dream.started_at);
        self.store.read(|tx| {
            let mut gathered = gather(self, tx)?;
            let mut decisions = decide(&gathered, &gates, limit, now)?;
            let blocked = settle::find_blocked(tx, &gathered, &decisions)?;
            if !blocked.is_empty() {
                for (index, gate, reason) in blocked {
                    if let Some(claim) = gathered.claims.get_mut(index) {
                        claim.blocked = Some((gate, reason));
                    }
                }
                decisions = decide(&gathered, &gates, limit, now)?;
            }
            let findings = settle::findings(stale_lines(tx, now)?, &gathered, &decisions);
            let holder = holder.to_owned();
            let mut prepared = Prepared { dream: dream.clone(), holder, gathered, decisions };
            let mut inputs = prepared.gathered.inputs.clone();
            inputs.notes = prepared.notes();
            let counts = prepared.counts();
            prepared.dream = Dream { inputs, counts, findings, ..dream.clone() };
            Ok(prepared)
        })
    }

    /// Records a dream, and applies it if it applies.
    fn settle_dream(&self, prepared: &Arc<Prepared>) -> Result<Dream> {
        let mut from = Some(0);
        while let Some(index) = from {
            let part = Arc::clone(prepared);
            from = self
                .store
                .write(move |tx| part.record_without_effect(tx, (index, RECORD_BATCH_ROWS)))?;
        }
        let (prepared, now) = (Arc::clone(prepared), self.now());
        if prepared.dream.apply {
            self.edit(None, Grouping::Group, move |edit| prepared.apply(edit, now))
        } else {
            self.store.write(move |tx| prepared.finish_dry(tx, now))
        }
    }
}

impl Dreams<'_> {
    /// The dream with this id or unambiguous id prefix, with its decisions.
    pub fn show(&self, id: &str) -> Result<DreamDetail> {
        self.oneiro.store.read(|tx| {
            let dream = super::ledger::resolve(tx, id)?;
            let key =
                dreams::key(tx, &dream.id)?.ok_or_else(|| Error::internal("a dream has no key"))?;
            let stored = dreams::decisions(tx, key)?;
            let diary = diary::entry(&dream, &stored);
            let told = |one: &StoredDecision| DreamDecision {
                reason: diary::with_statements(&one.decision, &stored),
                ..one.decision.clone()
            };
            let decisions = stored.iter().map(told).collect();
            Ok(DreamDetail { dream, decisions, diary })
        })
    }
}
