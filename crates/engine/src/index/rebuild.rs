//! Rebuilds the index beside the current one and swaps it in: after damage, or when a new version
//! analyses texts or writes segments differently. Writes and searches continue; an interrupted
//! build is resumed.

use super::extend::{BuildStep, Merged, Merger, extend_build, merge, sweep};
use super::texts::texts;
use crate::Clock;
use oneiro_index::{Reader, Source};
use oneiro_model::Result;
use oneiro_store::Store;
use oneiro_store::segments::{self, IndexState, Segment, Stage};

/// Texts indexed per step.
const STEP_TEXTS: usize = 4_096;

/// The inputs of a rebuild.
pub(crate) struct Rebuild<'r> {
    pub(crate) store: &'r Store,
    pub(crate) clock: &'r dyn Clock,
    pub(crate) stopped: &'r dyn Fn() -> bool,
}

impl Rebuild<'_> {
    /// Builds and swaps; returns whether it finished. `on_progress` receives the last message that
    /// the new build covers and the newest one.
    pub(crate) fn run(
        &self,
        reader: &mut Reader,
        on_progress: &mut dyn FnMut(i64, i64),
    ) -> Result<bool> {
        let build = self.next(reader.model())?;
        loop {
            if (self.stopped)() {
                return Ok(false);
            }
            let now = self.clock.now();
            let step = BuildStep { build, limit: STEP_TEXTS };
            let extended = extend_build(self.store, std::slice::from_mut(reader), step, now)?;
            on_progress(extended.reach, self.store.read(|tx| texts(tx).last())?);
            let merger = Merger { store: self.store, clock: self.clock, stopped: self.stopped };
            while !(self.stopped)() && merge(merger, build)? == Merged::Done {}
            if !extended.more && self.swap(build)? {
                break;
            }
        }
        while !(self.stopped)() && sweep(self.store, self.clock.now())? {}
        self.store.write_derived(segments::remove_orphans)?;
        Ok(true)
    }

    /// The build to continue, if this version and the current model began one, or a new one.
    fn next(&self, model: Option<&str>) -> Result<i64> {
        let (state, all) = self.store.read(|tx| Ok((segments::state(tx)?, segments::all(tx)?)))?;
        let highest = all.iter().map(|segment| segment.build).max().unwrap_or(state.build);
        let begun = |segment: &Segment| {
            segment.build > state.build
                && segment.stage == Stage::Live
                && segment.analyzer == oneiro_index::VERSION
                && segment.embedder.as_deref() == model
        };
        let resumed = all.iter().filter(|segment| begun(segment)).map(|s| s.build).max();
        Ok(resumed.unwrap_or(highest.max(state.build) + 1))
    }

    /// Makes the new build current, unless it lacks texts that the old one covers.
    fn swap(&self, build: i64) -> Result<bool> {
        self.store.write_derived(|tx| {
            let state = segments::state(tx)?;
            let (new, old) =
                (segments::last_covered(tx, build)?, segments::last_covered(tx, state.build)?);
            if new < old && texts(tx).count(new + 1, old)? > 0 {
                return Ok(false);
            }
            for segment in segments::all(tx)? {
                if segment.build != build {
                    segments::set_stage(tx, segment.id, Stage::Dead)?;
                }
            }
            segments::put_state(tx, IndexState { build, ..state })?;
            Ok(true)
        })
    }
}
