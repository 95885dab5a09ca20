//! The ledger of dreams: which period is due, who may run it, and what became of it. A period has
//! one dream, no matter who runs it; a dream whose process died is taken over, since nothing of it
//! was applied.

use super::run::DreamPlan;
use super::schedule::Schedule;
use crate::Oneiro;
use crate::jobs::with_heartbeat;
use crate::lease_holder::has_exited;
use crate::settings::Settings;
use oneiro_model::{
    Actor, ActorKind, ActorSurface, Dream, DreamCounts, DreamId, DreamInputs, DreamMode,
    DreamOutcome, DreamRequest, DreamTrigger, Error, Remedy, Result, Span, Timestamp,
};
use oneiro_store::Tx;
use oneiro_store::dreams::{self, DreamLease};

/// Time until a lease expires that is not extended.
const LEASE: Span = Span::seconds(120);

/// No lease that is still good ends later than this.
const LEASE_HORIZON: Span = Span::seconds(1_200);

const MINUTE_MICROS: i64 = 60_000_000;

/// Missed periods that get a row, at most.
const MISSED_MAX: usize = 100;

/// When a dream is to run.
pub(super) enum Due {
    /// Now, whatever the schedule says.
    Now,
    /// For this period; the others were missed.
    Period(Timestamp, Vec<Timestamp>),
    /// Not before this time.
    Not(Option<Timestamp>),
}

/// Whether a dream starts.
pub(super) enum Started {
    /// It does, under the lease of a holder.
    Yes(Box<Dream>, String),
    /// It does not, and why.
    No(DreamOutcome, String),
}

impl Oneiro {
    pub(super) fn dream_schedule(settings: &Settings) -> Result<Schedule> {
        Schedule::parse(&settings.dream_cron(), &settings.dream_zone())
    }

    /// Which period is due.
    pub(super) fn due(&self, plan: &DreamPlan, settings: &Settings) -> Result<Due> {
        let schedule = Oneiro::dream_schedule(settings)?;
        let now = self.now();
        let Some(last) = self.store.read(dreams::last_period)? else {
            // Dreams start with the first period after they are switched on.
            self.skip_periods(plan, settings)?;
            return Ok(Due::Not(schedule.next_after(now)));
        };
        let mut times = schedule.times_between((last, now), MISSED_MAX);
        if times.is_empty() {
            let resumed = self.store.read(|tx| {
                let dream = dreams::of_period(tx, last)?;
                Ok(dream.filter(|dream| dream.outcome == DreamOutcome::Running))
            })?;
            return Ok(match resumed {
                Some(_) => Due::Period(last, Vec::new()),
                None => Due::Not(schedule.next_after(now)),
            });
        }
        let newest = times.remove(0);
        Ok(Due::Period(newest, times))
    }

    /// Counts all periods up to now as done.
    pub(super) fn skip_periods(&self, plan: &DreamPlan, settings: &Settings) -> Result<()> {
        let schedule = Oneiro::dream_schedule(settings)?;
        let now = self.now();
        let last = self.store.read(dreams::last_period)?;
        let after = last.unwrap_or(now.minus(Span::days(366)));
        let Some(newest) = schedule.times_between((after, now), 1).into_iter().next() else {
            return Ok(());
        };
        let row = Dream {
            outcome: DreamOutcome::Disabled,
            reason: Some("dreams are scheduled from here on".to_owned()),
            finished_at: Some(now),
            period: Some(newest),
            ..self.new_dream(plan, now)
        };
        self.store.write(move |tx| dreams::add(tx, &row, None).map(|_| ()))
    }

    /// Counts all periods up to now as done, whatever the mode was.
    pub(super) fn skip_past_periods(&self, settings: &Settings) -> Result<()> {
        let plan = DreamPlan::new(&DreamRequest::default(), settings);
        self.skip_periods(&plan, settings)
    }

    fn new_dream(&self, plan: &DreamPlan, now: Timestamp) -> Dream {
        Dream {
            id: DreamId::from_random(self.ids.random()),
            mode: plan.mode,
            preset: plan.preset,
            trigger: plan.trigger,
            period: None,
            apply: plan.apply,
            started_at: now,
            finished_at: None,
            outcome: DreamOutcome::Running,
            reason: None,
            ran: false,
            thresholds: plan.thresholds.clone(),
            inputs: DreamInputs::default(),
            counts: DreamCounts::default(),
            findings: Vec::new(),
            group: None,
            revision: None,
            undone_at: None,
        }
    }

