//! Decay: what a machine made and no answer rested on loses confidence with each day on which the space
//! was active, until it becomes invalid. That is an operation, and can be undone.

use super::change::invalidate;
use crate::Oneiro;
use crate::jobs::DECAY;
use crate::operations::{Edit, Grouping};
use oneiro_model::{DAYS_BEFORE_DECAY, DECAYED_CONFIDENCE, JobId, NewJob, Result, Span};
use oneiro_store::{active_days, jobs};

/// Time between two runs. Days are what counts, but no job may be queued further ahead.
const INTERVAL: Span = jobs::MAX_DELAY;

impl Oneiro {
    /// Counts idle days, retires what has decayed, and queues the next run.
    pub(crate) fn decay_memories(&self) -> Result<()> {
        let reason = "decayed: no answer rested on it".to_owned();
        self.edit(Some(reason), Grouping::Group, |edit| {
            active_days::add_new(edit.tx)?;
            active_days::count_idle_days(edit.tx)?;
            for memory in active_days::idle_longer_than(edit.tx, DAYS_BEFORE_DECAY)? {
                if memory.decays() && memory.confidence < DECAYED_CONFIDENCE {
                    invalidate(edit, &memory)?;
                }
            }
            queue_decay(edit)
        })
    }
}

/// Queues the next run, unless one is queued.
pub(super) fn queue_decay(edit: &Edit<'_, '_>) -> Result<()> {
    let job = NewJob {
        id: JobId::from_random(edit.ids.random()),
        kind: DECAY.to_owned(),
        payload: serde_json::Value::Null,
        unique_key: Some(DECAY.to_owned()),
        needs: None,
        run_at: edit.now.plus(INTERVAL),
    };
    jobs::add(edit.tx, &job, edit.now).map(|_| ())
}