    /// Takes the right to dream.
    pub(super) fn start_dream(&self, plan: &DreamPlan, due: Due) -> Result<Started> {
        let now = self.now();
        let (period, missed) = match due {
            Due::Not(next) => {
                let reason = match next {
                    Some(at) => format!("the next dream is at {at}"),
                    None => "the schedule has no next time".to_owned(),
                };
                return Ok(Started::No(DreamOutcome::NotDue, reason));
            }
            Due::Now => (None, Vec::new()),
            Due::Period(period, missed) => (Some(period), missed),
        };
        let holder = self.job_holder();
        let lease = DreamLease { holder: holder.clone(), until: now.plus(LEASE) };
        let dream = Dream { period, ..self.new_dream(plan, now) };
        let missed: Vec<Dream> = missed
            .into_iter()
            .map(|period| Dream {
                outcome: DreamOutcome::Missed,
                reason: Some("no process was there at that time".to_owned()),
                finished_at: Some(now),
                period: Some(period),
                ..self.new_dream(plan, now)
            })
            .collect();
        self.store.write(move |tx| {
            let mut resumed = None;
            for (id, running) in dreams::running(tx)? {
                if is_held(&running, now) {
                    let reason = format!("{id} runs in another process");
                    return Ok(Started::No(DreamOutcome::Busy, reason));
                }
                let known = resolve(tx, id.as_str())?;
                if period.is_some() && known.period == period {
                    dreams::take_over(tx, &id, &lease, &running.holder)?;
                    resumed = Some(known);
                } else {
                    let reason = "its process died; nothing was applied";
                    dreams::abandon(tx, &id, now, reason)?;
                }
            }
            for row in missed.iter().rev() {
                dreams::add(tx, row, None)?;
            }
            if let Some(resumed) = resumed {
                return Ok(Started::Yes(Box::new(resumed), lease.holder.clone()));
            }
            if !dreams::add(tx, &dream, Some(&lease))? {
                let reason = "another process has run this dream".to_owned();
                return Ok(Started::No(DreamOutcome::NotDue, reason));
            }
            Ok(Started::Yes(Box::new(dream.clone()), lease.holder.clone()))
        })
    }

    /// Runs `work` while the lease of a dream is extended.
    pub(super) fn with_lease<T>(&self, id: &DreamId, holder: &str, work: impl FnOnce() -> T) -> T {
        let beat = || {
            let lease = DreamLease { holder: holder.to_owned(), until: self.now().plus(LEASE) };
            let id = id.clone();
            self.store.write(move |tx| dreams::extend(tx, &id, &lease)).map(|_| ())
        };
        with_heartbeat(beat, work)
    }

    /// Records that a dream failed. If that fails too, the lease expires.
    pub(super) fn end_failed_dream(&self, id: &DreamId, holder: &str, error: &Error) {
        let (id, holder, now) = (id.clone(), holder.to_owned(), self.now());
        let reason = error.to_string();
        let ended = self.store.write(move |tx| {
            let is_own = dreams::running(tx)?
                .into_iter()
                .any(|(running, lease)| running == id && lease.holder == holder);
            if is_own { dreams::abandon(tx, &id, now, &reason) } else { Ok(()) }
        });
        if let Err(error) = ended {
            tracing::info!(%error, "a failed dream was not recorded; its lease expires");
        }
    }

    /// Asks once a minute whether a dream is due, and dreams if it is; for the background.
    pub(crate) fn dream_each_minute(&self) -> Result<()> {
        let minute = self.now().micros().div_euclid(MINUTE_MICROS);
        {
            let checked = self.dream_checked_at.lock();
            let mut checked = checked.unwrap_or_else(std::sync::PoisonError::into_inner);
            if *checked == Some(minute) {
                return Ok(());
            }
            *checked = Some(minute);
        }
        self.dream_if_due()
    }

    fn dream_if_due(&self) -> Result<()> {
        let is_on = self.store.read(|tx| {
            let settings = self.settings_in(tx)?;
            Ok(settings.dream_mode != DreamMode::Off)
        })?;
        if !is_on {
            return Ok(());
        }
        let request = DreamRequest { trigger: DreamTrigger::Cron, ..DreamRequest::default() };
        let actor = Actor::new(ActorKind::Job, ActorSurface::Background);
        self.acting_as(actor).dreams().run(&request).map(|_| ())
    }
}

/// Whether somebody works on a dream.
pub(super) fn is_held(lease: &DreamLease, now: Timestamp) -> bool {
    let is_good = lease.until > now && lease.until <= now.plus(LEASE_HORIZON);
    is_good && !has_exited(&lease.holder)
}

/// The dream with this id or unambiguous id prefix.
pub(super) fn resolve(tx: &Tx<'_>, id: &str) -> Result<Dream> {
    let is_prefix = id.len() > DreamId::PREFIX.len() && id.starts_with(DreamId::PREFIX);
    let found = if is_prefix { dreams::by_id_prefix(tx, id)? } else { Vec::new() };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), other) if other.is_none() || one.id.as_str() == id => Ok(one),
        (Some(_), _) => Err(Error::conflict(format!("several dream ids begin with {id:?}"))
            .remedy("give more of the id")),
        (None, _) => {
            Err(Error::not_found(format!("there is no dream {id:?}")).remedy(Remedy::ListDreams))
        }
    }
}
